"""Plot of the cliffs: the ratio to scikit-learn at both ends of every axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure

from crosscut.plot.boxes import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from pathlib import Path

TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def draw(rows: list[dict], file: Path) -> None:
    """Write the plot, with the first axis at the top."""
    figure = Figure(figsize=(8, 0.32 * len(rows) + 1), layout="constrained")
    ax = figure.subplots()
    ends = [(row["ratio"][0], row["ratio"][-1]) for row in reversed(rows)]
    places = range(len(rows))
    for place, pair in zip(places, ends, strict=True):
        ax.plot(pair, (place, place), color=GREY, linewidth=1, zorder=1)
    for which, colour, label in ((0, BLUE, "low end of the axis"), (1, ORANGE, "high end")):
        ax.scatter([pair[which] for pair in ends], places, color=colour, s=26, zorder=2, label=label)
    ax.set_yticks(places, [row["axis"] for row in reversed(rows)])
    ax.set(xscale="log", xlabel="whole fit ÷ one scikit-learn fit")
    shown = [tick for tick in TICKS if min(map(min, ends)) / 2 < tick < 2 * max(map(max, ends))]
    ax.set_xticks(shown, [f"{tick:g}" for tick in shown])
    ax.minorticks_off()
    ax.axvline(1, color=GREY, linestyle=":", linewidth=1)
    ax.legend(frameon=False)
    with rc_context({"svg.hashsalt": "crosscut", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None})
