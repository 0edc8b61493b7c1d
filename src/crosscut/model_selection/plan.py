"""From candidates and splits to task lists: which growths serve them all, and where each tree is found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest import Packed
from crosscut.growth import Growth, Limits, Target
from crosscut.masks import BLOCK, empty_masks
from crosscut.model_selection.delegation import NotShared
from crosscut.model_selection.grove import Grove
from crosscut.tasks import Tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.forest import Forest
    from crosscut.model_selection.examples import Examples
    from crosscut.model_selection.settings import Cut, Lane


@dataclass
class Run:
    """One growth: tasks that share the rows' weights, the criterion and the table."""

    growth: Growth
    max_bins: int | None
    weights: NDArray[np.float64] | None
    task_of: dict[tuple[int, Limits], int] = field(default_factory=dict)  # (training set, limits) -> task

    def task(self, training_set: int, limits: Limits) -> int:
        """Return the number of the task, which is added if it is new."""
        return self.task_of.setdefault((training_set, limits), len(self.task_of))


@dataclass
class Plan:
    """All the trees a call needs: for every lane, one tree per training set."""

    examples: Examples
    train: Sequence[NDArray[np.int64]]
    runs: list[Run]
    place: dict[Lane, list[tuple[int, int]]]  # of each lane and training set: (run, task)

    @classmethod
    def of(
        cls,
        examples: Examples,
        candidates: Sequence[tuple[Lane, Cut]],
        train: Sequence[NDArray[np.int64]],
    ) -> Plan:
        """Plan the trees of all candidates on all training sets.

        A lane's trees are grown as large as its largest candidate asks for; the others are inside them. A
        training set that is listed twice (the same array) is grown once.
        """
        first_of = {id(rows): t for t, rows in reversed(list(enumerate(train)))}
        cuts: dict[Lane, list[Cut]] = {}
        for lane, cut in candidates:
            cuts.setdefault(lane, []).append(cut)
        runs: dict[tuple[Any, ...], Run] = {}
        numbers: dict[int, int] = {}
        place: dict[Lane, list[tuple[int, int]]] = {}
        for lane, its_cuts in cuts.items():
            place[lane] = []
            for rows in train:
                weights = examples.weights_of(lane.class_weight, rows)
                if weights is not None and not weights[rows].any():
                    raise NotShared("the weights of a training set are all 0")
                key = (lane.growth, lane.max_bins, None if weights is None else weights.tobytes())
                run = runs.setdefault(key, Run(lane.growth, lane.max_bins, weights))
                number = numbers.setdefault(id(run), len(numbers))
                # fractions are of all training rows, also those of weight 0 (scikit-learn counts these)
                limits = lane.limits(len(rows), its_cuts)
                place[lane].append((number, run.task(first_of[id(rows)], limits)))
        return cls(examples, train, list(runs.values()), place)

    def grow(self) -> dict[Lane, Grove]:
        """Grow every run and return each lane's trees, one per training set."""
        forests = [self._grow_run(run) for run in self.runs]
        lanes = {}
        for lane, places in self.place.items():
            first = places[0][0]
            exact = lane.growth.criterion == "gini" and all(self.runs[r].weights is None for r, _ in places)
            if len(self.runs) == 1 and [task for _, task in places] == list(range(len(forests[0]))):
                packed = forests[0].packed
            elif all(number == first for number, _ in places):
                packed = forests[first].packed.select([task for _, task in places])
            else:
                packed = Packed.of([forests[number][task] for number, task in places])
            lanes[lane] = Grove(packed, exact_ties=exact, min_impurity=lane.min_impurity)
        return lanes

    def _grow_run(self, run: Run) -> Forest:
        from crosscut.engines.memory import grow

        examples = self.examples
        n_classes = 0 if examples.classes is None else len(examples.classes)
        target = Target(examples.codes, n_classes, run.weights)
        return grow(
            examples.table(run.max_bins), target, self._tasks(run), run.growth, n_jobs=examples.n_jobs
        )

    def _tasks(self, run: Run) -> Tasks:
        n_tasks, n_rows = len(run.task_of), self.examples.n_rows
        masks = empty_masks(n_tasks, n_rows)
        for (t, _), task in run.task_of.items():
            masks[task // BLOCK, self.train[t]] |= np.uint16(1 << task % BLOCK)
        return Tasks(
            n_rows,
            n_tasks,
            masks,
            np.empty(0, np.int64),
            np.zeros(n_tasks + 1, np.int64),
            limits=tuple(limits for _, limits in run.task_of),
            has_final=False,
        )
