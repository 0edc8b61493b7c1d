"""The oracle gives the trees TILDE published, so that database and language hold all that is needed."""

import pytest

from crosscut.datasets import bongard, machines
from crosscut.relational.database.database import Database
from crosscut.relational.language.bias import Bias

from .naive import Path, Prover, grow, refinements

MACHINES = [("sendback", 6), ("fix", 6), ("ok", 3)]
BONGARD = [
    ("pos", 82),
    ("neg", 28),
    ("pos", 34),
    ("neg", 36),
    ("neg", 79),
    ("pos", 12),
    ("neg", 34),
    ("neg", 87),
]


def leaves(database, node):
    """Class and size of each leaf, all of which are pure."""
    found = []
    for counts in node.leaves():
        assert sum(count > 0 for count in counts) == 1
        found.append((database.classes[max(range(len(counts)), key=counts.__getitem__)], sum(counts)))
    return found


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("machines/keys/mach", MACHINES),
        ("machines/examples/mach", MACHINES),
        ("bongard/keys/bongard", BONGARD),
        ("bongard/examples/bongard", BONGARD),
    ],
)
def test_published_trees(ace_data, prefix, expected):
    database = Database.from_ace(ace_data / prefix)
    language = Bias.from_ace(ace_data / prefix).resolve(database)
    assert leaves(database, grow(database, language)) == expected


def test_machines_can_be_learnt():
    database, bias = machines()
    tree = grow(database, bias.resolve(database))
    assert leaves(database, tree) == MACHINES
    assert [goal.name for goal in tree.test] == ["worn"]


def test_simple_bongard_pictures_can_be_learnt():
    database, bias = bongard(n=60, seed=4)
    tree = grow(database, bias.resolve(database))
    assert len(leaves(database, tree)) > 2


def test_rules_and_negation_are_proved():
    database = Database.from_prolog(
        "m(1,a). m(2,b). q(1,5). q(1,7). less(X,Y) :- X < Y. low(M,T) :- q(M,V), V < T.", predict="m(+k,-c)"
    )
    language = Bias.of(["low(+M,#[5,6,9])", "\\+ q(+M,7)"]).resolve(database)
    prover = Prover(database)
    found = [
        [prover.holds(path.goals, example) for example in (0, 1)]
        for path in refinements(language, Path(language.root, language.root_types))
    ]
    assert found == [[False, False], [True, False], [True, False], [False, True]]
