"""Types of arguments, and protocols of estimators.

Frames of different libraries share no static type, and scikit-learn is untyped. So the first aliases only
document arguments, which are checked at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

TableLike: TypeAlias = Any  # a NumPy array, or a pandas, polars or Arrow frame; for streams also files
ColumnLike: TypeAlias = Any  # one value per row: an array, a list or a column; for streams a name
CrossValidation: TypeAlias = Any  # a number of folds, a scikit-learn splitter, (train, test) pairs, or None
Seed: TypeAlias = Any  # an integer, a RandomState, or None
Scoring: TypeAlias = Any  # the name of a scikit-learn scorer, a callable, several of them, or None
ClassWeight: TypeAlias = Any  # None, "balanced", or the weight of each class
Scorer: TypeAlias = Any  # a function scorer(estimator, X, y)
ErrorScore: TypeAlias = Any  # "raise" or a number, as in scikit-learn


class Estimator(Protocol):
    """Attributes of every estimator that training uses."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    fit_: Any  # the Fit, after training

    @property
    def scoring(self) -> Scoring:
        """The scoring of folds."""

    @property
    def n_jobs(self) -> int | None:
        """Number of threads."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


class TreeEstimator(Estimator, Protocol):
    """Attributes of a tree estimator that training uses."""

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
        """The rule that chooses the size of the tree."""

    @property
    def cv(self) -> CrossValidation:
        """The folds."""

    @property
    def random_state(self) -> Seed:
        """The seed that shuffles the folds."""
