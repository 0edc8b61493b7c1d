"""What other distributions build on, and what they add: commands, kinds of models and how to show them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS = "crosscut.commands"  # a click command each
MODELS = "crosscut.models"  # by kind of model, the module that writes and reads it (`crosscut.model_file`)
VIEWERS = "crosscut.viewers"  # by kind of model, the module that shows it and reads its rows (`crosscut.cli`)
RELATIONAL = {
    "Bias",
    "Database",
    "RelationalRuleClassifier",
    "RelationalTreeClassifier",
    "RelationalTreeRegressor",
}  # names of crosscut-relational that once were crosscut's


def get_include() -> str:
    """Return the folder of the C++ code that other distributions build on, as ``base/threads.hpp``.

    ``base/module.cmake`` there builds a compiled module, with the sources of ``base/`` in it. The code is not
    a stable interface: require the same version of crosscut.

    Examples
    --------
    >>> from pathlib import Path
    >>> import crosscut
    >>> Path(crosscut.get_include(), "base", "threads.hpp").exists()
    True
    """
    from crosscut import _core

    return str(Path(_core.__file__).with_name("include"))  # of an editable install, too


@cache
def extensions(group: str) -> dict[str, EntryPoint]:
    """Return what installed distributions add to a group, by name."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=group)}


def hint(what: str) -> str:
    """Return what to install for a part that crosscut-relational has."""
    return f"{what} is part of crosscut-relational: pip install crosscut-relational"
