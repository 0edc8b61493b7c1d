"""What describes the trees does not depend on the engine that grew them; its work is counted apart."""

import numpy as np
import pytest
from stream_tables import forest_in_memory, table_of, write_pieces

from crosscut import Stream, TreeClassifier, TreeRegressor
from crosscut.tasks.fold_rule import FoldRule

MODELS = [
    TreeClassifier(max_depth=5, cv=5),
    TreeClassifier(criterion="gain_ratio", splits="multiway", max_depth=4, cv=4),
    TreeRegressor(min_samples_leaf=9, max_depth=4, cv=3),
]


@pytest.mark.parametrize("memory_limit", ["1GB", "40KB"])  # gather all rows, or none
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_memory_and_stream_agree_on_levels(tmp_path, model, memory_limit):
    table = table_of(1, 1500, regression=isinstance(model, TreeRegressor))
    stream = Stream(write_pieces(table, tmp_path, 3), memory_limit=memory_limit)
    streamed = model.fit(stream, "y").forest_
    grown = forest_in_memory(table, model, FoldRule(model.cv, stratified=isinstance(model, TreeClassifier)))
    assert streamed.levels.keys() == grown.levels.keys()
    for name, counts in grown.levels.items():
        np.testing.assert_array_equal(streamed.levels[name], counts)
    assert {"bundles", "rows", "seconds", "cuts"} <= grown.work.keys()
    assert np.all(grown.work["seconds"][grown.work["rows"] > 0] > 0)  # of small bundles, too
    assert streamed.work.keys() - {"rows"} == {"bundles", "passes", "seconds"}


def test_tests_are_those_that_sharing_counts():
    table = table_of(2, 1500)
    model = TreeClassifier(max_depth=5, cv=5)
    forest = forest_in_memory(table, model, FoldRule(5, stratified=True))
    levels, sharing = forest.levels, forest.sharing
    assert levels["tests"][0] == len(sharing.root.groups)
    np.testing.assert_allclose(levels["tests"] * len(forest) / levels["tree_tests"], sharing.f)
    assert np.all(levels["nodes"] <= levels["tests"])
    assert np.all(levels["tests"] <= levels["tree_tests"])
