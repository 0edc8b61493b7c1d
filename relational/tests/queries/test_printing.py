from itertools import islice

import pytest

from crosscut_relational.database.constants import Constants
from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier
from crosscut_relational.language.bias import Bias
from crosscut_relational.language.rule import Goal
from crosscut_relational.queries.printing import body_text, letters
from crosscut_relational.queries.tree import Signature
from paper.data import machines


def test_letters_go_on_after_z():
    assert list(islice(letters(), 24, 29)) == ["Y", "Z", "A1", "B1", "C1"]


def test_machines_print_as_in_the_papers():
    database, bias = machines()
    model = RelationalTreeClassifier(bias, cv=None).fit(database)
    assert str(model).splitlines() == [
        "machine(-A,-B)",
        "worn(A,-C) ? ",
        "+--yes: not_replaceable(C) ? ",
        "|       +--yes: [sendback] 6.0 [[fix:0.0,ok:0.0,sendback:6.0]]",
        "|       +--no:  [fix] 6.0 [[fix:6.0,ok:0.0,sendback:0.0]]",
        "+--no:  [ok] 3.0 [[fix:0.0,ok:3.0,sendback:0.0]]",
    ]
    assert model.to_prolog().splitlines() == [
        "machine(A,[sendback]) :- worn(A,B),not_replaceable(B), !.",
        "% 6.0/6.0=1.0",
        "machine(A,[fix]) :- worn(A,B), !.",
        "% 6.0/6.0=1.0",
        "machine(A,[ok]).",
        "% 3.0/3.0=1.0",
    ]


@pytest.mark.parametrize(
    ("mode", "printed"),
    [("\\+ p(+K,-X)", "\\+p(A,-C) ? "), ("(p(+K,-X), X > 1)", "p(A,-C),C>1 ? "), ("p(+K,#[2])", "p(A,2) ? ")],
)
def test_tests_print_as_prolog(mode, printed):
    facts = "c(1,a). c(2,a). c(3,b). c(4,b). p(1,2). p(2,2)."
    database = Database.from_prolog(facts, predict="c(+k,-v)")
    model = RelationalTreeClassifier(Bias.of([mode], pruning="none"), cv=None).fit(database)
    assert str(model).splitlines()[1] == printed


def test_a_body_names_only_variables_that_are_used_again():
    constants = Constants()
    signature = Signature(constants, n_keys=2, n_fixed=3, root=(Goal("map", (0, 1, 2)),))
    goals = (Goal("p", (0, 3, 4)), Goal("q", (4, ~constants.intern("x"), 5), True))
    assert body_text(goals, signature) == "map(A,B,_), p(A,_,C), \\+q(C,x,_)"
    assert body_text((Goal(">", (2, 3)),), signature) == "map(A,B,C), C>_"
