"""Plot of the forest, as in the paper's Figure 3: shared tests, forks, and the folds of each branch."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crosscut.forest.export.layout import Box
from crosscut.forest.export.text import branch_label, fold_label, number, outcome_label
from crosscut.plot.boxes import draw
from crosscut.training.fit import Fit, fit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from crosscut.forest.sharing import SharedNode
    from crosscut.training.fit import Fitted

MAX_BOXES = 60  # with more, a picture is too wide to read


def plot_forest(
    model: Fitted | Fit, *, ax: Axes | None = None, max_depth: int | None = None, collapse: bool = True
) -> Axes:
    """Draw the final tree and the trees of the folds in one picture.

    A blue box is a test shared by the trees named on the line above it. An orange square is a fork, where
    trees choose different tests; each branch is labelled with its folds.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor, their Fit, or a list of fitted trees
        Fitted with cross-validation. A list may hold scikit-learn's ``DecisionTreeClassifier`` or
        ``DecisionTreeRegressor``, or crosscut's trees, of the same columns; they are numbered from 1, and
        share a test of scikit-learn's if their thresholds are equal.
    ax : Axes, optional
        Where to draw; by default new axes as large as the forest needs.
    max_depth : int, optional
        Levels to draw; by default as many as stay readable.
    collapse : bool
        Draw each subtree that is the same in all trees as one box with a dashed edge.

    Returns
    -------
    Axes
        ``ax.figure.savefig("forest.svg")`` writes it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier
    >>> ax = plot_forest(TreeClassifier(max_depth=3).fit(*load_iris(return_X_y=True)))
    >>> len(ax.patches) > 3
    True
    """
    if isinstance(model, list | tuple):
        fit, names_of = Fit.of_trees(model), _tree_numbers
    else:
        fit, names_of = fit_of(model), _fold_names
        fit.validated("plot_forest()")
    root = fit.forest.sharing.root
    agreed = _sizes_without_forks(root)
    depth = max_depth
    if depth is None:
        depth = max(tree.max_depth for tree in fit.forest)
        while depth > 1 and _count(root, depth, agreed if collapse else {}) > MAX_BOXES:
            depth -= 1
    return draw(_box(fit, root, depth, agreed if collapse else {}, names_of), ax)


def _sizes_without_forks(root: SharedNode) -> dict[int, int]:
    """Return the size of each subtree without forks, by node."""
    sizes: dict[int, int] = {}
    for node in reversed(list(root)):
        if not node.groups:
            sizes[id(node)] = 1
        elif len(node.groups) == 1 and len(node.groups[0]) == len(node.tasks):
            below = [sizes.get(id(child)) for child in node.children[0]]
            if all(size is not None for size in below):
                sizes[id(node)] = 1 + sum(size for size in below if size is not None)
    return sizes


def _count(root: SharedNode, depth: int, agreed: dict[int, int]) -> int:
    count, todo = 0, [root]
    while todo:
        node = todo.pop()
        count += 1 + (len(node.groups) if node.is_fork else 0)
        if node.depth < depth and agreed.get(id(node), 0) <= 1:
            todo.extend(child for below in node.children for child in below)
    return count


def _box(
    fit: Fit, root: SharedNode, depth: int, agreed: dict[int, int], names_of: Callable[[Sequence[int]], str]
) -> Box:
    """Return the boxes of the forest. It loops because forests may be deeper than Python's stack."""
    top = Box()
    todo = [(root, top)]
    while todo:
        node, box = todo.pop()
        at = dict(zip(node.tasks, node.nodes, strict=True))
        n_split = sum(len(group) for group in node.groups)
        size = agreed.get(id(node), 0)
        if not node.groups:
            box.label, box.kind = _leaf(fit, node.tasks, at), "leaf"
        elif node.depth >= depth:
            box.kind, box.hidden = "more", sum(1 for _ in node)
        elif size > 3:
            label = "one tree" if len(node.tasks) == 1 else "all agree"
            box.label, box.kind = f"{label}:\n{size} nodes", "more"
        elif len(node.groups) == 1 and n_split == len(node.tasks):
            todo += _test(fit, box, node, 0, at)
        else:
            box.label, box.kind = " ", "fork"
            for k, group in enumerate(node.groups):
                branch = Box(branch=names_of(group))
                box.children.append(branch)
                todo += _test(fit, branch, node, k, at)
            ending = [task for task in node.tasks if not any(task in group for group in node.groups)]
            if ending:
                box.children.append(Box(_leaf(fit, ending, at), kind="leaf", branch=names_of(ending)))
    return top


def _test(fit: Fit, box: Box, node: SharedNode, k: int, at: dict[int, int]) -> list[tuple[SharedNode, Box]]:
    """Fill a box with the test of one group; return the boxes of its branches, which are still empty."""
    first = node.groups[k][0]
    box.label = fit.schema.names[int(fit.forest.trees[first].feature[at[first]])]
    box.kind = "test"
    todo = []
    for child in node.children[k]:
        task = child.tasks[0]
        tree, parent = fit.forest.trees[task], at[task]
        outcome = tree.children_of(parent).index(child.nodes[0])
        branch = Box(branch=branch_label(tree, parent, outcome, fit.schema, max_names=3))
        box.children.append(branch)
        todo.append((child, branch))
    return todo


def _tree_numbers(tasks: Sequence[int]) -> str:
    return f"tree{'s' * (len(tasks) > 1)} {fold_label([task + 1 for task in tasks])}"


def _fold_names(tasks: Sequence[int]) -> str:
    folds = sum(task > 0 for task in tasks)
    shown = fold_label([task for task in tasks if task > 0])
    parts = ["final tree"] * (0 in tasks) + [f"fold{'s' * (folds > 1)} {shown}"] * (folds > 0)
    return ", ".join(parts)


def _leaf(fit: Fit, tasks: Sequence[int], at: dict[int, int]) -> str:
    """Return the predictions of the trees here, with counts if they differ."""
    classes = fit.classes
    counts = Counter(outcome_label(fit.forest.trees[task], at[task], classes) for task in tasks)
    if len(counts) == 1:
        return next(iter(counts))
    if classes is None:
        means = [float(fit.forest.trees[task].value[at[task], 0]) for task in tasks]
        return f"{number(min(means))}\nto {number(max(means))}"
    return "\n".join(f"{outcome} ({count} trees)" for outcome, count in counts.most_common(3))
