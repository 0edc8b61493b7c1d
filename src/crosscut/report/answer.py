"""The result in plain words: how often it is right, what guessing would give, how far to trust it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.text import counted, number
from crosscut.statistics.intervals import interval_of, score_of

if TYPE_CHECKING:
    from crosscut.training.fit import Fit

LEVEL = 0.9  # of the interval, and of prediction sets and intervals
RARE = 0.02  # a class with a smaller share is not worth a warning
WIDE = 0.1  # an interval of this width says little
WEAK = 0.3  # R² below which much is left unexplained
FEW = 30  # a class with fewer rows is hardly known


def answer(fit: Fit, row: str = "row") -> dict[str, Any]:
    """Return the score with its interval, that of always saying the same, and sentences about both.

    ``row`` is what the model is asked about. Every item of ``trust`` is [sign, sentence]; the sign is "good",
    "careful" or "note".
    """
    cv = fit.validated("report()")
    score = score_of(cv.row_sums)[0]
    low, high = interval_of(cv.row_sums, cv.fold_sums, LEVEL, "rows")
    found: dict[str, Any] = {"score": score, "low": low, "high": high, "level": LEVEL}
    say = _numbers if fit.classes is None else _classes
    found |= say(fit, score, low, high, row)
    found["trust"] = [list(told) for told in found["trust"]]
    return {name: _finite(value) for name, value in found.items()}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _classes(fit: Fit, score: float, low: float, high: float, row: str) -> dict[str, Any]:
    cv: Any = fit.validated("report()")
    share = np.bincount(cv.y, cv.weights, minlength=fit.n_classes)
    share = share / share.sum()
    usual = int(share.argmax())
    name, baseline = f"“{fit.known_classes[usual]}”", float(share[usual])
    fine = round(100 * score) == round(100 * baseline) or max(score, baseline) > 0.985

    def of_100(value: float) -> str:
        return f"{100 * value:.1f}" if fine and 0 < value < 1 else f"{100 * value:.0f}"

    headline = f"{of_100(score)} of 100"
    trust = []
    if low > baseline:
        told = f"Better than always answering {name}: even the lower end, {of_100(low)}, is above"
        trust.append(("good", f"{told} {of_100(baseline)}."))
    else:
        trust.append(("careful", f"It may be no better than always answering {name}."))
    if high - low > WIDE:
        told = f"The figure is rough: there are only {counted(len(cv.y), row)} to judge by."
        trust.append(("careful", told))
    trust += _missed(fit, row)
    return {
        "headline": headline,
        "sentence": f"The answer is right for {headline} new {row}s.",
        "baseline": baseline,
        "usual": str(fit.known_classes[usual]),
        "comparison": f"Always answering {name} would be right for {of_100(baseline)}.",
        "interval": f"{LEVEL:.0%} interval: {of_100(low)} to {of_100(high)} of 100",
        "trust": trust,
    }


def _missed(fit: Fit, row: str) -> list[tuple[str, str]]:
    """Warn of classes that are seldom recognised; the worst is named."""
    matrix = fit.validated("report()").confusion
    rows = matrix.sum(axis=1)
    share = np.diag(matrix) / np.maximum(rows, 1)
    poor = np.flatnonzero((share < 0.5) & (rows > RARE * rows.sum()) & (rows >= 2))
    if not len(poor):
        return []
    worst = int(poor[share[poor].argmin()])
    name, few = fit.known_classes[worst], f" (there are only {rows[worst]})" if rows[worst] < FEW else ""
    told = f"Of 100 {row}s that are “{name}” it recognises only {100 * share[worst]:.0f}{few}."
    others = len(poor) - 1
    return [
        (
            "careful",
            told
            + (f" It misses most of {counted(others, 'other class', 'other classes')}." if others else ""),
        )
    ]


def _numbers(fit: Fit, score: float, low: float, high: float, row: str) -> dict[str, Any]:
    cv: Any = fit.validated("report()")
    weight = cv.weights
    mean = float(np.average(cv.y, weights=weight))
    baseline = float(np.average(np.abs(cv.y - mean), weights=weight))
    own = None if weight is None else weight[cv.rows]
    off = float(np.average(np.abs(cv.y[cv.rows] - cv.decided), weights=own))
    trust = []
    if low > 0:
        told = f"It explains {score:.0%} of the variation ({LEVEL:.0%} interval: {low:.0%} to {high:.0%})."
        trust.append(("good" if score > WEAK else "careful", told))
    else:
        trust.append(("careful", f"It may be no better than always answering the mean, {number(mean)}."))
    if len(cv.y) < FEW * 3:
        trust.append(("careful", f"There are only {counted(len(cv.y), row)} to judge by."))
    return {
        "headline": f"± {number(off, 3)}",
        "sentence": f"The answer is off by {number(off, 3)} on average for new {row}s.",
        "baseline": baseline,
        "off": off,
        "usual": number(mean),
        "comparison": f"Always answering the mean, {number(mean)}, would be off by {number(baseline, 3)}.",
        "interval": f"R² {score:.2f}, {LEVEL:.0%} interval: {low:.2f} to {high:.2f}",
        "trust": trust,
    }
