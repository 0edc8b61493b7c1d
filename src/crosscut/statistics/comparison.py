"""Compare the errors of two models on the rows that the same folds hold out."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crosscut.statistics.intervals import error_of, mean_of_folds, quantile_of, student_quantile
from crosscut.statistics.measures import row_losses

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from crosscut.statistics.intervals import LossSums
    from crosscut.statistics.validation import Validation
    from crosscut.typing import Scoring


@dataclass(frozen=True, eq=False)
class Comparison:
    """The difference between the errors of two models on the same held-out rows.

    Attributes
    ----------
    measure : str
        Name of the errors: "error rate", "mean squared error" or another mean loss.
    errors : (float, float)
        Error of the first model, and of the second.
    by_row, by_fold : LossSums
        Sums of the differences of the rows' losses, first model minus second.
    """

    measure: str
    errors: tuple[float, float]
    by_row: LossSums
    by_fold: LossSums

    @property
    def difference(self) -> float:
        """Error of the first model minus the error of the second."""
        return error_of(self.by_row).value

    @property
    def standard_error(self) -> float:
        """Standard error of the difference, from the rows."""
        return error_of(self.by_row).standard_error

    def interval(self, level: float = 0.9, method: str = "folds") -> tuple[float, float]:
        """Return an interval of the difference.

        Parameters
        ----------
        level : float
            Coverage, between 0 and 1.
        method : {"folds", "rows", "bayle"}
            "folds" compares learners: it uses Student's t and the variance of the folds' mean differences,
            corrected for the training rows that folds share (Nadeau and Bengio 2003). "rows" and "bayle"
            compare the trees that were grown, by the variance of the rows' differences, over all rows or
            within the folds (Bayle et al. 2020). With one fold, "folds" is the same as "rows".
        """
        z = quantile_of(level)
        if method == "folds" and np.count_nonzero(self.by_fold.products[:, 0, 0]) > 1:
            return self._by_folds(level)
        if method in {"rows", "folds"}:
            error = self.standard_error
        elif method == "bayle":
            variance = self.by_fold.variance(np.array([0.0, 1.0]), within=True)
            error = math.sqrt(variance / self.by_row.effective_rows)
        else:
            raise ValueError(f"method must be 'folds', 'rows' or 'bayle', not {method!r}")
        return self.difference - z * error, self.difference + z * error

    def _by_folds(self, level: float) -> tuple[float, float]:
        products, n_rows = self.by_fold.products, self.by_fold.n_rows
        nonempty = products[:, 0, 0] > 0
        means = products[nonempty, 0, 1] / products[nonempty, 0, 0]
        mean, error = mean_of_folds(means, n_rows[nonempty], int(self.by_row.n_rows.sum()))
        half_width = student_quantile(level, len(means) - 1) * error
        return mean - half_width, mean + half_width

    @property
    def better(self) -> int | None:
        """Index of the significantly better model, 0 or 1, by the default interval; None if neither is."""
        low, high = self.interval()
        return None if low <= 0 <= high else int(low > 0)

    def sentence(self, names: tuple[str, str] = ("the first model", "the second")) -> str:
        """Return the result as a sentence, with these names for the models."""
        first, second = self.errors
        low, high = self.interval()
        if self.difference == 0:
            one, other = names
            sentence = f"{one[:1].upper()}{one[1:]} and {other} have the same {self.measure}, {first:.4g}"
            if self.standard_error == 0:
                return f"{sentence}, row by row."
        else:
            word = "lower" if self.difference < 0 else "higher"
            sentence = (
                f"The {self.measure} of {names[0]}, {first:.4g}, is {abs(self.difference):.3g} {word} "
                f"than that of {names[1]}, {second:.4g}"
            )
        of_trees = "of these trees, {:.3g} to {:.3g}".format(*self.interval(method="rows"))
        interval = f"the 90% interval of the difference is {low:.3g} to {high:.3g} ({of_trees})"
        if self.better is None:
            return f"{sentence}; {interval}, so the difference is not significant."
        return f"{sentence}; {interval}, so {names[self.better].removesuffix(' model')} is better."

    def _repr_html_(self) -> str:
        from crosscut.forest.export.notebook import model_html, table_html

        intervals = {name: self.interval(0.9, name) for name in ("rows", "bayle", "folds")}
        cells = [[name, f"{error:.4g}"] for name, error in zip(("first", "second"), self.errors, strict=True)]
        cells.append(["difference", f"{self.difference:.4g}"])
        cells += [[f"90% interval ({name})", f"{a:.3g} to {b:.3g}"] for name, (a, b) in intervals.items()]
        return table_html(["model", self.measure], [(row, False) for row in cells]) + model_html([str(self)])

    def __repr__(self) -> str:
        return self.sentence()


def compare(first: BaseEstimator, second: BaseEstimator, *, measure: Scoring = None) -> Comparison:
    """Compare the errors of two models that were cross-validated on the same folds.

    Parameters
    ----------
    first, second : fitted estimators of crosscut, or their Fit
        Trees or rules, pruned or not. Their folds must hold out the same rows in the same order.
    measure : str, matrix or callable, optional
        The loss of a row, as for ``cv_interval`` ("log", "absolute", costs, a function); by default the 0-1
        loss or the squared error.

    Returns
    -------
    Comparison
        The difference and its intervals; ``str`` returns a sentence.

    Raises
    ------
    ValueError
        If rows, targets or folds differ, or weights if both have any.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from crosscut import TreeClassifier, compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> stump, tree = (TreeClassifier(max_depth=depth).fit(X, y) for depth in (1, 4))
    >>> print(compare(stump, tree))  # doctest: +ELLIPSIS
    The error rate of the first model, 0.1..., is 0.0... higher than that of the second, 0.08...
    """
    fits = [getattr(model, "fit_", model) for model in (first, second)]
    for name, fit in zip(("first", "second"), fits, strict=True):
        if not hasattr(fit, "validated"):
            raise TypeError(
                f"compare() needs fitted trees or rules of crosscut, but {name} is a {type(fit).__name__}; "
                "fit crosscut.TreeClassifier or TreeRegressor with the same cv"
            )
    a, b = (fit.validated("compare()") for fit in fits)
    _check_same(a, b)
    weighted = copy(b if a.weights is None else a)  # rule sets have no weights
    weighted.groups = b.groups if a.groups is None else a.groups
    one, other = (cv.losses if measure is None else row_losses(cv, measure) for cv in (a, b))
    name = "mean squared error" if a.classes is None else "error rate"
    if measure is not None:
        name = f"mean {measure} loss" if isinstance(measure, str) else "mean loss"
    return Comparison(
        name,
        (error_of(weighted.sums_by_row(one)).value, error_of(weighted.sums_by_row(other)).value),
        weighted.sums_by_row(one - other),
        weighted.sums_by_fold(one - other),
    )


def _check_same(a: Validation, b: Validation) -> None:
    same = {
        "targets": (a.classes is None) == (b.classes is None)
        and (a.classes is None or np.array_equal(a.classes, np.asarray(b.classes)))
        and np.array_equal(a.y, b.y),
        "weights": a.weights is None or b.weights is None or np.array_equal(a.weights, b.weights),
        "folds": np.array_equal(a.row_start, b.row_start) and np.array_equal(a.rows, b.rows),
    }
    for what, holds in same.items():
        if not holds:
            raise ValueError(
                f"compare() needs models with the same {what}; fit both on the same rows with the same cv"
            )
