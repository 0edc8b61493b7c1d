"""The rows of a call: matrix, target and weights, as every growth needs them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import type_of_target

from crosscut.data.table import Table
from crosscut.model_selection.candidates import NotShared, is_scikit, tree_of
from crosscut.training.checks import check_names, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from crosscut.typing import ClassWeight, ColumnLike, TableLike


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows, target and weights. Invalid arguments were delegated to scikit-learn, which reports them."""

    X: TableLike  # the user's argument
    matrix: TableLike  # float32 array for scikit-learn's trees, X for crosscut's, None for pipelines
    passed_y: ColumnLike
    y: NDArray[Any]  # one value per row
    classes: NDArray[Any] | None  # None: numbers are predicted
    codes: NDArray[Any]  # number of the class of each row, or y as float64
    weights: NDArray[np.float64] | None
    n_jobs: int  # threads
    ranked: Table | None = None  # the table, if it was made already
    encoded: NDArray[np.float32] | None = None  # the matrix on which trees predict, if it was made already

    @classmethod
    def of(
        cls,
        estimator: BaseEstimator,
        X: TableLike,
        y: ColumnLike,
        fit_params: Mapping[str, Any],
        n_jobs: int | None,
    ) -> TrainingRows:
        """Read the arguments of a call, or raise :class:`NotShared`."""
        if y is None:
            raise NotShared("y is None")
        if issparse(X):
            raise NotShared("X is a sparse matrix")
        threads = effective_n_jobs(n_jobs)
        tree, weight_param = tree_of(estimator), weight_name(estimator)
        other = [name for name in fit_params if name != weight_param]
        if other and tree is estimator:
            raise NotShared(f"fit gets the parameter {other[0]!r}")
        if fit_params and tree is not estimator and get_config()["enable_metadata_routing"]:
            raise NotShared("the pipeline routes metadata")
        matrix = table = None
        if is_scikit(estimator):
            matrix = read_matrix(X)
        elif tree is estimator:
            with _refusing("X"):
                matrix = read_table(clone(estimator), X, reset=True)
                table = Table.from_data(matrix, n_jobs=threads)
        values = np.asarray(y)
        if values.ndim != 1:
            raise NotShared(f"y has {values.ndim} dimensions")
        classes, codes = _target(values, classifier=is_classifier(estimator))
        weights = _weights(fit_params.get(weight_param), len(values))
        return cls(X, matrix, y, values, classes, codes, weights, threads, table)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def n_features(self) -> int:
        """Number of columns; 0 if the steps of a pipeline decide."""
        if self.matrix is None:
            return 0
        if isinstance(self.matrix, np.ndarray):
            return int(self.matrix.shape[1])
        return self.exact_table.n_columns

    @cached_property
    def exact_table(self) -> Table:
        """The columns as ranks."""
        return Table.from_data(self.matrix, n_jobs=self.n_jobs) if self.ranked is None else self.ranked

    def table(self, max_bins: int | None) -> Table:
        """Return the columns as ranks, or in at most ``max_bins`` bins."""
        return (
            self.exact_table
            if max_bins is None
            else Table.from_data(self.matrix, max_bins=max_bins, n_jobs=self.n_jobs)
        )

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """The matrix on which trees predict."""
        if self.encoded is not None:
            return self.encoded
        if is_matrix(self.matrix):
            return np.ascontiguousarray(self.matrix)
        return self.exact_table.schema.matrix(self.matrix)

    def part(self, rows: NDArray[np.int64], matrix: NDArray[np.float32]) -> TrainingRows:
        """Return some of the rows, with other values."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self.with_matrix(matrix), y=self.y[rows], codes=self.codes[rows], weights=weights)

    def with_matrix(self, matrix: NDArray[np.float32]) -> TrainingRows:
        """Return the same rows with other values."""
        return replace(self, matrix=matrix, ranked=None, encoded=None)

    def with_target(self, y: ColumnLike, order: NDArray[np.int64]) -> TrainingRows:
        """Return the same rows, encoded once, with the target ``y``: the old target in this ``order``."""
        reordered = replace(self, passed_y=y, y=self.y[order], codes=self.codes[order])
        if self.matrix is None:
            return reordered
        return replace(reordered, ranked=self.exact_table, encoded=self.rows)

    def class_weights_of(self, class_weight: ClassWeight, train: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the class weights of a tree that trains on ``train``; "balanced" depends on those rows."""
        weight = dict(class_weight) if isinstance(class_weight, tuple) else class_weight
        try:
            train_weights = compute_sample_weight(weight, self.y[train])
        except ValueError as error:
            raise NotShared(f"class_weight: {error}") from None
        assert self.classes is not None
        by_class = np.ones(len(self.classes))
        by_class[self.codes[train]] = train_weights
        return by_class

    def with_class_weights(self, by_class: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return every row's weight."""
        weights: NDArray[np.float64] = by_class[self.codes]
        return weights if self.weights is None else weights * self.weights


def is_matrix(matrix: TableLike) -> bool:
    """Whether trees can predict on these rows directly."""
    return isinstance(matrix, np.ndarray) and matrix.dtype == np.float32


def weight_name(estimator: BaseEstimator) -> str:
    """Return the name of the fit parameter with the tree's sample_weight."""
    return "sample_weight" if tree_of(estimator) is estimator else f"{estimator.steps[-1][0]}__sample_weight"


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Delegate if an argument is refused, so that scikit-learn reports it."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise NotShared(f"the estimator does not accept {name}: {error}") from None


def feature_names(X: TableLike) -> NDArray[Any] | None:
    """Return the column names that scikit-learn stores of X, or None if it stores none."""
    estimator = BaseEstimator()
    check_names(estimator, X)
    return getattr(estimator, "feature_names_in_", None)


def read_matrix(X: TableLike) -> NDArray[np.float32]:
    """Return X as float32, checked as scikit-learn's trees check it."""
    with _refusing("X"):
        feature_names(X)  # names of mixed types are refused
        matrix = check_array(X, dtype=np.float32, ensure_all_finite="allow-nan", input_name="X")
    return np.asarray(matrix, order="C")


def _target(y: NDArray[Any], *, classifier: bool) -> tuple[NDArray[Any] | None, NDArray[Any]]:
    if classifier:
        with _refusing("y"):
            kind = type_of_target(y, input_name="y")
            classes, codes = np.unique(y, return_inverse=True)
        if kind not in {"binary", "multiclass"}:
            raise NotShared(f"y is {kind}")
        return classes, codes.astype(np.int32)
    with _refusing("y"):
        numbers = y.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise NotShared("y has missing or infinite values")
    return None, numbers


def _weights(sample_weight: ColumnLike, n_rows: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if (
        weights.shape != (n_rows,)
        or weights.dtype.kind not in "fiub"
        or not np.isfinite(weights).all()
        or weights.min() < 0
    ):
        raise NotShared("sample_weight is not one finite, non-negative number per row")
    return weights.astype(np.float64)
