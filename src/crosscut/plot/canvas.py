"""Axes to draw on, and the colours of all pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY, LIGHT = "#0b62a8", "#c2410c", "#5d6675", "#d9e6f2"
# classes beyond the tenth share colours
CLASSES = (
    *("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee"),
    *("#aa3377", "#bbbbbb", "#ee8866", "#44bb99", "#775511"),
)


def axes(given: Axes | None, width: float, height: float) -> Axes:
    """Return the axes to draw on: those given, or new ones of this size in inches."""
    if given is not None:
        return given
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib: pip install 'crosscut[plot]'", name="matplotlib"
        ) from error
    import sys

    if "matplotlib.pyplot" in sys.modules:  # a notebook or script that shows figures by itself
        from matplotlib import pyplot as plt

        made: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
        return made
    return Figure(figsize=(width, height), layout="constrained").subplots()


def labelled(ax: Axes, x: str, y: str, *, whole: bool = False) -> Axes:
    """Label a chart and leave only its lower and left edges; mark only whole numbers on the lower one."""
    ax.set(xlabel=x, ylabel=y)
    ax.spines[["top", "right"]].set_visible(False)
    if whole:
        ax.locator_params("x", integer=True)
    return ax


def class_colour(k: int) -> str:
    """Return the colour of a class."""
    return CLASSES[k % len(CLASSES)]
