"""Read Aleph applications: background knowledge, positive and negative examples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crosscut_relational.database.ace import build
from crosscut_relational.database.program import Program
from crosscut_relational.language.aleph_modes import AlephProgram
from crosscut_relational.language.modes import Literal, Var
from crosscut_relational.language.terms import is_ground, name_and_args, term_text

if TYPE_CHECKING:
    import os

    from crosscut_relational.database.database import Database

_NOTHING = Literal("class", (Var("+", "K"), Var("-", "Class")))


def read_aleph(prefix: str | os.PathLike[str]) -> Database:
    """Read facts and examples of an application; see `Database.from_aleph`."""
    files = AlephProgram.read(prefix)
    bias = files.bias()
    program = Program()
    program.problems = files.problems
    for clause in files.background:
        program.take(clause, clause.source)
    if bias.predict is None or not (files.pos or files.neg):  # background without examples
        return build(program, replace(bias, predict=_NOTHING), [], only_reached=True)
    name, arity = bias.predict.predicate
    for label, clauses in (("pos", files.pos), ("neg", files.neg)):
        labelled = () if files.dependent is not None else (label,)
        for clause in clauses:
            clause_name, args = name_and_args(clause.head or "")
            if (clause_name, len(args) + len(labelled)) != (name, arity) or not is_ground(args):
                what = f"{term_text(name)}/{arity - len(labelled)}"
                program.problems.append(f"{clause.place}: '{clause}' is not an example of {what}")
                continue
            program.add(name, [(*args, *labelled)])  # type: ignore[arg-type]  # examples are ground
    return build(program, bias, only_reached=True)
