"""scikit-learn's callbacks on our searches are served without fitting tree by tree."""

import warnings

import pytest
from sklearn import model_selection as scikit
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from crosscut import DelegationWarning, GridSearchCV, RandomizedSearchCV

X, Y = load_iris(return_X_y=True)
GRID = {"max_depth": [1, 2, None], "min_samples_leaf": [1, 5]}


class Log:
    """Records every task by its name and whether it begins or ends."""

    def __init__(self):
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append(("setup", context.task_name, context.max_subtasks))

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", context.task_name, context.max_subtasks))

    def on_fit_task_end(self, estimator, context):
        self.calls.append(("end", context.task_name, context.max_subtasks))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.task_name, context.max_subtasks))


@pytest.mark.parametrize("refit", [True, False])
def test_the_tasks_are_scikit_learns(refit):
    ours, theirs = Log(), Log()
    with warnings.catch_warnings():
        warnings.simplefilter("error", DelegationWarning)
        GridSearchCV(DecisionTreeClassifier(), GRID, cv=4, refit=refit).set_callbacks(ours).fit(X, Y)
    scikit.GridSearchCV(DecisionTreeClassifier(), GRID, cv=4, refit=refit).set_callbacks(theirs).fit(X, Y)
    assert sorted(map(str, ours.calls)) == sorted(map(str, theirs.calls))
    assert ours.calls[0] == theirs.calls[0]
    assert ours.calls[-1] == theirs.calls[-1]
    assert ours.calls.count(("end", "candidate-split-evaluation", 0)) == 24


def test_a_progress_bar_does_not_delegate(capsys):
    search = RandomizedSearchCV(DecisionTreeClassifier(), GRID, n_iter=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DelegationWarning)
        search.set_callbacks(ProgressBar()).fit(X, Y)
    assert "RandomizedSearchCV - fit" in capsys.readouterr().out


def test_a_callback_that_takes_fitted_estimators_is_delegated():
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2)
    with pytest.warns(DelegationWarning, match="the callback ScoringMonitor takes"):
        search.set_callbacks(ScoringMonitor(scoring="accuracy")).fit(X, Y)


def test_callbacks_are_torn_down_after_an_error(monkeypatch):
    def broken(*_):
        raise MemoryError

    monkeypatch.setattr("crosscut.model_selection.search.Call.grow", broken)
    log = Log()
    with pytest.raises(MemoryError):
        GridSearchCV(DecisionTreeClassifier(), GRID).set_callbacks(log).fit(X, Y)
    assert [log.calls[0][0], log.calls[-1][0]] == ["setup", "teardown"]
