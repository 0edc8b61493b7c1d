"""Types of arguments, and what training needs of an estimator.

Frames of different libraries share no static type, and scikit-learn has none, so the first few names only say
what an argument is; what it may be is checked at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

TableLike: TypeAlias = Any  # a NumPy array, or a pandas, polars or Arrow frame; of streams, also files
ColumnLike: TypeAlias = Any  # one value per row: an array, a list, or a column of a frame; of streams, a name
CrossValidation: TypeAlias = (
    Any  # a number of folds, a splitter of scikit-learn, (train, test) pairs, or None
)
Seed: TypeAlias = Any  # an integer, a RandomState, or None
Scoring: TypeAlias = Any  # the name of a scorer of scikit-learn, a callable, several of them, or None
ClassWeight: TypeAlias = Any  # None, "balanced", or the weight of each class
Scorer: TypeAlias = Any  # scores a fitted estimator on rows: scorer(estimator, X, y)
ErrorScore: TypeAlias = Any  # "raise" or a number, as scikit-learn's functions take it


class Estimator(Protocol):
    """What training needs of every estimator."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    fit_: Any  # the Fit, after training

    @property
    def scoring(self) -> Scoring:
        """How folds are scored."""

    @property
    def n_jobs(self) -> int | None:
        """Number of threads."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


class TreeEstimator(Estimator, Protocol):
    """What training needs of an estimator of trees."""

    @property
    def criterion(self) -> str:
        """The split criterion."""

    @property
    def splits(self) -> Literal["binary", "multiway"]:
        """Whether nominal columns split into two branches or one per category."""

    @property
    def max_depth(self) -> int | None:
        """Maximum depth."""

    @property
    def min_samples_split(self) -> int | float:
        """Minimum number or fraction of rows of a node that is split."""

    @property
    def min_samples_leaf(self) -> int | float:
        """Minimum number or fraction of rows of a leaf."""

    @property
    def min_impurity_decrease(self) -> float:
        """Minimum decrease of impurity by a split."""

    @property
    def ccp_alpha(self) -> float:
        """Cost complexity at which trees are pruned."""

    @property
    def max_bins(self) -> int | None:
        """Maximum number of bins of a numeric column; None for exact splits."""

    @property
    def prune(self) -> Literal["best", "1se", "pessimistic"] | None:
        """The rule by which the size of the tree is chosen."""

    @property
    def cv(self) -> CrossValidation:
        """The folds."""

    @property
    def random_state(self) -> Seed:
        """What shuffles the folds."""
