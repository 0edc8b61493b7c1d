"""From candidates and splits to task lists: which growths serve them all, and where each tree is found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.data.target import Target
from crosscut.forest.forest import Packed
from crosscut.forest.predict import apply
from crosscut.model_selection.delegation import NotShared
from crosscut.model_selection.grove import Grove
from crosscut.tasks import Tasks
from crosscut.tasks.masks import BLOCK, empty_masks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.data.table import Table
    from crosscut.model_selection.examples import Examples
    from crosscut.model_selection.settings import Cut, Lane
    from crosscut.tasks.growth import Growth, Limits


FEW = 0.01  # share of the rows: leaving out no more than this changes a tree in few places


@dataclass
class Run:
    """One growth: tasks that share the rows' weights, the criterion and the table."""

    growth: Growth
    max_bins: int | None
    weights: NDArray[np.float64] | None
    task_of: dict[tuple[int, int], int] = field(default_factory=dict)  # (training set, limits) -> task

    def task(self, training_set: int, limits: int) -> int:
        """Return the number of the task, which is added if it is new."""
        return self.task_of.setdefault((training_set, limits), len(self.task_of))


@dataclass
class Plan:
    """All the trees a call needs: for every lane, one tree per training set."""

    examples: Examples
    train: Sequence[NDArray[np.int64]]
    runs: list[Run]
    place: dict[Lane, list[tuple[int, int]]]  # of each lane and training set: (run, task)
    limits: dict[Limits, int] = field(default_factory=dict)  # numbered, as tasks refer to them
    left_out: NDArray[np.int64] | None = None  # a row that each training set leaves out, if known

    @classmethod
    def of(
        cls,
        examples: Examples,
        candidates: Sequence[tuple[Lane, Cut]],
        train: Sequence[NDArray[np.int64]],
        left_out: NDArray[np.int64] | None = None,
    ) -> Plan:
        """Plan the trees of all candidates on all training sets.

        A lane's trees are grown as large as its largest candidate asks for; the others are inside them. A
        training set that is listed twice (the same array) is grown once.
        """
        first_of = {id(rows): t for t, rows in reversed(list(enumerate(train)))}
        cuts: dict[Lane, list[Cut]] = {}
        for lane, cut in candidates:
            cuts.setdefault(lane, []).append(cut)
        runs: dict[Any, int] = {}
        plan = cls(examples, train, [], {}, left_out=left_out)
        for lane, its_cuts in cuts.items():
            limits_of = cache(partial(plan._limits, lane, its_cuts))
            run = -1
            plan.place[lane] = []
            for rows in train:
                if run < 0 or lane.class_weight is not None:
                    weights = examples.weights_of(lane.class_weight, rows)
                    key = (lane.growth, lane.max_bins, None if weights is None else weights.tobytes())
                    run = runs.setdefault(key, len(runs))
                    if run == len(plan.runs):
                        plan.runs.append(Run(lane.growth, lane.max_bins, weights))
                if weights is not None and not weights[rows].any():
                    raise NotShared("the weights of a training set are all 0")
                # fractions are of all training rows, also those of weight 0 (scikit-learn counts these)
                task = plan.runs[run].task(first_of[id(rows)], limits_of(len(rows)))
                plan.place[lane].append((run, task))
        return plan

    def _limits(self, lane: Lane, cuts: Sequence[Cut], n_rows: int) -> int:
        return self.limits.setdefault(lane.limits(n_rows, cuts), len(self.limits))

    def grow(self) -> dict[Lane, Grove]:
        """Grow every run and return each lane's trees, one per training set."""
        grown = [self._grow_run(run) for run in self.runs]
        lanes = {}
        for lane, places in self.place.items():
            exact = lane.growth.criterion == "gini" and all(self.runs[r].weights is None for r, _ in places)
            trees = np.array([grown[run][1][task] for run, task in places])
            packed = grown[places[0][0]][0]
            if any(run != places[0][0] for run, _ in places):
                packed = Packed.of([grown[run][0].tree(t) for (run, _), t in zip(places, trees, strict=True)])
                trees = np.arange(len(places))
            elif len(trees) < packed.n_trees:  # what cuts trees should see no others
                packed, trees = packed.select(trees.tolist()), np.arange(len(places))
            lanes[lane] = Grove(packed, trees, exact_ties=exact, min_impurity=lane.min_impurity)
        return lanes

    def _grow_run(self, run: Run) -> tuple[Packed, NDArray[np.int64]]:
        """Return the trees of a run, and which of them is each task's."""
        examples = self.examples
        n_classes = 0 if examples.classes is None else len(examples.classes)
        target = Target(examples.codes, n_classes, run.weights)
        table = examples.table(run.max_bins)
        grow = partial(_grow, table, target, run.growth, examples.n_jobs)
        tasks = list(run.task_of)
        limits = list(self.limits)
        order = np.arange(len(tasks))
        few = examples.n_rows - FEW * examples.n_rows
        if (
            self.left_out is not None
            and len(tasks) > 2 * BLOCK
            and all(len(self.train[t]) >= few for t, _ in tasks)
        ):
            # A tree differs from that of all rows along the paths of the rows it leaves out, and what the
            # tasks of a block have in common is grown once: tasks of rows of the same leaf belong together.
            everything = _tasks(examples.n_rows, [np.arange(examples.n_rows)], (limits[tasks[0][1]],))
            leaf = apply(grow(everything), examples.rows, n_jobs=examples.n_jobs)[0]
            order = np.argsort(leaf[self.left_out[[t for t, _ in tasks]]], kind="stable")
        chosen = [tasks[k] for k in order]
        train = [self.train[t] for t, _ in chosen]
        packed = grow(_tasks(examples.n_rows, train, tuple(limits[number] for _, number in chosen)))
        return packed, np.argsort(order)


def _tasks(n_rows: int, train: Sequence[NDArray[np.int64]], limits: tuple[Limits, ...]) -> Tasks:
    n_tasks = len(train)
    masks = empty_masks(n_tasks, n_rows)
    for task, rows in enumerate(train):
        if _core.mark_rows(masks[task // BLOCK], task % BLOCK, rows):
            raise NotShared("a training set has a row more than once")
    no_tests = np.empty(0, np.int64), np.zeros(n_tasks + 1, np.int64)
    return Tasks(n_rows, n_tasks, masks, *no_tests, limits=limits, has_final=False)


def _grow(table: Table, target: Target, growth: Growth, n_jobs: int, tasks: Tasks) -> Packed:
    from crosscut.engines.memory import grow

    return grow(table, target, tasks, growth, n_jobs=n_jobs).packed
