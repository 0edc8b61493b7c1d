"""Random calls of the drop-ins beside scikit-learn's functions, on tables with and without ties.

Results may differ only where scikit-learn draws between equally good tests: its own result then changes with
its random state, the order of the cuts, or weights that differ by 1e-13; or the trees of the same splits
differ in a node in which both tests have the same quality. CROSSCUT_CALLS is the number of calls of the slow
test.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn import model_selection as scikit
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - makes the halving searches public
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.class_weight import compute_sample_weight

import crosscut

from .tie_free import explained

CALLS = int(os.environ.get("CROSSCUT_CALLS", "2000"))
SHARD = 250
DEPTHS = [1, 3]  # of validation curves
CLASS_SCORES = ["accuracy", "balanced_accuracy", "f1", "f1_macro", "roc_auc", "neg_log_loss", None]
NUMBER_SCORES = ["r2", "neg_mean_squared_error", "neg_mean_absolute_error", "neg_max_error", None]


class Call:
    """A random function with random arguments; ``run(module)`` calls crosscut's or scikit-learn's."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        n, n_columns = int(rng.integers(12, 150)), int(rng.integers(1, 7))
        X = rng.normal(size=(n, n_columns)) * rng.choice([1.0, 1e-4, 1e5])
        if rng.random() < 0.4:
            X[:, : n_columns // 2 + 1] = rng.integers(0, 6, size=(n, n_columns // 2 + 1))
        signal = X[:, 0] / X[:, 0].std() + rng.normal(size=n)
        if rng.random() < 0.2:
            X[rng.random(X.shape) < 0.1] = np.nan
        self.classes = rng.random() < 0.6
        limits = {
            "max_depth": [None, *range(1, 6)][rng.integers(6)],
            "min_samples_leaf": int(rng.choice([1, 2, 4, 8])),
            "ccp_alpha": float(rng.choice([0.0, 0.0, 0.0, 0.02])),
        }
        if self.classes:
            n_classes = int(rng.choice([2, 2, 3, 5]))
            self.y = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
            self.tree = DecisionTreeClassifier(
                criterion=str(rng.choice(["gini", "entropy"])),
                class_weight=[None, None, "balanced"][rng.integers(3)],
                **limits,
            )
        else:
            self.y = np.round(signal, int(rng.choice([0, 1, 12])))
            self.tree = DecisionTreeRegressor(**limits)
        self.X = X
        self.weights = {}
        if rng.random() < 0.3:
            self.weights = {"sample_weight": rng.choice([0.5, 1.0, 2.0, 3.0], n)}
        self.steps = bool(rng.random() < 0.1 and not self.weights)
        self.cv = self._splitter(n)
        self.scoring = str_or_none(rng.choice(np.array(CLASS_SCORES if self.classes else NUMBER_SCORES)))
        self.name = str(rng.choice(sorted(FUNCTIONS)))
        self.grid = {f"{self.prefix()}max_depth": [1, 2, 4], f"{self.prefix()}min_samples_leaf": [1, 3]}
        self.number = int(rng.integers(1 << 30))

    def _splitter(self, n):
        shuffle = {"shuffle": True, "random_state": 0}
        splitters = [
            scikit.KFold(int(self.rng.integers(2, 6))),
            scikit.KFold(3, **shuffle),
            scikit.ShuffleSplit(3, test_size=0.3, random_state=1),
            scikit.TimeSeriesSplit(3),
            scikit.RepeatedKFold(n_splits=3, n_repeats=2, random_state=2),
        ]
        if self.classes and np.bincount(self.y).min() >= 3:
            splitters.append(scikit.StratifiedKFold(3, **shuffle))
        if n <= 30:
            splitters.append(scikit.LeaveOneOut())
        return splitters[self.rng.integers(len(splitters))]

    def prefix(self):
        return f"{type(self.tree).__name__.lower()}__" if self.steps else ""

    def model(self, random_state):
        tree = clone(self.tree).set_params(random_state=random_state)
        return make_pipeline(StandardScaler(), tree) if self.steps else tree

    def run(self, module, random_state=0):
        """Return the result as a list of arrays, or the error's type."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return FUNCTIONS[self.name](self, module, self.model(random_state))
            except (ValueError, TypeError, AttributeError, NotImplementedError) as error:
                return type(error)

    def _weights(self, train):
        """Return the weights that a tree on these rows trains with, or None."""
        weights = self.weights["sample_weight"][train] if self.weights else None
        if self.classes and self.tree.class_weight:
            balanced = compute_sample_weight("balanced", self.y[train])
            return balanced if weights is None else weights * balanced
        return weights

    def is_a_tie(self, theirs):
        """Whether the trees of the splits differ in equally good tests, or scikit-learn's result varies."""
        given, name = self.weights, f"{self.prefix()}sample_weight"
        weights = given.get(name, np.ones(len(self.y)))
        for random_state in range(20):  # draws the order of columns; signs turn the order of cuts round
            self.X = -self.X
            if random_state % 4 > 1:  # sums are rounded otherwise
                self.weights = {name: weights * (1 + self.rng.normal(size=len(weights)) * 1e-13)}
            if not same(self.run(scikit, random_state), theirs):
                return True
        self.weights = given
        if self.steps:
            return False
        tree = self.tree.set_params(ccp_alpha=0.0, random_state=0)
        grids = {"validation_curve": {"max_depth": DEPTHS}}
        grid = self.grid if "Search" in self.name else grids.get(self.name, {})
        for candidate in scikit.ParameterGrid(grid):
            model = clone(tree).set_params(**candidate)
            splits = list(self.cv.split(self.X, self.y))
            ours, others = (
                module.cross_validate(
                    model, self.X, self.y, cv=splits, params=self.weights, return_estimator=True
                )["estimator"]
                for module in (crosscut, scikit)
            )
            for mine, other, (train, _) in zip(ours, others, splits, strict=True):
                if explained(mine, other, self.X[train], self.y[train], self._weights(train)):
                    return True
        return False


def str_or_none(name):
    return None if name is None or name == "None" else str(name)


def validated(call, module, model):
    results = module.cross_validate(
        model,
        call.X,
        call.y,
        cv=call.cv,
        scoring=call.scoring,
        return_train_score=True,
        params=call.weights,
    )
    return [results["test_score"], results["train_score"]]


def scored(call, module, model):
    return [
        module.cross_val_score(model, call.X, call.y, cv=call.cv, scoring=call.scoring, params=call.weights)
    ]


def predicted(call, module, model):
    method = "predict_proba" if call.classes and call.number % 2 else "predict"
    return [module.cross_val_predict(model, call.X, call.y, cv=call.cv, method=method, params=call.weights)]


def searched(search):
    found = search.cv_results_
    return [np.asarray(found[key], float) for key in sorted(found) if key.endswith("_score")] + [
        np.array(sorted(search.best_params_.values()))
    ]


def grid(call, module, model):
    search = module.GridSearchCV(model, call.grid, cv=call.cv, scoring=call.scoring)
    return searched(search.fit(call.X, call.y, **call.weights))


def randomized(call, module, model):
    search = module.RandomizedSearchCV(
        model, call.grid, n_iter=3, cv=call.cv, scoring=call.scoring, random_state=call.number
    )
    return searched(search.fit(call.X, call.y, **call.weights))


def halving(call, module, model):
    search = module.HalvingGridSearchCV(
        model, call.grid, cv=3, scoring=call.scoring, random_state=call.number, min_resources=10
    )
    return searched(search.fit(call.X, call.y, **call.weights))


def curve(call, module, model):
    return list(
        module.validation_curve(
            model,
            call.X,
            call.y,
            param_name=f"{call.prefix()}max_depth",
            param_range=DEPTHS,
            cv=call.cv,
            scoring=call.scoring,
            params=call.weights,
        )
    )


def learned(call, module, model):
    return list(
        module.learning_curve(
            model,
            call.X,
            call.y,
            train_sizes=[0.3, 0.7, 1.0],
            cv=call.cv,
            scoring=call.scoring,
            params=call.weights,
        )
    )


def permuted(call, module, model):
    score, scores, p_value = module.permutation_test_score(
        model,
        call.X,
        call.y,
        cv=call.cv,
        scoring=call.scoring,
        n_permutations=4,
        random_state=call.number,
        params=call.weights,
    )
    return [np.array([score, p_value]), scores]


FUNCTIONS = {
    "cross_val_predict": predicted,
    "cross_val_score": scored,
    "cross_validate": validated,
    "GridSearchCV": grid,
    "HalvingGridSearchCV": halving,
    "learning_curve": learned,
    "permutation_test_score": permuted,
    "RandomizedSearchCV": randomized,
    "validation_curve": curve,
}


def same(one, two):
    if isinstance(one, type) or isinstance(two, type):
        return one is two
    return len(one) == len(two) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True)
        for a, b in zip(one, two, strict=True)
    )


def compare(seeds):
    """Return how the calls compare; every difference must be explained by a tie."""
    outcomes, unexplained = Counter(), []
    for seed in seeds:
        call = Call(seed)
        ours, theirs = call.run(crosscut), call.run(scikit)
        if same(ours, theirs):
            outcomes["refused by both" if isinstance(theirs, type) else "equal"] += 1
        elif call.is_a_tie(theirs):
            outcomes["a tie"] += 1
        else:
            unexplained.append((seed, call.name, ours, theirs))
    assert not unexplained
    return outcomes


def test_a_few_calls():
    assert compare(range(150))["equal"] > 60


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, CALLS, SHARD))
def test_calls(first):
    assert compare(range(1000 + first, 1000 + first + SHARD))["equal"] > SHARD / 2
