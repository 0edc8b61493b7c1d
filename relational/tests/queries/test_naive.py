"""The oracle gives the trees TILDE published, so that database and language hold all that is needed."""

import pytest

from crosscut_relational.database.database import Database
from crosscut_relational.language.bias import Bias
from crosscut_relational.language.rule import Goal, Rule
from crosscut_relational.queries.resolve import resolve
from paper.data import bongard, machines
from tests.machines import FORMS, write_machines

from .naive import Path, Prover, called, grow, refinements

MACHINES = [("sendback", 6), ("fix", 6), ("ok", 3)]


def leaves(database, node):
    """Class and size of each leaf, all of which are pure."""
    found = []
    for counts in node.leaves():
        assert sum(count > 0 for count in counts) == 1
        found.append((database.classes[max(range(len(counts)), key=counts.__getitem__)], sum(counts)))
    return found


@pytest.mark.parametrize("form", FORMS)
def test_the_tree_that_tilde_published(tmp_path, form):
    prefix = write_machines(tmp_path, form)
    database = Database.from_ace(prefix)
    language = resolve(Bias.from_ace(prefix), database)
    assert leaves(database, grow(database, language)) == MACHINES


def test_machines_can_be_learnt():
    database, bias = machines()
    tree = grow(database, resolve(bias, database))
    assert leaves(database, tree) == MACHINES
    assert [goal.name for goal in tree.test] == ["worn"]


def test_simple_bongard_pictures_can_be_learnt():
    database, bias = bongard(n=60, seed=4)
    tree = grow(database, resolve(bias, database))
    assert len(leaves(database, tree)) > 2


def test_calls_of_rules_are_written_in_place():
    close = Rule("close", 2, ((Goal("charge", (0, 2)), Goal("<", (2, 1))),), frozenset({1}))
    assert called(close, Goal("close", (3, ~8)), 7) == (Goal("charge", (3, 7)), Goal("<", (7, ~8)))
    less = Rule("less", 2, ((Goal("<", (0, 1)),),), frozenset({0, 1}))
    # not >=, which is false too if a side is not a number
    assert called(less, Goal("less", (4, 5), negated=True), 6) == (Goal("<", (4, 5), negated=True),)


def test_rules_and_negation_are_proved():
    database = Database.from_prolog(
        "m(1,a). m(2,b). q(1,5). q(1,7). less(X,Y) :- X < Y. low(M,T) :- q(M,V), V < T.", predict="m(+k,-c)"
    )
    language = resolve(Bias.of(["low(+M,#[5,6,9])", "\\+ q(+M,7)"]), database)
    prover = Prover(database)
    found = [
        [prover.holds(path.goals, example) for example in (0, 1)]
        for path in refinements(language, Path(language.root, language.root_types))
    ]
    assert found == [[False, False], [True, False], [True, False], [False, True]]
