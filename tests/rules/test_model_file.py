import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_file.models import check_array_is_refused

from crosscut import RuleClassifier, save_model
from crosscut.data.array_file import read_arrays, write_arrays
from crosscut.model_file import ModelFileError, load_model

CHOICES = [{}, {"ordered": False}, {"strategy": "ripper"}, {"cv": None}, {"scoring": "neg_log_loss"}]


def fitted(**options):
    draw = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame(
        {"a": draw.normal(size=n), "b": draw.choice(["x", "y", "z"], n), "c": draw.normal(size=n)}
    )
    X.loc[draw.random(n) < 0.1, "a"] = np.nan
    y = np.where((X["a"] > 0) & (X["b"] != "y"), "up", np.where(X["c"] > 1, "on", "down"))
    return RuleClassifier(**{"cv": 4, **options}).fit(X, y), X


@pytest.mark.parametrize("options", CHOICES)
def test_loaded_rules_are_the_rules(tmp_path, options):
    model, X = fitted(**options)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.rules_ == model.rules_
    assert again.get_params() == model.get_params()
    assert again.to_text() == model.to_text()
    assert again.to_sql() == model.to_sql()
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    if model.cv is not None:
        assert again.cv_rules_ == model.cv_rules_
        assert np.array_equal(again.cv_scores_, model.cv_scores_)
        assert np.array_equal(again.cv_predictions_, model.cv_predictions_)


def test_held_out_rows_can_be_left_out_of_the_file(tmp_path):
    model, X = fitted()
    save_model(model, tmp_path / "m", held_out=False)
    again = load_model(tmp_path / "m")
    assert np.array_equal(again.predict(X), model.predict(X))
    with pytest.raises(AttributeError, match="needs cross-validation"):
        _ = again.cv_score_


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("feature", lambda a: a + 3, "an unknown column"),
        ("operator", lambda a: a + 4, "operator is unknown"),
        ("operator", lambda a: (a + 2) % 4, "does not fit its column"),
        ("value", lambda a: a * np.nan, "is not a number|an unknown category"),
        ("totals", lambda a: -a, "'totals' is wrong"),
        ("totals", lambda a: a[:, :1], "wrong shape"),
        ("rule_start", lambda a: a + 1, "does not cover"),
        ("condition_start", lambda a: a[::-1].copy(), "'condition_start' is wrong"),
        ("rule_precision", lambda a: a[:-1], "one precision per rule"),
        ("held_out_said", lambda a: a * np.nan, "'held_out_said' is wrong"),
    ],
)
def test_damaged_rules_are_refused(tmp_path, name, change, message):
    model, _ = fitted()
    check_array_is_refused(model, tmp_path / "m", name, change, message)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("rules") / "m"
    model, X = fitted()
    save_model(model, path)
    return path.read_bytes(), X


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_any_numbers_in_the_arrays_are_refused_or_harmless(stored, tmp_path_factory, data):
    path = tmp_path_factory.mktemp("forged") / "m"
    path.write_bytes(stored[0])
    header, arrays = read_arrays(path)
    flat = arrays[data.draw(st.sampled_from(sorted(arrays)))].reshape(-1)
    flat[data.draw(st.integers(0, len(flat) - 1))] = data.draw(st.sampled_from([-1, 0, 1, 2, 10**6]))
    write_arrays(path, header, arrays)
    try:
        model = load_model(path)
    except ModelFileError:
        return
    assert len(model.predict(stored[1])) == len(stored[1])
    assert model.to_text()
