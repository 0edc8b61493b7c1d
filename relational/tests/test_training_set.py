import numpy as np
import pandas as pd
import pytest

from crosscut.tasks.folds import folds_of as table_folds
from crosscut_relational import Bias, Database, RelationalTreeClassifier, RelationalTreeRegressor
from crosscut_relational.training_set import RelationalSet, StepLimitWarning, folds_of, tasks_of
from paper.data import bongard, machines, molecules


def test_folds_are_spread_evenly_over_classes():
    database, _ = bongard(n=103)
    folds = folds_of(tasks_of(10, database))
    assert folds.tolist() == table_folds(10, 103, database.target).tolist()
    for code in range(2):
        sizes = np.bincount(folds[database.target == code], minlength=10)
        assert sizes.max() - sizes.min() <= 1
    for cv in (folds.tolist(), pd.Series(folds)):
        assert folds_of(tasks_of(cv, database)).tolist() == folds.tolist()
    marked = database.with_folds(np.arange(103) % 4 * 10 - 10)
    marked.folds[marked.folds < 0] = -1
    assert folds_of(tasks_of("marks", marked)).tolist() == [i % 4 - 1 for i in range(103)]


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "must be at least 2"),
        ("folds", "only string allowed is 'marks'"),
        ("marks", "no fold marks"),
        ([0, 1], "one for each of 15 rows"),
    ],
)
def test_folds_that_make_no_sense(cv, message):
    database, bias = machines()
    with pytest.raises(ValueError, match=message):
        RelationalTreeClassifier(bias, cv=cv).fit(database)


def test_a_search_that_is_given_up_is_warned_about():
    database, bias = molecules(n=30)
    with pytest.warns(StepLimitWarning, match="step_limit=20 steps"):
        RelationalTreeClassifier(bias, cv=None, step_limit=20).fit(database)


def test_targets_that_do_not_fit():
    numbers = Database.from_prolog("y(1,1.5). y(2,2.5).", predict="y(+k,-v)", regression=True)
    with pytest.raises(ValueError, match="use RelationalTreeRegressor"):
        RelationalTreeClassifier(Bias.of(["p(+K)"])).fit(numbers)
    database, bias = machines()
    with pytest.raises(ValueError, match="use RelationalTreeClassifier"):
        RelationalTreeRegressor(bias).fit(database)
    database.target = None
    with pytest.raises(ValueError, match="no examples with a target"):
        RelationalTreeClassifier(bias).fit(database)


def test_marks_of_the_database_are_its_folds():
    facts = "c(1,a). c(2,a). c(3,b). c(4,b). p(1)."
    database = Database.from_prolog(facts, predict="c(+k,-v)").with_folds([0, 1, 0, 1])
    data = RelationalSet.read(database, Bias.of(["p(+K)"]), "marks")
    assert data.folds.tolist() == [0, 1, 0, 1]
