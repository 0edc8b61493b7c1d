import re

import pytest

from crosscut_relational.language.ace_settings import settings_from_text
from crosscut_relational.language.modes import AutoLookahead, Discretization, Literal, TypeVariable, Var
from crosscut_relational.language.prolog import PrologError


def test_settings_of_growth():
    bias = settings_from_text(
        """heuristic(gini). minimal_cases(4). accuracy(0.9). ftest(0.01). pruning(none).
        confidence_level(0.1).
        m_estimate(m(2)). tilde_maxdepth(5). max_lookahead(2). exhaustive_lookahead(1).
        discretize(equal_freq).
        classes([neg,pos]). talking(3). use_packs(ilp). execute(nfold(tilde,10)).
        execute(loofl(tilde,[1,2]))."""
    )
    settings = bias.settings
    assert (settings.heuristic, settings.minimal_cases, settings.accuracy, settings.ftest) == (
        "gini",
        4,
        0.9,
        0.01,
    )
    assert (settings.pruning, settings.confidence_level, settings.m_estimate) == ("none", 0.1, 2.0)
    assert (settings.max_depth, settings.max_lookahead, settings.exhaustive_lookahead) == (5, 2, 1)
    assert (settings.discretize, settings.classes) == ("equal_freq", ("neg", "pos"))
    assert settings.n_folds == 10


def test_defaults_are_those_of_tilde():
    settings = settings_from_text("").settings
    assert (settings.heuristic, settings.minimal_cases, settings.accuracy, settings.ftest) == (
        "gainratio",
        2,
        1.0,
        0.05,
    )
    assert (settings.pruning, settings.confidence_level, settings.m_estimate) == ("c45", 0.25, None)
    assert settings.max_lookahead == 1


def test_language():
    bias = settings_from_text(
        """typed_language(yes). type(p(a,X,_)). type(number < number). load(models).
        warmode(2: q(+a,-b,#c,#[1,2])). auto_lookahead(p(X,Y,_),[X,Y]). to_be_discretized(gen(K,Y),5,[Y])."""
    )
    assert bias.typed
    assert bias.implicit_key
    assert bias.types["p", 3] == ("a", TypeVariable("X"), None)
    assert bias.types["<", 2] == ("number", "number")
    assert bias.types["q", 4] == ("a", "b", "c", None)
    assert str(bias) == "2: q(+V1,-V2,#,#[1,2])"
    (auto,) = bias.auto_lookahead
    assert isinstance(auto, AutoLookahead)
    assert auto.variables == ("X", "Y")
    assert bias.discretizations == (Discretization(Literal("gen", (Var("", "K"), Var("", "Y"))), 5, ("Y",)),)


@pytest.mark.parametrize("text", ["magic_setting(3).", "p(X) :- q(X).", "heuristic(gain,2)."])
def test_unknown_settings_are_named_in_a_warning(text):
    with pytest.warns(UserWarning, match=r"line 1: .* ignored") as caught:
        settings_from_text(text)
    assert text[:9] in str(caught[0].message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("heuristic(magic).", r"line 1: heuristic\(magic\) is not supported; use one of"),
        ("pruning(vsb).", r"pruning\(vsb\) is not supported; use one of"),
        ("tilde_mode(cluster).", r"tilde_mode\(cluster\) is not supported"),
        (
            "ok(1).\nrmode(f(g(X))).".replace("ok(1).", "talking(1)."),
            "line 2: argument g\\(X\\) of f\\(g\\(X\\)\\)",
        ),
    ],
)
def test_settings_that_cannot_be_followed_are_errors(text, message):
    with pytest.raises(PrologError, match=message):
        settings_from_text(text)


def test_warmode_makes_a_language_typed():
    bias = settings_from_text("warmode(edge(+n,-n)). warmode(edge(+n,#c)). rmode(red(+X)).")
    assert bias.typed
    # a file's own word counts, and what it types in two ways fits any type
    assert bias.types == {("edge", 2): ("n", None), ("red", 1): (None,)}
    assert not settings_from_text("warmode(edge(+n,-n)). typed_language(no).").typed
    assert not settings_from_text("type(edge(n,n)). rmode(edge(+X,-Y)).").typed


def test_a_constant_in_a_warmode_leaves_the_type_to_others():
    bias = settings_from_text("warmode(bond(+m,-a,#t)). warmode(bond(+m,-a,7)).")
    assert bias.types["bond", 3] == ("m", "a", "t")


@pytest.mark.parametrize("setting", ["confidence_level(7)", "accuracy(1.5)", "ftest(-0.1)"])
def test_a_share_is_between_0_and_1(setting):
    with pytest.raises(ValueError, match=rf"{setting.split('(')[0]} is .* must be between 0 and 1"):
        settings_from_text(f"{setting}.")


@pytest.mark.parametrize(
    "setting",
    ["leave_out(1)", "random_test_set(0.3)", "random_validation_set(0.1)", "sampling_strategy(random)"],
)
def test_settings_that_hold_examples_out_are_refused_by_name(setting):
    with pytest.raises(PrologError, match=rf"line 1: {re.escape(setting)} is not supported: trees"):
        settings_from_text(f"{setting}.")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("execute(bagging(tilde,10))", "use t, tilde, nfold"),
        ("execute(nfold(warmr,10))", "use t, tilde, nfold"),
        ("load(tables)", "use one of examples, key, keys, model, models"),
        ("typed_language(maybe)", "use one of no, yes"),
        ("max_lookahead(-1)", "it must be at least 0"),
        ("m_estimate(-2)", "it must be at least 0"),
    ],
)
def test_settings_that_would_change_the_tree_are_refused_by_name(setting, message):
    with pytest.raises(PrologError, match=rf"line 1: {setting.split('(')[0]}.*{message}"):
        settings_from_text(f"{setting}.")


def test_a_name_after_a_hash_is_not_taken_for_every_constant():
    with pytest.raises(PrologError, match=r"#x in p\(\+X,#x\): write # for every constant"):
        settings_from_text("rmode(p(+X,#x)).")
    assert settings_from_text("warmode(p(+m,#x)).").types["p", 2] == ("m", "x")


def test_holding_nothing_out_needs_no_warning(recwarn):
    settings_from_text("leave_out(none). random_test_set(0).")
    assert not recwarn.list
