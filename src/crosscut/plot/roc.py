"""The ROC curve of held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.plot.canvas import GREY, axes, class_colour, labelled
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_CLASSES = 10


def plot_roc(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the true against the false positive rate, from out-of-fold probabilities.

    Parameters
    ----------
    model : TreeClassifier or its Fit
        Fitted with cross-validation. With two classes the second is drawn; with more, each of the ten most
        frequent against the rest.
    ax : Axes, optional
        Where to draw.
    """
    from sklearn.metrics import roc_auc_score, roc_curve

    fit = fit_of(model)
    cv, classes = fit.validated("plot_roc()"), fit.known_classes
    known = ~np.isnan(cv.values[:, 0])
    actual, given = cv.y[known], cv.values[known]
    ax = axes(ax, 4.6, 4.2)
    frequent = np.argsort(-np.bincount(actual, minlength=len(classes)), kind="stable")[:MAX_CLASSES]
    drawn = [1] if len(classes) == 2 else sorted(frequent.tolist())
    for k in drawn:
        false, true, _ = roc_curve(actual == k, given[:, k])
        area = roc_auc_score(actual == k, given[:, k])
        ax.plot(false, true, color=class_colour(k), label=f"{classes[k]}: area {area:.3f}")
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return labelled(ax, "false positive rate", "true positive rate")
