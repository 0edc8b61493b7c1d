"""Draw the boxes of a tree as SVG from left to right: condition, split or prediction, and rows of each."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from crosscut.forest.export.layout import arrange

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.forest.export.layout import Box
    from crosscut.forest.tree import Tree

MAX_LEAVES = 40  # a larger drawing is unreadable
FEW_LEAVES = 8  # up to here a parent is beside the middle of its children; else the root is at the top
HEIGHT, GAP, BETWEEN = 60, 12, 34  # of a box, below it, and between levels
NARROW, WIDE = 112, 236  # widths of boxes
LETTER = {"condition": 7.6, "label": 9.4, "rows": 7.4}  # average width of a letter by line of the box
N_COLOURS = 7  # of classes


def svg_of(root: Box, label: str, *, widest: int = WIDE, buttons: bool = True) -> str:
    """Return the drawing; boxes are buttons if the page's script handles them."""
    boxes = root.walk()
    for box in boxes:
        box.size = HEIGHT
    few = sum(not box.children for box in boxes) <= FEW_LEAVES
    height, n_levels = arrange(root, GAP, centred=few)
    wanted = [[NARROW, *(_width(box) for box in boxes if box.level == level)] for level in range(n_levels)]
    width = [min(widest, max(each)) for each in wanted]
    left = [1 + sum(width[:level]) + level * BETWEEN for level in range(n_levels)]
    total = left[-1] + width[-1] + 1
    parts = []
    for box in boxes:
        x, w = left[box.level], width[box.level]
        for child in box.children:
            a, b, c, d = x + w, box.middle, left[child.level], child.middle
            middle = (a + c) / 2
            parts.append(
                f'<path class="edge" d="M{a:g} {b:g}C{middle:g} {b:g} {middle:g} {d:g} {c:g} {d:g}"/>'
            )
        parts.append(_drawn(box, x, w, 'role="button" tabindex="0" ' if buttons else 'role="img" '))
    return (
        f'<svg class="tree" viewBox="0 0 {total:g} {height:g}" style="width:{total:g}px" role="group" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _lines(box: Box) -> dict[str, str]:
    """Return the lines of a box by their style."""
    lines = {
        "condition": f"{box.column} {box.branch}".strip(),
        "label": box.label + {"test": "?", "more": " …"}.get(box.kind, ""),
        "rows": ", ".join(filter(None, [box.rows, box.majority])),
    }
    return {style: text for style, text in lines.items() if text}


def _width(box: Box) -> float:
    return 22 + max(len(text) * LETTER[style] for style, text in _lines(box).items())


def _drawn(box: Box, x: float, width: float, role: str) -> str:
    lines = _lines(box)
    label = escape(", ".join(lines.values()))
    parts = [
        f'<g class="node {box.kind}" data-node="{box.node}" {role}aria-label="{label}" ',
        f'transform="translate({x:g} {box.middle - HEIGHT / 2:g})"><title>{label}</title>',
        f'<rect class="box" width="{width:g}" height="{HEIGHT}" rx="7"/>',
    ]
    if box.colour is not None:
        parts.append(f'<rect class="c{box.colour}" y="8" width="4" height="{HEIGHT - 18}" rx="2"/>')
    top = 16 if len(lines) == 3 else 25
    for k, (style, text) in enumerate(lines.items()):
        letters = int((width - 20) / LETTER[style])
        column = box.column if style == "condition" else ""  # it is shortened first
        condition = text.removeprefix(column)
        shown = shortened(shortened(column, max(letters - len(condition), 8)) + condition, letters)
        parts.append(f'<text class="{style}" x="11" y="{top + 16.5 * k:g}">{escape(shown)}</text>')
    at = 8.0
    for colour, share in box.bar:
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


def opened_nodes(tree: Tree, inner: NDArray[np.bool_], most: int = MAX_LEAVES) -> list[int]:
    """Return the nodes to draw with their branches, in preorder; of a large tree, those with most rows."""
    opened: list[int] = []
    leaves, todo = 1, [0] if inner[0] else []
    while todo:
        node = max(todo, key=lambda node: tree.n_rows[node])
        todo.remove(node)
        children = tree.children_of(node)
        if leaves + len(children) - 1 > most and opened:
            break
        leaves += len(children) - 1
        opened.append(node)
        todo += [child for child in children if inner[child]]
    return sorted(opened)


def class_colours(counts: NDArray[np.number]) -> list[int]:
    """Give the most frequent classes a colour each, and all others the last colour."""
    order = np.argsort(-counts, kind="stable")
    colour = np.empty(len(order), np.int64)
    colour[order] = np.minimum(np.arange(len(order)), N_COLOURS - 1)
    return [int(c) for c in colour]
