"""Read saved models, and find the viewers of models of other distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from crosscut.cli.failure import NOT_A_MODEL, UNREADABLE, failing_with
from crosscut.data.file_kind import check_file
from crosscut.extensions import VIEWERS, extensions

if TYPE_CHECKING:
    from pathlib import Path

    from sklearn.base import BaseEstimator

    from crosscut.typing import TableLike


class Viewer(Protocol):
    """A module registered as an entry point of group ``crosscut.viewers`` under the name of a learner."""

    def show(self, model: BaseEstimator, *, as_json: bool, as_rules: bool, lines: int) -> None:
        """Print a model as JSON, as rules, or as text of at most ``lines`` lines."""

    def rows(self, model: BaseEstimator, file: str) -> tuple[dict[str, list[str]], TableLike, str]:
        """Return columns that name the rows of a file, what ``predict`` takes, and the target's name."""


def viewer_of(model: BaseEstimator) -> Viewer | None:
    """Return the viewer of a fitted model, or None for a tree or rule model of crosscut itself."""
    entry = extensions(VIEWERS).get(model.fit_.learner)
    viewer: Viewer | None = None if entry is None else entry.load()
    return viewer


def read_model_file(path: Path) -> tuple[Any, str]:
    """Return the model in a file and the name of its target; any other file is a failure."""
    from crosscut.model_file.model import read_model

    with failing_with(UNREADABLE):
        check_file(path)
    with failing_with(NOT_A_MODEL):
        return read_model(path)
