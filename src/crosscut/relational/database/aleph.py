"""Reading Aleph applications: background and modes (``app.b``), positive and negative examples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crosscut.relational.database.ace import build
from crosscut.relational.database.program import Program
from crosscut.relational.language.bias import Bias, In, Literal, Out
from crosscut.relational.language.notation import warmode_from_term
from crosscut.relational.language.prolog import PrologError, read_program
from crosscut.relational.language.settings import Settings
from crosscut.relational.language.terms import Compound, Term, term_text

if TYPE_CHECKING:
    import os

    from crosscut.relational.database.database import Database
    from crosscut.relational.language.bias import Mode, TypeNames

CLASSES = ("pos", "neg")


def read_modes(prefix: str | os.PathLike[str]) -> Bias:
    """Read the modes of an application; see `Bias.from_aleph`."""
    _, _, modes = _background(prefix)
    made: list[Mode] = []
    types: dict[tuple[str, int], TypeNames] = {}
    for literal in modes:
        mode, predicate, names = warmode_from_term(literal)
        made.append(replace(mode, source=len(made)))
        types[predicate] = names
    return Bias(modes=tuple(made), types=types, typed=True, settings=Settings(classes=CLASSES))


def read_aleph(prefix: str | os.PathLike[str]) -> Database:
    """Read facts and examples of an application; see `Database.from_aleph`."""
    program, head, _ = _background(prefix)
    for ending, label in ((".f", "pos"), (".n", "neg")):
        file = _file(prefix, (ending,))
        for clause in read_program(file.read_text(encoding="utf-8", errors="replace"), file.name):
            example = clause.head
            if clause.body is not None or not isinstance(example, Compound):
                raise PrologError(f"{file.name}, line {clause.line}: '{clause}' is not an example")
            head = head if head is not None else example
            if (example.name, len(example.args)) != (head.name, len(head.args)):
                raise PrologError(
                    f"{file.name}, line {clause.line}: '{clause}' is not an example of "
                    f"{head.name}/{len(head.args)}"
                )
            program.add(head.name, [(*example.args, label)])  # type: ignore[arg-type]  # examples are ground
    if head is None:
        raise PrologError(f"{Path(prefix).name}.f and {Path(prefix).name}.n hold no examples")
    predict, types = _target(head)
    bias = read_modes(prefix)
    declared = {**bias.types, (predict.name, predict.arity): (*types, "class")}
    return build(program, replace(bias, predict=predict, types=declared))


def _background(prefix: str | os.PathLike[str]) -> tuple[Program, Compound | None, list[Term]]:
    """Return the background, the literal of ``modeh`` and those of all ``modeb``."""
    file = _file(prefix, (".b", ".bk", ".pl"))
    text = file.read_text(encoding="utf-8", errors="replace")
    program = Program()
    program.read(text, file.name)
    head: Compound | None = None
    modes = []
    for clause in read_program(text, file.name):
        match clause.head, clause.body:
            case None, Compound("modeh", (_, Compound() as literal)):
                head = literal
            case None, Compound("modeb", (_, literal)):
                modes.append(literal)
    return program, head, modes


def _file(prefix: str | os.PathLike[str], endings: tuple[str, ...]) -> Path:
    place = Path(prefix)
    for ending in endings:
        file = place.with_name(place.name + ending)
        if file.is_file():
            return file
    raise FileNotFoundError(f"prefix is {str(prefix)!r}, but there is no file {place.name}{endings[0]}")


def _target(head: Compound) -> tuple[Literal, tuple[str | None, ...]]:
    """Return the target, each argument of the head a key."""
    types: list[str | None] = []
    for argument in head.args:
        match argument:
            case Compound("+" | "-" | "#", (str() as name,)):
                types.append(name)
            case Compound("+" | "-" | "#", (other,)):
                raise PrologError(f"modeh({term_text(head)}): {term_text(other)} is not a type")
            case _:
                types.append(None)
    keys = tuple(In(f"K{number}") for number in range(1, len(head.args) + 1))
    return Literal(head.name, (*keys, Out("Class"))), tuple(types)
