"""Layout of a drawn tree: leaves side by side, parents above the middle of their children."""

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
    above: str = ""  # label of the line that leads here
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


def arrange(root: Box, gap: float = 0.25) -> tuple[float, int]:
    """Set the positions of all boxes so that none overlaps another on its level.

    Subtrees are pushed together until their outlines touch on some level (Reingold and Tilford 1981).

    Returns
    -------
    width, n_levels
        Size of the picture.
    """
    boxes = root.all()
    for box in boxes:
        for child in box.children:
            child.level = box.level + 1
    # outlines from a box downwards: smallest and largest x on each level, measured from the box's middle
    left: dict[int, list[float]] = {}
    right: dict[int, list[float]] = {}
    shift: dict[int, float] = {}  # of a box's middle against its parent's
    for box in reversed(boxes):
        own_left, own_right = _side_by_side(box, left, right, shift, gap)
        left[id(box)] = [-box.width / 2, *own_left]
        right[id(box)] = [box.width / 2, *own_right]
    low, high = min(left[id(root)]), max(right[id(root)])
    root.x = gap / 2 - low
    for box in boxes:
        for child in box.children:
            child.x = box.x + shift[id(child)]
    return high - low + gap, len(left[id(root)])


def _side_by_side(
    box: Box, left: dict[int, list[float]], right: dict[int, list[float]], shift: dict[int, float], gap: float
) -> tuple[list[float], list[float]]:
    """Place the children of a box next to each other; returns the outlines of all of them together."""
    all_left: list[float] = []
    all_right: list[float] = []
    places = []
    for child in box.children:
        own_left, own_right = left.pop(id(child)), right.pop(id(child))
        at = max((end - begin for end, begin in zip(all_right, own_left, strict=False)), default=0.0)
        at += gap if all_right else 0.0
        places.append(at)
        all_left += [at + x for x in own_left[len(all_left) :]]
        all_right = [at + x for x in own_right] + all_right[len(own_right) :]
    middle = (places[0] + places[-1]) / 2 if places else 0.0
    for child, at in zip(box.children, places, strict=True):
        shift[id(child)] = at - middle
    return [x - middle for x in all_left], [x - middle for x in all_right]
