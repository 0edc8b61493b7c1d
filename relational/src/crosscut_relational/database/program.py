"""Read a program: collect facts by predicate and clauses, and add keys to the facts of models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from crosscut.engines.progress import watching_part
from crosscut_relational.database.constants import Constants
from crosscut_relational.database.dependencies import calls
from crosscut_relational.database.materialize import Derivation
from crosscut_relational.database.relation import distinct_facts
from crosscut_relational.language.parts import CONNECTIVES
from crosscut_relational.language.prolog import Clause, PrologError, read_program
from crosscut_relational.language.terms import (
    Compound,
    Term,
    Variable,
    conjuncts,
    is_ground,
    name_and_args,
    predicate_of,
    term_text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from crosscut_relational.database.materialize import Predicate
    from crosscut_relational.language.terms import Constant

EXAMPLE = "$example"
TEXT = "<text>"
_MAY_HOLD_VARIABLES = frozenset({Variable, Compound, tuple})


class Program:
    """Facts and clauses from the files of one application.

    In ACE's models format the facts of ``begin(model(7)) ... end(model(7))`` get the key 7 in front, and so
    do the background predicates that are defined through such facts.
    """

    def __init__(self) -> None:
        self.constants = Constants()
        self.facts: dict[Predicate, list[int]] = {}
        self.clauses: list[Clause] = []
        self.models: dict[int, None] = {}
        self.in_models: set[Predicate] = set()
        self.model: int | None = None  # the current model
        self.declared: set[Predicate] = set()  # by `:- dynamic`; may have no facts
        self.problems: list[str] = []  # errors of reading

    def read_files(self, files: Sequence[Path]) -> None:
        """Add the clauses of files."""
        texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
        length, done = max(1, sum(map(len, texts))), 0
        for file, text in zip(files, texts, strict=True):
            with watching_part(done / length, (done := done + len(text)) / length):
                self.read(text, file.name)

    def read(self, text: str, source: str = TEXT) -> None:
        """Add the clauses of a text."""
        for clause in read_program(text, source, self.problems):
            try:
                self.take(clause, source)
            except PrologError as error:
                self.problems.append(f"{source}, line {clause.line}: {error}: '{clause}'")
        if self.model is not None:
            self.problems.append(f"{source}: model {self.constants.text(self.model)} is not ended")

    def take(self, clause: Clause, source: str = TEXT) -> None:
        """Add one clause."""
        head, model = clause.head, self.model
        if clause.body is not None or head is None:
            if model is not None:
                raise PrologError("a clause inside a model; models hold facts only")
            if head is not None:
                self.clauses.append(_placed(clause, source))
            elif clause.body is not None:
                self.declared |= _dynamic(clause.body)
            return
        name, args = name_and_args(head)
        if name in {"begin", "end"} and len(args) == 1 and predicate_of(args[0]) == ("model", 1):
            assert isinstance(args[0], Compound)
            self._switch(name, args[0].args[0])
            return
        if any(type(argument) in _MAY_HOLD_VARIABLES and not is_ground(argument) for argument in args):
            self.clauses.append(_placed(clause, source))
            return
        ids = [self.constants.intern(argument) for argument in args]  # type: ignore[arg-type]  # ground
        if model is not None:
            self.in_models.add((name, len(ids)))
            self.facts.setdefault((name, len(ids) + 1), []).extend([model, *ids])
        elif ids:
            self.facts.setdefault((name, len(ids)), []).extend(ids)
        else:
            self.facts[name, 0] = []

    def add(self, name: str, rows: Iterable[tuple[Constant, ...]]) -> None:
        """Add facts of one predicate."""
        intern = self.constants.intern
        for row in rows:
            self.facts.setdefault((name, len(row)), []).extend(map(intern, row))

    def _switch(self, name: str, key: Term) -> None:
        if (self.model is None) != (name == "begin"):
            raise PrologError("begin and end of models do not match")
        if not is_ground(key):
            raise PrologError(f"model {term_text(key)} needs a name without variables")
        self.model = None if name == "end" else self.constants.intern(key)  # type: ignore[arg-type]
        if self.model in self.models:
            raise PrologError(f"model {term_text(key)} occurs twice")
        if self.model is not None:
            self.models[self.model] = None

    def derive(
        self, declared: Collection[Predicate] | None = None, wanted: Collection[Predicate] | None = None
    ) -> Derivation:
        """Return stored and derived facts, and the predicates that need bound arguments.

        See `Derivation.derive` for `declared` and `wanted`, to which ``:- dynamic`` adds.
        """
        if declared is not None:
            declared = {*declared, *self.declared}
        if self.models:
            self._add_keys()
            declared, wanted = (
                None if each is None else {*each, *((name, arity + 1) for name, arity in each)}
                for each in (declared, wanted)
            )
        facts = {
            (name, arity): distinct_facts(
                np.ascontiguousarray(np.array(ids, np.int32).reshape(-1, arity).T)
                if arity
                else np.empty((0, 1), np.int32)
            )
            for (name, arity), ids in self.facts.items()
        }
        if self.models:
            facts[EXAMPLE, 1] = np.array([list(self.models)], np.int32)
        derivation = Derivation(self.constants, facts)
        derivation.derive(self.clauses, declared, wanted, self.problems)
        derivation.facts.pop((EXAMPLE, 1), None)
        return derivation

    def _add_keys(self) -> None:
        """Add the key to every predicate that depends on facts of a model."""
        keyed = set(self.in_models)
        while True:
            new = {
                predicate_of(clause.head)
                for clause in self.clauses
                if clause.head is not None and clause.body is not None and calls(clause.body) & keyed
            } - keyed
            if not new:
                break
            keyed |= new
        self.in_models = keyed
        for name, arity in keyed & self.facts.keys():
            shared = np.array(self.facts.pop((name, arity)), np.int32).reshape(-1, arity)
            for key in self.models:
                rows = np.column_stack([np.full(max(len(shared), int(arity == 0)), key, np.int32), shared])
                self.facts.setdefault((name, arity + 1), []).extend(rows.ravel().tolist())
        self.clauses = [with_key(clause, keyed) for clause in self.clauses]


def _placed(clause: Clause, source: str) -> Clause:
    return clause if source == TEXT else replace(clause, source=source)


def _dynamic(directive: Term) -> set[Predicate]:
    """Return the predicates that ``:- dynamic p/1, q/2.`` names."""
    if not (isinstance(directive, Compound) and directive.name == "dynamic"):
        return set()
    predicates = set()
    for each in (goal for argument in directive.args for goal in conjuncts(argument)):
        match each:
            case Compound("/", (str() as name, int() as arity)):
                predicates.add((name, arity))
    return predicates


def with_key(clause: Clause, keyed: set[Predicate]) -> Clause:
    """Return the clause with a variable for the example's key in its keyed literals."""
    key = Variable("Key")

    def place(term: Term) -> Term:
        if isinstance(term, Variable):
            return term
        name, args = name_and_args(term)
        if (name, len(args)) in CONNECTIVES:
            return Compound(name, tuple(map(place, args)))
        return Compound(name, (key, *args)) if (name, len(args)) in keyed else term

    if clause.head is None or predicate_of(clause.head) not in keyed:
        return clause
    head = place(clause.head)
    assert isinstance(head, Compound)
    bound = Compound(EXAMPLE, (key,))
    body = bound if clause.body is None else Compound(",", (bound, place(clause.body)))
    return replace(clause, head=head, body=body)
