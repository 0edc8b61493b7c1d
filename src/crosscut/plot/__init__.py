"""Plots of trees, forests and their errors with matplotlib. Every function returns the axes."""

from crosscut.plot.forest import plot_forest
from crosscut.plot.pruning import plot_pruning, plot_stability
from crosscut.plot.tree import plot_tree

__all__ = ["plot_forest", "plot_pruning", "plot_stability", "plot_tree"]
