"""Error, standard error and interval of a cross-validation, from the losses of held-out rows.

Everything comes from sums over rows, so rows in memory and rows of a stream give the same numbers. The
features of a row are v = (1, loss) for classes and (1, loss, z, z²) for numbers, where z is the target minus
a centre. Accuracy and R² are smooth functions of the mean of v. By the delta method, their standard error is
that of the mean of the linearization c·v, whose variance is a quadratic form in Σ w v vᵀ. Rows of a group are
dependent: with groups, the form is in Σ s sᵀ, where s is the sum of √w v over the rows of a group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from crosscut.statistics.scores import explained

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.statistics.selection import Correction

Kind = Literal["score", "rate", "loss"]
DIGITS = 78  # bits of exact sums


class Estimate(NamedTuple):
    """A number and its standard error."""

    value: float
    standard_error: float

    @property
    def root(self) -> Estimate:
        """The square root, and its standard error by the delta method."""
        root = math.sqrt(self.value)
        return Estimate(root, self.standard_error / (2 * root) if root else self.standard_error)


@dataclass(frozen=True, eq=False)
class GroupSums:
    """Sums of the features of each group's rows by fold, weighted by square roots of weights."""

    key: NDArray[Any]  # (groups,)
    fold: NDArray[Any]  # (groups,)
    sums: NDArray[Any]  # (groups, features)

    def gathered(self, add: Callable[..., NDArray[Any]] = np.bincount) -> GroupSums:
        """Return the sums with one entry for each group of a fold."""
        order = np.lexsort((self.key, self.fold))
        key, fold = self.key[order], self.fold[order]
        new = np.concatenate([[True], (key[1:] != key[:-1]) | (fold[1:] != fold[:-1])])[: len(key)]
        number = np.empty(len(key), np.int64)
        number[order] = np.cumsum(new) - 1
        n = int(np.count_nonzero(new))
        sums = [add(number, column, n) for column in self.sums.T]
        return GroupSums(key[new], fold[new], np.stack(sums, axis=1))

    def products(self, n_folds: int) -> NDArray[np.float64]:
        """Return the sums over groups of the products of their sums, by fold."""
        total = np.zeros((n_folds, self.sums.shape[1], self.sums.shape[1]))
        np.add.at(total, self.fold, self.sums[:, :, None] * self.sums[:, None, :])
        return total


@dataclass(frozen=True, eq=False)
class LossSums:
    """Number of rows by fold, and the weighted sums of the products of their features."""

    n_rows: NDArray[np.int64]  # (folds,)
    products: NDArray[np.float64]  # (folds, features, features)
    squared_weights: NDArray[np.float64]  # (folds,), their sums
    by_group: GroupSums | None = None  # if rows of a group are not independent

    @classmethod
    def of(
        cls,
        loss: NDArray[np.float64],
        target: NDArray[np.float64] | None,
        weight: NDArray[np.float64] | None,
        fold: NDArray[Any],
        n_folds: int,
        *,
        groups: NDArray[Any] | None = None,
        exact: bool = False,
    ) -> LossSums:
        """Add up rows; ``target`` (minus a centre) is for regression only.

        Exact sums do not depend on the order of rows: they are integers in units of 2**-DIGITS, of numbers
        up to 1. ``in_units`` converts them to numbers.
        """
        columns = [np.ones(len(loss)), loss]
        if target is not None:
            columns += [target, target * target]
        products = np.empty((n_folds, len(columns), len(columns)), object if exact else np.float64)
        add = _exact_sums if exact else np.bincount
        for i, a in enumerate(columns):
            weighted = a if weight is None else a * weight
            for j, b in enumerate(columns[: i + 1]):
                products[:, i, j] = add(fold, weighted * b, n_folds)
                products[:, j, i] = products[:, i, j]
        # without weights, the sum of the feature 1
        squared: NDArray[Any] = products[:, 0, 0] if weight is None else add(fold, weight * weight, n_folds)
        by_group = None
        if groups is not None:
            root = 1.0 if weight is None else np.sqrt(weight)
            rows = GroupSums(groups, fold, np.stack([root * column for column in columns], axis=1))
            by_group = rows.gathered(add)
        return cls(np.bincount(fold, minlength=n_folds).astype(np.int64), products, squared, by_group)

    def in_units(self, weight: int, target: int) -> LossSums:
        """Return exact sums as numbers; weights were divided by 2**weight, targets by 2**target."""
        power = np.array([0, 2 * target, target, 2 * target])[: self.products.shape[1]]
        units, groups = power[:, None] + power + weight - DIGITS, self.by_group
        if groups is not None:
            sums = np.ldexp(groups.sums.astype(np.float64), power - DIGITS) * 2.0 ** (weight / 2)
            groups = GroupSums(groups.key, groups.fold, sums)
        products = np.ldexp(self.products.astype(np.float64), units)
        squared = np.ldexp(self.squared_weights.astype(np.float64), 2 * weight - DIGITS)
        return LossSums(self.n_rows, products, squared, groups)

    def __add__(self, other: LossSums) -> LossSums:
        """Add the sums of other rows."""
        both = None
        if self.by_group is not None and other.by_group is not None:
            a, b = self.by_group, other.by_group
            every = [np.concatenate(pair) for pair in ((a.key, b.key), (a.fold, b.fold), (a.sums, b.sums))]
            both = GroupSums(*every).gathered(_big_sums)
        squared = self.squared_weights + other.squared_weights
        return LossSums(self.n_rows + other.n_rows, self.products + other.products, squared, both)

    @property
    def n_units(self) -> NDArray[np.int64]:
        """Number of independent units by fold: groups if there are any, else rows."""
        if self.by_group is None:
            return self.n_rows
        return np.bincount(self.by_group.fold, minlength=len(self.n_rows)).astype(np.int64)

    @property
    def effective_rows(self) -> float:
        """The number of equally weighted rows whose mean is as precise: (Σw)² / Σw² (Kish 1965)."""
        return effective_size(self.products[:, 0, 0].sum(), self.squared_weights.sum())

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of each feature."""
        total = self.products.sum(axis=0)[0]
        with np.errstate(invalid="ignore", divide="ignore"):  # no rows, or none with weight: NaN
            return np.asarray(total / total[0])

    @property
    def scores(self) -> NDArray[np.float64]:
        """Accuracy or R² of each fold; NaN without rows, and for R² with a single row."""
        weight, loss = self.products[:, 0, 0], self.products[:, 0, 1]
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.products.shape[1] == 2:
                return np.asarray((weight - loss) / weight)
            z, squares = self.products[:, 0, 2], self.products[:, 0, 3]
            total = squares - z * z / weight
        # if all targets are equal, only a rounding error is left
        return explained(loss, np.where(total > 1e-12 * squares, total, 0.0), self.n_rows)

    def variance(self, direction: NDArray[np.float64], *, within: bool = False) -> float:
        """Return the variance of a linear combination of the features: over all rows, or within the folds."""
        parts = self.products
        squares = parts if self.by_group is None else self.by_group.products(len(parts))
        if not within:
            parts, squares = (each.sum(axis=0, keepdims=True) for each in (parts, squares))
        weight = parts[:, 0, 0]
        nonempty = weight > 0
        weight, parts = weight[nonempty], parts[nonempty]
        if not len(weight):
            return math.nan
        centred = np.tile(direction, (len(weight), 1))
        centred[:, 0] -= parts[:, 0] @ direction / weight  # the first feature is 1
        spread = np.maximum(np.einsum("fi,fij,fj->f", centred, squares[nonempty], centred) / weight, 0.0)
        if within:
            n = self.n_units[nonempty]
            if n.min() < 2:
                what = "rows" if self.by_group is None else "groups"
                raise ValueError(f"method='bayle' needs at least two {what} in every fold; use method='rows'")
            spread = spread * n / (n - 1)
        return float(spread @ weight / weight.sum())


def effective_size(total: float, squared: float) -> float:
    """Return the effective number of rows from the sum of their weights and of the squared weights."""
    return float(total) ** 2 / float(squared) if squared > 0 else 0.0


def error_of(sums: LossSums) -> Estimate:
    """Return the mean loss (error rate or mean squared error) and its standard error."""
    direction = np.zeros(len(sums.mean))
    direction[1] = 1.0
    return Estimate(float(sums.mean[1]), _standard_error(sums.variance(direction), sums))


def score_of(sums: LossSums) -> tuple[float, NDArray[np.float64]]:
    """Return accuracy or R² of all rows together, and the direction c of its linearization."""
    whole = (each.sum(axis=0, keepdims=True) for each in (sums.n_rows, sums.products, sums.squared_weights))
    score, mean = float(LossSums(*whole).scores[0]), sums.mean
    if len(mean) == 2:
        return score, np.array([0.0, -1.0])
    centre, ratio = mean[2], 1.0 - score
    total = mean[3] - centre * centre  # mean of b = (z - centre)²
    if not total > 1e-12 * mean[3]:  # all targets are equal except for rounding
        return score, np.zeros(4)
    # 1 - loss / b, linearized: -(loss - ratio · b) / total
    return score, np.array([ratio * centre * centre, -1.0, -2.0 * ratio * centre, ratio]) / total


def estimate_of(rows: LossSums, correction: Correction | None = None, of: Kind = "score") -> Estimate:
    """Return accuracy, R² or the mean loss of all rows together, and its standard error."""
    value, direction = value_of(rows, of)
    error = _standard_error(rows.variance(direction), rows)
    if correction is None or not math.isfinite(value):
        return Estimate(value, error)
    value += direction[1] * (correction.loss - correction.plain)
    return Estimate(value, abs(direction[1]) * math.sqrt(correction.variance))


def interval_of(
    rows: LossSums,
    folds: LossSums,
    level: float,
    method: str,
    of: Kind = "score",
    *,
    correction: Correction | None = None,
) -> tuple[float, float]:
    """Return the interval of accuracy or R² ("score"), the mean of 0-1 losses ("rate") or of other losses.

    ``rows`` are sums of losses averaged over the times a row is held out, ``folds`` over every such time. The
    variance is over all rows ("rows"), or within the folds ("bayle", Bayle et al. 2020).
    """
    if method not in {"rows", "bayle"}:
        raise ValueError(f"method must be 'rows', 'bayle' or 'nested', not {method!r}")
    if method == "rows":
        return interval_about(*estimate_of(rows, correction, of), rows, level, of)
    value, direction = value_of(rows, of)
    error = _standard_error(folds.variance(direction, within=True), rows)
    return interval_about(value, error, rows, level, of)


def value_of(rows: LossSums, of: Kind = "score") -> tuple[float, NDArray[np.float64]]:
    """Return accuracy, R² or the mean loss of all rows, and the direction c of its linearization."""
    return score_of(rows) if of == "score" else (float(rows.mean[1]), np.array([0.0, 1.0]))


def interval_about(
    value: float, error: float, rows: LossSums, level: float, of: Kind = "score"
) -> tuple[float, float]:
    """Return Wilson's interval for a rate, else a normal interval; R² is corrected for n - 1 rows."""
    z, n = quantile_of(level), rows.n_units.sum() * rows.effective_rows / max(rows.n_rows.sum(), 1)
    if of == "rate" or (of == "score" and rows.products.shape[1] == 2):
        return _wilson(value, error, n, z)
    if of == "loss":
        return value - z * error, value + z * error
    middle = value + (1 - value) / n
    return middle - z * error, min(middle + z * error, 1.0)


def mean_of_folds(scores: NDArray[np.float64], rows_by_fold: NDArray[np.int64], n_rows: int) -> Estimate:
    """Return the mean of the folds' scores and its standard error, for scores that are not means over rows.

    The folds' models share training rows, so their scores vary together: the variance of the mean is
    (1 / folds + test rows / training rows) times the variance of the scores (Nadeau and Bengio 2003).

    Examples
    --------
    >>> mean = mean_of_folds(np.array([0.5, 0.7]), np.array([10, 10]), 20)
    >>> round(mean.value, 12), round(mean.standard_error, 12)
    (0.6, 0.173205080757)
    """
    if len(scores) < 2:
        return Estimate(float(np.mean(scores)), math.nan)
    fraction = float(np.mean(rows_by_fold)) / n_rows
    factor = 1 / len(scores) + fraction / (1 - fraction)
    return Estimate(float(np.mean(scores)), float(np.std(scores, ddof=1) * math.sqrt(factor)))


def quantile_of(level: float) -> float:
    """Return the half-width of a normal interval in standard errors.

    Examples
    --------
    >>> round(quantile_of(0.9), 3)
    1.645
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level!r}")
    return NormalDist().inv_cdf((1 + level) / 2)


def student_quantile(level: float, freedom: int) -> float:
    """Return the half-width of an interval by Student's t in standard errors, or NaN without freedom.

    Examples
    --------
    >>> round(student_quantile(0.9, 4), 3)
    2.132
    """
    from scipy.stats import t

    quantile_of(level)  # raises for invalid levels
    return float(t.ppf((1 + level) / 2, freedom)) if freedom > 0 else math.nan


def _big_sums(number: NDArray[np.int64], amount: NDArray[Any], n: int) -> NDArray[Any]:
    """Return sums of integers of any size for each number."""
    total = np.zeros(n, object)
    np.add.at(total, number, amount)
    return total


def _exact_sums(fold: NDArray[Any], amount: NDArray[np.float64], n_folds: int) -> NDArray[Any]:
    """Return exact sums by fold of numbers up to 1, in units of 2**-DIGITS; adds 26 bits at a time."""
    total = np.zeros(n_folds, object)
    for _ in range(DIGITS // 26):
        amount = amount * 2.0**26
        whole = np.rint(amount)
        amount = amount - whole
        total = total * 2**26 + np.bincount(fold, whole, n_folds).astype(np.int64)
    return total


def _standard_error(variance: float, rows: LossSums) -> float:
    n = rows.effective_rows
    return math.sqrt(variance / n) if n else math.nan


def _wilson(rate: float, error: float, n_rows: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval, which has a positive width even if the rate is 0 or 1.

    The sample size is the number of independent rows that would give this standard error.
    """
    if not math.isfinite(rate):
        return math.nan, math.nan
    n = rate * (1 - rate) / error**2 if error > 0 else n_rows
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - reach), min(1.0, middle + reach)
