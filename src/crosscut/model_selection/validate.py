"""Drop-ins for scikit-learn's ``cross_validate``, ``cross_val_score`` and ``validation_curve``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import model_selection as scikit
from sklearn.metrics import check_scoring
from sklearn.utils import indexable

from crosscut.model_selection.call import Call, by_name, drop_in, print_fits
from crosscut.model_selection.candidates import NotShared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.model_selection.evaluation import CandidateTrees
    from crosscut.typing import ColumnLike, CrossValidation, ErrorScore, Scoring, TableLike


@drop_in(scikit.cross_validate)
def cross_validate(
    estimator: BaseEstimator,
    X: TableLike,
    y: ColumnLike = None,
    *,
    groups: ColumnLike = None,
    scoring: Scoring = None,
    cv: CrossValidation = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: int | str | None = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: ErrorScore = np.nan,
) -> dict[str, Any]:
    """Evaluate a tree by cross-validation; the trees of all splits are grown at once.

    Arguments and results are those of :func:`sklearn.model_selection.cross_validate`. ``fit_time`` and
    ``score_time`` divide the common time of growing and scoring evenly. ``random_state`` of scikit-learn's
    trees only decides between tests of equal quality; here the lowest feature wins, then the lowest
    threshold.

    Parameters
    ----------
    estimator : estimator
        scikit-learn's ``DecisionTreeClassifier`` or ``DecisionTreeRegressor``, or crosscut's trees. Trees
        that cannot be grown together are delegated to scikit-learn with one :class:`DelegationWarning` that
        names the reason.
    n_jobs : int, optional
        Threads; None is one.
    pre_dispatch : int or str
        Used only if the call is delegated.

    Returns
    -------
    dict
        ``test_score`` (or one ``test_<name>`` per metric), ``fit_time``, ``score_time``, and the optional
        results.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from crosscut import cross_validate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = cross_validate(DecisionTreeClassifier(max_depth=3), X, y, cv=10)
    >>> sorted(result), result["test_score"].shape
    (['fit_time', 'score_time', 'test_score'], (10,))
    """
    del pre_dispatch
    raise_exc = error_score == "raise"
    call = Call.of(
        "cross_validate", estimator, X, y, groups, cv, params, scoring, raise_exc=raise_exc, n_jobs=n_jobs
    )
    results: list[Any] = []
    pairs: list[Any] = []
    for trees in call.grow_parts():
        results += trees.evaluate(
            error_score=error_score,
            return_train_score=return_train_score,
            return_estimator=return_estimator,
        )
        pairs += trees.splits.pairs if return_indices else []
    print_fits(verbose, results, [None], len(results))
    columns = by_name(results)
    result = {"fit_time": columns["fit_time"], "score_time": columns["score_time"]}
    if return_estimator:
        result["estimator"] = columns["estimator"]
    if return_indices:
        train, test = zip(*pairs, strict=True)
        result["indices"] = {"train": train, "test": test}
    test_scores = _by_metric(columns["test_scores"])
    train_scores = _by_metric(columns["train_scores"]) if return_train_score else {}
    for name, scores in test_scores.items():
        result[f"test_{name}"] = scores
        if return_train_score:
            result[f"train_{name}"] = train_scores[name]
    return result


@drop_in(scikit.cross_val_score)
def cross_val_score(
    estimator: BaseEstimator,
    X: TableLike,
    y: ColumnLike = None,
    *,
    groups: ColumnLike = None,
    scoring: Scoring = None,
    cv: CrossValidation = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: int | str | None = "2*n_jobs",
    error_score: ErrorScore = np.nan,
) -> NDArray[np.float64]:
    """Return a tree's score on each split of a cross-validation; the trees are grown at once.

    Arguments and results are those of :func:`sklearn.model_selection.cross_val_score`; see
    :func:`cross_validate`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from crosscut import cross_val_score
    >>> X, y = load_diabetes(return_X_y=True)
    >>> cross_val_score(DecisionTreeRegressor(max_depth=2), X, y, cv=3).round(3)
    array([0.399, 0.416, 0.301])
    """
    scorer = check_scoring(estimator, scoring=scoring)  # one metric only
    result = cross_validate(
        estimator,
        X,
        y,
        groups=groups,
        scoring={"score": scorer},
        cv=cv,
        n_jobs=n_jobs,
        verbose=verbose,
        params=params,
        pre_dispatch=pre_dispatch,
        error_score=error_score,
    )
    scores: NDArray[np.float64] = result["test_score"]
    return scores


@drop_in(scikit.validation_curve)
def validation_curve(
    estimator: BaseEstimator,
    X: TableLike,
    y: ColumnLike,
    *,
    param_name: str,
    param_range: Iterable[Any],
    groups: ColumnLike = None,
    cv: CrossValidation = None,
    scoring: Scoring = None,
    n_jobs: int | None = None,
    pre_dispatch: int | str = "all",
    verbose: int = 0,
    error_score: ErrorScore = np.nan,
    params: dict[str, Any] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return training and test scores for every value of one parameter, from one growth where possible.

    Arguments and results are those of :func:`sklearn.model_selection.validation_curve`; see
    :func:`cross_validate`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from crosscut import validation_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> train, test = validation_curve(
    ...     DecisionTreeClassifier(), X, y, param_name="max_depth", param_range=[1, 2, 4, 8], cv=5)
    >>> test.shape
    (4, 5)
    """
    del pre_dispatch
    call = Call.of("validation_curve", estimator, X, y, groups, cv, params, scoring, n_jobs=n_jobs)
    indexable(X, groups)
    candidates = [{param_name: value} for value in param_range]
    trees = call.grow(candidates)
    results = trees.evaluate(error_score=error_score, return_train_score=True)
    print_fits(verbose, results, candidates, len(trees.splits))
    columns = by_name(results)
    shape = len(candidates), len(trees.splits)
    return columns["train_scores"].reshape(shape), columns["test_scores"].reshape(shape)


@drop_in(scikit.cross_val_predict)
def cross_val_predict(
    estimator: BaseEstimator,
    X: TableLike,
    y: ColumnLike = None,
    *,
    groups: ColumnLike = None,
    cv: CrossValidation = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: int | str | None = "2*n_jobs",
    method: str = "predict",
) -> NDArray[Any]:
    """Predict each row by the tree that was not trained on it; the trees are grown at once.

    Arguments and results are those of :func:`sklearn.model_selection.cross_val_predict`; see
    :func:`cross_validate`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from crosscut import cross_val_predict
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_predict(DecisionTreeClassifier(), X, y, cv=10, method="predict_proba").shape
    (150, 3)
    """
    del verbose, pre_dispatch
    if not hasattr(estimator, method):
        raise NotShared(f"a {type(estimator).__name__} has no {method}")
    call = Call.of("cross_val_predict", estimator, X, y, groups, cv, params, scored=False, n_jobs=n_jobs)
    test, parts = [], []
    for trees in call.grow_parts():
        test += trees.splits.test
        parts.append(_predictions(trees, method))
    rows, n_rows = np.concatenate(test), call.examples.n_rows
    if len(rows) != n_rows or len(np.unique(rows)) != n_rows:
        raise ValueError("cross_val_predict only works for partitions")
    back = np.empty(n_rows, np.int64)
    back[rows] = np.arange(n_rows)
    return np.concatenate(parts)[back]


def _predictions(trees: CandidateTrees, method: str) -> NDArray[Any]:
    """Return the predictions of ``method`` for the test rows, split after split."""
    examples, splits = trees.call.examples, trees.splits
    candidate = trees.candidates[0]
    largest = trees.largest(candidate)
    (leaves,) = trees.leaves("test").values()
    places = largest.stopped(leaves, candidate)
    predictions: NDArray[Any]
    if examples.classes is None:
        predictions = largest.mean[places]
        return predictions
    if method == "predict":
        predictions = examples.classes[largest.label[places]]
        return predictions
    predictions = largest.probability[places]
    if method == "predict_log_proba":
        # numpy warns of log(0), as scikit-learn does; absent classes are set below
        predictions = np.log(predictions)
    n_classes = len(examples.classes)
    first = np.cumsum([0, *map(len, splits.test)])
    for s, train in enumerate(splits.train):
        present = np.bincount(examples.codes[train], minlength=n_classes) > 0
        if present.all():
            continue
        warnings.warn(
            f"Number of classes in training fold ({np.count_nonzero(present)}) does not match total number "
            f"of classes ({n_classes}). Results may not be appropriate for your use case. To fix this, use a "
            "cross-validation technique resulting in properly stratified folds",
            RuntimeWarning,
            stacklevel=4,
        )
        absent = 0.0 if method == "predict_proba" else np.finfo(predictions.dtype).min
        predictions[first[s] : first[s + 1], ~present] = absent
    return predictions


def _by_metric(scores: Any) -> dict[str, Any]:
    return by_name(scores) if isinstance(scores[0], dict) else {"score": scores}
