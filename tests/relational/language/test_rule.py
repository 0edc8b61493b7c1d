import pytest

from crosscut.relational.language.rule import Goal, Rule

CLOSE = Rule("close", 2, ((Goal("charge", (0, 2)), Goal("<", (2, 1))),), frozenset({1}))


def test_local_variables_get_free_numbers():
    assert CLOSE.expand(Goal("close", (3, ~8)), 7) == (Goal("charge", (3, 7)), Goal("<", (7, ~8)))


def test_negation_of_one_test_is_written_in_place():
    equals = Rule("equals", 2, ((Goal("=", (0, 1)),),), frozenset({0, 1}))
    assert equals.expand(Goal("equals", (4, ~9), negated=True), 5) == (Goal("\\=", (4, ~9)),)
    less = Rule("less", 2, ((Goal("<", (0, 1)),),), frozenset({0, 1}))
    # not >=, which is false too if a side is not a number
    assert less.expand(Goal("less", (4, 5), negated=True), 6) == (Goal("<", (4, 5), negated=True),)


def test_what_cannot_be_written_in_place_is_an_error():
    with pytest.raises(ValueError, match=r"\\\+ close/2"):
        CLOSE.expand(Goal("close", (0, 1), negated=True), 2)
    either = Rule("either", 1, ((Goal("p", (0,)),), (Goal("q", (0,)),)), frozenset())
    with pytest.raises(ValueError, match="either/1 is defined by 2 clauses"):
        either.expand(Goal("either", (0,)), 1)
