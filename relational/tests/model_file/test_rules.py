import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_file.models import check_array_is_refused, check_header_is_refused, forged

from crosscut import load_model, save_model
from crosscut.model_file import ModelFileError
from crosscut_relational import Bias, Database, RelationalRuleClassifier
from paper.data import bongard


def fitted(**options):
    database, bias = bongard("complex", n=150, noise=0.1)
    return RelationalRuleClassifier(bias, **{"cv": 4, **options}).fit(database), database


CHOICES = [
    {},
    {"strategy": "cn2", "max_length": 2, "ordered": False, "measure": "wracc"},
    {"cv": None},
    {"cv": np.arange(150) % 5 - 1, "step_limit": 1000},
]


@pytest.mark.parametrize("options", CHOICES)
def test_loaded_rules_are_the_rules(tmp_path, options):
    model, database = fitted(**options)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.to_text() == model.to_text()
    assert again.to_prolog() == model.to_prolog()
    assert again.fit_.target == "bongard"
    ours, theirs = model.get_params(), again.get_params()
    assert np.array_equal(ours.pop("cv"), theirs.pop("cv") if model.cv is not None else None)
    del ours["bias"], theirs["bias"]
    assert theirs | {"cv": None} == ours | {"cv": None}
    for new in (database, bongard("complex", n=40, seed=7)[0]):
        assert np.array_equal(again.predict_proba(new), model.predict_proba(new))
    if model.cv is not None:
        assert np.array_equal(again.fit_.validation.rows, model.fit_.validation.rows)
        assert [*map(again.wording_.text, again.cv_rules_)] == [*map(model.wording_.text, model.cv_rules_)]
        assert np.array_equal(again.cv_scores_, model.cv_scores_)
        assert np.array_equal(again.cv_probabilities_, model.cv_probabilities_, equal_nan=True)


def test_nothing_about_examples_is_kept_if_not_wanted(tmp_path):
    model, database = fitted()
    save_model(model, tmp_path / "m", held_out=False)
    again = load_model(tmp_path / "m")
    assert np.array_equal(again.predict(database), model.predict(database))
    assert again.fit_.validation is None
    with pytest.raises(AttributeError, match="needs cross-validation"):
        _ = again.cv_score_
    with pytest.raises(AttributeError, match=r"report\(\) needs cross-validation"):
        again.report(tmp_path / "r.html")


def test_constants_of_every_kind_survive(tmp_path):
    terms = ["Quoted atom", 3, 2.5, (1, "x")]
    facts = {"t": [(i, "ab"[i % 2]) for i in range(12)], "p": [(i, terms[i % 4]) for i in range(12)]}
    database = Database.from_facts(facts, predict="t(+k,-c)")
    model = RelationalRuleClassifier(Bias.of(["p(+K,#)"]), strategy="cn2", cv=None).fit(database)
    save_model(model, tmp_path / "m")
    assert load_model(tmp_path / "m").to_text() == model.to_text()
    assert load_model(tmp_path / "m").score(database) == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(model="RelationalRuleOracle"), "this crosscut knows"),
        (lambda h: h.update(classes=["pos", "pos"]), "distinct"),
        (lambda h: h.update(classes=[]), "no classes"),
        (lambda h: h.update(classes=["a", "b", "c"]), "wrong shape"),
        (lambda h: h["parameters"].update(more=1), "unknown"),
        (lambda h: h["parameters"].update(strategy="luck"), "luck"),
        (lambda h: h["parameters"].update(step_limit=0), "step limit"),
        (lambda h: h["tests"].__setitem__(0, []), "empty"),
        (lambda h: h["tests"][0].__setitem__(0, ["p", [-99], False]), "not a literal"),
        (lambda h: h["tests"].clear(), "not a test"),
        (lambda h: h.pop("signature"), "damaged"),
        (lambda h: h.pop("ordered"), "damaged"),
    ],
)
def test_forged_headers_are_refused(tmp_path, change, message):
    model, _ = fitted()
    check_header_is_refused(model, tmp_path / "m", change, message)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("test", lambda a: a - 1, "not a test"),
        ("test", lambda a: a.astype(np.int64), "wrong type"),
        ("rule_start", lambda a: a + 1, "does not cover"),
        ("held_out_said", lambda a: a * np.nan, "'held_out_said' is wrong"),
    ],
)
def test_damaged_arrays_are_refused(tmp_path, name, change, message):
    model, _ = fitted()
    check_array_is_refused(model, tmp_path / "m", name, change, message)


@settings(max_examples=150, deadline=None)
@given(at=st.floats(0, 1), value=st.integers(0, 255))
def test_damaged_files_are_refused_or_harmless(tmp_path_factory, at, value):
    """Any byte of the arrays may be wrong, with a checksum that fits: what loads can be printed and used."""
    model, database = MODELS[0]
    path = tmp_path_factory.mktemp("fuzz") / "m"
    save_model(model, path)

    def damage(_, body):
        body[int(at * (len(body) - 1))] = value

    forged(path, None, damage)
    try:
        again = load_model(path)
    except ModelFileError:
        return
    assert again.to_text()
    assert again.to_prolog()
    with contextlib.suppress(ValueError):
        again.predict(database)


MODELS = [fitted()]
