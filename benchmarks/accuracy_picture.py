"""Plot of accuracy: a dot per table, crosscut's default pruned tree beside scikit-learn's tuned tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure

from crosscut.plot.boxes import BLUE, GREY, ORANGE, labelled

if TYPE_CHECKING:
    from pathlib import Path

OURS, PEER = "crosscut best", "scikit-learn tuned grid"
TICKS = (0.1, 0.2, 0.5, 1, 2, 5)
FIGURES = {"log-loss": "lower is better", "AUC": "higher is better", "R²": "higher is better"}


def draw(rows: list[dict], file: Path) -> None:
    """Write the plot of the figures of both trees on every table."""
    figure = Figure(figsize=(10.5, 3.8), layout="constrained")
    for ax, (name, better) in zip(figure.subplots(1, 3), FIGURES.items(), strict=True):
        pairs = [
            (row["figures"][PEER][name], row["figures"][OURS][name])
            for row in rows
            if name in row["figures"][OURS]
        ]
        least, most = min(map(min, pairs)), max(map(max, pairs))
        wins = [(ours < peer) == (name == "log-loss") for peer, ours in pairs]
        for won, colour in ((True, BLUE), (False, ORANGE)):
            shown = [pair for pair, win in zip(pairs, wins, strict=True) if win == won]
            place = [pair[0] for pair in shown], [pair[1] for pair in shown]
            ax.scatter(*place, s=22, color=colour, alpha=0.75, linewidth=0)
        ax.plot([least, most], [least, most], color=GREY, linestyle=":", linewidth=1)
        labelled(ax, "scikit-learn, tuned", "crosscut, prune='best'").set_title(
            f"{name} ({better})", fontsize=10
        )
        if name == "log-loss":
            ax.set(xscale="log", yscale="log")
            ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
            ax.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
            ax.minorticks_off()
    with rc_context({"svg.hashsalt": "crosscut", "svg.fonttype": "none"}):
        figure.savefig(file, metadata={"Date": None})
