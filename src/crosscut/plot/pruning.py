"""Plots of error by tree size, and of agreement by level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut.forest.export.text import counted
from crosscut.plot.boxes import BLUE, GREY, ORANGE, axes, labelled
from crosscut.statistics.sentences import LIKE_BEST, pruning_data, pruning_labels
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from crosscut.training.fit import Fit, Fitted


def plot_pruning(model: Fitted | Fit, *, ax: Axes | None = None) -> Axes:
    """Plot the cross-validated error of every pruning with ±1 standard error, and the chosen size.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or their Fit
        Fitted with cross-validation.
    ax : Axes, optional
        Where to draw; by default new axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier
    >>> from crosscut.plot import plot_pruning
    >>> plot_pruning(TreeClassifier(prune="1se").fit(*load_iris(return_X_y=True))).get_xlabel()
    'leaves of the final tree'
    """
    fit = fit_of(model)
    pruning = pruning_data(fit.pruning_table, fit.settings["prune"])
    labels, best = pruning_labels(pruning), pruning["best"]
    names = ("n_leaves", "cv_error", "standard_error", "train_error", "like_best")
    leaves, error, standard_error, train, like_best = (np.array(pruning[name]) for name in names)
    ax = axes(ax, 6.4, 4.0)
    ax.fill_between(
        leaves, error - standard_error, error + standard_error, color=BLUE, alpha=0.15, linewidth=0
    )
    ax.plot(leaves, error, color=BLUE, label=labels["held_out"])
    ax.plot(leaves, error, "o", markersize=4, color=BLUE, markerfacecolor="white")
    ax.plot(leaves[like_best], error[like_best], "o", markersize=4, color=BLUE, label=LIKE_BEST)
    ax.plot(leaves, train, color=GREY, linestyle=":", label=labels["train"])
    marked = best if pruning["rule"] is None else pruning["chosen"]
    ax.plot([leaves[marked]], [error[marked]], "o", markersize=11, markerfacecolor="none", color=ORANGE)
    ax.annotate(
        f"{'chosen' if pruning['rule'] else 'minimum error'}: {counted(leaves[marked], 'leaf', 'leaves')}",
        (leaves[marked], error[marked]),
        xytext=(0, -20),
        textcoords="offset points",
        ha="left" if leaves[marked] < np.sqrt(leaves[0]) else "right",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )
    if leaves[0] > 30:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize=8)
    return labelled(ax, "leaves of the final tree", pruning["measure"])


def plot_stability(model: Fitted | Fit, *, ax: Axes | None = None) -> Axes:
    """Plot f(i), the number of different tests on a level per test of one tree: 1 where all trees agree.

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
