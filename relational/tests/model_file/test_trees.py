import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_file.models import check_header_is_refused, forged

from crosscut import load_model, save_model
from crosscut.model_file import ModelFileError
from crosscut_relational import Bias, Database, RelationalTreeClassifier, RelationalTreeRegressor
from paper.data import bongard


def classifier(**options):
    database, bias = bongard("complex", n=150, noise=0.1)
    return RelationalTreeClassifier(bias, **{"cv": 4, **options}).fit(database), database


def regressor():
    facts = "".join(f"w({i},{1.5 * (i % 3)}). has({i},p{i % 3}). " for i in range(30))
    database = Database.from_prolog(facts, predict="w(+thing,-number)", regression=True)
    return RelationalTreeRegressor(Bias.of(["has(+T,#)"]), cv=3).fit(database), database


@pytest.mark.parametrize("make", [classifier, regressor, lambda: classifier(cv=None)])
def test_a_loaded_model_is_the_model(tmp_path, make):
    model, database = make()
    path = tmp_path / "m.crosscut"
    save_model(model, path)
    again = load_model(path)
    assert type(again) is type(model)
    assert [str(tree) for tree in again.forest_.pruned] == [str(tree) for tree in model.forest_.pruned]
    assert str(again) == str(model)
    assert again.to_prolog() == model.to_prolog()
    assert np.array_equal(again.predict(database), model.predict(database))
    assert again.forest_.settings == model.forest_.settings
    assert again.forest_.levels == model.forest_.levels
    if isinstance(model, RelationalTreeClassifier):
        assert np.array_equal(again.predict_proba(database), model.predict_proba(database))
    if model.cv is None:
        assert again.fit_.validation is None
        return
    assert np.array_equal(again.cv_scores_, model.cv_scores_)
    np.testing.assert_array_equal(again.cv_predictions_, model.cv_predictions_)
    np.testing.assert_array_equal(again.fit_.validation.values, model.fit_.validation.values)


def test_constants_of_every_kind_survive(tmp_path):
    facts = {"t": [(i, "ab"[i % 2]) for i in range(12)], "p": [], "q": []}
    terms = ["Quoted atom", 3, 2.5, (1, "x"), "<b>"]
    facts["p"] = [(i, terms[i % 2]) for i in range(12)]
    facts["q"] = [(i, terms[2 + i % 2]) for i in range(12)]
    database = Database.from_facts(facts, predict="t(+k,-c)")
    for mode in ("p(+K,#)", "q(+K,#)"):
        model = RelationalTreeClassifier(Bias.of([mode]), cv=None).fit(database)
        save_model(model, tmp_path / "m")
        assert str(load_model(tmp_path / "m")) == str(model)
        assert load_model(tmp_path / "m").score(database) == 1.0


def test_a_file_of_an_earlier_version_has_no_column_to_predict(tmp_path):
    model, database = classifier()
    save_model(model, tmp_path / "m")
    forged(tmp_path / "m", lambda header: header.pop("target_column") or header.pop("columns") or header)
    again = load_model(tmp_path / "m")
    assert again.fit_.schema.target_column is None
    assert np.array_equal(again.predict(database), model.predict(database))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(model="RelationalTreeOracle"), "this crosscut knows"),
        (lambda h: h.update(classes=["pos", "pos"]), "classes"),
        (lambda h: h.update(classes=[]), "classes"),
        (lambda h: h["settings"].update(more=1), "settings"),
        (lambda h: h["settings"].update(heuristic="luck"), "luck"),
        (lambda h: h["parameters"].update(step_limit=0), "step limit"),
        (lambda h: h["tests"].__setitem__(0, []), "empty"),
        (lambda h: h["tests"][0].__setitem__(0, ["p", [-99], False]), "not a literal"),
        (lambda h: h["tests"][0].__setitem__(0, ["p", [0], 1]), "not a literal"),
        (lambda h: h.update(constants=["a", "a"]), "distinct"),
        (lambda h: h.update(constants=[["p("]]), "not a term"),
        (lambda h: h["signature"].update(n_keys=0), "keys"),
        (lambda h: h.pop("tests"), "damaged"),
        (lambda h: h.update(target=None), "not a name"),
        (lambda h: h.update(target_column=3), "not a name"),
        (lambda h: h.update(columns=[["p", [[1, "key", None]]]]), "not a name"),
        (lambda h: h.update(columns=[["p", [["k", "colour", None]]]]), "not a kind of column"),
        (lambda h: h.update(columns=[1]), "damaged"),
    ],
)
def test_forged_headers_are_refused(tmp_path, change, message):
    model, _ = classifier()
    check_header_is_refused(model, tmp_path / "m", change, message)


@settings(max_examples=150, deadline=None)
@given(at=st.floats(0, 1), value=st.integers(0, 255), checked=st.booleans())
def test_damaged_files_are_refused_or_harmless(tmp_path_factory, at, value, checked):
    """Any byte may be wrong, with a checksum that fits: what loads can be printed and used."""
    model, database = MODELS[0]
    path = tmp_path_factory.mktemp("fuzz") / "m"
    save_model(model, path)

    def damage(_, body):
        place = int(at * (len(body) - 1))
        body[place] = value

    if checked:
        forged(path, None, damage)
    else:
        data = bytearray(path.read_bytes())
        data[int(at * (len(data) - 1))] = value
        path.write_bytes(data)
    try:
        again = load_model(path)
    except ModelFileError:
        return
    str(again)
    again.to_prolog()
    # a test may be on another predicate now, or have another number of arguments
    with contextlib.suppress(ValueError):
        again.predict(database)


MODELS = [classifier()]
