"""Drop-in for scikit-learn's ``cross_val_predict``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import model_selection as scikit

from crosscut.model_selection.call import Call, drop_in
from crosscut.model_selection.delegation import NotShared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.model_selection.evaluation import Grown


@drop_in(scikit.cross_val_predict)
def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
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
    for grown in call.grow_parts():
        test += grown.splits.test
        parts.append(_predictions(grown, method))
    rows, n_rows = np.concatenate(test), call.examples.n_rows
    if len(rows) != n_rows or len(np.unique(rows)) != n_rows:
        raise ValueError("cross_val_predict only works for partitions")
    back = np.empty(n_rows, np.int64)
    back[rows] = np.arange(n_rows)
    return np.concatenate(parts)[back]


def _predictions(grown: Grown, method: str) -> NDArray[Any]:
    """Return what ``method`` gives for the test rows, split after split."""
    examples, splits = grown.examples, grown.splits
    candidate = grown.candidates[0]
    grove = grown.grove(candidate)
    (leaves,) = grown.leaves("test").values()
    places = grove.stopped(leaves, candidate)
    found: NDArray[Any]
    if examples.classes is None:
        found = grove.mean[places]
        return found
    if method == "predict":
        found = examples.classes[grove.label[places]]
        return found
    found = grove.probability[places]
    if method == "predict_log_proba":
        # one log per split, for scikit-learn warns of log(0) in every fit; classes a training set lacks are
        # not logged
        found = np.log(found)
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
        absent = 0.0 if method == "predict_proba" else np.finfo(found.dtype).min
        found[first[s] : first[s + 1], ~present] = absent
    return found
