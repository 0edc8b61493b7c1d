"""How `crosscut show` and `crosscut predict` handle models of other distributions."""

from __future__ import annotations

from typing import Any, Protocol

from crosscut.extensions import VIEWERS, extensions


class Viewer(Protocol):
    """A module registered as an entry point of group ``crosscut.viewers`` under the name of a learner."""

    def show(self, model: Any, *, as_json: bool, as_rules: bool, lines: int) -> None:
        """Print a model as JSON, as rules, or as text of at most ``lines`` lines."""

    def rows(self, model: Any, file: str) -> tuple[dict[str, list[str]], Any, str]:
        """Return columns that name the rows of a file, what ``predict`` takes, and the target's name."""


def viewer_of(model: Any) -> Viewer | None:
    """Return the viewer of a fitted model, or None for a tree or rule model of crosscut itself."""
    entry = extensions(VIEWERS).get(model.fit_.learner)
    viewer: Viewer | None = None if entry is None else entry.load()
    return viewer
