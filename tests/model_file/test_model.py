from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold

from crosscut import RuleClassifier, TreeClassifier
from crosscut.data.array_file import read_arrays, write_arrays
from crosscut.model_file import ModelFileError, load_model, save_model
from crosscut.report.summary import summarize

from .models import classifier, forged, regressor


@pytest.mark.parametrize("make", [classifier, regressor])
@pytest.mark.parametrize(
    "options", [{}, {"prune": "best"}, {"splits": "multiway"}, {"ccp_alpha": 0.01}, {"cv": None}]
)
def test_a_loaded_model_is_the_model(tmp_path, make, options):
    model, X = make(**options)
    path = tmp_path / "m.crosscut"
    save_model(model, path)
    again = load_model(path)
    assert all(a.equals(b) for a, b in zip(model.forest_.trees, again.forest_.trees, strict=True))
    assert np.array_equal(model.predict(X), again.predict(X))
    assert again.to_text() == model.to_text()
    assert again.get_params() == model.get_params()
    if model.cv is not None:
        assert np.array_equal(model.cv_scores_, again.cv_scores_)
        assert np.array_equal(model.pruning_table_.cv_error, again.pruning_table_.cv_error)
        assert np.array_equal(model.pruning_table_.like_best, again.pruning_table_.like_best)


def test_requested_scores_are_kept(tmp_path):
    model, _ = classifier(scoring="neg_log_loss")
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert np.array_equal(model.cv_scores_, again.cv_scores_)
    assert again.cv_score_ < 0  # no accuracy
    assert again.cv_standard_error_ == model.cv_standard_error_


@pytest.mark.parametrize("learner", [TreeClassifier, RuleClassifier])
def test_groups_are_kept(tmp_path, learner):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    model = learner(cv=GroupKFold(3)).fit(X, y, groups=np.arange(60) // 5)
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").cv_standard_error_ == model.cv_standard_error_
    header, arrays = read_arrays(tmp_path / "model")
    write_arrays(tmp_path / "model", header, {**arrays, "groups": np.full(60, 60)})
    with pytest.raises(ModelFileError, match="a group is invalid"):
        load_model(tmp_path / "model")


def test_missing_values_are_remembered(tmp_path):
    X = np.array([[0.0, np.nan], [1.0, np.nan], [2.0, 1.0]] * 4)
    model = TreeClassifier(cv=2).fit(X, [0, 1, 0] * 4)
    save_model(model, tmp_path / "m")
    columns = summarize(load_model(tmp_path / "m"))["data"]["columns"]
    assert [column["missing"] for column in columns] == [0, 8]


def test_files_of_earlier_versions_know_no_missing_values(tmp_path):
    model, _ = classifier()
    save_model(model, tmp_path / "m")
    forged(tmp_path / "m", lambda header: header["columns"].pop("missing") and None)
    again = load_model(tmp_path / "m")
    assert {column["missing"] for column in summarize(again)["data"]["columns"]} == {None}
    again.report(tmp_path / "r.html")
    assert "<th>missing</th>" not in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("splits", ["binary", "multiway"])
def test_files_of_earlier_versions_have_an_entry_for_every_category(tmp_path, splits):
    model, X = classifier(splits=splits)
    save_model(model, tmp_path / "m")
    header, arrays = read_arrays(tmp_path / "m")
    width = np.array([len(categories) + 1 for categories in model.fit_.schema.categories])
    branches, first = [], []
    for tree in model.forest_.trees:
        n_entries = np.where(np.isnan(tree.threshold) & (tree.feature >= 0), width[tree.feature], 0)
        first.append(np.cumsum([0, *n_entries]))
        nominal = np.flatnonzero(n_entries)
        branches.append([tree.branch_by_category(node, n_entries[node] - 1) for node in nominal])
    del arrays["categories"]
    arrays["first_branch"] = np.concatenate(first)
    arrays["branches"] = np.concatenate([of_node for of_tree in branches for of_node in of_tree])
    arrays["branch_start"] = np.cumsum([0, *(of_tree[-1] for of_tree in first)])
    write_arrays(tmp_path / "m", header, arrays)
    again = load_model(tmp_path / "m")
    assert all(a.equals(b) for a, b in zip(model.forest_.trees, again.forest_.trees, strict=True))
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))


def test_files_of_earlier_versions_do_not_compare_sizes(tmp_path):
    model, _ = regressor(prune="best")
    save_model(model, tmp_path / "m")
    header, arrays = read_arrays(tmp_path / "m")
    del arrays["pruning_paired_error"]
    write_arrays(tmp_path / "m", header, arrays)
    again = load_model(tmp_path / "m")
    assert not again.pruning_table_.like_best.any()
    assert summarize(again)["pruning"]["paired_error"][0] is None
    with pytest.raises(ValueError, match="which model files do not contain"):
        again.pruning_table_.to_rpart()


@pytest.mark.parametrize("y", [[0, 1], [-1.0, 2.0], [True, False], ["a", "b"]])
def test_classes_keep_their_type(tmp_path, y):
    model = TreeClassifier(cv=2).fit([[0.0], [1.0]] * 4, np.array(y * 4))
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.predict([[0.0]])[0] == model.predict([[0.0]])[0]


def test_held_out_rows_can_stay_out(tmp_path):
    model, X = classifier(cv=KFold(3))
    save_model(model, tmp_path / "m", held_out=False)
    again = load_model(tmp_path / "m")
    assert np.array_equal(again.predict(X), model.predict(X))
    with pytest.raises(AttributeError, match="cross-validation"):
        _ = again.cv_score_


def test_objects_as_classes_are_refused(tmp_path):
    model = TreeClassifier(cv=2).fit([[0.0], [1.0]] * 4, [0, 1] * 4)
    model.fit_ = replace(model.fit_, classes=np.array([object(), object()]))
    with pytest.raises(TypeError, match="cannot be saved"):
        save_model(model, tmp_path / "m")


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.update(model="os.system"),
        lambda h: h.update(parameters={"cv": "no"} | {"evil": 1}),
        lambda h: h.update(parameters={"max_depth": -1}),
        lambda h: h.update(classes=None),
        lambda h: h["columns"].update(missing=[-1] * len(h["columns"]["names"])),
        lambda h: h["columns"].update(missing=["many"] * len(h["columns"]["names"])),
        lambda h: h["columns"].update(missing=[0]),
        lambda h: h.update(classes={"type": "object", "values": [{}]}),
        lambda h: h.update(classes={"type": "V9999", "values": [1]}),
        lambda h: h["columns"].update(names=["a"]),
        lambda h: h["columns"].update(kinds=["nominal"] * 4),
        lambda h: h.pop("columns"),
        lambda h: h.update(work={"rows": {"x": 1}}),
        lambda h: h.update(columns=[]),
        lambda h: h.update(ccp_alpha=[]),
    ],
)
def test_a_forged_header_is_refused(tmp_path, change):
    model, _ = classifier()
    path = tmp_path / "m"
    save_model(model, path)
    forged(path, lambda header: change(header) and None)
    with pytest.raises(ModelFileError):
        load_model(path)


def test_an_absent_array_is_refused(tmp_path):
    model, _ = classifier()
    path = tmp_path / "m"
    save_model(model, path)
    header, arrays = read_arrays(path)
    for name in arrays.keys() - {"y"}:
        write_arrays(path, header, {other: array for other, array in arrays.items() if other != name})
        with pytest.raises(ModelFileError):
            load_model(path)


def test_what_is_no_array_file_is_no_model(tmp_path):
    (tmp_path / "m").write_bytes(b"crosscut")
    with pytest.raises(ModelFileError, match="is not a crosscut model file"):
        load_model(tmp_path / "m")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "m"
    model, X = classifier(prune="best")
    save_model(model, path)
    return path, path.read_bytes(), X


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4))
def test_any_bytes_with_a_fitting_checksum_are_refused_or_a_model_that_predicts(saved, changes):
    path, data, X = saved
    path.write_bytes(data)

    def change(_, body):
        for where, byte in changes:
            body[int(where * len(body))] = byte

    forged(path, change_body=change)
    try:
        model = load_model(path)
    except ModelFileError:
        return
    assert len(model.predict(X)) == len(X)
    assert np.isfinite(model.cv_score_)
    model.to_text()
