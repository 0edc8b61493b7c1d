import numpy as np
import pytest

from crosscut import datasets
from crosscut.relational.database.database import Database
from crosscut.relational.estimators import RelationalTreeClassifier
from crosscut.relational.language.prolog import PrologError
from crosscut.relational.queries.decision_list import DecisionList
from relational.machines import FORMS, PROGRAMS, write_machines


@pytest.mark.parametrize(
    ("make", "arguments"),
    [("bongard", {"theory": "complex", "n": 150}), ("molecules", {"n": 60}), ("asm", {"n": 120})],
)
def test_a_tree_reads_back_as_itself(make, arguments):
    database, bias = getattr(datasets, make)(**arguments)
    model = RelationalTreeClassifier(bias, cv=None).fit(database)
    program = model.to_prolog()
    assert program.count(":-") == model.tree_.n_leaves - 1
    other, _ = getattr(datasets, make)(**arguments, seed=1)
    for db in (database, other):
        assert DecisionList.from_prolog(program).predict(db).tolist() == model.predict(db).tolist()


@pytest.mark.parametrize("form", FORMS)
def test_the_program_that_tilde_printed_classifies_its_own_examples(tmp_path, form):
    database = Database.from_ace(write_machines(tmp_path, form))
    predicted = DecisionList.from_prolog(PROGRAMS[form]).predict(database)
    assert predicted.tolist() == [database.classes[code] for code in database.target]


def test_examples_no_clause_applies_to_get_none():
    database, _ = datasets.machines()
    predicted = DecisionList.from_prolog("machine(A,fix) :- worn(A,gear), \\+ worn(A,engine), !.").predict(
        database
    )
    assert set(predicted) == {"fix", None}
    assert np.count_nonzero(predicted == "fix") == 4


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("", "no clauses"),
        ("stop.", "no head that gives a class"),
        ("machine(1,fix) :- worn(1,gear).", "is not a variable"),
        ("machine(A,B,fix).", "2 keys"),
    ],
)
def test_programs_that_are_no_decision_lists(program, message):
    database, _ = datasets.machines()
    with pytest.raises(PrologError, match=message):
        DecisionList.from_prolog(program).predict(database)
