"""Growing the final tree and the trees of all folds in one run.

Nodes of different tasks with the same path of tests are one bundle: their candidates are generated, evaluated and counted
together, each task picks its best test, and tasks that pick the same go on together (the paper's Figure 2). Truth is kept per
component of a query, so that tasks that parted still share it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from crosscut.relational.printing import query_text
from crosscut.relational.queries import FIXED, VARIABLE, Facts, Queries, bits
from crosscut.relational.rule import Goal
from crosscut.relational.tree import Node, RelationalTree, Signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut import _core
    from crosscut.relational.language import Language
    from crosscut.relational.settings import Settings

Sharing = Literal["parallel", "serial", "uncached"]
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Path:
    """The query of a node: the tests above it that hold.

    Attributes
    ----------
    components : tuple of int
        Parts of the query that share no variable but the fixed ones.
    variables : tuple of (int, int)
        For each variable of the path, in order of introduction, its component (position) and its number there.
    uses : tuple of int
        How often the modes of each source have been used.
    """

    components: tuple[int, ...]
    variables: tuple[tuple[int, int], ...]
    uses: tuple[int, ...]
    ages: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        newest = len(self.variables) - 1
        by_place = sorted((place, newest - i) for i, place in enumerate(self.variables))
        self.ages.extend(age for _, age in by_place)


@dataclass
class Counts:
    """What growing cost, per level of the forest.

    Attributes
    ----------
    bundles, nodes, tests : Counter
        Per level: bundles refined, nodes of single trees they stand for, different tests chosen.
    evaluations : int
        (component, example) pairs searched.
    components : int
        Different components.
    """

    bundles: Counter[int] = field(default_factory=Counter)
    nodes: Counter[int] = field(default_factory=Counter)
    tests: Counter[int] = field(default_factory=Counter)
    evaluations: int = 0
    steps: int = 0
    components: int = 0
    candidates: int = 0


@dataclass(frozen=True)
class RelationalForest:
    """Every task's tree: the first is grown from all examples, tree ``i + 1`` without fold ``i``.

    Attributes
    ----------
    trees : tuple of RelationalTree
        As grown, not pruned.
    counts : Counts
        What growing cost.
    limit_hits : tuple of (str, int)
        Queries and examples for which the search was given up.
    """

    trees: tuple[RelationalTree, ...]
    counts: Counts = field(compare=False)
    limit_hits: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    def forks(self) -> dict[int, float]:
        """The paper's f(i): different tests per bundle, by level (from 0)."""
        return {level: n / self.counts.bundles[level] for level, n in sorted(self.counts.tests.items())}


class Grower:
    """Grows the trees of one database, language and partition into folds.

    Parameters
    ----------
    facts : Facts
        The database.
    language : Language
        What tests are made of, with the settings of growth.
    folds : int array of shape (n_examples,)
        Fold of each example, from 0; -1 for examples that all tasks train on.
    step_limit : int
        See `Queries`.
    """

    def __init__(
        self, facts: Facts, language: Language, folds: NDArray[np.int32], *, step_limit: int | None = None
    ) -> None:
        self.queries = Queries(facts, language, **({} if step_limit is None else {"step_limit": step_limit}))
        self.settings: Settings = language.settings
        self.max_uses = _max_uses(language)
        self.folds = np.ascontiguousarray(folds, np.int32)
        self.n_folds = int(self.folds.max(initial=-1)) + 1
        self.fold_bits = [bits(self.folds == fold) for fold in range(self.n_folds)]
        database = facts.database
        if database.target is None:
            raise ValueError("the database has no target; say which predicate to learn with `predict`")
        self.classes = database.classes
        self.signature = signature_of(facts, language)
        self.target = _Target.of(database.target, regression=self.settings.regression)
        self.counts = Counts()
        self.caching = True

    def grow(self, sharing: Sharing = "parallel") -> RelationalForest:
        """Grow all trees: together, each with a cache of its own ("serial"), or each without any ("uncached").

        The trees are the same; the last two are there to compare with.
        """
        self.counts = Counts()
        self.caching = sharing != "uncached"
        tasks = list(range(-1, self.n_folds))
        hits: dict[tuple[str, int], None] = {}
        roots: list[Node] = []
        for bundle in [tasks] if sharing == "parallel" else [[task] for task in tasks]:
            self._start()
            grown = self.refine(self._root(), self.queries.everything, bundle, 0)
            roots.extend(grown[task] for task in bundle)
            store = self.queries.store
            self.counts.evaluations += store.n_evaluations
            self.counts.steps += store.n_steps
            self.counts.components += store.n_components
            hits |= {(query_text(self.queries.goals(c), self.signature), e): None for c, e in self.queries.limit_hits}
        trees = tuple(RelationalTree(root, self.signature, self.classes) for root in roots)
        return RelationalForest(trees, self.counts, tuple(hits))

    def _start(self) -> None:
        self.queries.start()
        self.target.place(self.queries.store, self.folds, len(self.classes))
        self._candidates: dict[tuple[int, ...], _core.Candidates] = {}

    def _root(self) -> Path:
        facts = self.queries.facts
        if not facts.root:
            return Path((), (), (0,) * len(self.max_uses))
        literals = [facts.literal(goal, facts.n_fixed) for goal in facts.root]
        _, parts, places = self.queries.store.extend([], literals, self.queries.root_types())
        return Path(tuple(parts), tuple(places), (0,) * len(self.max_uses))

    def refine(self, path: Path, reached: NDArray[np.uint64], tasks: Sequence[int], level: int) -> dict[int, Node]:
        """Grow the nodes of all tasks at the end of a path that the examples of `reached` satisfy."""
        settings, store = self.settings, self.queries.store
        totals = dict(zip(tasks, store.totals(reached, list(tasks)).tolist(), strict=True))
        grown = {task: self.target.leaf(totals[task]) for task in tasks}
        if settings.max_depth is not None and level >= settings.max_depth:
            return grown
        growing = [task for task in tasks if not self.target.stops(totals[task], settings)]
        if not growing:
            return grown
        if len(growing) == 1 and growing[0] >= 0:
            reached = reached & ~self.fold_bits[growing[0]]
        if not self.caching:
            store.forget()
            self._candidates.clear()
        candidates = self._candidates.get(path.components)
        if candidates is None:
            candidates = self._candidates[path.components] = store.candidates(list(path.components))
        best = store.best(
            candidates, reached, growing, settings.heuristic, settings.minimal_cases, self._barred(path, len(growing)), path.ages
        )
        self.counts.bundles[level] += 1
        self.counts.nodes[level] += len(growing)
        self.counts.candidates += len(candidates)
        chosen: dict[int, list[int]] = {}
        for task, (number, _, yes) in zip(growing, best, strict=True):
            if number >= 0 and self.target.accepts(totals[task], yes, settings):
                chosen.setdefault(number, []).append(task)
        self.counts.tests[level] += len(chosen)
        for number, agreeing in chosen.items():
            test, query, extended = self._extend(path, candidates, number)
            true = self.queries.truth(query, reached)
            yes_nodes = self.refine(extended, true, agreeing, level + 1)
            no_nodes = self.refine(path, reached & ~true, agreeing, level + 1)
            for task in agreeing:
                leaf = grown[task]
                n_variables = self.queries.facts.n_fixed + len(path.variables)
                grown[task] = Node(
                    leaf.statistics, leaf.prediction, test, n_variables, yes_nodes[task], no_nodes[task], query
                )
        return grown

    def _barred(self, path: Path, n_tasks: int) -> NDArray[np.uint8]:
        barred = np.zeros((len(self.max_uses), n_tasks), np.uint8)
        for source, (used, allowed) in enumerate(zip(path.uses, self.max_uses, strict=True)):
            if used >= allowed:
                barred[source] = 1
        return barred

    def _extend(self, path: Path, candidates: _core.Candidates, number: int) -> tuple[tuple[Goal, ...], int, Path]:
        """The chosen test over the path's variables, its query, and the path of its yes branch."""
        source, literals, positions, new_types, query, parts, places = self.queries.store.test(candidates, number)
        facts = self.queries.facts
        n_fixed, n_old = facts.n_fixed, len(path.variables)
        by_place = {place: i for i, place in enumerate(path.variables)}
        # local variables: those of the joined components, one component after the other, then the new ones
        numbers = [
            by_place[position, variable]
            for position in positions
            for variable in range(sum(place[0] == position for place in path.variables))
        ]
        local = {number: i for i, number in enumerate(numbers)}
        numbers.extend(range(n_old, n_old + len(new_types)))
        kept = [i for i in range(len(path.components)) if i not in positions]
        variables: list[tuple[int, int]] = []
        for i, (position, variable) in enumerate(path.variables):
            part, place = places[local[i]] if i in local else (-1, variable)
            variables.append((len(kept) + part, place) if i in local else (kept.index(position), variable))
        offset = len(numbers) - len(new_types)
        variables.extend((len(kept) + part, place) for part, place in places[offset:])

        def argument(code: int) -> int:
            kind, value = code & 3, code >> 2
            return value if kind == FIXED else n_fixed + numbers[value] if kind == VARIABLE else ~value

        test = tuple(
            Goal(facts.predicates[predicate][0], tuple(map(argument, args)), negated)
            for predicate, negated, args in literals
        )
        uses = tuple(used + (i == source) for i, used in enumerate(path.uses))
        components = (*(path.components[i] for i in kept), *parts)
        return test, query, Path(components, tuple(variables), uses)


def signature_of(facts: Facts, language: Language) -> Signature:
    """What the numbers in tests over this database stand for."""
    database = facts.database
    numbers = facts.renumbered
    root = tuple(
        Goal(goal.name, tuple(numbers.get(a, a) for a in goal.args), goal.negated) for goal in language.root
    )
    keyed = {predicate for predicate, relation in database.relations.items() if relation.keyed}
    return Signature(
        constants=database.constants,
        target_name=database.target_name,
        n_keys=len(database.keys),
        n_fixed=facts.n_fixed,
        root=root,
        hidden_key=frozenset(keyed) if language.implicit_key else frozenset(),
        implicit_key=language.implicit_key,
    )


def _max_uses(language: Language) -> list[float]:
    uses: list[float] = [math.inf] * (1 + max((mode.source for mode in language.modes), default=-1))
    for mode in language.modes:
        uses[mode.source] = math.inf if mode.max_uses is None else mode.max_uses
    return uses


class _Target:
    """What leaves predict and when a node stops, for classes."""

    def __init__(self, codes: NDArray[np.int32]) -> None:
        self.codes = np.ascontiguousarray(codes, np.int32)

    @staticmethod
    def of(target: NDArray[np.int32] | NDArray[np.float64], *, regression: bool) -> _Target:
        if regression:
            return _Numbers(np.asarray(target, np.float64))
        return _Target(np.asarray(target, np.int32))

    def place(self, store: _core.QueryStore, folds: NDArray[np.int32], n_classes: int) -> None:
        store.set_classes(self.codes, n_classes, folds)

    def leaf(self, counts: list[float]) -> Node:
        # among classes of equal size TILDE takes the last
        majority = max(range(len(counts)), key=lambda c: (counts[c], c))
        return Node(tuple(counts), float(majority))

    def stops(self, counts: list[float], settings: Settings) -> bool:
        n, most = sum(counts), max(counts)
        return n - most < settings.minimal_cases or most >= settings.accuracy * n

    def accepts(self, counts: list[float], yes: list[float], settings: Settings) -> bool:
        return True


class _Numbers(_Target):
    """The same for regression: values less their mean on a fixed-point grid, so that sums are exact."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        if not np.isfinite(values).all():
            raise ValueError("the target has values that are missing or infinite; leave those examples out")
        self.centre = float(np.float32(math.fsum(values) / max(len(values), 1)))
        self.values, self.unit = _grid(values - self.centre)
        self.squares, self.square_unit = _grid((values - self.centre) ** 2)

    def place(self, store: _core.QueryStore, folds: NDArray[np.int32], n_classes: int) -> None:
        store.set_values(self.values, self.squares * (self.square_unit / self.unit**2), folds)

    def deviations(self, sums: list[float]) -> float:
        n, total, squares = sums
        return squares - total * total / n if n else 0.0

    def leaf(self, sums: list[float]) -> Node:
        n, total, _ = sums
        mean = self.centre + total / n * self.unit if n else self.centre
        return Node((n, mean, max(self.deviations(sums), 0.0) * self.unit**2), mean)

    def stops(self, sums: list[float], settings: Settings) -> bool:
        return sums[0] < 2 * settings.minimal_cases or self.deviations(sums) <= TOLERANCE * sums[2]

    def accepts(self, sums: list[float], yes: list[float], settings: Settings) -> bool:
        """The F-test of a split into two groups: is the variance between them significant?"""
        from scipy.special import fdtrc

        no = [a - b for a, b in zip(sums, yes, strict=True)]
        within = self.deviations(yes) + self.deviations(no)
        between = self.deviations(sums) - within
        freedom = sums[0] - 2
        if freedom <= 0 or within <= 0:
            return between > 0
        return float(fdtrc(1, freedom, between / within * freedom)) <= settings.ftest


def _grid(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Values as integers times a power of two, chosen so that the sum of all is exact in double precision."""
    total = math.fsum(np.abs(values))
    exponent = 52 - math.frexp(total)[1] if total else 0
    return np.rint(np.ldexp(values, exponent)), math.ldexp(1.0, -exponent)
