"""Data on which no two tests of a node are equally good: scikit-learn's random state then decides nothing."""

import math
from fractions import Fraction
from operator import mul

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv


def is_tie_free(estimator, X, y, *, cv=5, params=({},), seeds=3, **fit_params):
    """Whether scikit-learn grows the same trees whatever the order in which it looks at tests.

    The order of columns is its random state's; the order of cuts within a column is turned round by changing
    every value's sign. Asked for every training set and for all rows.
    """
    splits = [train for train, _ in check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y)]
    for rows in [*splits, np.arange(len(y))]:
        given = {name: value[rows] for name, value in fit_params.items()}
        for candidate in params:
            model = clone(estimator).set_params(**candidate)
            parts = [
                _parts(
                    clone(model).set_params(random_state=seed).fit(sign * X[rows], y[rows], **given), sign * X
                )
                for seed in range(seeds)
                for sign in (1, -1)
            ]
            if any(part != parts[0] for part in parts[1:]):
                return False
    return True


def _parts(model, X):
    """Return the rows of every node, each set as the sum of its rows' keys."""
    keys = np.random.default_rng(0).integers(1 << 48, size=len(X))
    return sorted((model.decision_path(X).T @ keys).tolist())


def explained(ours, theirs, X, y, weights=None):
    """Return whether two of scikit-learn's fitted trees differ, and only where tests are equally good.

    Nodes that hold the same rows are compared from the root on. Where their tests differ, the qualities have
    to be equal: as fractions, if rows are counted, and up to scikit-learn's rounding, if targets or weights
    are any numbers.
    """
    counted = is_classifier(ours) and weights is None
    weights = np.ones(len(y), int) if weights is None else weights
    quality = QUALITIES[ours.criterion]
    todo, ties = [((0, 0), np.arange(len(y)))], 0
    while todo:
        nodes, rows = todo.pop()
        trees = [(model.tree_, node) for model, node in zip((ours, theirs), nodes, strict=True)]
        (test, left), (other, other_left) = (_test(*one, X[rows]) for one in trees)
        if test != other:
            assert None not in (test, other), "one tree splits where the other has a leaf"
            one, two = (quality(y[rows], weights[rows], side) for side in (left, other_left))
            assert one == two if counted else abs(one - two) <= 1e-12 * abs(one), (one, two)
            ties += 1
        elif test:
            for name, own in (("children_left", left), ("children_right", ~left)):
                todo.append(([getattr(tree, name)[node] for tree, node in trees], rows[own]))
    return ties > 0


def _test(tree, node, X):
    """Return a node's column, threshold and way of missing values, and the rows that go left."""
    column, threshold = tree.feature[node], tree.threshold[node]
    if column < 0:
        return None, None
    value, missing_left = X[:, column].astype(np.float32), bool(tree.missing_go_to_left[node])
    left = np.where(np.isnan(value), missing_left, value <= threshold)
    return (column, threshold, missing_left), left


def _sides(y, weights, left):
    """Yield the weights of the classes of each side."""
    for side in (left, ~left):
        yield [sum(map(Fraction, weights[side & (y == c)].tolist())) for c in np.unique(y)]


def _gini(y, weights, left):
    return sum(sum(w * w for w in side) / sum(side) for side in _sides(y, weights, left))


def _entropy(y, weights, left):
    """Return, of counts n, the product of n^n by class over that by side, whose logarithm is the quality."""
    if weights.dtype.kind == "f":
        return sum(
            sum(math.log(w) * w for w in map(float, side) if w) - math.log(sum(side)) * float(sum(side))
            for side in _sides(y, weights, left)
        )
    return math.prod(
        Fraction(math.prod(int(n) ** int(n) for n in side), int(sum(side)) ** int(sum(side)))
        for side in _sides(y, weights, left)
    )


def _squares(y, weights, left):
    """Return the quality with the targets less their mean, which is the same order of tests."""
    y, w = [Fraction(v) for v in y.tolist()], [Fraction(v) for v in weights.tolist()]
    mean = sum(map(mul, w, y)) / sum(w)
    quality = 0
    for side in (left, ~left):
        rows = np.flatnonzero(side)
        quality += sum(w[i] * (y[i] - mean) for i in rows) ** 2 / sum(w[i] for i in rows)
    return quality


QUALITIES = {"gini": _gini, "entropy": _entropy, "squared_error": _squares}


def make_data(seed, n_rows=300, n_features=4, *, n_classes=2):
    """Numbers without equal values; ``n_classes=0`` gives a numeric target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    signal = X[:, 0] + np.sin(2 * X[:, 1 % n_features]) + rng.normal(size=n_rows) * 0.7
    if n_classes == 0:
        return X, signal
    return X, np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)


def make_weights(seed, n_rows):
    """Weights that part tests which counts of rows would leave equal."""
    return np.random.default_rng(seed).uniform(0.5, 2, n_rows)


def tie_free_data(estimator, n_rows=200, n_features=3, *, n_classes=2, seed=0, weighted=False, **options):
    """Return the first data, from ``seed`` on, on which the estimator meets no tie; and weights if asked."""
    for attempt in range(seed, seed + 20):
        X, y = make_data(attempt, n_rows, n_features, n_classes=n_classes)
        weights = {"sample_weight": make_weights(attempt, n_rows)} if weighted else {}
        if is_tie_free(estimator, X, y, **options, **weights):
            return (X, y, weights["sample_weight"]) if weighted else (X, y)
    raise AssertionError("no data without ties found")


def without_ties(result_of, seed=0):
    """Return the first seed, from ``seed`` on, on which the order of columns and cuts decides nothing.

    ``result_of(seed, random_state, sign)`` gives scikit-learn's result on data whose values have this sign,
    and a list of its numbers. The result is returned, too.
    """
    for attempt in range(seed, seed + 20):
        (result, one), (_, other) = result_of(attempt, 0, 1), result_of(attempt, 1, -1)
        if all(np.allclose(a, b) for a, b in zip(one, other, strict=True)):
            return attempt, result
    raise AssertionError("no data without ties found")
