"""Pictures of trees, forests and their errors, drawn with matplotlib; every function returns the axes."""

from crosscut.plot.calibration import plot_calibration
from crosscut.plot.confusion import plot_confusion
from crosscut.plot.forest import plot_forest
from crosscut.plot.levels import plot_stability, plot_time
from crosscut.plot.predictions import plot_predictions
from crosscut.plot.pruning import plot_pruning
from crosscut.plot.roc import plot_roc
from crosscut.plot.tree import plot_tree

__all__ = [
    "plot_calibration",
    "plot_confusion",
    "plot_forest",
    "plot_predictions",
    "plot_pruning",
    "plot_roc",
    "plot_stability",
    "plot_time",
    "plot_tree",
]
