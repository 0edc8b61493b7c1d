"""The workloads of the benchmarks: generated tables, and the settings of the trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import generated
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosscut.forest.forest import Forest

FOLDS = 10


@dataclass(frozen=True, eq=False)
class Workload:
    """A table and the settings of its trees; the data are generated on first use."""

    make: Callable[[], tuple[Any, np.ndarray]]
    limits: Limits = field(default_factory=Limits)
    growth: Growth = field(default_factory=Growth)
    max_bins: int | None = None

    @cached_property
    def data(self) -> tuple[Any, np.ndarray]:
        return self.make()

    @cached_property
    def matrix(self) -> np.ndarray:
        """The columns as numbers, for other libraries: codes of categories, and NaN for missing values."""
        X = self.data[0]
        if isinstance(X, np.ndarray):
            return X
        columns = [
            X[name].cat.codes.where(X[name].notna()) if X[name].dtype == "category" else X[name] for name in X
        ]
        return np.column_stack([column.to_numpy(np.float32) for column in columns])

    @property
    def is_regression(self) -> bool:
        return self.growth.criterion == "variance"

    @cached_property
    def target(self) -> Target:
        y = self.data[1]
        return Target(y, 0) if self.is_regression else Target(y.astype(np.int32), int(y.max()) + 1)

    def encode(self, n_jobs: int | None = None) -> Table:
        return Table.from_data(self.data[0], max_bins=self.max_bins, n_jobs=n_jobs)

    def tasks(self) -> Tasks:
        """Return the tasks of the final tree and of ten folds, stratified by class as in scikit-learn."""
        return Tasks.from_cv(FOLDS, self.data[1], classifier=not self.is_regression, limits=self.limits)

    def final_task(self) -> Tasks:
        """Return the task of the final tree."""
        n = len(self.data[1])
        return Tasks(
            n,
            1,
            np.ones((1, n), np.uint16),
            np.empty(0, np.int64),
            np.zeros(2, np.int64),
            limits=(self.limits,),
        )

    def all_trees(self, n_jobs: int | None = None) -> Forest:
        """Encode the table, and grow ten folds and the final tree (T_p)."""
        return grow(self.encode(n_jobs), self.target, self.tasks(), self.growth, n_jobs=n_jobs)

    def one_tree(self, n_jobs: int | None = None) -> Forest:
        """Encode the table and grow the final tree (T_a)."""
        return grow(self.encode(n_jobs), self.target, self.final_task(), self.growth, n_jobs=n_jobs)

    def growing(self, tasks: Tasks, n_jobs: int | None = None) -> Callable[[], Forest]:
        """Return a job that grows the tasks on the encoded table."""
        table = self.encode()
        return lambda: grow(table, self.target, tasks, self.growth, n_jobs=n_jobs)

    def sklearn_tree(self) -> DecisionTreeClassifier | DecisionTreeRegressor:
        """Return scikit-learn's tree with the same limits."""
        kind = DecisionTreeRegressor if self.is_regression else DecisionTreeClassifier
        return kind(
            max_depth=self.limits.max_depth, min_samples_leaf=self.limits.min_samples_leaf, random_state=0
        )


@cache
def tree_like(n_rows: int) -> tuple[Any, np.ndarray]:
    return generated.tree_like(n_rows, 20)


@cache
def weak(n_rows: int, n_features: int) -> tuple[Any, np.ndarray]:
    return generated.weak(n_rows, n_features)


def of_sklearn(name: str) -> tuple[Any, np.ndarray]:
    """Return a small table of scikit-learn."""
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{name}")()
    return bunch.data.astype(np.float32), bunch.target


DEPTH_8 = Limits(max_depth=8)
LEAVES_20 = Limits(min_samples_leaf=20)
VARIANCE = Growth("variance")

WORKLOADS = {
    "tree-like-8": Workload(lambda: tree_like(100_000), DEPTH_8),
    "tree-like-20": Workload(lambda: tree_like(100_000), LEAVES_20),
    "weak-8": Workload(lambda: weak(100_000, 20), DEPTH_8),
    "weak-20": Workload(lambda: weak(100_000, 20), LEAVES_20),
    "ten-classes": Workload(lambda: generated.many_classes(100_000, 30, 10), LEAVES_20),
    "regression": Workload(lambda: generated.regression(100_000, 20), LEAVES_20, VARIANCE),
    "breast-cancer": Workload(lambda: of_sklearn("breast_cancer")),
    "noisy-768": Workload(lambda: weak(768, 8)),
    "noisy-5k": Workload(lambda: weak(5_000, 5)),
    "noisy-11k": Workload(lambda: generated.imbalanced(11_000, 6, share=0.02)),
    "mixed-32k": Workload(lambda: generated.census_like(32_000)),
    "higgs-1m": Workload(lambda: generated.higgs_like(1_000_000), DEPTH_8, max_bins=255),
    "higgs-10m": Workload(lambda: generated.higgs_like(10_000_000), DEPTH_8, max_bins=255),
    "higgs-100k": Workload(lambda: generated.higgs_like(100_000), DEPTH_8, max_bins=255),
    "iris": Workload(lambda: of_sklearn("iris")),
    "digits": Workload(lambda: of_sklearn("digits")),
    "diabetes": Workload(lambda: of_sklearn("diabetes"), growth=VARIANCE),
    "nominal": Workload(
        lambda: generated.decision_list(200_000), Limits(max_depth=5), Growth("entropy", "multiway")
    ),
    "tree-like-1m": Workload(lambda: tree_like(1_000_000), DEPTH_8),
}
