"""Axes to draw on, and the colours of all pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def plain(ax: Any) -> None:
    """Leave only the lower and left edges of a chart."""
    ax.spines[["top", "right"]].set_visible(False)


def whole_numbers(ax: Any) -> None:
    """Mark only whole numbers on the lower edge."""
    ax.xaxis.get_major_locator().set_params(integer=True)


def class_colour(k: int) -> str:
    """Return the colour of a class."""
    return CLASSES[k % len(CLASSES)]
