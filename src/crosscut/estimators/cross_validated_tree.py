"""The base class of TreeClassifier and TreeRegressor: parameters, fit, attributes and exports."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from crosscut.forest.cost import cost_report
from crosscut.forest.export.code import Language, tree_code
from crosscut.forest.export.json import node_columns, tree_data
from crosscut.forest.export.onnx import onnx_model
from crosscut.forest.export.scikit import fit_sklearn
from crosscut.forest.export.sql import SqlDialect, tree_sql
from crosscut.forest.export.text import export_text, rules_of
from crosscut.forest.predict import apply
from crosscut.forest.shapley import shapley_values
from crosscut.forest.smaller_trees import importances
from crosscut.forest.tree import probabilities
from crosscut.statistics.measures import is_name
from crosscut.tasks import Tasks
from crosscut.training.checks import read_table, table_tags
from crosscut.training.fit import CrossValidated, Fit, fit_of
from crosscut.training.nested_folds import nested_coverage, nested_interval
from crosscut.training.parameters import limits_of, sklearn_parameters
from crosscut.training.train import Leaves, grow_trees, train
from crosscut.training.training_set import TrainingSet

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix
    from sklearn.utils import Tags

    from crosscut.forest.cost import CostReport
    from crosscut.forest.export.text import TreeRules
    from crosscut.forest.forest import Forest
    from crosscut.forest.pruning_table import PruningTable
    from crosscut.forest.shrinkage import Shrinkage
    from crosscut.forest.tree import Tree
    from crosscut.typing import ColumnLike, CrossValidation, Scoring, Seed, TableLike


@dataclass(kw_only=True, eq=False, repr=False)  # scikit-learn reads the parameters from __init__
class CrossValidatedTree(CrossValidated, BaseEstimator):  # type: ignore[misc]  # untyped
    """A decision tree that is grown together with the trees of its cross-validation."""

    criterion: str = "squared_error"
    splits: str = "binary"
    max_depth: int | None = None
    min_samples_split: int | float = 2
    min_samples_leaf: int | float | tuple[int | float, ...] = 1
    min_impurity_decrease: float = 0.0
    ccp_alpha: float = 0.0
    max_bins: int | None = None
    cv: CrossValidation = 10
    repeats: int = 1
    prune: str | None = None
    shrinkage: Shrinkage = "auto"
    scoring: Scoring = None
    n_jobs: int | None = None
    random_state: Seed = None

    def fit(
        self, X: TableLike, y: ColumnLike, sample_weight: ColumnLike = None, groups: ColumnLike = None
    ) -> Self:
        """Grow the final tree and the trees of the folds.

        Parameters
        ----------
        X : array or frame (rows, columns)
            NumPy, pandas, polars or Arrow. Text and categorical columns are nominal; NaN is missing. For data
            larger than memory: file names, a polars LazyFrame, Dask data, or a :class:`crosscut.Stream`; then
            ``y``, ``sample_weight`` and ``groups`` are names of columns.
        y : array (rows,)
            Class labels, or numbers to predict.
        sample_weight : array (rows,), optional
            Weights of the rows.
        groups : array (rows,), optional
            Groups for the splitter ``cv``.
        """
        self.fit_: Fit = train(self, X, y, sample_weight, groups)
        return self

    @property
    def forest_(self) -> Forest:
        """The final tree and the trees of the folds."""
        forest: Forest = fit_of(self).forest
        return forest

    @property
    def tree_(self) -> Tree:
        """The final tree."""
        return self.forest_[0]

    @property
    def cv_trees_(self) -> tuple[Tree, ...]:
        """The trees of the folds."""
        fit_of(self).validated("cv_trees_")
        return self.forest_.trees[1:]

    @property
    def pruning_table_(self) -> PruningTable:
        """Every pruning of the final tree, with its cross-validated error."""
        return fit_of(self).pruning_table

    @property
    def ccp_alpha_(self) -> float:
        """The cost-complexity parameter of the final tree."""
        return fit_of(self).alpha

    @property
    def min_samples_leaf_(self) -> int | float:
        """The minimum number (or fraction) of rows in each leaf, chosen if several were given."""
        size: int | float = fit_of(self).settings["min_samples_leaf"]
        return size

    @property
    def shrinkage_(self) -> float:
        """The strength of the shrinkage of the final tree; 0 is none."""
        return fit_of(self).shrinkage

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Impurity-based importance of each column, as in scikit-learn."""
        return importances(self.forest_.packed.only(0), self.n_features_in_)

    def get_depth(self) -> int:
        """Return the depth of the tree; a single leaf has depth 0."""
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return self.tree_.n_leaves

    # routing of rows

    def _leaves(self, X: TableLike) -> NDArray[np.int32]:
        fit = fit_of(self)
        if isinstance(X, Leaves):
            return X.leaf
        x = fit.schema.matrix(read_table(self, X, reset=False))
        leaf: NDArray[np.int32] = apply(fit.forest.packed.only(0), x, n_jobs=self.n_jobs)[0]
        return leaf

    def _values_by_folds(self, X: TableLike) -> NDArray[np.float64]:
        packed = fit_of(self).smooth.forest.packed
        x = self.fit_.schema.matrix(read_table(self, X, reset=False))
        value = packed.value if self.fit_.classes is None else probabilities(packed.value)
        return np.asarray(value[apply(packed, x, n_jobs=self.n_jobs)[1:] + packed.node_start[1:-1, None]])

    def apply(self, X: TableLike) -> NDArray[np.int64]:
        """Return the leaf that each row of X reaches.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to route.
        """
        return self._leaves(X).astype(np.int64)

    def decision_path(self, X: TableLike) -> csr_matrix:
        """Return a sparse indicator matrix (rows, nodes) of the nodes that each row of X visits.

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

    def shap_values(self, X: TableLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the SHAP values of each row of X, and the mean prediction that they are added to.

        These are the path-dependent values of shap's ``TreeExplainer``, also for nominal columns. Time grows
        with rows times leaves.

        Parameters
        ----------
        X : array or frame (rows, columns)
            Rows to explain.

        Returns
        -------
        values : float64 array (rows, columns, classes), or (rows, columns) for regression
            How much each column changes the predicted probability of each class, or the predicted mean.
        mean : float64 array (classes,), or (1,) for regression
            Mean prediction of the training rows. With the sum of a row's values it gives its prediction.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from crosscut import TreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> values, mean = TreeClassifier(max_depth=2, cv=None).fit(X, y).shap_values(X[:1])
        >>> values[0].round(2).tolist()  # a setosa because of x2
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.67, -0.47, -0.2], [0.0, 0.14, -0.14]]
        >>> mean.round(2).tolist()
        [0.33, 0.33, 0.33]
        """
        fit = fit_of(self)
        x = fit.schema.matrix(read_table(self, X, reset=False))
        value = fit.final.value if fit.classes is None else probabilities(fit.final.value)
        values, mean = shapley_values(fit.final, value, x)
        return (values[:, :, 0] if fit.classes is None else values), mean

    def _nested_coverage(self, level: float, method: str, *data: Any) -> float:
        return nested_coverage(self, TrainingSet.read(self, *data), level, method)

    def _nested_interval(self, level: float, measure: Scoring, *data: Any) -> tuple[float, float]:
        if is_name(measure, "auc") or (measure is None and self.scoring is not None):
            raise ValueError(
                "method='nested' needs a mean over rows or R², but the score is a mean over folds; pass a "
                "measure, for example 'accuracy' or 'r2'"
            )
        if data[0] is None:
            raise ValueError(
                "method='nested' grows trees that leave out two folds; pass the X and y of the fit"
            )
        return nested_interval(self, TrainingSet.read(self, *data), level, measure)

    # exports

    def to_text(self, *, decimals: int = 2, weights: bool = False) -> str:
        """Return the tree as text, one line per test and leaf (like scikit-learn's ``export_text``).

        Parameters
        ----------
        decimals : int
            Digits after the decimal point. Thresholds get more digits where rounding would change a decision.
        weights : bool
            Also show the class weights at the leaves.
        """
        fit = fit_of(self)
        return export_text(fit.final, fit.schema, fit.classes, decimals=decimals, weights=weights)

    def to_rules(self) -> TreeRules:
        """Return the tree as rules, one per leaf, with the conditions on each column combined."""
        fit = fit_of(self)
        return rules_of(fit.final, fit.schema, fit.classes)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the final tree as JSON, with names and categories (format: ``crosscut.forest.export.json``).

        Parameters
        ----------
        indent : int, optional
            Spaces per level; one line by default.
        """
        fit = fit_of(self)
        return json.dumps(tree_data(fit.final, fit.schema, fit.classes), indent=indent, ensure_ascii=False)

    def to_sql(self, dialect: SqlDialect = "duckdb") -> str:
        """Return the tree as an SQL expression over the columns, nested ``CASE``; NULL is a missing value.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite", "postgresql"}
            The database system. SQLite stores dates as text, which must be in ISO format.
        """
        fit = fit_of(self)
        return tree_sql(fit.final, fit.schema, fit.classes, dialect)

    def to_python(self) -> str:
        """Return the source of a function ``predict(row)`` in plain Python: ``to_code("python")``."""
        return self.to_code("python")

    def to_code(self, language: Language = "python") -> str:
        """Return the source of a function that predicts one row, without dependencies.

        Python's and JavaScript's ``predict`` and Java's ``Tree.predict`` take a mapping from the names of
        columns to values; None or null, NaN and an absent column are missing values. C's takes a struct with
        a field for each column that the tree uses; NaN and NULL are missing, dates are days since 1970-01-01.

        Parameters
        ----------
        language : {"python", "c", "java", "javascript"}
            The programming language.
        """
        fit = fit_of(self)
        return tree_code(fit.final, fit.schema, fit.classes, language)

    def to_frame(self) -> Any:
        """Return a pandas frame with one row per node: its place, test, prediction and rows.

        Examples
        --------
        >>> from crosscut import TreeClassifier
        >>> model = TreeClassifier(cv=None).fit([[1.0], [2.0], [4.0]], ["a", "a", "b"])
        >>> model.to_frame()[["parent", "condition", "threshold", "prediction", "rows"]]
           parent   condition  threshold prediction  rows
        0      -1                    3.0          a     3
        1       0  x0 <= 3.00        NaN          a     2
        2       0   x0 > 3.00        NaN          b     1
        """
        import pandas as pd

        fit = fit_of(self)
        return pd.DataFrame(node_columns(fit.final, fit.schema, fit.classes))

    def to_onnx(self) -> Any:
        """Return the tree as an ONNX model; ``crosscut.forest.export.onnx`` documents its inputs and outputs.

        It needs the extra ``crosscut[onnx]``; ``onnx.save(model.to_onnx(), "tree.onnx")`` writes a file.
        """
        fit = fit_of(self)
        return onnx_model(fit.final, fit.schema, fit.classes)

    def to_sklearn(self) -> BaseEstimator:
        """Return a fitted ``DecisionTreeClassifier`` or ``DecisionTreeRegressor`` with the same tree.

        Use it for ONNX converters, ``plot_tree`` and other tools that read scikit-learn's trees.

        Raises
        ------
        ValueError
            If the tree has a nominal test or uses ``loss``, which scikit-learn's trees cannot express.
        """
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        fit = fit_of(self)
        kind = DecisionTreeRegressor if fit.classes is None else DecisionTreeClassifier
        model = kind(**sklearn_parameters(self) | {"ccp_alpha": fit.alpha})
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return fit_sklearn(model, fit.final, self.n_features_in_, fit.classes, fit.schema.names)

    # plots and reports; they are imported on use because their dependencies are optional

    def plot(self, *, ax: Axes | None = None, max_depth: int | None = None) -> Axes:
        """Draw the final tree with class bars and counts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes as large as the tree needs.
        max_depth : int, optional
            Levels to draw; by default all, or as many as stay readable.

        Returns
        -------
        Axes
            ``ax.figure.savefig("tree.svg")`` writes it. ``crosscut.plot`` has more plots.
        """
        from crosscut.plot import plot_tree

        return plot_tree(self, ax=ax, max_depth=max_depth)

    def plot_forest(
        self, *, ax: Axes | None = None, max_depth: int | None = None, collapse: bool = True
    ) -> Axes:
        """Draw the trees of all folds in one plot: shared tests, forks, and the folds of each branch.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes as large as the forest needs.
        max_depth : int, optional
            Levels to draw; by default as many as stay readable.
        collapse : bool
            Draw each subtree that is the same in all trees as one box.
        """
        from crosscut.plot import plot_forest

        return plot_forest(self, ax=ax, max_depth=max_depth, collapse=collapse)

    def report(self, path: str | PathLike[str], *, X: TableLike = None, target: str | None = None) -> None:
        """Write an HTML report on the tree and its error, which works offline.

        Parameters
        ----------
        path : path
            The file to write.
        X : array or frame (rows, columns), optional
            The training rows. With them the page shows charts of each column and the target, the values of
            the rows with the largest errors, and trees that are larger than the chosen one.
        target : str, optional
            Name of the target; by default the name of ``y``.
        """
        from crosscut.report import write_report

        write_report(self, path, X=X, target=target)

    def explain_cost(
        self, X: TableLike = None, y: ColumnLike = None, sample_weight: ColumnLike = None
    ) -> CostReport:
        """Compare the paper's cost model with the measured cost of growing these trees.

        Parameters
        ----------
        X, y, sample_weight : optional
            The training data. If given, the trees are grown again, together and one by one, and the report
            includes the speed-up in processor time.
        """
        fit = fit_of(self)
        validation = fit.validated("explain_cost()")
        measured = None
        if X is not None:
            data = TrainingSet.read(self, X, y, sample_weight)
            starts = validation.row_start
            tests = [validation.rows[starts[t] : starts[t + 1]] for t in range(1, len(fit.forest))]
            splits = [(np.setdiff1d(np.arange(data.n_rows), rows), rows) for rows in tests]
            tasks = Tasks.from_splits(splits, data.n_rows, limits=limits_of(self).of_rows(data.n_rows))
            measured = self._processor_time(data, [tasks.take([t]) for t in range(len(tasks))])
            measured /= self._processor_time(data, [tasks])
        return cost_report(fit.grown, self.n_features_in_, measured)

    def _processor_time(self, data: TrainingSet, lists: list[Tasks]) -> float:
        start = time.process_time()
        for tasks in lists:
            grow_trees(self, data, tasks)
        return time.process_time() - start

    # notebooks show scikit-learn's view of the parameters, and below it the tree and its error

    def _repr_html_(self) -> str:
        from crosscut.report import notebook_html

        html: str = super()._repr_html_()
        return html + notebook_html(self.fit_, self.to_text()) if hasattr(self, "fit_") else html

    def _repr_mimebundle_(self, **_options: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Tags:
        return table_tags(super().__sklearn_tags__())
