"""Reading Aleph applications: background (``app.b``), positive and negative examples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crosscut.relational.database.ace import build
from crosscut.relational.database.program import Program
from crosscut.relational.language.aleph_modes import BACKGROUND, find_file, read_modes, with_target
from crosscut.relational.language.prolog import PrologError, read_program
from crosscut.relational.language.terms import Compound

if TYPE_CHECKING:
    import os

    from crosscut.relational.database.database import Database


def read_aleph(prefix: str | os.PathLike[str]) -> Database:
    """Read facts and examples of an application; see `Database.from_aleph`."""
    program = Program()
    program.read_file(find_file(prefix, BACKGROUND))
    bias = read_modes(prefix)
    for ending, label in ((".f", "pos"), (".n", "neg")):
        file = find_file(prefix, (ending,))
        for clause in read_program(file.read_text(encoding="utf-8", errors="replace"), file.name):
            example = clause.head
            if clause.body is not None or not isinstance(example, Compound):
                raise PrologError(f"{file.name}, line {clause.line}: '{clause}' is not an example")
            if bias.predict is None:
                bias = with_target(bias, example)
            assert bias.predict is not None
            name, arity = bias.predict.predicate
            if (example.name, len(example.args)) != (name, arity - 1):
                raise PrologError(
                    f"{file.name}, line {clause.line}: '{clause}' is not an example of {name}/{arity - 1}"
                )
            program.add(name, [(*example.args, label)])  # type: ignore[arg-type]  # examples are ground
    if bias.predict is None:
        raise PrologError(f"{Path(prefix).name}.f and {Path(prefix).name}.n hold no examples")
    return build(program, bias)
