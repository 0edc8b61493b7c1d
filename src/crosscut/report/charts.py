"""Charts of the report as SVG. Colours come from its style sheet, for light and dark schemes."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from crosscut.forest.export.text import counted, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH, HEIGHT = 460, 270
LEFT, RIGHT, TOP, BOTTOM = 54, 12, 12, 42
Span = tuple[float, float]


class Chart:
    """A chart with axes, to which lines, bars and dots are added.

    ``title`` describes it to screen readers; ``x`` and ``y`` are the ranges of the axes. ``x_ticks`` are
    positions and labels, by default round numbers. ``logarithmic`` concerns the x axis.
    """

    def __init__(
        self,
        title: str,
        x: Span,
        y: Span,
        *,
        x_title: str = "",
        y_title: str = "",
        x_ticks: list[tuple[float, str]] | None = None,
        logarithmic: bool = False,
        size: tuple[int, int] = (WIDTH, HEIGHT),
    ) -> None:
        self.title, self.logarithmic = title, logarithmic
        self.span_x = (math.log(x[0]), math.log(x[1])) if logarithmic else x
        self.span_y = y
        self.width, self.height = size
        self.bottom = self.height - (BOTTOM if x_title else BOTTOM - 18)
        self.left = LEFT if y_title or size[0] > 300 else 8
        ticks = round_numbers(*x, logarithmic=logarithmic) if x_ticks is None else x_ticks
        self.parts = self._axes(ticks, x_title, y_title)

    def x(self, value: float) -> float:
        """Return the horizontal position of a value."""
        low, high = self.span_x
        value = math.log(value) if self.logarithmic else value
        return self.left + (value - low) / ((high - low) or 1.0) * (self.width - RIGHT - self.left)

    def y(self, value: float) -> float:
        """Return the vertical position of a value."""
        low, high = self.span_y
        return self.bottom - (value - low) / ((high - low) or 1.0) * (self.bottom - TOP)

    def _axes(self, ticks: list[tuple[float, str]], x_title: str, y_title: str) -> list[str]:
        right, bottom, left = self.width - RIGHT, self.bottom, self.left
        parts = []
        if left == LEFT:
            for value, label in round_numbers(*self.span_y):
                at = self.y(value)
                parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
                parts.append(_text("tick", left - 7, at + 4, label, "end"))
        zero = self.y(min(max(0.0, self.span_y[0]), self.span_y[1]))
        parts.append(f'<line class="axis" x1="{left}" x2="{right}" y1="{zero:.1f}" y2="{zero:.1f}"/>')
        end = -math.inf
        for value, label in ticks:
            at, half = self.x(value), 3.4 * len(label)
            begins = left - 4 if left == LEFT else 0  # beside the labels of the other axis
            anchor = "start" if at - half < begins else "end" if at + half > self.width else "middle"
            begin = at if anchor == "start" else at - 2 * half if anchor == "end" else at - half
            if begin > end + 5:  # labels must not touch
                parts.append(_text("tick", at, bottom + 16, label, anchor))
                end = begin + 2 * half
        if x_title:
            parts.append(_text("title", (left + right) / 2, self.height - 6, x_title))
        if y_title:
            upright = _text("title", 0, 0, y_title)
            parts.append(f'<g transform="translate(12 {(TOP + bottom) / 2}) rotate(-90)">{upright}</g>')
        return parts

    def line(self, points: Iterable[tuple[float, float]], kind: str = "line") -> None:
        """Draw a line through points."""
        self.parts.append(f'<polyline class="{kind}" points="{self._points(points)}"/>')

    def band(self, upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]]) -> None:
        """Fill the area between two lines."""
        self.parts.append(f'<polygon class="band" points="{self._points([*upper, *lower[::-1]])}"/>')

    def dot(self, x: float, y: float, label: str, radius: float = 3, kind: str = "dot") -> None:
        """Draw a dot; its label is a tooltip."""
        title = f"<title>{escape(label)}</title>" if label else ""
        at = f'cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius:.1f}"'
        self.parts.append(f'<circle class="{kind}" {at}>{title}</circle>')

    def bar(self, across: Span, upwards: Span, label: str, kind: str = "bar") -> None:
        """Draw a bar over these ranges of x and y; its label is a tooltip."""
        (low, high), (bottom, top) = across, upwards
        x, y = self.x(low), self.y(max(bottom, top))
        self.parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{self.x(high) - x:.1f}" '
            f'height="{abs(self.y(bottom) - self.y(top)):.1f}"><title>{escape(label)}</title></rect>'
        )

    def across(self, y: float, kind: str = "limit") -> None:
        """Draw a horizontal line."""
        self.line([(self._end(0), y), (self._end(1), y)], kind)

    def _end(self, which: int) -> float:
        return math.exp(self.span_x[which]) if self.logarithmic else self.span_x[which]

    def _points(self, points: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in points)

    def svg(self) -> str:
        """Return the chart as SVG."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(self.title)}" '
            f'class="chart">{"".join(self.parts)}</svg>'
        )


def size_chart(pruning: dict[str, Any]) -> str:
    """Cross-validated error by number of leaves, ±1 standard error, and the chosen size."""
    leaves, cv, standard_error = pruning["n_leaves"], pruning["cv_error"], pruning["standard_error"]
    train = pruning["train_error"]
    high = max(*(c + s for c, s in zip(cv, standard_error, strict=True)), *train)
    chart = Chart(
        "Error by size of the tree",
        (leaves[-1], max(leaves[0], 2)),
        (0.0, high or 1.0),
        x_title="leaves",
        y_title=pruning["measure"],
        logarithmic=leaves[0] > 30,
    )
    rows = list(zip(leaves, cv, standard_error, strict=True))
    chart.band([(n, c + s) for n, c, s in rows], [(n, max(c - s, 0)) for n, c, s in rows])
    chart.line(zip(leaves, train, strict=True), "train")
    chart.line(zip(leaves, cv, strict=True))
    for (n, c, s), like_best in zip(rows, pruning["like_best"], strict=True):
        label = f"{counted(n, 'leaf', 'leaves')}: {number(c)} ± {number(s)}"
        chart.dot(n, c, label, 2.5, "dot" if like_best else "dot worse")
    chosen = pruning["chosen"]
    chart.dot(leaves[chosen], cv[chosen], "the chosen size", 7, "chosen")
    return chart.svg()


def bar_chart(
    values: Sequence[float | None], title: str, x_title: str, y_title: str, *, mean: float | None = None
) -> str:
    """Draw bars numbered from 1, and optionally a line at their mean."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = min([0.0, *known]), max([*known, mean or 0.0])
    ticks = [(k + 1.0, str(k + 1)) for k in range(len(values))]
    chart = Chart(
        title,
        (0.4, len(values) + 0.6),
        (low, high if high > low else 1.0),
        x_title=x_title,
        y_title=y_title,
        x_ticks=ticks,
    )
    for k, value in enumerate(values, 1):
        if value is not None and math.isfinite(value):
            chart.bar((k - 0.35, k + 0.35), (0, value), f"{x_title} {k}: {number(value)}")
    if mean is not None:
        chart.across(mean)
    return chart.svg()


def curve_chart(
    curves: Sequence[tuple[int, Sequence[tuple[float, float]]]], title: str, x: str, y: str
) -> str:
    """Draw lines in the unit square, each with the number of its colour."""
    chart = Chart(title, (0.0, 1.0), (0.0, 1.0), x_title=x, y_title=y)
    if title.startswith("ROC"):
        chart.line([(0, 0), (1, 1)], "train")
    for colour, points in curves:
        chart.line(points, f"line k{colour}")
    return chart.svg()


def calibration_chart(bins: Sequence[dict[str, float]]) -> str:
    """Draw the accuracy of predictions by their probability; the area of a dot shows its number of rows."""
    low = min(
        [0.5, *(math.floor(10 * each[key]) / 10 for each in bins for key in ("probability", "accuracy"))]
    )
    chart = Chart(
        "Accuracy of predictions by their probability",
        (low, 1.0),
        (low, 1.0),
        x_title="predicted probability",
        y_title="accuracy",
    )
    chart.line([(low, low), (1, 1)], "train")
    chart.line([(each["probability"], each["accuracy"]) for each in bins])
    most = max(each["rows"] for each in bins)
    for each in bins:
        probability, accuracy = percent(each["probability"]), percent(each["accuracy"])
        label = f"{each['rows']:,} rows: probability {probability}, accuracy {accuracy}"
        chart.dot(each["probability"], each["accuracy"], label, 3 + 7 * math.sqrt(each["rows"] / most))
    return chart.svg()


def scatter_chart(points: Sequence[tuple[float, float]], x: str, y: str) -> str:
    """Draw points and the diagonal."""
    ends = [value for point in points for value in point]
    span = (min(ends), max(ends))
    chart = Chart(f"{y} by {x}", span, span, x_title=x, y_title=y)
    chart.line([(span[0], span[0]), (span[1], span[1])], "train")
    for a, b in points:
        chart.dot(a, b, "", 2.2, "cloud")
    return chart.svg()


def gauge(score: float, low: float, high: float, baseline: float) -> str:
    """Draw a score between 0 and 1 with its interval, and the score of the baseline."""

    def at(value: float) -> float:
        return 12 + 376 * min(max(value, 0.0), 1.0)

    reach = f'x="{at(low):.1f}" y="26" width="{max(at(high) - at(low), 2):.1f}" height="18" rx="4"'
    parts = [
        '<rect class="track" x="12" y="30" width="376" height="10" rx="5"/>',
        f'<rect class="reach" {reach}/>',
        f'<line class="guess" x1="{at(baseline):.1f}" x2="{at(baseline):.1f}" y1="21" y2="49"/>',
        f'<circle class="score" cx="{at(score):.1f}" cy="35" r="5"/>',
    ]
    if at(baseline) > 60:
        parts.append(_text("tick", 12, 65, "0", "start"))
    if at(baseline) < 330:
        parts.append(_text("tick", 388, 65, "100", "end"))
    parts.append(_text("tick", min(max(at(baseline), 34), 366), 65, "baseline"))
    parts.append(_text("note", min(max(at(score), 48), 352), 16, "this model"))
    label = f"{100 * score:.0f} of 100 correct, baseline {100 * baseline:.0f}"
    attributes = f'role="img" aria-label="{escape(label)}" class="chart gauge"'
    return f'<svg viewBox="0 0 400 70" {attributes}>{"".join(parts)}</svg>'


def round_numbers(low: float, high: float, *, logarithmic: bool = False) -> list[tuple[float, str]]:
    """Return a few round numbers in a range, with their labels."""
    if logarithmic:
        steps = [m * 10.0**e for e in range(12) for m in (1, 3)]
        values = [low, *(step for step in steps if low * 1.5 < step < high / 1.5), high]
        return [(value, number(value)) for value in values]
    raw = (high - low) / 4 or 1.0
    power = 10 ** math.floor(math.log10(raw))
    step = power * min((m for m in (1, 2, 2.5, 5, 10) if m * power >= raw), default=10)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [(k * step, _label(k * step)) for k in range(first, last + 1)]


def _label(value: float) -> str:
    if abs(value) >= 1e5:
        return f"{value / 1e6:g}M" if abs(value) >= 1e6 else f"{value / 1e3:g}k"
    return number(value)


def _text(kind: str, x: float, y: float, label: str, anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(label)}</text>'
