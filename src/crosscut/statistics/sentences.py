"""Sentences about a result, shared by the command line, reports, notebooks and plots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crosscut.forest.export.text import counted, duration, number, percent
from crosscut.forest.pruning_table import COLUMNS
from crosscut.statistics.intervals import estimate_of, interval_of

if TYPE_CHECKING:
    from crosscut.forest.cost import CostReport
    from crosscut.forest.pruning_table import PruningTable
    from crosscut.statistics.validation import Validation

MOST = 0.8  # a split is stable if at least this fraction of the folds has it
SHARED = 1.1  # report the speedup from this ratio on
LEVEL = 0.9  # of confidence intervals, prediction sets and prediction intervals
WIDE = 0.1  # wider intervals get a warning
WEAK = 0.3  # a lower R² gets a warning
MOST_NAMED = 5  # classes with a low recall
FEW = 30  # classes with fewer rows are marked as small

# glossary of the report
TERMS = {
    "accuracy": "The fraction of rows whose class is predicted correctly.",
    "shrinkage": "Moving the predictions of small groups of rows towards those of larger groups.",
    "calibration": "Whether predictions with a probability of 80% are correct 80% of the time.",
    "column": "One property of every row, such as an age or a contract.",
    "cross-validation": "The rows are split into parts. Each part is held out once: a model is trained on "
    "the others and predicts it. So every row is predicted by a model that was not trained on it.",
    "fold": "One of the parts that are held out in turn.",
    "held out": "Not used to train the model that predicts it, like a new row.",
    "importance": "A column's fraction of the total improvement by the tree's splits. It shows what the "
    "model uses, not what causes what.",
    "interval": "The range that probably contains the true value: about 90 of 100 such intervals do.",
    "leaf": "The end of a path through the tree, which holds the prediction.",
    "out of bag": "Not in the sample that a tree was trained on. Each row is predicted by the mean of the "
    "trees whose samples lack it.",
    "precision": "Of the rows predicted as a class, the fraction that belong to it.",
    "prediction set": "All classes that cannot be excluded for a row. About 90 of 100 sets contain the true "
    "class.",
    "R²": "The fraction of the target's variance that the predictions explain: 1 is perfect, 0 is no better "
    "than always predicting the mean.",
    "recall": "Of the rows of a class, the fraction that are predicted as it.",
    "ROC curve": "The true positive rate by the false positive rate, for all thresholds of the probability. "
    "An area of 1 is perfect, 0.5 is chance.",
    "standard error": "How much a figure would typically vary if it were measured on other rows of the same "
    "kind.",
    "target": "The column to predict.",
    "tree": "A series of questions about a row. Each answer leads to the next question, and finally to a "
    "prediction.",
}

# captions and notes
LIKE_BEST = "not significantly worse than the best"
RECALL = "recall"
BEST_OF_SEVERAL = "The best of several scores is optimistic; nested_cross_validate corrects this."


def confusion_caption(row: str = "row") -> str:
    """Return the caption of a confusion matrix."""
    return f"Held-out {row}s: actual (rows) by predicted (columns)"


def residual_caption(row: str = "row") -> str:
    """Return the caption of a table of residuals."""
    return f"Residuals of held-out {row}s: actual minus predicted"


def correct_rows(correct: int, rows: int, row: str = "row") -> str:
    """Return how many held-out rows are predicted correctly, for matrices too large to show."""
    return f"{correct:,} of {rows:,} held-out {row}s are predicted correctly"


def error_line(cv: dict[str, Any]) -> str:
    """Return the cross-validated error of a summary, with its standard error."""
    return f"{cv['measure']} {number(cv['error'])} ± {number(cv['standard_error'], 2)}"


def other_file_line(test: dict[str, Any], measure: str) -> str:
    """Return the error of the final tree on another file."""
    error = f"{measure} {number(test['error'])} ± {number(test['standard_error'], 2)}"
    return f"{error} ({counted(test['rows'], 'row')}, not used for training)"


def pruning_data(table: PruningTable, rule: Literal["best", "1se", "pessimistic"] | None) -> dict[str, Any]:
    """Return a pruning table, the name of its error, and the chosen row; the first without a rule."""
    rule = None if rule == "pessimistic" else rule  # it does not use the table
    measures = {
        "error": "error rate",
        "brier": "Brier score",
        "log": "log loss",
        "auc": "1 minus the area under the ROC curve",
        "squared": "mean squared error",
        "absolute": "mean absolute error",
    }
    measure = "mean cost" if table.by == "loss" and table.loss == "error" else measures[table.loss]
    columns = {name: getattr(table, name).tolist() for name in COLUMNS}
    return {
        "by": table.by,
        "measure": measure,
        "rule": rule,
        "chosen": 0 if rule is None else table.choose(rule),
        "best": table.choose("best"),
        "1se": table.choose("1se"),
        **{name: list(map(_finite, values)) for name, values in columns.items()},
        "like_best": table.like_best.tolist(),
    }


def pruning_labels(pruning: dict[str, Any]) -> dict[str, str]:
    """Return the legend of the chart of a pruning table, by line."""
    measure = pruning["measure"]
    shrunk = ", without shrinkage" if any(pruning["shrinkage"]) else ""
    return {
        "held_out": f"{measure} on held-out rows, ±1 standard error",
        "train": f"{measure} on training rows{shrunk}",
    }


def performance(cv: Validation, row: str = "row") -> dict[str, Any]:
    """Return the score with its interval, the baseline, and sentences about both.

    ``row`` is the word for a row. Items of ``trust`` are [sign, sentence]; the sign is "good", "careful" or
    "note".
    """
    score = estimate_of(cv.row_sums, cv.correction).value
    low, high = interval_of(cv.row_sums, cv.fold_sums, LEVEL, "rows", correction=cv.correction)
    describe = _of_numbers if cv.classes is None else _of_classes
    result = {"score": score, "low": low, "high": high, "level": LEVEL} | describe(cv, score, low, high, row)
    result["trust"] = [list(item) for item in result["trust"]]
    return {name: _finite(value) for name, value in result.items()}


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _of_classes(cv: Validation, score: float, low: float, high: float, row: str) -> dict[str, Any]:
    assert cv.classes is not None
    fraction = np.bincount(cv.y, cv.weights, minlength=len(cv.classes))
    fraction = fraction / fraction.sum()
    usual = int(fraction.argmax())
    name, baseline = f"“{cv.classes[usual]}”", float(fraction[usual])
    fine = round(100 * score) == round(100 * baseline) or max(score, baseline) > 0.985
    fine |= round(100 * low) == round(100 * high)

    def of_100(value: float) -> str:
        return f"{100 * value:.1f}" if fine and 0 < value < 1 else f"{100 * value:.0f}"

    headline = f"{of_100(score)} of 100"
    trust = []
    if low > baseline:
        comparison = f"the lower bound ({of_100(low)}) is above the baseline ({of_100(baseline)})"
        trust.append(("good", f"Better than always predicting {name}: {comparison}."))
    else:
        trust.append(("careful", f"Possibly no better than always predicting {name}."))
    if high - low > WIDE:
        trust.append(("careful", f"The estimate is imprecise: there are only {counted(len(cv.y), row)}."))
    trust += _missed(cv, row)
    return {
        "headline": headline,
        "sentence": f"Correct for {headline} new {row}s.",
        "baseline": baseline,
        "usual": str(cv.classes[usual]),
        "comparison": f"Always predicting {name} would be correct for {of_100(baseline)}.",
        "interval": f"{LEVEL:.0%} interval: {of_100(low)} to {of_100(high)} of 100",
        "trust": trust,
    }


def _missed(cv: Validation, row: str) -> list[tuple[str, str]]:
    """Return a warning that names the classes with a recall below one half, however rare, and the remedy."""
    assert cv.classes is not None
    matrix = cv.confusion
    rows = matrix.sum(axis=1)
    recalls = np.diag(matrix) / np.maximum(rows, 1)
    poor = np.flatnonzero((recalls < 0.5) & (rows > 0))
    if not len(poor):
        return []
    poor = poor[np.argsort(recalls[poor], kind="stable")]

    def of_class(k: int) -> str:
        few = f", with only {counted(int(rows[k]), row)}" if rows[k] < FEW else ""
        return f"“{cv.classes[k]}” ({percent(recalls[k])}{few})"  # type: ignore[index]

    named = ", ".join(of_class(k) for k in poor[:MOST_NAMED].tolist())
    if len(poor) > MOST_NAMED:
        named += f" and {counted(len(poor) - MOST_NAMED, 'other class', 'other classes')}"
    sentence = f"Finds less than half of the {row}s of {named}."
    return [("careful", f"{sentence} Class weights (such as balanced) find more, with more false alarms.")]


def _of_numbers(cv: Validation, score: float, low: float, high: float, row: str) -> dict[str, Any]:
    weight = cv.weights
    mean = float(np.average(cv.y, weights=weight))
    baseline = float(np.average(np.abs(cv.y - mean), weights=weight))
    off = float(
        np.average(np.abs(cv.y[cv.rows] - cv.decided), weights=None if weight is None else weight[cv.rows])
    )
    trust = []
    if low > 0:
        interval = f"{LEVEL:.0%} interval: {percent(low)} to {percent(high)}"
        sentence = f"Explains {percent(score)} of the variance ({interval})."
        trust.append(("good" if score > WEAK else "careful", sentence))
    else:
        trust.append(("careful", f"Possibly no better than always predicting the mean, {number(mean)}."))
    if len(cv.y) < FEW * 3:
        trust.append(("careful", f"The estimate is imprecise: there are only {counted(len(cv.y), row)}."))
    return {
        "headline": f"± {number(off, 3)}",
        "sentence": f"Off by {number(off, 3)} on average for new {row}s.",
        "baseline": baseline,
        "off": off,
        "usual": number(mean),
        "comparison": f"Always predicting the mean, {number(mean)}, would be off by {number(baseline, 3)}.",
        "interval": f"R² {score:.2f}, {LEVEL:.0%} interval: {low:.2f} to {high:.2f}",
        "trust": trust,
    }


def stability_sentences(questions: list[dict[str, Any]], n_folds: int, n_with_splits: int) -> list[str]:
    """Compare the splits of the fold trees with those of the final tree."""
    if not questions:
        if n_with_splits == 0:
            return ["No tree has a split."]
        return [f"The final tree has no split, but the trees of {counted(n_with_splits, 'fold')} have."]
    first = questions[0]
    if all(question["folds"] == n_folds for question in questions):
        columns = "column" if len(questions) == 1 else f"{len(questions)} columns"
        return [f"All {n_folds} fold trees split on the same {columns} as the final tree, at similar values."]
    sentences = [
        f"All {n_folds} fold trees split on {first['column']} first."
        if first["folds"] == n_folds
        else f"{first['folds'] or 'None'} of {n_folds} fold trees split{'s' * (first['folds'] == 1)} on "
        f"{first['column']} first, like the final tree; {_others(first['instead'])}."
    ]
    stable = sum(question["folds"] >= MOST * n_folds for question in questions)
    if len(questions) > 1:
        sentences.append(
            f"Of the {len(questions)} splits of the final tree, {stable or 'none'} "
            f"{'occur' if stable > 1 else 'occurs'} in the same place in at least "
            f"{int(np.ceil(MOST * n_folds))} of {n_folds} fold trees."
        )
    return sentences


def _others(instead: list[list[Any]], most: int = 3) -> str:
    """Describe the first splits of the other fold trees, the most frequent first."""
    splits = [
        f"{count} split{'s' * (count == 1)} on {column}"
        if column is not None
        else f"{count} {'has' if count == 1 else 'have'} no split"
        for column, count in instead[:most]
    ]
    left = sum(count for _, count in instead[most:])
    return ", ".join(splits + [f"{left} on other columns"] * bool(left))


def cost_sentence(cost: CostReport, *, one_by_one: bool) -> str | None:
    """Describe the time for growing the trees and the speedup by sharing; None if not measured."""
    seconds, ratio = cost.seconds, cost.actual_speedup
    if not math.isfinite(seconds) or not math.isfinite(ratio):
        return None
    trees, took = f"{cost.n + 1} trees were grown", f"{duration(seconds)} of processor time"
    if ratio >= SHARED:
        return (
            f"{trees} together in {took}; one by one would take about {duration(seconds * ratio)} by the "
            f"cost model, which counts {ratio:.1f} times as many row visits."
        )
    if one_by_one:
        return f"{trees} in {took}, together only if the class weights of their training sets are the same."
    return (
        f"{trees} together in {took}. They share reading and sorting; small nodes are searched tree by tree, "
        "which is faster."
    )
