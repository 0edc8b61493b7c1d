"""Draw a tree from left to right, with one box per node: its condition, its split or prediction, its rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.export.text import branch_label, counted, outcome_label
from crosscut.forest.tree import decisions, probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.tree import Tree
    from crosscut.training.fit import Fit

MAX_LEAVES = 40  # a larger drawing is unreadable
FEW_LEAVES = 8  # up to here a parent is beside the middle of its children
HEIGHT, GAP, BETWEEN = 60, 12, 34  # of a box, below it, and between levels
NARROW, WIDE = 112, 236  # widths of boxes
LETTER = {"condition": 6.9, "says": 8.7, "rows": 6.7}  # average width of a letter by line of the box
N_COLOURS = 7  # of classes


@dataclass
class Box:
    """One node: the condition that leads to it, its split or prediction, and its number of rows.

    ``shares`` are the class proportions by colour; for numbers, the position of the mean in their range.
    """

    node: int
    condition: str
    says: str
    rows: str
    kind: str = "leaf"  # or "test", or "more": a node whose subtree is not drawn
    shares: tuple[tuple[int, float], ...] = ()
    colour: int | None = None
    children: list[Box] = field(default_factory=list)
    column: str = ""  # the name at the beginning of the condition, which is shortened first
    level: int = 0
    y: float = 0.0

    def walk(self) -> list[Box]:
        """Return this box and all boxes below it, parents first."""
        return [self, *(box for child in self.children for box in child.walk())]


def svg_of(root: Box, label: str, *, widest: int = WIDE, buttons: bool = True) -> str:
    """Return the drawing; boxes are buttons if the page's script handles them."""
    boxes = _place(root)
    levels = max(box.level for box in boxes) + 1
    wanted = [[NARROW, *(_width(box) for box in boxes if box.level == level)] for level in range(levels)]
    width = [min(widest, max(each)) for each in wanted]
    left = [1 + sum(width[:level]) + level * BETWEEN for level in range(levels)]
    total, height = left[-1] + width[-1] + 1, max(box.y for box in boxes) + HEIGHT + 1
    parts = []
    for box in boxes:
        x, w = left[box.level], width[box.level]
        for child in box.children:
            a, b, c, d = x + w, box.y + HEIGHT / 2, left[child.level], child.y + HEIGHT / 2
            middle = (a + c) / 2
            parts.append(
                f'<path class="edge" d="M{a:g} {b:g}C{middle:g} {b:g} {middle:g} {d:g} {c:g} {d:g}"/>'
            )
        parts.append(_drawn(box, x, w, 'role="button" tabindex="0" ' if buttons else 'role="img" '))
    return (
        f'<svg class="tree" viewBox="0 0 {total:g} {height:g}" style="width:{total:g}px" role="group" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _place(root: Box) -> list[Box]:
    """Put leaves below each other and parents beside their children; a large tree has its root at the top."""
    boxes = root.walk()
    small = sum(not box.children for box in boxes) <= FEW_LEAVES
    bottom = 1.0
    for box in boxes:
        for child in box.children:
            child.level = box.level + 1
        if not box.children:
            box.y, bottom = bottom, bottom + HEIGHT + GAP
    for box in reversed(boxes):
        if box.children:
            box.y = (box.children[0].y + box.children[-1 if small else 0].y) / 2
    return boxes


def _lines(box: Box) -> list[tuple[str, str]]:
    return [(name, getattr(box, name)) for name in LETTER if getattr(box, name)]


def _width(box: Box) -> float:
    return 22 + max(len(text) * LETTER[name] for name, text in _lines(box))


def _drawn(box: Box, x: float, width: float, role: str) -> str:
    lines = _lines(box)
    label = escape(", ".join(text for _, text in lines))
    parts = [
        f'<g class="node {box.kind}" data-node="{box.node}" {role}aria-label="{label}" ',
        f'transform="translate({x:g} {box.y:g})"><title>{label}</title>',
        f'<rect class="box" width="{width:g}" height="{HEIGHT}" rx="7"/>',
    ]
    if box.colour is not None:
        parts.append(f'<rect class="c{box.colour}" y="8" width="4" height="{HEIGHT - 18}" rx="2"/>')
    top = 16 if len(lines) == 3 else 25
    for k, (name, text) in enumerate(lines):
        letters = int((width - 20) / LETTER[name])
        column = box.column if name == "condition" else ""
        condition = text.removeprefix(column)
        shown = shortened(shortened(column, max(letters - len(condition), 8)) + condition, letters)
        parts.append(f'<text class="{name}" x="11" y="{top + 16.5 * k:g}">{escape(shown)}</text>')
    at = 8.0
    for colour, share in box.shares:
        w = share * (width - 16)
        if w > 0.2:
            parts.append(f'<rect class="c{colour}" x="{at:.1f}" y="54" width="{w:.1f}" height="3.5"/>')
        at += w
    return "".join(parts) + "</g>"


def shortened(text: str, letters: int) -> str:
    """Shorten a text to at most ``letters`` letters by leaving out its middle."""
    if len(text) <= letters:
        return text
    end = (letters - 1) // 3
    return f"{text[: letters - 1 - end]}…{text[len(text) - end :]}"


class TreeBoxes:
    """Makes the boxes of a tree, pruned to any size.

    Parameters
    ----------
    fit : Fit
        The fit, for its columns and classes.
    tree : Tree
        The largest tree to draw.
    """

    def __init__(self, fit: Fit, tree: Tree, colours: list[int]) -> None:
        self.fit, self.tree, self.colours = fit, tree, colours
        self.share = None if fit.classes is None else probabilities(tree.value)
        self.decided = decisions(tree.value, tree.loss)
        self.span = float(tree.value[:, 0].min()), float(tree.value[:, 0].max())

    def root(self, inner: NDArray[np.bool_] | None = None) -> Box:
        """Return the boxes of the pruned tree in which the nodes marked ``inner`` are split."""
        tree = self.tree
        inner = tree.feature >= 0 if inner is None else inner
        opened = _opened(tree, inner)
        boxes = {0: self._box(0, "", inner, opened)}
        for node in opened:
            name = self.fit.schema.names[int(tree.feature[node])]
            for branch, child in enumerate(
                tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist()
            ):
                condition = f"{name} {branch_label(tree, node, branch, self.fit.schema)}"
                boxes[child] = self._box(child, condition, inner, opened)
                boxes[child].column = name
                boxes[node].children.append(boxes[child])
        return boxes[0]

    def _box(self, node: int, condition: str, inner: NDArray[np.bool_], opened: list[int]) -> Box:
        tree, classes = self.tree, self.fit.classes
        rows = counted(int(tree.n_rows[node]), "row")
        value = tree.value[node]
        outcome = outcome_label(tree, node, classes)
        if self.share is None:
            low, high = self.span
            shares: Any = ((0, (float(value[0]) - low) / ((high - low) or 1.0)),)
            colour = None
        else:
            code = int(self.decided[node])
            rows += f", {self.share[node, code]:.0%} {outcome}"
            shares = [
                (self.colours[c], float(self.share[node, c])) for c in np.argsort(self.colours, kind="stable")
            ]
            colour = self.colours[code]
        if node in opened:
            name = self.fit.schema.names[int(tree.feature[node])]
            return Box(node, condition, f"{name}?", rows, "test", tuple(shares))
        kind = "more" if inner[node] else "leaf"
        return Box(
            node, condition, f"{outcome} …" if kind == "more" else outcome, rows, kind, tuple(shares), colour
        )


def _opened(tree: Tree, inner: NDArray[np.bool_]) -> list[int]:
    """Return the nodes to draw with their branches, in preorder; of a large tree, those with most rows."""
    opened: list[int] = []
    leaves, todo = 1, [0] if inner[0] else []
    while todo:
        node = max(todo, key=lambda node: tree.n_rows[node])
        todo.remove(node)
        children = tree.children[tree.first_child[node] : tree.first_child[node + 1]].tolist()
        if leaves + len(children) - 1 > MAX_LEAVES and opened:
            break
        leaves += len(children) - 1
        opened.append(node)
        todo += [child for child in children if inner[child]]
    return sorted(opened)


def class_colours(counts: NDArray[Any]) -> list[int]:
    """Give the most frequent classes a colour each, and all others the last colour."""
    order = np.argsort(-counts, kind="stable")
    colour = np.empty(len(order), np.int64)
    colour[order] = np.minimum(np.arange(len(order)), N_COLOURS - 1)
    return [int(c) for c in colour]
