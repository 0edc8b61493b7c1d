"""A grown tree as the fitted estimator scikit-learn would have returned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.sklearn_tree import sklearn_tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree
    from crosscut.model_selection.examples import Examples


def fit_scikit(
    estimator: Any,
    tree: Tree,
    examples: Examples,
    train: NDArray[np.int64],
    names: NDArray[Any] | None,
    n_features: int,
) -> Any:
    """Give scikit-learn's ``estimator`` the attributes that fitting it on the rows ``train`` would."""
    if names is not None:
        estimator.feature_names_in_ = names
    estimator.n_features_in_ = estimator.max_features_ = n_features
    estimator.n_outputs_ = 1
    n_classes = 0
    if examples.classes is not None:
        present = np.bincount(examples.codes[train], minlength=len(examples.classes)) > 0
        tree = replace(tree, value=tree.value[:, present])
        estimator.classes_ = examples.classes[present]
        n_classes = len(estimator.classes_)
        estimator.n_classes_ = np.int64(n_classes)
    estimator.tree_ = sklearn_tree(tree, n_features, n_classes)
    return estimator
