"""The ROC curve of held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosscut.plot.canvas import GREY, axes, class_colour, labelled
from crosscut.training.curves import frequent_classes, roc_points
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
    fit = fit_of(model)
    cv, classes = fit.validated("plot_roc()"), fit.known_classes
    ax = axes(ax, 4.6, 4.2)
    for k in [1] if len(classes) == 2 else sorted(frequent_classes(cv)[:MAX_CLASSES]):
        curve = roc_points(cv, k)
        if curve is not None:
            label = f"{classes[k]}: area {curve.area:.3f}"
            ax.plot(curve.x, curve.y, color=class_colour(k), label=label)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return labelled(ax, "false positive rate", "true positive rate")
