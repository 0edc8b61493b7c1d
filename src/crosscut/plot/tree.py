"""Plot of the final tree with its tests, class bars and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosscut.forest.export.text import branch_label, outcome_label
from crosscut.forest.tree import probabilities
from crosscut.plot.boxes import PictureBox, class_colour, draw
from crosscut.training.fit import fit_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from crosscut.forest.tree import Tree
    from crosscut.training.fit import Fit, Fitted

MAX_NODES = 150  # without max_depth, larger trees are drawn to the depth at which this many nodes fit


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
    tree, schema, classes = fit.final, fit.schema, fit.classes
    if max_depth is None:
        max_depth = tree.max_depth
        while max_depth > 1 and int((tree.depth <= max_depth).sum()) > MAX_NODES:
            max_depth -= 1
    shares = probabilities(tree.value) if classes is not None else None
    boxes: dict[int, PictureBox] = {}
    below = _sizes(tree)
    for node in range(len(tree)):
        depth = int(tree.depth[node])
        if depth > max_depth:
            continue
        count = f"{tree.n_rows[node]:,} rows"
        inner = tree.feature[node] >= 0 and depth < max_depth
        if inner:
            text = f"{schema.names[int(tree.feature[node])]}\n{count}"
        else:
            text = f"{outcome_label(tree, node, classes)}\n{count}"
            if tree.feature[node] >= 0:
                text += f"\n… {below[node] - 1} nodes"
        kind = "test" if inner else "leaf" if tree.feature[node] < 0 else "collapsed"
        bar = () if shares is None else tuple(float(s) for s in shares[node])
        boxes[node] = PictureBox(text, kind=kind, shares=bar)
    for node, box in boxes.items():
        children = tree.children[tree.first_child[node] : tree.first_child[node + 1]]
        for branch, child in enumerate(children.tolist()):
            if child in boxes:
                boxes[child].above = branch_label(tree, node, branch, schema)
                box.children.append(boxes[child])
    ax = draw(boxes[0], ax)
    if classes is not None:
        _legend(ax, [str(c) for c in classes])
    return ax


def _sizes(tree: Tree) -> list[int]:
    """Return the number of nodes in the subtree of each node."""
    sizes = [1] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        for child in tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist():
            sizes[node] += sizes[child]
    return sizes


def _legend(ax: Axes, names: list[str]) -> None:
    from matplotlib.patches import Patch

    shown = [Patch(color=class_colour(k), label=name) for k, name in enumerate(names[:10])]
    ax.legend(
        handles=shown, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5, frameon=False, fontsize=8
    )
