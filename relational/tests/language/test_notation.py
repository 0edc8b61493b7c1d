import pytest

from crosscut_relational.language.modes import Choice, Const, Key, Literal, TypeVariable, Var
from crosscut_relational.language.notation import (
    lookahead_from_terms,
    mode_from_term,
    root_from_term,
    types_from_term,
)
from crosscut_relational.language.prolog import PrologError, read_term


def mode(text):
    return mode_from_term(read_term(text))


def test_every_kind_of_argument():
    (literal,) = mode("p(+A,-B,+-C,D,#,#[a,1],k,-3,+id)").literals
    assert literal.args == (
        Var("+", "A"),
        Var("-", "B"),
        Var("+-", "C"),
        Var("", "D"),
        Choice(),
        Choice(("a", 1)),
        Const("k"),
        Const(-3),
        Const("id"),
    )


def test_uses_conjunctions_and_negation():
    made = mode("3: (p(+A,-B), \\+ q(B), B < 5)")
    assert made.max_uses == 3
    assert [literal.name for literal in made.literals] == ["p", "q", "<"]
    assert [literal.negated for literal in made.literals] == [False, True, False]
    assert str(made) == "3: p(+A,-B), \\+ q(B), B < 5"


def test_anonymous_variables_are_different():
    first, second = mode("p(_,_)").literals[0].args
    assert first != second


@pytest.mark.parametrize(
    ("text", "names", "limit"),
    [
        ("#(C: member(C,[1,2]), +X < C)", ("C",), None),
        ("#(5*C: gen(C), +X = C)", ("C",), 5),
        ("#(10*5*C: gen(C), +X = C)", ("C",), 5),
        ("#([C,D]: gen(C,D), p(+X,C,D))", ("C", "D"), None),
    ],
)
def test_generated_constants(text, names, limit):
    generator = mode(text).generator
    assert generator.variables == names
    assert generator.max_values == limit


def test_new_variables_of_a_lookahead_do_not_meet_those_of_its_template():
    made = lookahead_from_terms(read_term("p(M,_,A)"), read_term("q(M,_,A,B)"))
    new = made.then[0].args[1]
    assert new not in made.first.args
    assert made.then[0].args[0] == made.first.args[0]


def test_root_marks_the_keys_and_leaves_out_the_target():
    assert root_from_term(read_term("t(X,Y), kmap(X,A,_)"), ("t", 2)) == (
        Literal("kmap", (Key(0), Var("", "A"), Var("", "_1"))),
    )


def test_types():
    assert types_from_term(read_term("p(a,X,_,X)")) == (
        ("p", 4),
        ("a", TypeVariable("X"), None, TypeVariable("X")),
    )


@pytest.mark.parametrize(
    "text", ["(p ; q)", "p(f(X))", "#(C, p(C))", "#(C+1: gen(C), p(C))", "p(#[X])", "17"]
)
def test_modes_that_cannot_be_read(text):
    with pytest.raises(PrologError):
        mode(text)
