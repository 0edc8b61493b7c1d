"""The columns of a fit: their importance, and charts of their values and the target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.columns import cut_text
from crosscut.forest.export.text import counted, number
from crosscut.forest.smaller_trees import importances
from crosscut.report.charts import Chart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.training.fit import Fit

MAX_BARS = 12  # per chart: intervals of a number, or categories
SIZE = (300, 150)  # of a chart


def column_table(fit: Fit) -> list[dict[str, Any]]:
    """Describe each column: kind, missing values, importance in the final tree and over the folds.

    Bagged trees have no final tree; their mean takes its place.
    """
    schema, missing, packed = fit.schema, fit.n_missing, fit.forest.packed
    by_tree = np.array([importances(packed.only(t), len(schema)) for t in range(len(fit.forest))])
    final = by_tree.mean(axis=0) if fit.bagged else by_tree[0]
    others = by_tree if fit.bagged else by_tree[1:]
    folds = others if len(others) else by_tree
    return [
        {
            "name": name,
            "kind": schema.kinds[f],
            "categories": len(schema.categories[f]) if schema.kinds[f] == "nominal" else None,
            "missing": None if missing is None else int(missing[f]),
            "importance": float(final[f]),
            "lowest": float(folds[:, f].min()),
            "highest": float(folds[:, f].max()),
            "folds": int(np.count_nonzero(others[:, f])),
            "used": bool(by_tree[:, f].any()),
        }
        for f, name in enumerate(schema.names)
    ]


def value_text(fit: Fit, f: int, value: float) -> str:
    """Return a cell of the encoded matrix as the user wrote it."""
    if math.isnan(value):
        return "missing"
    kind = fit.schema.kinds[f]
    if kind == "nominal":
        return str(fit.schema.categories[f][int(value)])
    if kind == "boolean":
        return "true" if value else "false"
    return cut_text(value, whole=False) if kind == "date" else number(value, 6)


def column_chart(fit: Fit, f: int, x: NDArray[np.float32], colours: list[int]) -> str:
    """Draw a histogram of a column, with the classes or the mean target of each bar."""
    y = fit.validated("report()").y
    labels, bar_of_row = _bars(fit, f, x)
    name, n = fit.schema.names[f], len(labels)
    count = np.bincount(bar_of_row, minlength=n)
    chart = Chart(
        f"Values of {name}, and the target",
        (0, n),
        (0, float(count.max())),
        x_ticks=_bar_labels(labels),
        size=SIZE,
    )
    if fit.classes is None:
        for k in np.flatnonzero(count):
            chart.bar(
                (k + 0.08, k + 0.92),
                (0, count[k]),
                f"{labels[k]}: {counted(int(count[k]), 'row')}",
                "bar pale",
            )
        mean = np.bincount(bar_of_row, y, minlength=n) / np.maximum(count, 1)
        low, high = mean[count > 0].min(), mean[count > 0].max()
        height = count.max() * (0.08 + 0.84 * (mean - low) / ((high - low) or 1.0))
        chart.line([(k + 0.5, height[k]) for k in np.flatnonzero(count)])
        for k in np.flatnonzero(count):
            chart.dot(k + 0.5, height[k], f"{labels[k]}: mean {number(mean[k])}")
        return chart.svg()
    classes = fit.known_classes
    shown = np.bincount(bar_of_row * len(classes) + y, minlength=n * len(classes)).reshape(n, -1)
    for k in np.flatnonzero(count):
        bottom = 0
        for c in np.argsort(colours, kind="stable"):
            if shown[k, c]:
                label = f"{labels[k]}: {shown[k, c]:,} of {count[k]:,} {classes[c]}"
                chart.bar((k + 0.06, k + 0.94), (bottom, bottom + shown[k, c]), label, f"bar c{colours[c]}")
                bottom += shown[k, c]
    return chart.svg()


def _bar_labels(labels: list[str]) -> list[tuple[float, str]]:
    """Shorten labels and place them below their bars."""
    letters = max(3, int(6.2 * MAX_BARS / max(len(labels), 1)))
    return [
        (k + 0.5, label if len(label) <= letters else label[: letters - 1] + "…")
        for k, label in enumerate(labels)
    ]


def _bars(fit: Fit, f: int, x: NDArray[np.float32]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the labels of a column's bars, and the bar of each row."""
    absent = np.isnan(x)
    distinct = np.unique(x[~absent])
    if fit.schema.kinds[f] == "nominal" or len(distinct) <= MAX_BARS:
        values, where = np.unique(x[~absent], return_inverse=True)
        count = np.bincount(where)
        order = (
            np.argsort(-count, kind="stable") if fit.schema.kinds[f] == "nominal" else np.arange(len(count))
        )
        kept = order[: MAX_BARS if len(order) <= MAX_BARS else MAX_BARS - 1]
        labels = [value_text(fit, f, float(values[k])) for k in kept]
        bar = np.full(len(values), len(kept))
        bar[kept] = np.arange(len(kept))
        labels += ["other"] if len(order) > len(kept) else []
    else:
        low, high = np.quantile(distinct, [0.01, 0.99])
        edges = np.linspace(low, high, MAX_BARS + 1)
        where = np.arange(len(x) - absent.sum())
        bar = np.clip(np.searchsorted(edges, x[~absent], side="right") - 1, 0, MAX_BARS - 1)
        labels = [value_text(fit, f, _rounded(fit, f, edge, edges)) for edge in edges[:-1]]
    bar_of_row = np.full(len(x), len(labels))
    bar_of_row[~absent] = bar[where]
    return labels + ["n/a"] * bool(absent.any()), bar_of_row


def _rounded(fit: Fit, f: int, edge: float, edges: NDArray[np.float64]) -> float:
    """Round an edge to the digits that distinguish it from its neighbours."""
    if fit.schema.kinds[f] == "date":
        return math.floor(edge)
    digits = 1 - math.floor(math.log10(edges[1] - edges[0]))
    return round(float(edge), digits)
