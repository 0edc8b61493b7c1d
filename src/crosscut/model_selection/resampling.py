"""Drop-ins for scikit-learn's ``learning_curve`` and ``permutation_test_score``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import model_selection as scikit
from sklearn.utils import check_random_state, indexable

from crosscut.model_selection.call import Call, by_name, drop_in, print_fits
from crosscut.model_selection.candidates import NotShared
from crosscut.model_selection.splits import Splits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from sklearn.base import BaseEstimator

    from crosscut.typing import ColumnLike, CrossValidation, ErrorScore, Scoring, Seed, TableLike


@drop_in(scikit.learning_curve)
def learning_curve(
    estimator: BaseEstimator,
    X: TableLike,
    y: ColumnLike,
    *,
    groups: ColumnLike = None,
    train_sizes: ArrayLike = np.linspace(0.1, 1.0, 5),  # noqa: B008 - scikit-learn's signature
    cv: CrossValidation = None,
    scoring: Scoring = None,
    exploit_incremental_learning: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: int | str = "all",
    verbose: int = 0,
    shuffle: bool = False,
    random_state: Seed = None,
    error_score: ErrorScore = np.nan,
    return_times: bool = False,
    params: dict[str, Any] | None = None,
) -> tuple[NDArray[Any], ...]:
    """Return training and test scores for training sets of several sizes; all trees are grown at once.

    Arguments and results are those of :func:`sklearn.model_selection.learning_curve`; see
    :func:`cross_validate`. Every size of every split is a task of the same growth.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from crosscut import learning_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> sizes, train, test = learning_curve(DecisionTreeClassifier(), X, y, cv=5, shuffle=True)
    >>> sizes, test.shape
    (array([ 45, 147, 250, 352, 455]), (5, 5))
    """
    del pre_dispatch
    if exploit_incremental_learning:
        raise NotShared("exploit_incremental_learning=True is for estimators with partial_fit")
    call = Call.of("learning_curve", estimator, X, y, groups, cv, params, scoring, n_jobs=n_jobs)
    indexable(X, groups)
    sizes: NDArray[np.int64] = np.empty(0, np.int64)

    def read_splits(pairs: Sequence[tuple[Any, Any]], n_rows: int) -> Splits:
        nonlocal sizes
        sizes = _numbers_of_rows(np.asarray(train_sizes), len(pairs[0][0]))
        if verbose > 0:
            print(f"[learning_curve] Training set sizes: {sizes}")  # noqa: T201 - verbose output
        order = check_random_state(random_state).permutation if shuffle else np.asarray
        drawn = [(order(train), test) for train, test in pairs]
        return Splits.of([(train[:n], test) for train, test in drawn for n in sizes], n_rows)

    results = call.grow([{}], read_splits).evaluate(error_score=error_score, return_train_score=True)
    print_fits(verbose, results, [None], len(results))
    columns = by_name(results)
    names = ["train_scores", "test_scores", *["fit_time", "score_time"] * return_times]
    return sizes, *(columns[name].reshape(-1, len(sizes)).T for name in names)


def _numbers_of_rows(sizes: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Return the sizes of the training sets in rows; fractions are of ``most`` rows."""
    fractions = sizes.dtype.kind == "f"
    if sizes.ndim != 1 or not len(sizes) or sizes.min() <= 0 or sizes.max() > (1 if fractions else most):
        raise ValueError(
            f"train_sizes must be fractions above 0 and at most 1, or 1 to {most} training rows, not {sizes}"
        )
    numbers = np.unique(np.clip((sizes * most).astype(np.int64), 1, most) if fractions else sizes)
    if len(numbers) < len(sizes):
        message = f"train_sizes has duplicates; the curve has {len(numbers)} points"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    return numbers


@drop_in(scikit.permutation_test_score)
def permutation_test_score(
    estimator: BaseEstimator,
    X: TableLike,
    y: ColumnLike,
    *,
    groups: ColumnLike = None,
    cv: CrossValidation = None,
    n_permutations: int = 100,
    n_jobs: int | None = None,
    random_state: Seed = 0,
    verbose: int = 0,
    scoring: Scoring = None,
    params: dict[str, Any] | None = None,
) -> tuple[float, NDArray[np.float64], float]:
    """Return a tree's score, its scores on permuted targets, and the p-value.

    Arguments and results are those of :func:`sklearn.model_selection.permutation_test_score`; see
    :func:`cross_validate`. Rows are read and ranked once. The trees of all splits grow together, once per
    permutation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from crosscut import permutation_test_score
    >>> X, y = load_iris(return_X_y=True)
    >>> score, permuted, p = permutation_test_score(DecisionTreeClassifier(), X, y, n_permutations=19)
    >>> print(f"{score:.2f}, p = {p}")
    0.97, p = 0.05
    """
    del verbose
    call = Call.of("permutation_test_score", estimator, X, y, groups, cv, params, scoring, n_jobs=n_jobs)
    X, y, groups = indexable(X, y, groups)
    random = check_random_state(random_state)
    try:
        score = _mean_score(call)
    except NotShared as reason:
        reason.splits = None  # every permutation splits again
        raise
    orders = (_permuted(len(y), groups, random) for _ in range(n_permutations))
    scores = np.array([_mean_score(call.with_rows_of_y(order)) for order in orders])
    return score, scores, (np.sum(scores >= score) + 1.0) / (n_permutations + 1)


def _permuted(n_rows: int, groups: ColumnLike, random: np.random.RandomState) -> NDArray[np.int64]:
    """Return rows in a random order, within each group if there are groups."""
    if groups is None:
        return random.permutation(n_rows)
    order, of_row = np.arange(n_rows), np.asarray(groups)
    for group in np.unique(of_row):
        rows = of_row == group
        order[rows] = random.permutation(order[rows])
    return order


def _mean_score(call: Call) -> Any:
    """Return the mean of the scores of all splits."""
    results = [result for trees in call.grow_parts() for result in trees.evaluate()]
    return np.mean([result["test_scores"] for result in results])
