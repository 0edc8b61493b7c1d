"""Plot of the panel: one dot per table, for the time relative to scikit-learn and for S."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure

from crosscut.plot.boxes import BLUE, GREY, ORANGE, labelled

if TYPE_CHECKING:
    from pathlib import Path

FIGURES = {
    "T_p": "eleven trees ÷ one scikit-learn fit",
    "fit": "whole fit ÷ one scikit-learn fit",
    "S": "eleven trees: one by one ÷ together",
}

TICKS = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20)


def draw(rows: list[dict], file: Path) -> None:
    """Write the plot of the tables at default depth."""
    figure = Figure(figsize=(10.5, 3.8), layout="constrained")
    for ax, (name, label) in zip(figure.subplots(1, 3), FIGURES.items(), strict=True):
        for kind, colour in (("classification", BLUE), ("regression", ORANGE)):
            shown = [row for row in rows if bool(row["classes"]) == (kind == "classification")]
            shown = [row for row in shown if row["limits"] == "default depth"]
            place = [row["rows"] for row in shown], [row[name] for row in shown]
            ax.scatter(*place, s=22, color=colour, alpha=0.75, linewidth=0, label=kind)
        ax.axhline(1, color=GREY, linestyle=":", linewidth=1)
        labelled(ax, "rows", label).set(xscale="log", yscale="log")
        ax.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
        figures = [row[name] for row in rows]
        ax.set_ylim(min(figures) / 1.2, max(figures) * 1.2)
        ax.minorticks_off()
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, frameon=False, ncols=2, loc="outside upper center")
    with rc_context({"svg.hashsalt": "crosscut", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None})
