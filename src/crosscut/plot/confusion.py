"""The confusion matrix of held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.plot.canvas import axes
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_confusion(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw held-out rows by class and prediction.

    Parameters
    ----------
    model : TreeClassifier or its Fit
        Fitted with cross-validation.
    ax : Axes, optional
        Where to draw.
    """
    fit = fit_of(model)
    cv, classes = fit.validated("plot_confusion()"), fit.known_classes
    counts, names = cv.confusion, [str(c) for c in classes]
    size = 1.6 + 0.55 * min(len(names), 20)
    ax = axes(ax, size + 0.6, size)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    if len(names) <= 20:
        for (i, j), count in np.ndenumerate(counts):
            colour = "white" if share[i, j] > 0.6 else "black"
            ax.text(j, i, f"{count:,}", ha="center", va="center", color=colour, fontsize=9)
        ax.set_xticks(range(len(names)), names, rotation=45 if max(map(len, names)) > 6 else 0)
        ax.set_yticks(range(len(names)), names)
    ax.set_xlabel("prediction")
    ax.set_ylabel("class")
    return ax
