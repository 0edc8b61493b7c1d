"""Reading the modes of Aleph applications (``app.b``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from crosscut.relational.language.bias import Bias
from crosscut.relational.language.modes import Literal, Var
from crosscut.relational.language.notation import warmode_from_term
from crosscut.relational.language.prolog import PrologError, read_program
from crosscut.relational.language.settings import Settings
from crosscut.relational.language.terms import Compound, term_text

if TYPE_CHECKING:
    import os

    from crosscut.relational.language.modes import Mode, TypeNames

CLASSES = ("pos", "neg")
BACKGROUND = (".b", ".bk", ".pl")


def read_modes(prefix: str | os.PathLike[str]) -> Bias:
    """Read the modes of an application; see `Bias.from_aleph`. The target is that of ``modeh``, if given."""
    file = find_file(prefix, BACKGROUND)
    modes: list[Mode] = []
    types: dict[tuple[str, int], TypeNames] = {}
    bias = Bias(typed=True, settings=Settings(classes=CLASSES))
    for clause in read_program(file.read_text(encoding="utf-8", errors="replace"), file.name):
        match clause.head, clause.body:
            case None, Compound("modeh", (_, Compound() as head)):
                bias = with_target(bias, head)
            case None, Compound("modeb", (_, literal)):
                mode, predicate, names = warmode_from_term(literal)
                modes.append(replace(mode, source=len(modes)))
                types[predicate] = names
    return replace(bias, modes=tuple(modes), types={**types, **bias.types})


def with_target(bias: Bias, head: Compound) -> Bias:
    """Return the bias with a target: each argument of the head is a key."""
    types: list[str | None] = []
    for argument in head.args:
        match argument:
            case Compound("+" | "-" | "#", (str() as name,)):
                types.append(name)
            case Compound("+" | "-" | "#", (other,)):
                raise PrologError(f"modeh({term_text(head)}): {term_text(other)} is not a type")
            case _:
                types.append(None)
    keys = (Var("+", f"K{number}") for number in range(1, len(head.args) + 1))
    target = Literal(head.name, (*keys, Var("-", "Class")))
    return replace(bias, predict=target, types={**bias.types, target.predicate: (*types, "class")})


def find_file(prefix: str | os.PathLike[str], endings: tuple[str, ...]) -> Path:
    """Return the application's file with one of the endings."""
    place = Path(prefix)
    for ending in endings:
        file = place.with_name(place.name + ending)
        if file.is_file():
            return file
    raise FileNotFoundError(f"prefix is {str(prefix)!r}, but there is no file {place.name}{endings[0]}")
