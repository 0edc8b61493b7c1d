import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosscut_relational.language.prolog import read_term
from crosscut_relational.language.terms import (
    Compound,
    Variable,
    conjuncts,
    indicator,
    is_ground,
    predicate_of,
    term_text,
    variables,
)

ATOMS = st.one_of(
    st.from_regex(r"[a-z][a-zA-Z0-9_]{0,5}", fullmatch=True),
    st.text(st.characters(min_codepoint=32, max_codepoint=382), max_size=5),
    st.sampled_from(
        ["+", "-", "<", "=<", ";", ",", "|", "!", "[]", "{}", ":-", "is", "mod", "dynamic", "#", "."]
    ),
)
NUMBERS = st.one_of(st.integers(-999, 999), st.floats(-1e6, 1e6, allow_nan=False))
GROUND = st.recursive(
    ATOMS | NUMBERS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.builds(Compound, ATOMS, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(
            Compound,
            st.sampled_from(["+", "-", "*", "<", "=<", ",", ";", ":-", "is", ":", "=", "mod", "->"]),
            st.tuples(inner, inner),
        ),
        st.builds(Compound, st.sampled_from(["-", "+", "+-", "\\+", "#"]), st.tuples(inner)),
    ),
    max_leaves=8,
)


@given(GROUND)
def test_text_reads_back_as_the_same_term(term):
    assert read_term(term_text(term)) == term


def test_variables_come_from_left_to_right_with_repetitions():
    term = read_term("p(X, f(Y, [X, Z]), 3)")
    assert [variable.name for variable in variables(term)] == ["X", "Y", "X", "Z"]
    assert not is_ground(term)
    assert is_ground(read_term("p([a,b],f(c))"))


def test_anonymous_variables_are_different():
    first, second = variables(read_term("p(_, _)"))
    assert first is not second


def test_conjuncts_flatten_nesting():
    assert [term_text(goal) for goal in conjuncts(read_term("(a, (b, c)), d"))] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("text", "expected"), [("p(a,b)", "p/2"), ("p", "p/0"), ("'Big'(x)", "'Big'/1")])
def test_indicator(text, expected):
    assert indicator(*predicate_of(read_term(text))) == expected


def test_variables_are_equal_only_to_themselves():
    assert Variable("X") != Variable("X")


@pytest.mark.parametrize("text", ["[a,b|T]", "f([[a|X],b|T])", "[X|Y]", "[1,2|a+b]", "[[a]+b|T]"])
def test_lists_with_an_open_end_are_written_as_lists(text):
    assert term_text(read_term(text)) == text
