import pytest

from crosscut import TreeClassifier, TreeRegressor
from crosscut.engines.folds import FoldRule
from crosscut.engines.stream import Stream

from .data import assert_same, forest_in_memory, table_of, write_pieces


@pytest.mark.parametrize("memory_limit", ["1GB", "300KB"])
@pytest.mark.parametrize(
    "model",
    [
        TreeClassifier(max_depth=5, cv=5),
        TreeClassifier(criterion="entropy", min_samples_leaf=4, max_bins=20, cv=3),
        TreeClassifier(criterion="gain_ratio", splits="multiway", max_depth=4, cv=4),
        TreeClassifier(min_impurity_decrease=0.002, cv=4),
        TreeRegressor(max_depth=5, cv=5),
        TreeRegressor(min_impurity_decrease=0.002, min_samples_leaf=3, cv=3),
    ],
    ids=str,
)
def test_stream_grows_the_forest_of_the_in_memory_engine(tmp_path, model, memory_limit):
    regression = isinstance(model, TreeRegressor)
    table = table_of(1, regression=regression)
    stream = Stream(write_pieces(table, tmp_path, 3), memory_limit=memory_limit)
    model.fit(stream, "y")
    rule = FoldRule(model.cv, stratified=not regression)
    assert_same(model.forest_, forest_in_memory(table, model, rule))
