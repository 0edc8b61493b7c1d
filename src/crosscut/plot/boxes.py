"""Axes, colours, and the layout and drawing of trees of boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY, LIGHT = "#0b62a8", "#c2410c", "#5d6675", "#d9e6f2"
# the eleventh class gets the first colour again
CLASSES = (
    *("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee"),
    *("#aa3377", "#bbbbbb", "#ee8866", "#44bb99", "#775511"),
)


def axes(ax: Axes | None, width: float, height: float) -> Axes:
    """Return ``ax``, or new axes of this size in inches."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "plots need matplotlib: pip install 'crosscut[plot]'", name="matplotlib"
        ) from error
    import sys

    if "matplotlib.pyplot" in sys.modules:  # a notebook or script in which pyplot shows the figures
        from matplotlib import pyplot as plt

        new: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
        return new
    return Figure(figsize=(width, height), layout="constrained").subplots()


def labelled(ax: Axes, x: str, y: str, *, whole: bool = False) -> Axes:
    """Label the axes and hide the upper and right edges; ``whole`` means integer ticks on the x axis."""
    ax.set(xlabel=x, ylabel=y)
    ax.spines[["top", "right"]].set_visible(False)
    if whole:
        ax.locator_params("x", integer=True)
    return ax


def class_colour(k: int) -> str:
    """Return the colour of a class."""
    return CLASSES[k % len(CLASSES)]


@dataclass(eq=False)
class PictureBox:
    """One box of a picture.

    ``width`` is in units of the picture; ``x`` (the middle) and ``level`` are set by :func:`arrange`.
    """

    text: str
    width: float = 1.0
    kind: str = "test"
    above: str = ""  # label of the line from the parent
    children: list[PictureBox] = field(default_factory=list)
    shares: tuple[float, ...] = ()  # of the classes, for a bar
    x: float = 0.0
    level: int = 0

    def all(self) -> list[PictureBox]:
        """Return this box and all boxes below it, parents first."""
        boxes, todo = [], [self]
        while todo:
            box = todo.pop()
            boxes.append(box)
            todo.extend(reversed(box.children))
        return boxes


def arrange(root: PictureBox, gap: float = 0.25) -> tuple[float, int]:
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
    shift: dict[int, float] = {}  # from the parent's middle to the box's
    for box in reversed(boxes):
        child_left, child_right = _side_by_side(box, left, right, shift, gap)
        left[id(box)] = [-box.width / 2, *child_left]
        right[id(box)] = [box.width / 2, *child_right]
    low, high = min(left[id(root)]), max(right[id(root)])
    root.x = gap / 2 - low
    for box in boxes:
        for child in box.children:
            child.x = box.x + shift[id(child)]
    return high - low + gap, len(left[id(root)])


def _side_by_side(
    box: PictureBox,
    left: dict[int, list[float]],
    right: dict[int, list[float]],
    shift: dict[int, float],
    gap: float,
) -> tuple[list[float], list[float]]:
    """Place the children of a box next to each other; return their common outlines."""
    all_left: list[float] = []
    all_right: list[float] = []
    places = []
    for child in box.children:
        child_left, child_right = left.pop(id(child)), right.pop(id(child))
        at = max((end - begin for end, begin in zip(all_right, child_left, strict=False)), default=0.0)
        at += gap if all_right else 0.0
        places.append(at)
        all_left += [at + x for x in child_left[len(all_left) :]]
        all_right = [at + x for x in child_right] + all_right[len(child_right) :]
    middle = (places[0] + places[-1]) / 2 if places else 0.0
    for child, at in zip(box.children, places, strict=True):
        shift[id(child)] = at - middle
    return [x - middle for x in all_left], [x - middle for x in all_right]


CHARACTER, LINE, LEVEL = 0.08, 0.19, 1.0  # inches: a character's width, a line's height, a level's height
FONT = 9
LARGEST = 60.0  # inches; wider pictures are scaled down


def text_width(text: str) -> float:
    """Return the width of a box around this text, in inches."""
    return CHARACTER * max(len(line) for line in text.split("\n")) + 0.2


def draw(root: PictureBox, ax: Axes | None) -> Axes:
    """Draw boxes on ``ax``, or on new axes of the right size."""
    for box in root.all():
        box.width = max(box.width, text_width(box.text), text_width(box.above) - 0.1 if box.above else 0)
    width, n_levels = arrange(root)
    height = LEVEL * n_levels
    scale = min(1.0, LARGEST / max(width, height))
    is_new = ax is None
    ax = axes(ax, max(width * scale, 2.5), max(height * scale, 1.2))
    if not is_new:
        inches = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        scale = min(inches.width / width, inches.height / height, 1.0)
    font = FONT * scale
    for box in root.all():
        for child in box.children:
            _draw_line(ax, box, child, font)
    for box in root.all():
        _draw_box(ax, box, font)
    ax.set_xlim(0, max(width, 2.5))
    ax.set_ylim(-LEVEL * (n_levels - 0.5), LEVEL * 0.5)
    ax.set_axis_off()
    return ax


def _height(box: PictureBox) -> float:
    return LINE * (box.text.count("\n") + 1) + 0.12 + (0.14 if box.shares else 0)


def _draw_line(ax: Axes, box: PictureBox, child: PictureBox, font: float) -> None:
    top, bottom = -LEVEL * box.level - _height(box) / 2, -LEVEL * child.level + _height(child) / 2
    ax.plot([box.x, child.x], [top, bottom], color=GREY, linewidth=1, zorder=1)
    if child.above:
        ax.text(
            child.x,
            bottom + 0.04,
            child.above,
            parse_math=False,
            fontsize=font * 0.9,
            ha="center",
            va="bottom",
            color=ORANGE if box.kind == "fork" else GREY,
            zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )


def _draw_box(ax: Axes, box: PictureBox, font: float) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    styles: dict[str, dict[str, Any]] = {
        "test": {"facecolor": LIGHT, "edgecolor": GREY},
        "leaf": {"facecolor": "white", "edgecolor": GREY},
        "collapsed": {"facecolor": "white", "edgecolor": GREY, "linestyle": "dashed"},
        "fork": {"facecolor": ORANGE, "edgecolor": ORANGE},
    }
    width, height = text_width(box.text), _height(box)
    left, bottom = box.x - width / 2, -LEVEL * box.level - height / 2
    shape = (
        Rectangle((left, bottom), width, height, **styles[box.kind], zorder=2)
        if box.kind == "fork"
        else FancyBboxPatch(
            (left, bottom),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.08",
            **styles[box.kind],
            zorder=2,
        )
    )
    ax.add_patch(shape)
    colour = "white" if box.kind == "fork" else "black"
    ax.text(
        box.x,
        bottom + height / 2 + (0.06 if box.shares else 0),
        box.text,
        parse_math=False,  # names may contain '$' or backslashes
        fontsize=font,
        ha="center",
        va="center",
        color=colour,
        zorder=3,
        linespacing=1.15,
    )
    at = left + 0.08
    for k, share in enumerate(box.shares):
        part = (width - 0.16) * share
        ax.add_patch(Rectangle((at, bottom + 0.05), part, 0.09, color=class_colour(k), linewidth=0, zorder=3))
        at += part
