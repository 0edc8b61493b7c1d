"""Plot of the final tree with its tests, class bars and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut.forest.export.layout import TreeBoxes
from crosscut.plot.boxes import CLASSES, draw
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from crosscut.forest.tree import Tree
    from crosscut.training.fit import Fit, Fitted

MAX_ENDS = 24  # without max_depth, larger trees are drawn to the depth with this many boxes side by side


def plot_tree(model: Fitted | Fit, *, ax: Axes | None = None, max_depth: int | None = None) -> Axes:
    """Draw the final tree of a fitted estimator.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or their Fit
        Fitted.
    ax : Axes, optional
        Where to draw; by default new axes as large as the tree needs.
    max_depth : int, optional
        Levels to draw; by default all, or as many as stay readable. Boxes give the number of hidden nodes.

    Returns
    -------
    Axes
        ``ax.figure.savefig("tree.svg")`` writes it; the suffix determines the format.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier
    >>> ax = plot_tree(TreeClassifier(prune="1se").fit(*load_iris(return_X_y=True)))
    >>> len(ax.texts) >= 5
    True
    """
    fit = fit_of(model)
    tree, classes = fit.final, fit.classes
    if max_depth is None:
        max_depth = tree.max_depth
        while max_depth > 1 and _n_ends(tree, max_depth) > MAX_ENDS:
            max_depth -= 1
    colours = None if classes is None else [k % len(CLASSES) for k in range(len(classes))]
    inner = tree.feature >= 0
    opened = np.flatnonzero(inner & (tree.depth < max_depth)).tolist()
    ax = draw(TreeBoxes(tree, fit.schema, classes, colours).root(opened, inner), ax)
    if classes is not None:
        from matplotlib.patches import Patch

        patches = [Patch(color=c, label=str(name)) for c, name in zip(CLASSES, classes, strict=False)]
        ax.legend(
            handles=patches, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5, frameon=False, fontsize=8
        )
    return ax


def _n_ends(tree: Tree, depth: int) -> int:
    """Return the number of leaves and cut branches of the tree down to a depth."""
    return int(((tree.depth == depth) | ((tree.depth < depth) & (tree.feature < 0))).sum())
