from itertools import islice

import pytest

from crosscut import datasets
from crosscut.relational.bias import Bias
from crosscut.relational.database import Database
from crosscut.relational.estimators import RelationalTreeClassifier
from crosscut.relational.printing import letters


def test_letters_go_on_after_z():
    assert list(islice(letters(), 24, 29)) == ["Y", "Z", "A1", "B1", "C1"]


def test_machines_print_as_in_the_papers():
    database, bias = datasets.machines()
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
