"""Where the nodes of a drawn tree go: leaves side by side, parents above the middle of their children."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class Box:
    """One box of a picture.

    ``width`` is in units of the picture; ``x`` (the middle) and ``level`` are set by :func:`arrange`.
    """

    text: str
    width: float = 1.0
    kind: str = "test"
    above: str = ""  # what leads here, written on the line
    children: list[Box] = field(default_factory=list)
    shares: tuple[float, ...] = ()  # of the classes, for a bar
    x: float = 0.0
    level: int = 0

    def all(self) -> list[Box]:
        """Return this box and all below it, parents first."""
        found, todo = [], [self]
        while todo:
            box = todo.pop()
            found.append(box)
            todo.extend(reversed(box.children))
        return found


def arrange(root: Box, gap: float = 0.3) -> tuple[float, int]:
    """Set the places of all boxes so that none overlaps another of its level.

    Returns
    -------
    width, n_levels
        Size of the picture.
    """
    boxes = root.all()
    for box in boxes:
        for child in box.children:
            child.level = box.level + 1
    n_levels = 1 + max(box.level for box in boxes)
    # from below: a subtree is as wide as its children side by side, or as its own box
    extent: dict[int, float] = {}
    for box in reversed(boxes):
        below = sum(extent[id(child)] for child in box.children)
        extent[id(box)] = max(box.width + gap, below)
    left = {id(root): 0.0}
    for box in boxes:
        begin = left[id(box)]
        below = sum(extent[id(child)] for child in box.children)
        at = begin + (extent[id(box)] - below) / 2
        for child in box.children:
            left[id(child)] = at
            at += extent[id(child)]
        box.x = begin + extent[id(box)] / 2
    for box in reversed(boxes):
        if box.children:
            middle = (box.children[0].x + box.children[-1].x) / 2
            begin, end = left[id(box)], left[id(box)] + extent[id(box)]
            box.x = min(max(middle, begin + box.width / 2), end - box.width / 2)
    return extent[id(root)], n_levels
