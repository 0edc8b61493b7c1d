"""TILDE in plain Python, one tree at a time: slow, obvious, the oracle of the relational tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut_relational.language.modes import Const, Key, TypeVariable, Var
from crosscut_relational.language.rule import Goal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crosscut_relational.database.database import Database
    from crosscut_relational.language.modes import Language, Literal
    from crosscut_relational.language.rule import Rule

TOLERANCE = 1e-9
UNUSED = "$unused"  # the type of variables that no input can be


def called(rule: Rule, goal: Goal, next_variable: int) -> tuple[Goal, ...]:
    """Return the goals that stand for a call of a rule with one body; its own variables get free numbers."""
    (body,) = rule.bodies
    substitution = dict(enumerate(goal.args))
    goals = []
    for part in body:
        for a in part.args:
            if a >= 0 and a not in substitution:
                substitution[a] = next_variable + len(substitution) - rule.arity
        goals.append(Goal(part.name, tuple(substitution.get(a, a) for a in part.args), part.negated))
    if goal.negated:
        (only,) = goals
        assert len(substitution) == rule.arity
        return (Goal(only.name, only.args, not only.negated),)
    return tuple(goals)


class Prover:
    """Truth of conjunctions by backtracking."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.facts: dict[tuple[str, int], dict[Any, list[list[int]]]] = {}

    def holds(self, goals: tuple[Goal, ...], example: int) -> bool:
        keys = self.database.keys[:, example].tolist()
        return self._solve(goals, dict(enumerate(keys)))

    def _solve(self, goals: tuple[Goal, ...], binding: dict[int, int]) -> bool:
        if not goals:
            return True
        goal, rest = goals[0], goals[1:]
        predicate = (goal.name, len(goal.args))
        if goal.is_comparison:
            return self._compare(goal, binding) != goal.negated and self._solve(rest, binding)
        if predicate not in self.database.relations and predicate in self.database.rules:
            free = 1 + max([*binding, *(a for each in goals for a in each.args)], default=0)
            return self._solve(called(self.database.rules[predicate], goal, free) + rest, binding)
        solutions = self._matches(goal, binding)
        if goal.negated:
            return next(solutions, None) is None and self._solve(rest, binding)
        return any(self._solve(rest, found) for found in solutions)

    def _compare(self, goal: Goal, binding: dict[int, int]) -> bool:
        left, right = (~argument if argument < 0 else binding[argument] for argument in goal.args)
        if goal.name in {"=", "\\="}:
            return (left == right) == (goal.name == "=")
        a, b = self.database.constants.numbers[[left, right]]
        return bool({"<": a < b, "=<": a <= b, ">": a > b, ">=": a >= b}[goal.name])

    def _matches(self, goal: Goal, binding: dict[int, int]) -> Iterator[dict[int, int]]:
        values = [~argument if argument < 0 else binding.get(argument) for argument in goal.args]
        for fact in self._candidates(goal, values[0] if values else None):
            found = dict(binding)
            for argument, value in zip(goal.args, fact, strict=True):
                known = ~argument if argument < 0 else found.setdefault(argument, value)
                if known != value:
                    break
            else:
                yield found

    def _candidates(self, goal: Goal, first: int | None) -> list[list[int]]:
        predicate = (goal.name, len(goal.args))
        if predicate not in self.facts:
            index: dict[Any, list[list[int]]] = {"all": self.database.relation(*predicate).columns.T.tolist()}
            for fact in index["all"]:
                if fact:
                    index.setdefault(fact[0], []).append(fact)
            self.facts[predicate] = index
        return self.facts[predicate].get("all" if first is None else first, [])


@dataclass(frozen=True)
class Path:
    """The tests above a node: their goals, the types of the variables they bind, the modes they used."""

    goals: tuple[Goal, ...]
    types: tuple[Any, ...]
    uses: tuple[int, ...] = ()
    bound: tuple[tuple[Any, str], ...] = ()  # type variables with their types


def refinements(language: Language, path: Path) -> Iterator[Path]:
    """Paths one test longer, in TILDE's order."""
    for mode in language.modes:
        if mode.max_uses is not None and path.uses.count(mode.source) >= mode.max_uses:
            continue
        for goals, types, bound in _instances(language, mode.literals, path.types, {}, path.bound):
            yield Path(path.goals + goals, types, (*path.uses, mode.source), bound)
            last = goals[-1]
            if language.settings.max_lookahead < 1 or last.negated:
                continue
            for each in language.lookahead:
                if (each.first.name, each.first.arity) != (last.name, len(last.args)):
                    continue
                names = {
                    a.name: value
                    for a, value in zip(each.first.args, last.args, strict=True)
                    if isinstance(a, Var) and a.mark == ""
                }
                for more, more_types, more_bound in _instances(language, each.then, types, names, bound):
                    yield Path(path.goals + goals + more, more_types, (*path.uses, mode.source), more_bound)


def _instances(
    language: Language,
    literals: tuple[Literal, ...],
    types: tuple[Any, ...],
    names: dict[str, int],
    bound: tuple[tuple[Any, str], ...],
) -> Iterator[tuple[tuple[Goal, ...], tuple[Any, ...], tuple[tuple[Any, str], ...]]]:
    """The literals with variables in place of their moded arguments."""
    if not literals:
        yield (), types, bound
        return
    literal, rest = literals[0], literals[1:]
    for args, new_types, new_names, new_bound in _arguments(language, literal, types, names, bound):
        goal = Goal(literal.name, args, literal.negated)
        for goals, all_types, all_bound in _instances(language, rest, new_types, new_names, new_bound):
            yield (goal, *goals), all_types, all_bound


def _arguments(
    language: Language,
    literal: Literal,
    types: tuple[Any, ...],
    names: dict[str, int],
    bound: tuple[tuple[Any, str], ...],
) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...], dict[str, int], tuple[tuple[Any, str], ...]]]:
    states: list[tuple[tuple[int, ...], tuple[Any, ...], dict[str, int], tuple[tuple[Any, str], ...]]]
    states = [((), types, names, bound)]
    for argument, declared in zip(literal.args, language.types_of(literal.name, literal.arity), strict=True):
        key = (literal.name, literal.arity, declared) if isinstance(declared, TypeVariable) else None
        following = []
        for args, known, named, held in states:
            wanted = declared if key is None else dict(held).get(key)
            if isinstance(argument, Key):
                following.append(((*args, argument.index), known, named, held))
            elif isinstance(argument, Const):
                following.append(((*args, ~argument.id), known, named, held))
            elif argument.name in named:
                following.append(((*args, named[argument.name]), known, named, held))
            else:
                if argument.mark in {"+", "+-"}:
                    for variable in reversed(range(len(types))):  # newest first
                        own = known[variable]
                        open_key = own if isinstance(own, TypeVariable) else None
                        own = dict(held).get(open_key) if open_key else own
                        if own is UNUSED or (
                            language.typed and wanted is not None and own not in {None, wanted}
                        ):
                            continue
                        # a type variable is bound by its first use
                        binds = key is not None and wanted is None and own is not None
                        now = (*held, (key, own)) if binds else held
                        if open_key and own is None and wanted is not None:
                            now = (*held, (open_key, wanted))
                        following.append(((*args, variable), known, {**named, argument.name: variable}, now))
                if argument.mark != "+":
                    new = len(known)
                    # what a negated literal binds is not known after it
                    own = UNUSED if literal.negated or argument.mark == "_" else wanted
                    following.append(((*args, new), (*known, own), {**named, argument.name: new}, held))
        states = following
    yield from states


def _entropy(counts: Any) -> float:
    total = sum(counts)
    return -sum(count * math.log2(count / total) for count in counts if count)


@dataclass(frozen=True)
class Node:
    """A test with its branches, or a leaf; ``counts`` are those of the examples that reach it."""

    counts: tuple[int, ...]
    test: tuple[Goal, ...] = ()
    branches: tuple[Node, ...] = ()

    def leaves(self) -> list[tuple[int, ...]]:
        """Class counts of the leaves, *yes* before *no*."""
        return (
            [counts for each in self.branches for counts in each.leaves()] if self.branches else [self.counts]
        )


def grow(database: Database, language: Language, examples: Any = None) -> Node:
    """The tree of some examples (all by default), not pruned."""
    rows = np.arange(database.n_examples) if examples is None else np.asarray(examples)
    return _grow(Prover(database), language, rows, Path(language.root, language.root_types))


def _grow(prover: Prover, language: Language, rows: Any, path: Path) -> Node:
    database, settings = prover.database, language.settings
    counts = np.bincount(database.target[rows], minlength=len(database.classes))
    best: tuple[float, int, Path, Any] | None = None
    others = len(rows) - counts.max()
    if others >= settings.minimal_cases and counts.max() < settings.accuracy * len(rows):
        for candidate in refinements(language, path):
            truth = np.array([prover.holds(candidate.goals, row) for row in rows.tolist()], bool)
            n_yes = int(truth.sum())
            if min(n_yes, len(rows) - n_yes) < settings.minimal_cases:
                continue
            yes = np.bincount(database.target[rows[truth]], minlength=len(counts))
            gain = _entropy(counts) - _entropy(yes) - _entropy(counts - yes)
            if gain <= TOLERANCE:
                continue
            ratio = settings.heuristic == "gainratio"
            quality = gain / _entropy([n_yes, len(rows) - n_yes]) if ratio else gain
            size = len(candidate.goals)
            if (
                best is None
                or quality > best[0] + TOLERANCE
                or (quality > best[0] - TOLERANCE and size < best[1])
            ):
                best = (quality, size, candidate, truth)
    if best is None:
        return Node(tuple(counts.tolist()))
    _, _, chosen, truth = best
    yes_branch = _grow(prover, language, rows[truth], chosen)
    no_branch = _grow(prover, language, rows[~truth], path)
    return Node(tuple(counts.tolist()), chosen.goals[len(path.goals) :], (yes_branch, no_branch))
