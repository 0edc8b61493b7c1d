"""A grown tree as the fitted estimator that fitting it on its training rows would have returned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.schema import Schema
from crosscut.forest.export.scikit import fit_sklearn
from crosscut.forest.forest import Forest
from crosscut.training.fit import Fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree
    from crosscut.model_selection.examples import Examples


def fit_scikit(estimator: Any, tree: Tree, examples: Examples, train: NDArray[np.int64]) -> None:
    """Give scikit-learn's ``estimator``, which knows its columns, what fitting the rows ``train`` would."""
    classes = examples.classes
    if classes is not None:
        tree, classes = _present(tree, classes, examples.codes[train])
    fit_sklearn(estimator, tree, estimator.n_features_in_, classes)


def fit_own(estimator: Any, tree: Tree, examples: Examples, train: NDArray[np.int64]) -> None:
    """Give crosscut's ``estimator`` its tree; it has no cross-validation of its own."""
    classes = examples.classes
    if classes is not None:
        tree, classes = _present(tree, classes, examples.codes[train])
    of_steps = examples.matrix is None  # which give numbers
    schema = (
        Schema.of_matrix(np.empty((1, estimator.n_features_in_))) if of_steps else examples.exact_table.schema
    )
    forest = Forest([tree])
    estimator.fit_ = Fit(
        learner=type(estimator).__name__,
        settings=estimator.get_params(deep=False),
        schema=schema,
        classes=classes,
        forest=forest,
        grown=forest,
        alpha=float(estimator.ccp_alpha),
    )


def _present(tree: Tree, classes: NDArray[Any], codes: NDArray[Any]) -> tuple[Tree, NDArray[Any]]:
    """Return the tree and the classes without those that no row trains."""
    present = np.bincount(codes, minlength=len(classes)) > 0
    return replace(tree, value=tree.value[:, present]), classes[present]
