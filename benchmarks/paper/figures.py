"""The paper's figures, drawn from measurements on this machine. Each function returns SVG text."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paper import propositional, relational

COLOURS = {"serial": "#9a9a9a", "paper": "#d98c3a", "crosscut": "#2b6cb0"}
LABELS = {"serial": "serial", "paper": "the paper's algorithm", "crosscut": "crosscut"}


def overhead_per_data_set(names: Sequence[str], overheads: Mapping[str, Sequence[float]]) -> str:
    """Draw Figure 4 of the paper: T_s and T_p relative to T_a; the part above the line is overhead."""
    figure, axes = _figure(7.0, 3.2)
    width = 0.8 / len(overheads)
    for place, (name, values) in enumerate(overheads.items()):
        at = np.arange(len(names)) + (place - (len(overheads) - 1) / 2) * width
        axes.bar(at, 1 + np.asarray(values), width, color=COLOURS[name], label=LABELS[name])
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(np.arange(len(names)), names)
    axes.set_yscale("log")
    axes.set_ylabel("time ÷ time of one tree")
    figure.legend(frameon=False, ncols=3, loc="outside upper center")
    return _svg(figure)


def overhead_by_folds(title: str, numbers: Sequence[int], overheads: Mapping[str, Sequence[float]]) -> str:
    """Draw Figure 5 of the paper: overhead as a function of the number of folds."""
    figure, axes = _figure(4.2, 3.0)
    for name, values in overheads.items():
        axes.plot(
            numbers,
            100 * np.maximum(values, 1e-3),
            "o-",
            color=COLOURS[name],
            label=LABELS[name],
            markersize=3,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(numbers, [str(n) for n in numbers])
    axes.minorticks_off()
    axes.set_xlabel("folds")
    axes.set_ylabel("overhead, % of one tree")
    axes.set_title(title, fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    return _svg(figure)


def time_per_level(measured: relational.Levels) -> str:
    """Draw Figure 6 of the paper: time on each level, with f(i - 1)."""
    figure, axes = _figure(5.0, 3.0)
    at = np.arange(1, len(measured.f) + 1)
    for name, colour in COLOURS.items():
        milliseconds = 1000 * np.asarray(measured.seconds[name][: len(at)])
        axes.plot(at, milliseconds, "o-", color=colour, label=LABELS[name], markersize=3)
    axes.set_xticks(at)
    axes.set_xlabel("level")
    axes.set_ylabel("milliseconds")
    axes.set_title(measured.problem.name, fontsize=10)
    right = axes.twinx()
    right.plot(at, measured.f, "k:", label="f(i - 1)")
    right.set_ylabel("f(i - 1)")
    right.set_ylim(bottom=0)
    lines = [*axes.get_lines(), *right.get_lines()]
    axes.legend(lines, [line.get_label() for line in lines], frameon=False, fontsize=8)
    return _svg(figure)


def speedup_by_folds(measured: Sequence[propositional.Measurement]) -> str:
    """Draw the speed-up over growing the trees one by one by number of folds, one panel per concept."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(each.concept.name for each in measured))
    figure = Figure(figsize=(8.4, 2.5 * ((len(names) + 2) // 3)), layout="constrained")
    panels = figure.subplots((len(names) + 2) // 3, 3, squeeze=False, sharey=True).ravel()
    for axes, name in zip(panels, names, strict=False):
        rows = [each for each in measured if each.concept.name == name]
        numbers = [each.n_folds for each in rows]
        for variant in ("paper", "crosscut"):
            values = [getattr(each, variant).S for each in rows]
            axes.plot(numbers, values, "o-", color=COLOURS[variant], label=LABELS[variant], markersize=3)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(numbers, [str(n) for n in numbers])
        axes.minorticks_off()
        axes.set_title(name, fontsize=9)
    panels[0].legend(frameon=False, fontsize=7)
    panels[0].set_ylabel("speed-up")
    for axes in panels[-3:]:
        axes.set_xlabel("folds")
    return _svg(figure)


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top"]].set_visible(False)
    return figure, axes


def _svg(figure: Any) -> str:
    import matplotlib as mpl

    buffer = io.StringIO()
    # without date and random ids, the same figures give the same file
    with mpl.rc_context({"svg.hashsalt": "crosscut", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
