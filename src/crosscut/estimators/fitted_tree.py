"""What can be asked of a fitted tree: predictions, paths, importances, exports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from crosscut.forest.predict import apply
from crosscut.forest.pruning import improvements
from crosscut.forest.sklearn_tree import sklearn_tree
from crosscut.forest.text import export_text, rules_of
from crosscut.training.checks import read_table
from crosscut.training.training_set import criterion_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.forest import Forest
    from crosscut.forest.text import RuleSet
    from crosscut.forest.tree import Tree


@dataclass(frozen=True, eq=False)
class Leaves:
    """Rows known by the leaves they reach, in place of their values."""

    leaf: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.leaf)


class FittedTree(ABC):
    """Methods of a fitted estimator that look at its final tree only."""

    forest_: Forest
    _schema: Schema
    _n_missing: NDArray[np.int64] | None  # of each column; None in model files of early versions
    n_jobs: int | None
    n_features_in_: int
    ccp_alpha_: float

    @abstractmethod
    def _sklearn_model(self) -> Any:
        """Return scikit-learn's estimator with the same settings."""

    @property
    def tree_(self) -> Tree:
        """The final tree."""
        check_is_fitted(self)
        return self.forest_[0]

    def _leaves(self, X: Any) -> NDArray[np.int32]:
        check_is_fitted(self)
        if isinstance(X, Leaves):
            return X.leaf
        x = self._schema.matrix(read_table(self, X, reset=False))
        leaf: NDArray[np.int32] = apply(self.forest_.packed.only(0), x, n_jobs=self.n_jobs)[0]
        return leaf

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row of X reaches.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to route.
        """
        return self._leaves(X).astype(np.int64)

    def decision_path(self, X: Any) -> Any:
        """Return a sparse indicator matrix (rows, nodes) of the nodes each row of X passes.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to route.
        """
        from scipy.sparse import csr_matrix

        leaf = self._leaves(X)
        parent, depth = self.forest_.packed.only(0).parent, self.tree_.depth
        start = np.concatenate([[0], np.cumsum(depth[leaf] + 1)])
        nodes = np.empty(start[-1], np.int64)
        node, rows = leaf.astype(np.int64), np.arange(len(leaf))
        while len(node):
            nodes[start[rows] + depth[node]] = node
            node = parent[node].astype(np.int64)
            rows, node = rows[node >= 0], node[node >= 0]
        return csr_matrix((np.ones(len(nodes), np.int64), nodes, start), shape=(len(leaf), len(self.tree_)))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of each column in the decrease of impurity, as in scikit-learn."""
        tree = self.tree_
        packed = self.forest_.packed.only(0)
        gain = np.zeros(self.n_features_in_)
        inner = packed.feature >= 0
        np.add.at(gain, packed.feature[inner], improvements(packed, criterion_of(self))[inner])
        return gain / gain.sum() if len(tree) > 1 and gain.sum() > 0 else gain

    def get_depth(self) -> int:
        """Return the depth of the tree; one leaf has depth 0."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    def to_text(self, *, decimals: int = 2, weights: bool = False) -> str:
        """Return the tree as text, one line per test and leaf (like scikit-learn's ``export_text``).

        Parameters
        ----------
        decimals : int
            Digits after the point of thresholds and values.
        weights : bool
            Also show the class weights at the leaves.
        """
        return export_text(self.tree_, self._schema, self._classes(), decimals=decimals, weights=weights)

    def to_rules(self) -> RuleSet:
        """Return the tree as rules, one per leaf, with the conditions on a column put together."""
        return rules_of(self.tree_, self._schema, self._classes())

    def to_sklearn(self) -> Any:
        """Return a fitted ``DecisionTreeClassifier`` or ``DecisionTreeRegressor`` that predicts the same.

        SHAP, ONNX converters, ``plot_tree`` and whatever else reads scikit-learn's trees can read it.

        Raises
        ------
        ValueError
            If the tree has a nominal test, which scikit-learn's trees cannot express.
        """
        model = self._sklearn_model()
        classes = self._classes()
        model.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        model.n_outputs_ = 1
        model.max_features_ = self.n_features_in_
        if classes is not None:
            model.classes_ = classes
            model.n_classes_ = len(classes)
        n_classes = 0 if classes is None else len(classes)
        model.tree_ = sklearn_tree(self.tree_, self.n_features_in_, n_classes, self._schema.names)
        return model

    def _classes(self) -> NDArray[Any] | None:
        return getattr(self, "classes_", None)

    def _sklearn_limits(self) -> dict[str, Any]:
        names = (
            "max_depth",
            "min_samples_split",
            "min_samples_leaf",
            "min_impurity_decrease",
            "random_state",
        )
        return {name: getattr(self, name) for name in names} | {"ccp_alpha": self.ccp_alpha_}
