import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv, feather, parquet
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from stream_tables import assert_same, folds_in_memory, forest_in_memory, table_of, with_weights, write_pieces

from crosscut import BaggedTrees, Stream, TreeClassifier, TreeRegressor, load_model, save_model
from crosscut.data.files import split_target
from crosscut.data.frames import columns_of
from crosscut.engines.stream.stream import StreamRows, read_bytes
from crosscut.tasks import Tasks
from crosscut.tasks.fold_rule import FoldRule
from crosscut.training.parameters import objective_of
from crosscut.training.train import validate
from crosscut.training.training_set import TrainingSet

MODELS = [
    TreeClassifier(max_depth=5, cv=5),
    TreeClassifier(criterion="entropy", min_samples_leaf=20, max_bins=20, cv=3),
    TreeClassifier(criterion="gain_ratio", splits="multiway", max_depth=4, cv=4),
    TreeClassifier(min_impurity_decrease=0.002, max_depth=4, cv=4),
    TreeRegressor(max_depth=5, cv=5),
    TreeRegressor(min_impurity_decrease=0.01, min_samples_leaf=9, max_depth=4, cv=3),
]


def rule_of(model):
    return FoldRule(model.cv, stratified=isinstance(model, TreeClassifier))


@pytest.mark.parametrize("memory_limit", ["1GB", "300KB", "40KB"])  # gather all, gather some, part columns
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_stream_grows_the_forest_of_the_in_memory_engine(tmp_path, model, memory_limit):
    table = table_of(1, 1500, regression=isinstance(model, TreeRegressor))
    model.fit(Stream(write_pieces(table, tmp_path, 3), memory_limit=memory_limit), "y")
    assert_same(model.forest_, forest_in_memory(table, model, rule_of(model)))


WEIGHTED = [
    TreeClassifier(max_depth=5, cv=5),
    TreeClassifier(max_depth=5, cv=4, class_weight="balanced", criterion="entropy"),
    TreeClassifier(class_weight={"yes": 2.5}, min_impurity_decrease=0.002, max_depth=4, cv=4),
    TreeClassifier(criterion="gain_ratio", splits="multiway", max_depth=4, cv=3),
    TreeRegressor(max_depth=5, cv=5),
    TreeRegressor(min_impurity_decrease=0.01, min_samples_leaf=9, max_depth=4, cv=3),
]


@pytest.mark.parametrize("memory_limit", ["1GB", "300KB", "40KB"])
@pytest.mark.parametrize("model", WEIGHTED, ids=str)
def test_weights_of_rows_and_classes(tmp_path, model, memory_limit):
    table = with_weights(table_of(1, 1500, n_classes=3, regression=isinstance(model, TreeRegressor)))
    paths = write_pieces(table, tmp_path, 3)
    expected = forest_in_memory(table, model, rule_of(model))
    stream = Stream(paths, memory_limit=memory_limit, cache=tmp_path / "codes")
    assert_same(model.fit(stream, "y", sample_weight="w").forest_, expected)
    assert_same(model.fit(stream, "y", sample_weight="w").forest_, expected)  # from the cached codes


def test_class_weights_alone(tmp_path):
    table = table_of(1, 1500, n_classes=3)
    paths = write_pieces(table, tmp_path, 3)
    codes = tmp_path / "codes"
    trees = []
    for class_weight in (None, "balanced", {"yes": 3.0}, {"yes": 4.0}):
        model = TreeClassifier(max_depth=4, cv=3, class_weight=class_weight)
        model.fit(Stream(paths, memory_limit="100KB", cache=codes), "y")
        assert_same(model.forest_, forest_in_memory(table, model, rule_of(model)))
        trees.append(model.tree_.weight[0])
    assert len(set(trees)) == 4 - 1  # balanced weights add up to the number of rows


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("n_pieces", [1, 7, 100])
def test_neither_number_nor_order_of_batches_matters(tmp_path, monkeypatch, n_pieces, regression):
    table = table_of(2, 1500, n_classes=3, regression=regression)
    model = (TreeRegressor if regression else TreeClassifier)(max_depth=4, cv=5)
    expected = forest_in_memory(table, model, rule_of(model))
    paths = write_pieces(table, tmp_path, n_pieces)
    model.fit(Stream(paths, memory_limit="300KB", batch_rows=400), "y")
    assert_same(model.forest_, expected)
    scores = model.cv_scores_

    def shuffled(rows):
        pieces = list(rows.source.pieces)
        np.random.default_rng(n_pieces).shuffle(pieces)
        return pieces

    monkeypatch.setattr(StreamRows, "pieces", property(shuffled))
    model.fit(Stream(paths, memory_limit="300KB"), "y")
    assert_same(model.forest_, expected)
    np.testing.assert_array_equal(model.cv_scores_, scores)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 1000),
    st.integers(2, 4),
    st.fixed_dictionaries(
        {
            "criterion": st.sampled_from(["gini", "entropy", "gain_ratio"]),
            "splits": st.sampled_from(["binary", "multiway"]),
            "min_samples_leaf": st.integers(1, 9),
            "max_bins": st.integers(2, 70),
        }
    ),
)
def test_random_tables(tmp_path_factory, seed, n_classes, settings_of_tree):
    table = table_of(seed, 400, n_classes=n_classes)
    paths = write_pieces(table, tmp_path_factory.mktemp("rows"), 3)
    model = TreeClassifier(**settings_of_tree, cv=3)
    model.fit(Stream(paths, memory_limit="60KB"), "y")
    assert_same(model.forest_, forest_in_memory(table, model, rule_of(model)))


def test_more_folds_take_no_more_passes(tmp_path):
    paths = write_pieces(table_of(3, 20_000), tmp_path, 2)
    passes = {}
    for cv in (2, 5, 15):
        seen = []
        stream = Stream(paths, memory_limit="5MB", progress=seen.append)
        TreeClassifier(max_depth=4, cv=cv).fit(stream, "y")
        passes[cv] = seen[-1].n_pass
        assert seen[-1].rows == seen[-1].n_rows == 20_000
        assert "rows/s" in str(seen[-1])
    # survey, coding, one pass for each of the four levels, and one to judge the leaves
    assert set(passes.values()) == {7}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model",
    [TreeClassifier(), TreeClassifier(prune_by="loss", loss={"no": 3, "yes": 0.5}), TreeRegressor()],
    ids=["classes", "costs", "numbers"],
)
def test_out_of_fold_results_are_those_of_the_in_memory_engine(tmp_path, model, weighted):
    table = table_of(4, regression=isinstance(model, TreeRegressor))
    model = clone(model).set_params(max_depth=5, cv=4, max_bins=255)
    written = with_weights(table) if weighted else table
    weight = written["w"].to_numpy() if weighted else None
    stream = Stream(write_pieces(written, tmp_path, 5), memory_limit="100KB")
    model.fit(stream, "y", sample_weight="w" if weighted else None)
    X, y = split_target(table, "y")
    data = TrainingSet.read(clone(model), X, y, weight)
    folds = folds_in_memory(rule_of(model), data.target.values, len(y))
    expected = validate(data, Tasks.from_folds(folds), model.forest_, objective=objective_of(model))
    np.testing.assert_array_equal(model.cv_predictions_, expected.predictions)
    np.testing.assert_allclose(model.cv_scores_, expected.scores, rtol=1e-12)
    assert model.cv_score_ == pytest.approx(expected.score, rel=1e-12)
    assert model.cv_standard_error_ == pytest.approx(expected.standard_error, rel=1e-9)
    assert model.cv_interval(0.8, "bayle") == pytest.approx(expected.interval(0.8, "bayle"), rel=1e-9)
    for name in ("alpha", "n_leaves", "train_error", "cv_error", "standard_error"):
        mine, theirs = (getattr(t, name) for t in (model.pruning_table_, expected.pruning_table))
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, err_msg=name)
    tables = model.pruning_table_, expected.pruning_table
    np.testing.assert_allclose(*(table.paired_error for table in tables), rtol=1e-6, atol=1e-8)  # roots
    if tables[0].by != "impurity":
        np.testing.assert_allclose(*(table.to_rpart() for table in tables), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), type(model).predict(model, X))
    assert model.feature_names_in_.tolist() == list(X.column_names)


@pytest.mark.parametrize("prune", [None, "1se"])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "f1_macro", "accuracy", "r2", "neg_mean_absolute_error"])
def test_any_score(tmp_path, scoring, prune):
    regression = scoring in {"r2", "neg_mean_absolute_error"}
    table = table_of(4, 800, regression=regression)
    model = (TreeRegressor if regression else TreeClassifier)(
        max_depth=4, cv=3, max_bins=255, scoring=scoring, prune=prune
    )
    model.fit(write_pieces(table, tmp_path, 3), "y")
    X, y = split_target(table, "y")
    codes = None if regression else np.unique(y, return_inverse=True)[1]
    folds = folds_in_memory(rule_of(model), codes, len(y))
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    in_memory = type(model)(**model.get_params() | {"cv": splits}).fit(X, y)
    np.testing.assert_allclose(model.cv_scores_, in_memory.cv_scores_, rtol=1e-12)


def test_missing_values_are_counted(tmp_path):
    table = table_of(5, 500)
    model = TreeClassifier(max_depth=3, cv=3).fit(write_pieces(table, tmp_path, 4), "y")
    X, y = split_target(table, "y")
    expected = TreeClassifier(max_depth=3, cv=3).fit(X, y).fit_.n_missing
    np.testing.assert_array_equal(model.fit_.n_missing, expected)
    assert expected.tolist() == [table[name].null_count for name in X.column_names]


def test_fitted_models_are_saved(tmp_path):
    model = TreeClassifier(max_depth=3, cv=3).fit(write_pieces(table_of(5, 500), tmp_path, 2), "y")
    again = pickle.loads(pickle.dumps(model))
    assert again.cv_score_ == model.cv_score_
    with pytest.raises(AttributeError, match="are not pickled with a model"):
        _ = again.cv_predictions_
    save_model(model, tmp_path / "model")
    assert_same(load_model(tmp_path / "model").forest_, model.forest_)


def test_pruning_by_cross_validation(tmp_path):
    table = table_of(5)
    paths = write_pieces(table, tmp_path, 2)
    whole = TreeClassifier(cv=4).fit(paths, "y")
    pruned = TreeClassifier(cv=4, prune="1se").fit(paths, "y")
    assert pruned.get_n_leaves() < whole.get_n_leaves()
    assert pruned.cv_score_ > whole.cv_score_
    assert TreeClassifier(cv=4, ccp_alpha=0.01).fit(paths, "y").get_n_leaves() < whole.get_n_leaves()


def test_groups_stay_together(tmp_path):
    table = table_of(6, 1000)
    owner = pa.array([f"owner {i}" for i in np.random.default_rng(0).integers(0, 50, 1000)])
    paths = write_pieces(table.append_column("owner", owner), tmp_path, 3)
    model = TreeClassifier(max_depth=3, cv=4).fit(Stream(paths, memory_limit="50KB"), "y", groups="owner")
    rule = FoldRule(4, grouped=True)
    keys = columns_of(pa.table({"owner": owner}))[0]
    folds = folds_in_memory(rule, None, 1000, keys)
    assert all(len(np.unique(folds[np.array(owner.to_pylist()) == o])) == 1 for o in set(owner.to_pylist()))
    assert len(np.unique(folds)) == 4
    counts = [tree.n_rows[0] for tree in model.cv_trees_]
    np.testing.assert_array_equal(counts, 1000 - np.bincount(folds))


def test_splitters_that_need_no_more_than_a_row(tmp_path):
    table = table_of(6, 1001)
    owner = pa.array([f"owner {i}" for i in np.random.default_rng(0).integers(0, 50, 1001)])
    paths = write_pieces(table, tmp_path, 3)
    X, y = split_target(table, "y")

    def sizes(cv, **options):
        model = TreeClassifier(max_depth=2, cv=cv, max_bins=255).fit(paths, "y", **options)
        return model, [1001 - int(tree.n_rows[0]) for tree in model.cv_trees_]

    model, found = sizes(KFold(4))
    assert found == [251, 250, 250, 250]
    in_memory = TreeClassifier(max_depth=2, cv=KFold(4), max_bins=255).fit(X, y)
    assert_same(model.forest_, in_memory.forest_)  # in order they are scikit-learn's own folds
    shuffled, found = sizes(KFold(4, shuffle=True, random_state=3))
    assert found == [251, 250, 250, 250] or sorted(found) == [250, 250, 250, 251]
    assert not all(a.equals(b) for a, b in zip(model.cv_trees_, shuffled.cv_trees_, strict=True))
    as_number, _ = sizes(4)
    assert_same(sizes(StratifiedKFold(4))[0].forest_, as_number.forest_)
    paths = write_pieces(table.append_column("owner", owner), tmp_path, 3)
    assert_same(sizes(GroupKFold(4), groups="owner")[0].forest_, sizes(4, groups="owner")[0].forest_)


def test_kinds_of_files_give_the_same_forest(tmp_path):
    pl = pytest.importorskip("polars")
    table = table_of(7, 1000)
    model = TreeClassifier(max_depth=4, cv=3)
    expected = forest_in_memory(table, model, rule_of(model))
    feather.write_feather(table.slice(0, 400), tmp_path / "a.feather", chunksize=150)
    feather.write_feather(table.slice(400), tmp_path / "b.feather")
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=300)
    (tmp_path / "texts").mkdir()
    csv.write_csv(table.slice(0, 600), tmp_path / "texts" / "1.csv")
    csv.write_csv(table.slice(600), tmp_path / "texts" / "2.csv")
    for data in (
        [tmp_path / "a.feather", str(tmp_path / "b.feather")],
        tmp_path / "rows.parquet",
        pl.scan_parquet(tmp_path / "rows.parquet"),
        str(tmp_path / "texts"),
    ):
        assert_same(model.fit(data, "y").forest_, expected)


def test_a_tree_without_cross_validation(tmp_path):
    table = table_of(8, 500, regression=True)
    model = TreeRegressor(max_depth=3, cv=None).fit(write_pieces(table, tmp_path, 2), "y")
    in_memory = TreeRegressor(max_depth=3, cv=None, max_bins=255).fit(*split_target(table, "y"))
    assert_same(model.forest_, in_memory.forest_)
    with pytest.raises(AttributeError, match="cv=None"):
        _ = model.cv_scores_


def test_shares_of_rows_are_those_of_the_task(tmp_path):
    table = table_of(9, 500)
    model = TreeClassifier(min_samples_leaf=0.05, cv=3).fit(write_pieces(table, tmp_path, 2), "y")
    for tree in model.forest_:
        assert tree.n_rows.min() >= 0.05 * tree.n_rows[0]


@pytest.mark.parametrize(
    ("changes", "y", "problem"),
    [
        ({}, np.zeros(3), "y must be the name of a column"),
        ({}, "z", "there is no column 'z'"),
        ({"cv": [(0, 1)]}, "y", "cv must be None, a number of folds, KFold"),
        ({"cv": GroupKFold(3)}, "y", r"GroupKFold \(with groups\) if"),
        ({"cv": ShuffleSplit(3)}, "y", "not ShuffleSplit"),
        ({"cv": 64}, "y", "from 2 to 63"),
        ({"class_weight": "even"}, "y", "class_weight must be a dict, 'balanced' or None"),
        ({"class_weight": {"perhaps": 2.0}}, "y", "not in class_weight"),
        ({"scoring": "good"}, "y", "scoring='good' is not a score of scikit-learn"),
    ],
)
def test_what_is_not_possible_is_refused(tmp_path, changes, y, problem):
    paths = write_pieces(table_of(0, 100), tmp_path, 1)
    with pytest.raises((ValueError, TypeError), match=problem):
        TreeClassifier(**({"cv": 3} | changes)).fit(paths, y)


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        ([1.0, -1.0, 1.0], "column 'w' holds -1.0 in row 1, but weights must be numbers >= 0"),
        ([1.0, 1.0, None], "column 'w' holds nan in row 2"),
        (["a", "b", "c"], "column 'w' holds text"),
        ([0.0, 0.0, 0.0], "every row has the weight 0 in 'w'"),
    ],
)
def test_what_is_no_weight_is_refused(tmp_path, weights, problem):
    parquet.write_table(
        pa.table({"x": [1.0, 2.0, 3.0], "w": weights, "y": [0, 1, 0]}), tmp_path / "a.parquet"
    )
    with pytest.raises(ValueError, match=problem):
        TreeClassifier(cv=None).fit(tmp_path / "a.parquet", "y", sample_weight="w")
    with pytest.raises(ValueError, match="there is no column 'v'"):
        TreeClassifier(cv=None).fit(tmp_path / "a.parquet", "y", sample_weight="v")
    with pytest.raises(ValueError, match="it has another role"):
        TreeClassifier(cv=None).fit(tmp_path / "a.parquet", "y", sample_weight="y")
    with pytest.raises(TypeError, match="sample_weight must be the name of a column"):
        TreeClassifier(cv=None).fit(tmp_path / "a.parquet", "y", sample_weight=np.ones(3))


def test_only_fit_of_trees_reads_files(tmp_path):
    paths = write_pieces(table_of(0, 100), tmp_path, 1)
    model = TreeClassifier(cv=None).fit(paths, "y")
    for call in (lambda: model.predict(paths), lambda: BaggedTrees().fit(paths, "y")):
        with pytest.raises(TypeError, match=r"use crosscut\.read_file"):
            call()


def test_a_fold_with_everything(tmp_path):
    table = table_of(0, 100).append_column("g", pa.array(["one"] * 100))
    with pytest.raises(ValueError, match="model of fold 1 has no row with weight"):
        TreeClassifier(cv=3).fit(write_pieces(table, tmp_path, 1), "y", groups="g")


def test_sizes():
    assert read_bytes("memory_limit", "1.5 GB") == 1_500_000_000
    assert read_bytes("memory_limit", 2**20) == 2**20
    for wrong in ("much", "-5MB", 0, "1..5MB"):
        with pytest.raises(ValueError, match="memory_limit must be a number of bytes"):
            read_bytes("memory_limit", wrong)


def test_text_is_read_with_the_given_options(tmp_path):
    path = tmp_path / "rows.csv"
    days = [f"{1 + i % 12:02}/04/2024" for i in range(60)]
    path.write_text(
        "\n".join(["day;size;kind", *(f"{d};{i % 7},5;{i % 7 > 3}" for i, d in enumerate(days)), ""])
    )
    with pytest.raises(ValueError, match="can be read in two ways"):
        TreeClassifier(cv=2).fit(Stream(path), "kind")
    cache = tmp_path / "codes"
    cache.mkdir()
    read = {
        order: TreeClassifier(cv=2).fit(Stream(path, dates=order, cache=cache), "kind")
        for order in ("dmy", "none")
    }
    assert read["dmy"].fit_.schema.kinds == ("date", "numeric")
    assert read["none"].fit_.schema.kinds == ("nominal", "numeric")  # the cache does not mix them up
    with pytest.raises(TypeError, match="order"):
        Stream(path, order="dmy")
