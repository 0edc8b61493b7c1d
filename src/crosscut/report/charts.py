"""The page's charts as SVG; colours come from its style sheet, so they follow the reader's colour scheme."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

from crosscut.forest.labels import counted, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WIDTH, HEIGHT = 640, 280
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 12, 44


def pruning_chart(pruning: dict[str, Any], error: str) -> str:
    """Cross-validated error by number of leaves, ±1 standard error, and the chosen size."""
    leaves, cv, spread = pruning["n_leaves"], pruning["cv_error"], pruning["standard_error"]
    logarithmic = leaves[0] > 30
    place = math.log if logarithmic else float
    x = _scale([place(n) for n in (leaves[-1], leaves[0])], LEFT, WIDTH - RIGHT)
    high = max(c + s for c, s in zip(cv, spread, strict=True))
    y = _scale([0.0, max(high, *pruning["train_error"])], HEIGHT - BOTTOM, TOP)
    at = [x(place(n)) for n in leaves]
    band = [(a, y(c + s)) for a, c, s in zip(at, cv, spread, strict=True)]
    band += [(a, y(c - s)) for a, c, s in zip(at, cv, spread, strict=True)][::-1]
    ticks = sorted({leaves[-1], leaves[0], *(_round_steps(leaves[-1], leaves[0], logarithmic=logarithmic))})
    best = pruning["best"]
    limit = y(cv[best] + spread[best])
    parts = [
        _axes(y, (0.0, high), [(x(place(n)), str(n)) for n in ticks], "leaves of the final tree", error),
        f'<polygon class="band" points="{_points(band)}"/>',
        f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{limit:.1f}" y2="{limit:.1f}"/>',
        f'<polyline class="train" points="{_points(zip(at, map(y, pruning["train_error"]), strict=True))}"/>',
        f'<polyline class="line" points="{_points(zip(at, map(y, cv), strict=True))}"/>',
    ]
    parts += [
        f'<circle class="dot" cx="{a:.1f}" cy="{y(c):.1f}" r="3">'
        f"<title>{counted(n, 'leaf', 'leaves')}: {number(c)} ± {number(s)}</title></circle>"
        for a, n, c, s in zip(at, leaves, cv, spread, strict=True)
    ]
    chosen = pruning["chosen"]
    parts.append(
        f'<circle class="chosen" cx="{at[chosen]:.1f}" cy="{y(cv[chosen]):.1f}" r="7"/>'
        + _text(
            "note",
            min(at[chosen], WIDTH - 150),
            max(y(cv[chosen]) - 14, TOP + 10),
            counted(leaves[chosen], "leaf", "leaves"),
        )
    )
    return _svg("Error by size of the tree", parts)


def bar_chart(
    values: Sequence[float | None],
    labels: Sequence[str],
    *,
    title: str,
    x_title: str,
    y_title: str,
    mean: float | None = None,
) -> str:
    """Bars, one per value, with an optional line across at their mean."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = min([0.0, *known]), max([*known, mean or 0.0])
    high = high if high > low else 1.0
    y = _scale([low, high], HEIGHT - BOTTOM, TOP)
    step = (WIDTH - RIGHT - LEFT) / max(len(values), 1)
    every = max(1, math.ceil(len(values) / 16))
    middle = [LEFT + step * (k + 0.5) for k in range(len(values))]
    ticks = [(middle[k], labels[k]) for k in range(0, len(values), every)]
    parts = [_axes(y, (low, high), ticks, x_title, y_title)]
    for at, label, value in zip(middle, labels, values, strict=True):
        if value is not None and math.isfinite(value):
            width = min(step * 0.7, 48)
            parts.append(
                f'<rect class="bar" x="{at - width / 2:.1f}" y="{y(max(value, 0)):.1f}" width="{width:.1f}" '
                f'height="{abs(y(0) - y(value)):.1f}">'
                f"<title>{escape(label)}: {number(value)}</title></rect>"
            )
    if mean is not None:
        parts.append(
            f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(mean):.1f}" y2="{y(mean):.1f}"/>'
        )
    return _svg(title, parts)


def fold_chart(values: Sequence[float | None], measure: str, mean: float) -> str:
    """Draw the error or the score of each fold, and their mean."""
    labels = [str(k + 1) for k in range(len(values))]
    return bar_chart(
        values, labels, title=f"{measure} of each fold", x_title="fold", y_title=measure, mean=mean
    )


def level_chart(values: Sequence[float | None], title: str, y_title: str) -> str:
    """Draw something that is known for every level."""
    labels = [str(k + 1) for k in range(len(values))]
    return bar_chart(values, labels, title=title, x_title="level", y_title=y_title)


def _svg(title: str, parts: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}" class="chart">'
        f"{''.join(parts)}</svg>"
    )


def _scale(values: Sequence[float], low: float, high: float) -> Callable[[float], float]:
    start, end = min(values), max(values)
    span = (end - start) or 1.0
    return lambda value: low + (value - start) / span * (high - low)


def _points(places: Any) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in places)


def _round_steps(low: float, high: float, *, logarithmic: bool = False) -> list[Any]:
    """Return a few round numbers between two."""
    if logarithmic:
        steps = [m * 10**e for e in range(12) for m in (1, 3)]
        return [step for step in steps if low * 1.5 < step < high / 1.5]
    raw = (high - low) / 5 or 1.0
    power = 10 ** math.floor(math.log10(raw))
    step = power * min((m for m in (1, 2, 5, 10) if m * power >= raw), default=10)
    first = math.ceil(low / step)
    found = [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]
    return [int(v) for v in found if v == int(v)] if low >= 1 else found


def _axes(
    y: Callable[[float], float],
    span: tuple[float, float],
    ticks: list[tuple[float, str]],
    x_title: str,
    y_title: str,
) -> str:
    bottom = HEIGHT - BOTTOM
    parts = [f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>']
    for value in _round_steps(*span):
        at = y(value)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
            + _text("tick", LEFT - 8, at + 4, number(value), "end")
        )
    parts += [_text("tick", at, bottom + 17, label) for at, label in ticks]
    parts.append(_text("title", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_title))
    upright = _text("title", 0, 0, y_title)
    parts.append(f'<g transform="translate(13 {(TOP + bottom) / 2}) rotate(-90)">{upright}</g>')
    return "".join(parts)


def _text(kind: str, x: float, y: float, said: str, anchor: str = "middle") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'
