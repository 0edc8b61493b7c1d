"""Axes, colours, and the drawing of boxes with matplotlib, the root at the top."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from crosscut.forest.export.layout import arrange

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from crosscut.forest.export.layout import Box

BLUE, ORANGE, GREY, LIGHT = "#0b62a8", "#c2410c", "#5d6675", "#d9e6f2"
# of classes; the eleventh gets the first colour again
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
    ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    if "matplotlib.pyplot" in sys.modules or (ipython and ipython()):  # pyplot shows the figures
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


CHARACTER, LINE, LEVEL = 0.08, 0.19, 1.0  # inches: a character's width, a line's height, a level's height
FONT = 9
GAP = 0.25  # inches between boxes
LARGEST = 60.0  # inches; wider pictures are scaled down


STYLES = {
    "test": {"facecolor": LIGHT, "edgecolor": GREY},
    "leaf": {"facecolor": "white", "edgecolor": GREY},
    "more": {"facecolor": "white", "edgecolor": GREY, "linestyle": "dashed"},
    "fork": {"facecolor": ORANGE, "edgecolor": ORANGE},
}


def draw(root: Box, ax: Axes | None) -> Axes:
    """Draw boxes on ``ax``, or on new axes of the right size."""
    boxes = root.walk()
    for box in boxes:
        box.size = max(1.0, _text_width(_text(box)), _text_width(box.branch) - 0.1)
    width, n_levels = arrange(root, GAP)
    height = LEVEL * n_levels
    scale = min(1.0, LARGEST / max(width, height))
    is_new = ax is None
    ax = axes(ax, max(width * scale, 2.5), max(height * scale, 1.2))
    if not is_new:
        inches = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        scale = min(inches.width / width, inches.height / height, 1.0)
    font = FONT * scale
    for box in boxes:
        for child in box.children:
            _draw_line(ax, box, child, font)
    for box in boxes:
        _draw_box(ax, box, font)
    ax.set_xlim(0, max(width, 2.5))
    ax.set_ylim(-LEVEL * (n_levels - 0.5), LEVEL * 0.5)
    ax.set_axis_off()
    return ax


def _text(box: Box) -> str:
    return "\n".join(filter(None, [box.label, box.rows, f"… {box.hidden} nodes" if box.hidden else ""]))


def _text_width(text: str) -> float:
    """Return the width of a box around this text, in inches."""
    return CHARACTER * max(len(line) for line in text.split("\n")) + 0.2


def _height(box: Box) -> float:
    return LINE * (_text(box).count("\n") + 1) + 0.12 + (0.14 if box.bar else 0)


def _draw_line(ax: Axes, box: Box, child: Box, font: float) -> None:
    top, bottom = -LEVEL * box.level - _height(box) / 2, -LEVEL * child.level + _height(child) / 2
    ax.plot([box.middle, child.middle], [top, bottom], color=GREY, linewidth=1, zorder=1)
    if child.branch:
        ax.text(
            child.middle,
            bottom + 0.04,
            child.branch,
            parse_math=False,
            fontsize=font * 0.9,
            ha="center",
            va="bottom",
            color=ORANGE if box.kind == "fork" else GREY,
            zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )


def _draw_box(ax: Axes, box: Box, font: float) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    width, height = _text_width(_text(box)), _height(box)
    left, bottom = box.middle - width / 2, -LEVEL * box.level - height / 2
    corners = "square,pad=0" if box.kind == "fork" else "round,pad=0,rounding_size=0.08"
    shape = FancyBboxPatch((left, bottom), width, height, boxstyle=corners, zorder=2)
    shape.set(**STYLES[box.kind])
    ax.add_patch(shape)
    ax.text(
        box.middle,
        bottom + height / 2 + (0.06 if box.bar else 0),
        _text(box),
        parse_math=False,  # names may contain '$' or backslashes
        fontsize=font,
        ha="center",
        va="center",
        color="black",
        zorder=3,
        linespacing=1.15,
    )
    at = left + 0.08
    for colour, share in box.bar:
        part = (width - 0.16) * share
        ax.add_patch(Rectangle((at, bottom + 0.05), part, 0.09, color=CLASSES[colour], linewidth=0, zorder=3))
        at += part
