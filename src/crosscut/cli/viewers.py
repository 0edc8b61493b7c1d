"""Models that other distributions add: how `crosscut show` and `crosscut predict` treat them."""

from __future__ import annotations

from typing import Any, Protocol

from crosscut.extensions import VIEWERS, extensions


class Viewer(Protocol):
    """A module of the entry points of group ``crosscut.viewers``, by the kind of model."""

    def show(self, model: Any, *, as_json: bool, as_rules: bool, lines: int) -> None:
        """Print a model as JSON, as rules, or as text of at most ``lines`` lines."""

    def rows(self, model: Any, file: str) -> tuple[dict[str, list[str]], Any, str]:
        """Return columns that name the rows of a file, what ``predict`` takes, and the target's name."""


def viewer_of(model: Any) -> Viewer | None:
    """Return what shows a fitted model, or None for a model of crosscut's own."""
    entry = extensions(VIEWERS).get(model.fit_.learner)
    viewer: Viewer | None = None if entry is None else entry.load()
    return viewer
