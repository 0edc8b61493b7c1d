"""Extension points for other distributions: commands, model files, viewers and C++ headers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS = "crosscut.commands"  # click commands
MODELS = "crosscut.models"  # modules that write and read a kind of model (`crosscut.model_file`)
VIEWERS = "crosscut.viewers"  # modules that show a kind of model and read its rows (`crosscut.cli`)
RELATIONAL = {
    "Bias",
    "Database",
    "RelationalRuleClassifier",
    "RelationalTreeClassifier",
    "RelationalTreeRegressor",
}  # names that moved to crosscut-relational


def get_include() -> str:
    """Return the folder of the C++ headers for other distributions, such as ``base/threads.hpp``.

    ``base/module.cmake`` in it builds a compiled module with the sources of ``base/``. The C++ interface is
    not stable: require the same version of crosscut.

    Examples
    --------
    >>> from pathlib import Path
    >>> import crosscut
    >>> Path(crosscut.get_include(), "base", "threads.hpp").exists()
    True
    """
    from crosscut import _core

    return str(Path(_core.__file__).with_name("include"))  # also correct for editable installs


@cache
def extensions(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=group)}


def hint(what: str) -> str:
    """Return how to install a part of crosscut-relational."""
    return f"{what} is part of crosscut-relational: pip install crosscut-relational"
