"""The sentences about a result: the command line, pages, notebooks and pictures take them from here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.text import counted, duration, number
from crosscut.statistics.intervals import interval_of, score_of

if TYPE_CHECKING:
    from crosscut.forest.cost import CostReport
    from crosscut.statistics.validation import Validation

MOST = 0.8  # of the folds: a question that so many ask is stable
SHARED = 1.1  # rows visited one by one, as a multiple, from which it is worth saying how many are shared
LEVEL = 0.9  # of the interval, and of prediction sets and intervals
RARE = 0.02  # a class with a smaller share is not worth a warning
WIDE = 0.1  # an interval of this width says little
WEAK = 0.3  # R² below which much is left unexplained
FEW = 30  # a class with fewer rows is hardly known


# words that pages explain
TERMS = {
    "accuracy": "The share of rows for which the answer is right.",
    "calibration": "Whether answers that claim to be 80% sure are right 80% of the time.",
    "column": "One property of every row, such as an age or a contract.",
    "cross-validation": "The rows are dealt into parts. Each part in turn is held out: a model is made from "
    "the others and asked about it. So every row is judged by a model that had not seen it.",
    "fold": "One of the parts that are held out in turn.",
    "held out": "Not used to make the model that is asked about it, as a new row would be.",
    "importance": "A column's share in what the tree's questions contribute. It says what the model uses, "
    "not what causes what.",
    "interval": "Where the true figure probably lies: in about 90 of 100 such studies it would be inside.",
    "leaf": "The end of a path through the tree, where the answer is given.",
    "precision": "Of the rows that are answered so, the share for which that is true.",
    "prediction set": "All answers that cannot be ruled out for a row. In about 90 of 100 cases the true one "
    "is among them.",
    "R²": "The share of the target's variation that the answers explain: 1 is perfect, 0 is no better than "
    "always answering the mean.",
    "recall": "Of the rows for which it is true, the share that is answered so.",
    "ROC curve": "How many of the wanted rows are found for how many false alarms, as the model is made more "
    "or less strict. An area of 1 is perfect, 0.5 is chance.",
    "standard error": "How far a figure would typically be off if it were measured on other rows of the same "
    "kind.",
    "target": "What is predicted.",
    "tree": "A series of questions about a row. Each answer leads to the next question, and at the end to a "
    "prediction.",
}

# captions and remarks
LIKE_BEST = "not significantly worse than the best"
RECALL = "recall"


def confusion_caption(row: str = "row") -> str:
    """Return the caption of a confusion matrix."""
    return f"Held-out {row}s: actual (rows) by predicted (columns)"


def correct_rows(right: int, rows: int, row: str = "row") -> str:
    """Return how many held-out rows are predicted correctly, where the matrix is too large to show."""
    return f"{right:,} of {rows:,} held-out {row}s are predicted correctly"


def error_line(cv: dict[str, Any]) -> str:
    """Return the cross-validated error of a summary, with its standard error."""
    return f"{cv['measure']} {number(cv['error'])} ± {number(cv['standard_error'], 2)}"


def answer(cv: Validation, row: str = "row") -> dict[str, Any]:
    """Return the score with its interval, that of always saying the same, and sentences about both.

    ``row`` is what the model is asked about. Every item of ``trust`` is [sign, sentence]; the sign is "good",
    "careful" or "note".
    """
    score = score_of(cv.row_sums)[0]
    low, high = interval_of(cv.row_sums, cv.fold_sums, LEVEL, "rows")
    found: dict[str, Any] = {"score": score, "low": low, "high": high, "level": LEVEL}
    say = _numbers if cv.classes is None else _classes
    found |= say(cv, score, low, high, row)
    found["trust"] = [list(told) for told in found["trust"]]
    return {name: _finite(value) for name, value in found.items()}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _classes(cv: Validation, score: float, low: float, high: float, row: str) -> dict[str, Any]:
    assert cv.classes is not None
    share = np.bincount(cv.y, cv.weights, minlength=len(cv.classes))
    share = share / share.sum()
    usual = int(share.argmax())
    name, baseline = f"“{cv.classes[usual]}”", float(share[usual])
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
    trust += _missed(cv, row)
    return {
        "headline": headline,
        "sentence": f"The answer is right for {headline} new {row}s.",
        "baseline": baseline,
        "usual": str(cv.classes[usual]),
        "comparison": f"Always answering {name} would be right for {of_100(baseline)}.",
        "interval": f"{LEVEL:.0%} interval: {of_100(low)} to {of_100(high)} of 100",
        "trust": trust,
    }


def _missed(cv: Validation, row: str) -> list[tuple[str, str]]:
    """Warn of classes that are seldom recognised; the worst is named."""
    assert cv.classes is not None
    matrix = cv.confusion
    rows = matrix.sum(axis=1)
    share = np.diag(matrix) / np.maximum(rows, 1)
    poor = np.flatnonzero((share < 0.5) & (rows > RARE * rows.sum()) & (rows >= 2))
    if not len(poor):
        return []
    worst = int(poor[share[poor].argmin()])
    name, few = cv.classes[worst], f" (there are only {rows[worst]})" if rows[worst] < FEW else ""
    told = f"Of 100 {row}s that are “{name}” it recognises only {100 * share[worst]:.0f}{few}."
    others = len(poor) - 1
    return [
        (
            "careful",
            told
            + (f" It misses most of {counted(others, 'other class', 'other classes')}." if others else ""),
        )
    ]


def _numbers(cv: Validation, score: float, low: float, high: float, row: str) -> dict[str, Any]:
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


def stability_sentences(questions: list[dict[str, Any]], n_folds: int, n_asking: int) -> list[str]:
    """Say how far the trees of the folds ask what the final tree asks."""
    if not questions:
        if n_asking == 0:
            return ["No tree has a test: none found a split worth making."]
        return [f"The final tree has no test, but the trees of {counted(n_asking, 'fold')} have."]
    first = questions[0]
    if all(question["folds"] == n_folds for question in questions):
        asked = "the same question" if len(questions) == 1 else f"the same {len(questions)} questions"
        return [f"All {n_folds} folds ask {asked} as the final tree, if at slightly different values."]
    sentences = [
        f"All {n_folds} folds ask about {first['column']} first."
        if first["folds"] == n_folds
        else f"{first['folds'] or 'None'} of the {n_folds} folds ask{'s' * (first['folds'] == 1)} about "
        f"{first['column']} first, as the final tree does; {_others(first['instead'])}."
    ]
    stable = sum(question["folds"] >= MOST * n_folds for question in questions)
    if len(questions) > 1:
        sentences.append(
            f"Of the {len(questions)} questions of the final tree, {stable or 'none'} "
            f"{'are' if stable > 1 else 'is'} asked in the same place by at least "
            f"{int(np.ceil(MOST * n_folds))} of the {n_folds} folds."
        )
    return sentences


def _others(instead: list[list[Any]], most: int = 3) -> str:
    """Say what the other folds ask, those of most folds first."""
    said = [
        f"{count} ask{'s' * (count == 1)} about {column}"
        if column is not None
        else f"{count} {'asks' if count == 1 else 'ask'} nothing"
        for column, count in instead[:most]
    ]
    left = sum(count for _, count in instead[most:])
    return ", ".join(said + [f"{left} about other columns"] * bool(left))


def cost_sentence(cost: CostReport, *, one_by_one: bool) -> str | None:
    """Say what growing the trees took, and what of it they shared; None if that was not measured."""
    seconds, ratio = cost.seconds, cost.actual_speedup
    if not math.isfinite(seconds) or not math.isfinite(ratio):
        return None
    trees, took = f"{cost.n + 1} trees were grown", f"{duration(seconds)} of processor time"
    if ratio >= SHARED:
        return (
            f"{trees} together in {took}; one by one it would be about {duration(seconds * ratio)} by the "
            f"cost model: {ratio:.1f} times as many rows to visit."
        )
    if one_by_one:
        return f"{trees} one by one, each with class weights of its own rows, in {took}."
    return (
        f"{trees} together in {took}. They share reading and sorting; nodes of few rows are searched tree by "
        "tree, which is faster."
    )
