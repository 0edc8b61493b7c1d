"""The paper's experiment on tables: nominal and numeric columns, stable and unstable, 2 to N folds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

import generated
from clock import take_turns
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import LOCAL_ROWS, grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits
from paper.timing import Timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from crosscut.forest.forest import Forest

_COMPARED = ("node_start", "feature", "threshold", "children", "branches", "value")


@dataclass(frozen=True, eq=False)
class Concept:
    """A table and the settings of its trees."""

    name: str
    make: Callable[[], tuple[Any, Any]]
    stable: bool
    limits: Limits = field(default_factory=lambda: Limits(max_depth=8))
    growth: Growth = field(default_factory=Growth)
    max_bins: int | None = None

    @cached_property
    def table(self) -> Table:
        """The encoded columns. Encoding is the same for all procedures and is not timed."""
        return Table.from_data(self.data[0], max_bins=self.max_bins)

    @cached_property
    def data(self) -> tuple[Any, Any]:
        """The columns and the classes."""
        return self.make()

    @cached_property
    def target(self) -> Target:
        """The classes."""
        y = np.asarray(self.data[1], np.int32)
        return Target(y, int(y.max()) + 1)

    def tasks(self, n_folds: int) -> Tasks:
        """Return the tasks of the final tree and the folds; one fold per row is leave-one-out."""
        n_rows = self.table.n_rows
        if n_folds == n_rows:
            return Tasks.leave_one_out(n_rows, limits=self.limits)
        return Tasks.from_cv(n_folds, self.data[1], classifier=True, limits=self.limits)

    def grow(self, tasks: Tasks, *, bundling: bool = True, local_rows: int = LOCAL_ROWS) -> Forest:
        """Grow the tasks on one thread."""
        return grow(
            self.table, self.target, tasks, self.growth, n_jobs=1, bundling=bundling, local_rows=local_rows
        )


def concepts(n_rows: int) -> list[Concept]:
    """Return a stable and an unstable concept for each kind of column."""
    nominal = partial(Concept, growth=Growth("entropy", "multiway"), limits=Limits(max_depth=5))
    return [
        nominal("nominal, stable", partial(generated.decision_list, n_rows), stable=True),
        nominal("nominal, unstable", partial(generated.nominal, n_rows, 15, 8, noise=0.7), stable=False),
        Concept("numeric exact, stable", partial(generated.tree_like, n_rows), stable=True),
        Concept("numeric exact, unstable", partial(generated.weak, n_rows), stable=False),
        Concept("numeric binned, stable", partial(generated.tree_like, n_rows), stable=True, max_bins=255),
        Concept("numeric binned, unstable", partial(generated.weak, n_rows), stable=False, max_bins=255),
    ]


@dataclass(frozen=True)
class Measurement:
    """The cost of an n-fold cross-validation of one concept, by procedure."""

    concept: Concept
    n_folds: int
    paper: Timing  # trees with identical tests stay together
    crosscut: Timing  # overlap bundles
    predicted: dict[str, float]  # speed-up by the paper's model: rows visited one by one over rows visited
    same_trees: bool


def measure(concept: Concept, n_folds: int, *, seconds: float = 0.5) -> Measurement:
    """Grow the trees one by one, as the paper does, and in overlap bundles; compare times and trees."""
    tasks = concept.tasks(n_folds)
    single = [tasks.take([task]) for task in range(tasks.n_tasks)]
    counted = partial(concept.grow, local_rows=1)  # without this, small bundles are refined task by task
    separate = [counted(task) for task in single]
    forests = {"paper": counted(tasks, bundling=False), "crosscut": counted(tasks)}
    jobs: dict[str, Callable[[], object]] = {
        "one": partial(concept.grow, single[0]),
        "paper": partial(concept.grow, tasks, bundling=False),
        "crosscut": partial(concept.grow, tasks),
        "serial": lambda: [concept.grow(task) for task in single],
    }
    times = {
        name: min(each.cpu)
        for name, each in take_turns(jobs, seconds=seconds, min_runs=1, max_runs=50).items()
    }
    serial_rows = sum(_rows(forest) for forest in separate)
    return Measurement(
        concept,
        n_folds,
        Timing(times["one"], times["serial"], times["paper"]),
        Timing(times["one"], times["serial"], times["crosscut"]),
        {name: serial_rows / max(_rows(forest), 1) for name, forest in forests.items()},
        all(_same(forest, separate) for forest in forests.values()),
    )


def _rows(forest: Forest) -> int:
    return int(np.sum(forest.work["rows"])) if forest.work is not None else 0


def _same(forest: Forest, separate: list[Forest]) -> bool:
    return all(
        np.array_equal(
            getattr(forest.packed.only(task), name), getattr(alone.packed, name), equal_nan=name != "feature"
        )
        for task, alone in enumerate(separate)
        for name in _COMPARED
    )
