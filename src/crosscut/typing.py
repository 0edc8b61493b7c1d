"""Types of arguments, and protocols of estimators.

Frames of different libraries share no static type, and scikit-learn is untyped. So the first aliases only
document arguments, which are checked at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    scoring: Scoring
    n_jobs: int | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


class TreeEstimator(Estimator, Protocol):
    """Attributes of a tree estimator that training uses."""

    criterion: str
    splits: Literal["binary", "multiway"]
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float | Sequence[int | float]
    min_impurity_decrease: float
    ccp_alpha: float
    max_bins: int | None
    prune: Literal["best", "1se", "pessimistic"] | None
    shrinkage: float | Literal["auto"] | None
    cv: CrossValidation
    repeats: int
    random_state: Seed
