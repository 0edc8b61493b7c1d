"""Read Aleph applications: files or sections of clauses, modes, parameters, and the resulting bias."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosscut_relational.language.bias import Bias
from crosscut_relational.language.modes import AutoLookahead, Literal, Var
from crosscut_relational.language.notation import warmode_from_term
from crosscut_relational.language.prolog import Clause, PrologError, read_program
from crosscut_relational.language.settings import Settings
from crosscut_relational.language.terms import Compound, Term, conjuncts, predicate_of, term_text

if TYPE_CHECKING:
    import os

    from crosscut_relational.language.modes import Argument, Mode, TypeNames

CLASSES = ("pos", "neg")
BACKGROUND = (".b", ".bk", ".pl")
_SECTIONS = {"begin_in_pos": "pos", "begin_in_neg": "neg"} | dict.fromkeys(
    ("begin_bg", "end_bg", "end_in_pos", "end_in_neg"), "background"
)
_HEURISTICS = {"entropy": "gain", "gini": "gini"}


@dataclass
class AlephProgram:
    """Clauses of an application: background, positive and negative examples; modes and parameters."""

    name: str
    background: list[Clause] = field(default_factory=list)
    pos: list[Clause] = field(default_factory=list)
    neg: list[Clause] = field(default_factory=list)
    heads: list[Compound] = field(default_factory=list)
    modes: list[Term] = field(default_factory=list)
    parameters: dict[str, Term] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, prefix: str | os.PathLike[str]) -> AlephProgram:
        """Read ``prefix.b`` and, if they exist, ``.f`` and ``.n``; or one file with sections."""
        place = Path(prefix)
        program = cls(place.name)
        files = {ending: place.with_name(place.name + ending) for ending in (*BACKGROUND, ".f", ".n")}
        background = next((files[ending] for ending in BACKGROUND if files[ending].is_file()), None)
        if background is None:
            raise FileNotFoundError(f"prefix is {str(prefix)!r}, but there is no file {place.name}.b")
        program._read(background, "background")
        for ending, section in ((".f", "pos"), (".n", "neg")):
            if files[ending].is_file():
                program._read(files[ending], section)
        determined = {head for each in program.background if each.head is None for head in _determined(each)}
        # `mode` declares heads as well as body literals
        program.heads += [
            mode for mode in program.modes if isinstance(mode, Compound) and predicate_of(mode) in determined
        ]
        return program

    def _read(self, file: Path, section: str) -> None:
        text = file.read_text(encoding="utf-8", errors="replace")
        for clause in read_program(text, file.name, self.problems):
            located = replace(clause, source=file.name)
            match clause.head, clause.body:
                case None, str() as mark if mark in _SECTIONS:
                    section = _SECTIONS[mark]
                case None, Compound("modeh", (_, head)):
                    self.heads += [head] if isinstance(head, Compound) else []
                case None, Compound("modeb" | "mode", (_, mode)):
                    self.modes.append(mode)
                case None, Compound("set" | "aleph_set", (str() as name, value)):
                    self.parameters[name] = value
                case _ if section == "background":
                    self.background.append(located)
                case Compound(), None:
                    (self.pos if section == "pos" else self.neg).append(located)
                case _:
                    self.problems.append(f"{located.place}: '{clause}' is not an example")

    @property
    def head(self) -> Compound | None:
        """Mode of the target: the mode of the examples' predicate if there are examples, else the first."""
        example = next((each.head for each in (*self.pos, *self.neg) if each.head is not None), None)
        if example is None:
            return self.heads[0] if self.heads else None
        assert isinstance(example, Compound)
        same = [head for head in self.heads if predicate_of(head) == predicate_of(example)]
        return same[0] if same else Compound(example.name, ("",) * len(example.args))

    @property
    def dependent(self) -> int | None:
        """Position of the predicted argument; None if examples are only positive and negative.

        ``set(dependent, N)`` names it. Otherwise, without negative examples, it is the only argument that
        ``modeh`` marks with ``-`` or ``#``.
        """
        dependent = self.parameters.get("dependent")
        if isinstance(dependent, int):
            return dependent - 1
        head = self.head
        if head is None or self.neg:
            return None
        values = [
            number
            for number, argument in enumerate(head.args)
            if isinstance(argument, Compound) and argument.name in {"#", "-"}
        ]
        return values[0] if len(values) == 1 and len(head.args) > 1 else None

    def bias(self) -> Bias:
        """Return the bias; see `Bias.from_aleph`."""
        modes: list[Mode] = []
        lookahead: list[AutoLookahead] = []
        tests: list[AutoLookahead] = []
        types: dict[tuple[str, int], TypeNames] = {}
        for term in self.modes:
            try:
                mode, predicate, names = warmode_from_term(term)
            except PrologError as error:
                warnings.warn(f"{self.name}: a mode is left out: {error}", UserWarning, stacklevel=3)
                continue
            # Aleph binds an output to a new variable or to one of the clause
            literals = tuple(literal.changed(_reusable) for literal in mode.literals)
            modes.append(replace(mode, literals=literals, source=len(modes)))
            lookahead += [each for each in map(_introduced, literals) if each.variables]
            tests += [each for each in map(_tested, literals) if each.variables]
            types[predicate] = names
        # a predicate with the name of a type may list the constants of that type
        defined = {predicate_of(each.head) for each in self.background if each.head is not None}
        used = {name for names in types.values() for name in names if isinstance(name, str)}
        types |= {(name, 1): (name,) for name in sorted(used) if (name, 1) in defined - types.keys()}
        settings = self._settings()
        length = self.parameters.get("clauselength", 4)
        if not any(map(_expands, modes)) and isinstance(length, int) and length >= 4:
            # clauses have three goals by default: one about an example's object, and two tests of the object
            lookahead += tests
            settings = {"max_lookahead": 2, **settings}
        bias = Bias(
            modes=tuple(modes),
            auto_lookahead=tuple(dict.fromkeys(lookahead)),
            typed=True,
            settings=Settings(**settings),
        )
        head = self.head
        if head is None:
            return replace(bias, types=types)
        dependent = self.dependent
        args = [Var("+", f"K{number}") for number in range(1, len(head.args) + 1)]
        known = [_type_of(argument, head) for argument in head.args]
        if dependent is None:
            args.append(Var("-", "Class"))
            known.append("class")
        else:
            args[dependent] = Var("-", "Class")
        target = Literal(head.name, tuple(args))
        return replace(bias, predict=target, types={**types, target.predicate: tuple(known)})

    def _settings(self) -> dict[str, Any]:
        """Return the parameters that affect trees; parameters of clause search are ignored."""
        parameters = self.parameters
        cases = parameters.get("minpos")
        settings: dict[str, Any] = {"minimal_cases": cases if isinstance(cases, int) else 1}
        if self.dependent is None:
            return {"classes": CLASSES, **settings}
        if isinstance(classes := parameters.get("classes"), tuple):
            settings["classes"] = classes
        if parameters.get("tree_type") in {"regression", "model"}:
            settings |= {"regression": True, "heuristic": "variance"}
        elif parameters.get("evalfn") in _HEURISTICS:
            settings["heuristic"] = _HEURISTICS[str(parameters["evalfn"])]
        if isinstance(ahead := parameters.get("lookahead"), int):
            settings["exhaustive_lookahead"] = ahead - 1
        if parameters.get("tree_type") is not None and parameters.get("prune_tree") != "true":
            settings["pruning"] = "none"
        if isinstance(level := parameters.get("confidence"), float):
            settings["confidence_level"] = level
        return settings


def _reusable(argument: Argument) -> Argument:
    return Var("+-", argument.name) if isinstance(argument, Var) and argument.mark == "-" else argument


def _introduced(literal: Literal) -> AutoLookahead:
    """Return a template by which literals about the variables that a literal introduces may follow it."""
    names = [f"V{number}" for number in range(literal.arity)]
    new = (
        name
        for name, argument in zip(names, literal.args, strict=True)
        if isinstance(argument, Var) and argument.mark == "+-" and not literal.negated
    )
    return AutoLookahead(Literal(literal.name, tuple(Var("", name) for name in names)), tuple(new))


def _tested(literal: Literal) -> AutoLookahead:
    """Return a template by which another test of an object may follow a test that introduces nothing."""
    one = [argument for argument in literal.args if isinstance(argument, Var)]
    is_test = len(one) == 1 and one[0].mark == "+" and literal.args[0] is one[0]
    args = tuple(Var("", f"V{number}") for number in range(literal.arity))
    return AutoLookahead(Literal(literal.name, args), ("V0",) if is_test and not literal.negated else ())


def _expands(mode: Mode) -> bool:
    """Whether a mode introduces variables along with constants or several inputs, which makes many tests."""
    arguments = [argument for each in mode.literals for argument in each.args]
    introduces = any(isinstance(each, Var) and each.mark == "+-" for each in arguments)
    inputs = [each for each in arguments if not isinstance(each, Var) or each.mark == "+"]
    return introduces and (len(inputs) > 1 or not all(isinstance(each, Var) for each in inputs))


def _determined(directive: Clause) -> list[tuple[str, int]]:
    """Return the target predicates of a directive ``:- determination(p/1, q/2).``."""
    predicates: list[tuple[str, int]] = []
    for goal in [] if directive.body is None else conjuncts(directive.body):
        match goal:
            case Compound("determination", (Compound("/", (str() as name, int() as arity)), _)):
                predicates.append((name, arity))
    return predicates


def _type_of(argument: Term, head: Compound) -> str | None:
    match argument:
        case Compound("+" | "-" | "#", (str() as name,)):
            return name
        case Compound("+" | "-" | "#", (other,)):
            raise PrologError(f"modeh({term_text(head)}): {term_text(other)} is not a type")
    return None
