"""What the rule sets of the folds say of the rows they have not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from crosscut.rules.examples import bits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.rules.rule_set import RuleSet
    from crosscut.rules.search import Searcher


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Out-of-fold results of rule sets.

    Attributes
    ----------
    sets : tuple of RuleSet
        The final rule set, and those of the folds.
    values : float64 array (rows, classes)
        Out-of-fold class probabilities; averages if a row is held out repeatedly, NaN if never.
    times_held_out : int64 array (rows,)
        How often each row is held out.
    scores : float64 array
        Accuracy of each fold's rule set on the rows it holds out.
    rule_precision : list of (weight, precision)
        Of each final rule, the default last: the weight of the rows it decides, and its share that the
        folds' rule sets put in the right class.
    confusion : int64 array (classes, classes)
        How many held-out rows of each class (lines) were given which class (columns).
    rows_by_fold : int64 array
        How many rows each fold holds out.
    """

    sets: tuple[RuleSet, ...]
    values: NDArray[np.float64]
    times_held_out: NDArray[np.int64]
    scores: NDArray[np.float64]
    rule_precision: list[tuple[float, float]]
    confusion: NDArray[np.int64]
    rows_by_fold: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        examples: Searcher,
        sets: tuple[RuleSet, ...],
        test_rows: Sequence[NDArray[np.int64]],
        codes: NDArray[np.int32],
    ) -> Self:
        """Send the rows each task holds out through its rules; ``test_rows`` are those of all tasks."""
        n = len(codes)
        total = np.zeros((n, len(sets[0].default.totals)))
        right = np.zeros(n)
        times = np.zeros(n, np.int64)
        scores = []
        confusion = np.zeros((total.shape[1],) * 2, np.int64)
        for rules, rows in zip(sets[1:], test_rows[1:], strict=True):
            truths = [examples.truth(rule.conditions) for rule in rules.rules]
            values = rules.values(examples.flags_among(truths, rows))
            said = values.argmax(axis=1)
            pairs = np.bincount(codes[rows] * len(confusion) + said, minlength=confusion.size)
            confusion += pairs.reshape(confusion.shape)
            hits = said == codes[rows]
            scores.append(float(hits.mean()) if len(rows) else np.nan)
            total[rows] += values
            right[rows] += hits
            times[rows] += 1
        with np.errstate(invalid="ignore", divide="ignore"):  # rows that no task holds out become NaN
            values, right = total / times[:, None], right / times
        precision = _rule_precision(examples, sets[0], right, times)
        rows_by_fold = np.array([len(rows) for rows in test_rows[1:]], np.int64)
        return cls(sets, values, times, np.array(scores), precision, confusion, rows_by_fold)


def _rule_precision(
    examples: Searcher, rules: RuleSet, right: NDArray[np.float64], times: NDArray[np.int64]
) -> list[tuple[float, float]]:
    held_out = undecided = bits_of(times > 0)
    shares = {float(share): bits_of((times > 0) & (right == share)) for share in np.unique(right[times > 0])}
    result = []
    for conditions in [*(rule.conditions for rule in rules.rules), None]:
        held = undecided if conditions is None else examples.truth(conditions) & held_out
        decides = held & undecided if rules.ordered else held
        weight = examples.total(decides)
        hits = sum(share * examples.total(decides & rows) for share, rows in shares.items())
        result.append((weight, hits / weight if weight else math.nan))
        undecided &= ~held
    return result
