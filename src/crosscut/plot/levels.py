"""What happens on each level: how far the trees agree, and where the time goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.plot.canvas import BLUE, GREY, axes, labelled
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_stability(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw f(i), the number of different tests per test of one tree: 1 where all trees agree.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or their Fit
        Fitted with cross-validation.
    ax : Axes, optional
        Where to draw.
    """
    sharing = fit_of(model).forest.sharing
    ax = axes(ax, 6.4, 3.4)
    level = np.arange(1, len(sharing.f) + 1)
    ax.bar(level, sharing.f, color=BLUE, width=0.7)
    for at, label in ((1, "all trees agree"), (sharing.n_trees, "every tree differs")):
        ax.axhline(at, color=GREY, linestyle=":", linewidth=1)
        ax.annotate(
            label,
            (1.01, at),
            xycoords=("axes fraction", "data"),
            ha="left",
            va="center",
            fontsize=8,
            color=GREY,
        )
    ax.set_ylim(0, sharing.n_trees * 1.12)
    return labelled(ax, "level", "different tests f(i)", whole=True)


def plot_time(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the time the engine spent on each level of all trees.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or their Fit
        Fitted by an engine that measured it.
    ax : Axes, optional
        Where to draw.
    """
    work = fit_of(model).forest.work
    if work is None or "seconds" not in work:
        raise ValueError("the engine that grew these trees did not measure the time of each level")
    seconds = np.asarray(work["seconds"], dtype=float)
    ax = axes(ax, 6.4, 3.4)
    ax.bar(np.arange(1, len(seconds) + 1), 1000 * seconds, color=BLUE, width=0.7)
    return labelled(ax, "level", "milliseconds", whole=True)
