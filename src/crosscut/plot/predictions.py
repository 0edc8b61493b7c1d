"""Predicted against actual values of held-out rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.plot.canvas import BLUE, GREY, axes, labelled
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_POINTS = 20_000  # more dots take longer and show no more


def plot_predictions(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the out-of-fold prediction of each row against its target.

    Parameters
    ----------
    model : TreeRegressor
        Fitted with cross-validation.
    ax : Axes, optional
        Where to draw.
    """
    cv = fit_of(model).validated("plot_predictions()")
    if cv.classes is not None:
        raise ValueError("plot_predictions() is for regression; use plot_confusion() for classification")
    given, actual = cv.decided, cv.y[cv.rows]
    step = -(-len(actual) // MAX_POINTS)
    given, actual = given[::step], actual[::step]
    ax = axes(ax, 4.6, 4.4)
    ax.scatter(given, actual, s=9, color=BLUE, alpha=max(0.08, min(0.6, 300 / len(actual))), linewidth=0)
    ends = [float(np.min([given.min(), actual.min()])), float(np.max([given.max(), actual.max()]))]
    ax.plot(ends, ends, color=GREY, linestyle=":", linewidth=1)
    return labelled(ax, "out-of-fold prediction", "actual value")
