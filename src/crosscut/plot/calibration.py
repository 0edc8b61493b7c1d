"""The calibration of out-of-fold probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosscut.plot.canvas import BLUE, GREY, axes, labelled
from crosscut.training.curves import calibration_points
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_calibration(model: Any, *, ax: Axes | None = None, n_bins: int = 10) -> Axes:
    """Draw the share of correct predictions by predicted probability, for held-out rows.

    Parameters
    ----------
    model : TreeClassifier or its Fit
        Fitted with cross-validation. With two classes the probability of the second is drawn; with more, that
        of the predicted class.
    ax : Axes, optional
        Where to draw.
    n_bins : int
        Number of probability intervals; the area of a dot shows the number of its rows.
    """
    fit = fit_of(model)
    cv, classes = fit.validated("plot_calibration()"), fit.known_classes
    two = len(classes) == 2
    count, middle, share = calibration_points(cv, 1 if two else None, n_bins)
    ax = axes(ax, 4.6, 4.2)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1)
    ax.plot(middle, share, color=BLUE, linewidth=1)
    ax.scatter(middle, share, s=15 + 250 * count / count.max(), color=BLUE, alpha=0.6, linewidth=0)
    ax.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))
    of, share_of = (f"of {classes[1]}", classes[1]) if two else ("of the predicted class", "correct")
    return labelled(ax, f"probability {of}", f"share that is {share_of}")
