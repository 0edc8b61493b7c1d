"""Boxes of a tree drawing: their texts and positions, for matplotlib and for the report's SVG."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from crosscut.forest.export.text import branch_label, counted, outcome_label, percent
from crosscut.forest.tree import decisions, proportions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.data.schema import Schema
    from crosscut.forest.tree import Tree


@dataclass(eq=False)
class Box:
    """One box of a drawing: a node of a tree, or a place where trees of a forest diverge.

    ``bar`` are class proportions by colour; for numbers, the position of the mean in their range. A renderer
    sets ``size`` (across the levels); :func:`arrange` sets ``level`` and ``middle`` (of the box, across).
    """

    label: str = ""  # the column it splits on, or its prediction
    kind: str = "leaf"  # or "test"; "more": its subtree is not drawn; "fork": trees split differently
    rows: str = ""
    majority: str = ""  # fraction of the predicted class
    column: str = ""  # the parent splits on it
    branch: str = ""  # condition on the parent's column
    node: int = 0
    hidden: int = 0  # nodes below that are not drawn
    bar: Sequence[tuple[int, float]] = ()
    colour: int | None = None
    children: list[Box] = field(default_factory=list)
    size: float = 1.0
    level: int = 0
    middle: float = 0.0

    def walk(self) -> list[Box]:
        """Return this box and all boxes below it, parents first."""
        boxes, todo = [], [self]
        while todo:
            box = todo.pop()
            boxes.append(box)
            todo.extend(reversed(box.children))
        return boxes


class TreeBoxes:
    """Makes the boxes of a tree, of which any part can be drawn.

    Parameters
    ----------
    tree : Tree
        The largest tree to draw.
    schema, classes
        Of the fit; ``classes`` is None for numbers.
    colours : list of int, optional
        The colour of each class, empty for numbers; without them boxes have no bars.
    """

    def __init__(
        self, tree: Tree, schema: Schema, classes: NDArray[np.generic] | None, colours: list[int] | None
    ) -> None:
        self.tree, self.schema, self.classes, self.colours = tree, schema, classes, colours
        self.fraction = None if classes is None else proportions(tree)
        self.decided = decisions(tree.value, tree.loss)
        self.lowest = float(tree.value[:, 0].min())
        self.span = (float(tree.value[:, 0].max()) - self.lowest) or 1.0

    def root(self, opened: Sequence[int], inner: NDArray[np.bool_]) -> Box:
        """Return the boxes of a tree in which the nodes marked ``inner`` are split.

        ``opened`` are the nodes whose branches are drawn, in preorder.
        """
        tree = self.tree
        boxes = {0: self.box(0)}
        for node in opened:
            column = self.schema.names[int(tree.feature[node])]
            boxes[node].label, boxes[node].kind, boxes[node].colour = column, "test", None
            for branch, child in enumerate(tree.children_of(node)):
                boxes[child] = self.box(child)
                boxes[child].column = column
                boxes[child].branch = branch_label(tree, node, branch, self.schema)
                boxes[node].children.append(boxes[child])
        for node, box in boxes.items():
            if inner[node] and not box.children:
                box.kind, box.hidden = "more", self._n_below(node)
        return boxes[0]

    def _n_below(self, node: int) -> int:
        """Return the number of nodes below a node, which follow it directly."""
        after = np.flatnonzero(self.tree.depth[node + 1 :] <= self.tree.depth[node])
        return int(after[0]) if len(after) else len(self.tree) - node - 1

    def box(self, node: int) -> Box:
        """Return the box of a node as a leaf."""
        tree, colours = self.tree, self.colours
        outcome = outcome_label(tree, node, self.classes)
        box = Box(outcome, rows=counted(int(tree.n_rows[node]), "row"), node=node)
        if self.fraction is None:
            if colours is not None:
                box.bar = [(0, (float(tree.value[node, 0]) - self.lowest) / self.span)]
        elif colours is not None:
            code = int(self.decided[node])
            box.majority = f"{percent(self.fraction[node, code])} {outcome}"
            box.bar = [
                (colours[c], float(self.fraction[node, c])) for c in np.argsort(colours, kind="stable")
            ]
            box.colour = colours[code]
        return box


def arrange(root: Box, gap: float, *, centred: bool = True) -> tuple[float, int]:
    """Set the level and the middle of all boxes so that none overlaps another on its level.

    Subtrees are pushed together until their outlines touch on some level (Reingold and Tilford 1981).
    ``centred`` puts a parent at the middle of its children, otherwise at the first child.

    Returns
    -------
    extent, n_levels
        Size of the drawing across the levels, including ``gap``, and the number of levels.
    """
    boxes = root.walk()
    for box in boxes:
        for child in box.children:
            child.level = box.level + 1
    # outlines from a box downwards: first and last coordinate on each level, from the box's middle
    outlines: dict[int, tuple[list[float], list[float]]] = {}
    shift: dict[int, float] = {}  # from the parent's middle to the box's
    for box in reversed(boxes):
        first: list[float] = []
        last: list[float] = []
        places = []
        for child in box.children:
            child_first, child_last = outlines.pop(id(child))
            place = max((end - begin for end, begin in zip(last, child_first, strict=False)), default=0.0)
            place += gap if last else 0.0
            places.append(place)
            first += [place + x for x in child_first[len(first) :]]
            last = [place + x for x in child_last] + last[len(child_last) :]
        middle = (places[0] + places[-1 if centred else 0]) / 2 if places else 0.0
        shift |= {id(child): place - middle for child, place in zip(box.children, places, strict=True)}
        outlines[id(box)] = (
            [-box.size / 2, *(x - middle for x in first)],
            [box.size / 2, *(x - middle for x in last)],
        )
    first, last = outlines[id(root)]
    root.middle = gap / 2 - min(first)
    for box in boxes:
        for child in box.children:
            child.middle = box.middle + shift[id(child)]
    return max(last) - min(first) + gap, len(first)
