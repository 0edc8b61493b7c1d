"""Grow the final tree and the trees of all folds in one run (the core: ``relational/cpp/growth.cpp``)."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crosscut.data.threads import n_threads
from crosscut.engines.progress import part_of, watcher
from crosscut_relational.queries.printing import query_text
from crosscut_relational.queries.queries import STEP_LIMIT, Facts, Queries
from crosscut_relational.queries.targets import Classes, Numbers
from crosscut_relational.queries.tree import Node, RelationalTree, Signature, linked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from crosscut_relational import _core
    from crosscut_relational.language.modes import Language
    from crosscut_relational.language.settings import Settings

Sharing = Literal["parallel", "paper", "serial", "uncached"]
SHARINGS = ("parallel", "paper", "serial", "uncached")


@dataclass(frozen=True)
class Level:
    """Work done on one level of the forest, summed over its bundles."""

    bundles: int  # refined
    nodes: int  # of single trees in these bundles
    tests: int  # different tests chosen
    candidates: int  # tests evaluated, with lookahead if the test before holds for enough examples

    @property
    def f(self) -> float:
        """The paper's f: different tests per bundle."""
        return self.tests / self.bundles


class RelationalForest:
    """The trees of all tasks: the first is grown from all examples, tree ``i + 1`` without fold ``i``.

    ``levels`` is the work done, level by level, and ``n_evaluations`` counts the (component, example) pairs
    searched. ``limit_hits`` are the queries, as text, and the examples for which the search exceeded the step
    limit. ``held_out`` is the prediction (a class code or a number) for each example by the pruned tree that
    excludes its fold, and ``held_out_leaves`` its leaf there, as a preorder node number; NaN and -1 for
    examples without a fold.
    """

    def __init__(self, settings: Settings, grower: Grower | None = None) -> None:
        n = 0
        if grower is not None:
            n = grower.queries.facts.database.n_examples
            self._target = grower.target
            self._facts = grower.queries.facts
            self._signature = grower.signature
        self.settings = settings
        self._grown: list[tuple[_core.QueryForest, int]] = []
        self._pruned: list[tuple[_core.QueryForest, int]] = []
        self.held_out: NDArray[np.float64] = np.full(n, np.nan)
        self.held_out_leaves: NDArray[np.int32] = np.full(n, -1, np.int32)
        self.levels: tuple[Level, ...] = ()
        self.limit_hits: tuple[tuple[str, int], ...] = ()
        self.n_evaluations = 0

    @classmethod
    def of(
        cls, pruned: tuple[RelationalTree, ...], settings: Settings, levels: tuple[Level, ...] = ()
    ) -> RelationalForest:
        """Return a forest of given trees, used both as grown and as pruned trees."""
        forest = cls(settings)
        forest.trees = forest.pruned = pruned
        forest.levels = levels
        return forest

    @classmethod
    def joined(cls, forests: Sequence[RelationalForest]) -> RelationalForest:
        """Combine forests that were grown one by one; the levels are taken from the first."""
        forest = cls.of(tuple(tree for each in forests for tree in each.pruned), forests[0].settings)
        forest.trees = tuple(tree for each in forests for tree in each.trees)
        forest.levels = forests[0].levels
        forest.limit_hits = tuple(hit for each in forests for hit in each.limit_hits)
        forest.n_evaluations = sum(each.n_evaluations for each in forests)
        return forest

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the trees instead of the core's objects."""
        values: dict[str, Any] = {
            "trees": self.trees,
            "pruned": self.pruned,
            "_grown": [],
            "_pruned": [],
            "_facts": None,
        }
        return {**vars(self), **values}

    @cached_property
    def trees(self) -> tuple[RelationalTree, ...]:
        """The trees as grown."""
        return tuple(self._tree(forest, number) for forest, number in self._grown)

    @cached_property
    def pruned(self) -> tuple[RelationalTree, ...]:
        """The trees after pruning."""
        return tuple(self._tree(forest, number) for forest, number in self._pruned)

    def add(self, forest: _core.QueryForest, pruned: _core.QueryForest, queries: Queries) -> None:
        """Add grown and pruned trees of the core, with the work done."""
        self._grown += [(forest, number) for number in range(len(forest))]
        self._pruned += [(pruned, number) for number in range(len(pruned))]
        both = zip_longest(map(astuple, self.levels), forest.levels, fillvalue=(0, 0, 0, 0))
        self.levels = tuple(Level(*(a + b for a, b in zip(*pair, strict=True))) for pair in both)
        self.n_evaluations += queries.store.n_evaluations
        self.limit_hits = tuple(dict.fromkeys([*self.limit_hits, *limit_hits(queries, self._signature)]))

    def _tree(self, forest: _core.QueryForest, number: int) -> RelationalTree:
        tests, no, predictions, statistics = forest.tree(number)
        values = map(self._target.node_values, statistics.tolist(), predictions)
        leaves = [
            Node(*value, test=self._facts.goals(forest.test(test)[0]) if test >= 0 else ())
            for test, value in zip(tests, values, strict=True)
        ]
        return RelationalTree(linked(leaves, no), self._signature, self._target.classes)


class Grower:
    """Grows the trees of one database, language and partition into folds (-1: all tasks train on it)."""

    def __init__(
        self, facts: Facts, language: Language, folds: NDArray[np.int32], *, step_limit: int = STEP_LIMIT
    ) -> None:
        database = facts.database
        if database.target is None:
            raise ValueError("the database has no target; name the predicate to learn with `predict`")
        # order examples by fold, so that counting one fold reads few words of the bit sets
        self.order = np.argsort(folds, kind="stable")
        self.queries = Queries(facts, language, step_limit=step_limit, order=self.order)
        self.settings: Settings = language.settings
        self.signature = signature_of(facts, language)
        self.folds = np.ascontiguousarray(folds[self.order], np.int32)
        self.n_folds = int(self.folds.max(initial=-1)) + 1
        self.target: Classes | Numbers
        if self.settings.regression:
            self.target = Numbers(np.asarray(database.target, np.float64)[self.order], self.settings.ftest)
        else:
            self.target = Classes(np.asarray(database.target, np.int32)[self.order], database.classes)
        self.max_uses = [-1] * (1 + max((mode.source for mode in language.modes), default=-1))
        for mode in language.modes:
            self.max_uses[mode.source] = -1 if mode.max_uses is None else mode.max_uses

    def grow(
        self,
        sharing: Sharing = "parallel",
        tasks: Sequence[int] | None = None,
        *,
        n_jobs: int | None = 1,
        progress: Callable[[float], object] | None = None,
    ) -> RelationalForest:
        """Grow and prune all trees, and let each predict its held-out examples.

        "parallel" grows all trees in one run; "paper" does the same without a cache, as the paper's parallel
        procedure; "serial" grows each tree with a cache of its own, and "uncached" without, as the paper's
        serial procedure. The trees are identical, for any number of threads. `tasks` are the folds to hold
        out, one tree each, -1 for no fold; by default -1, then every fold. `progress` is called about ten
        times a second with the fraction of the work done, by default the function that is `watching`.
        """
        if sharing not in SHARINGS:
            raise ValueError(f"sharing is {sharing!r}; it must be one of {', '.join(SHARINGS)}")
        tasks = list(range(-1, self.n_folds)) if tasks is None else list(tasks)
        bundles = [tasks] if sharing in {"parallel", "paper"} else [[task] for task in tasks]
        progress = progress or watcher() or (lambda _: None)
        progress(0.0)
        result = self._grow(bundles, sharing, n_jobs, progress, names_all=False)
        if result.limit_hits:  # limit hits must not depend on which trees are grown together
            result = self._grow(bundles, sharing, n_jobs, progress, names_all=True)
        progress(1.0)
        return result

    def _grow(
        self,
        bundles: list[list[int]],
        sharing: Sharing,
        n_jobs: int | None,
        progress: Callable[[float], object],
        *,
        names_all: bool,
    ) -> RelationalForest:
        settings, facts = self.settings, self.queries.facts
        root = [facts.literal(goal, facts.n_fixed) for goal in facts.root]
        result = RelationalForest(settings, self)
        for number, bundle in enumerate(bundles):
            self.queries.start()
            store = self.queries.store
            self.target.load_into(store, self.folds)
            grown = store.grow(
                bundle,
                root,
                self.queries.root_types(),
                "variance" if settings.regression else settings.heuristic,
                settings.minimal_cases,
                settings.accuracy,
                settings.ties == "last",
                -1 if settings.max_depth is None else settings.max_depth,
                self.max_uses,
                self.target.critical_f,
                sharing in {"parallel", "serial"},
                n_threads(n_jobs),
                part_of(progress, number, len(bundles)),
                names_all,
            )
            pruned = grown
            if not settings.regression and settings.pruning in {"c45", "safe"}:
                pruned = grown.prune(settings.pruning == "c45", settings.confidence_level)
            result.add(grown, pruned, self.queries)
            if bundle != [-1]:
                predictions, leaves = store.held_out(pruned, bundle)
                reached = leaves >= 0
                examples = self.order[reached]
                result.held_out[examples] = predictions[reached]
                result.held_out_leaves[examples] = leaves[reached]
        return result


def limit_hits(queries: Queries, signature: Signature) -> list[tuple[str, int]]:
    """Return the queries, as text, and the examples for which the search exceeded the step limit."""
    hits = queries.limit_hits
    texts = {part: query_text(queries.goals(part), signature) for part in {part for part, _ in hits}}
    return sorted((texts[part], example) for part, example in hits)


def signature_of(facts: Facts, language: Language) -> Signature:
    """Return the meaning of the numbers in tests over this database."""
    database = facts.database
    numbers = facts.renumbered
    root = tuple(goal.renamed(lambda a: numbers.get(a, a)) for goal in language.root)
    keyed = {predicate for predicate, relation in database.relations.items() if relation.keyed}
    return Signature(
        constants=database.constants,
        target_name=database.target_name,
        target_column=database.target_column,
        n_keys=len(database.keys),
        n_fixed=facts.n_fixed,
        root=root,
        hidden_key=frozenset(keyed) if language.implicit_key else frozenset(),
        implicit_key=language.implicit_key,
        columns=database.columns,
        attributes=language.attributes,
    )
