"""The paper's experiments: first-order trees on its five data sets, or on similar generated data.

Three procedures grow the same trees:

- ``serial``: one tree at a time, with every test evaluated again at every node, as in the paper;
- ``paper``: all trees together; trees with the same test stay together, as in the paper;
- ``crosscut``: all trees together; the truth of a query for an example is cached for all nodes and trees.

``apart`` is a fourth, for a fair comparison: one tree at a time, each with its own cache.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from clock import take_turns
from crosscut.forest.cost import forest_speedup
from crosscut.tasks.folds import folds_of
from crosscut_relational.database.database import Database
from crosscut_relational.language.bias import Bias
from crosscut_relational.queries.growth import Grower
from crosscut_relational.queries.queries import Facts
from crosscut_relational.queries.resolve import resolve
from paper.data import asm, bongard, machines, molecules
from paper.timing import Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from crosscut_relational.queries.growth import RelationalForest, Sharing

SHARING: dict[str, Sharing] = {
    "serial": "uncached",
    "paper": "paper",
    "crosscut": "parallel",
    "apart": "serial",
}


@dataclass(frozen=True, eq=False)
class Problem:
    """A relational data set with its bias; ``row`` is its row in the paper's Table 1, if there is one."""

    name: str
    make: Callable[[], tuple[Database, Bias]]
    row: str | None = None

    @cached_property
    def loaded(self) -> tuple[Database, Bias, Facts]:
        """The database, the bias and the indexed facts."""
        database, bias = self.make()
        return database, bias, Facts.of(database, resolve(bias, database))

    def grower(self, n_folds: int | None, max_depth: int | None = None) -> Grower:
        """Prepare growing; ``folds=None`` for the final tree alone."""
        database, bias, facts = self.loaded
        if max_depth is not None:
            bias = bias.with_settings(max_depth=max_depth)
        folds = np.full(database.n_examples, -1)
        if n_folds is not None:
            codes = np.asarray(database.target)
            fits = n_folds <= np.bincount(codes).min()  # stratified folds need a row of each class per fold
            folds = folds_of(n_folds, database.n_examples, codes if fits else None)
        return Grower(facts, resolve(bias, database), folds)


def problems() -> list[Problem]:
    """Return the data sets of Table 1, generated where the originals are not available."""
    return [
        Problem("SB (1453 pictures)", partial(bongard, "simple"), "SB"),
        Problem("CB (1521 pictures)", partial(bongard, "complex"), "CB"),
        Problem("Muta-like (230 molecules)", molecules, "Muta"),
        Problem("ASM-like (999 windows)", asm, "ASM"),
        Problem("Mach (15 machines)", machines, "Mach"),
    ]


def problems_in(folder: Path) -> Iterator[Problem]:
    """Find ACE applications (``app.s`` beside ``app.kb``) in a folder and those below it."""
    for settings in sorted(folder.rglob("*.s")):
        if not settings.with_suffix(".kb").exists():
            continue
        name = settings.relative_to(folder).with_suffix("").as_posix()
        row = "Muta" if "muta" in name.lower() else "Mach" if "mach" in name.lower() else None
        yield Problem(name, partial(_read_ace, settings), row)


def _read_ace(settings: Path) -> tuple[Database, Bias]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # settings of ACE's own algorithms
        database = Database.from_ace(settings.with_suffix(""))
        if not database.classes:
            raise ValueError("the target is numeric, but Table 1 is about classification")
        return database, Bias.from_ace(settings)


@dataclass(frozen=True)
class Measurement:
    """The cost of ten-fold cross-validation of one data set, by procedure."""

    problem: Problem
    n_examples: int
    n_tests: int  # candidates at the root
    paper: Timing  # trees with identical tests stay together; T_a and T_s of the paper's serial procedure
    crosscut: Timing  # T_a and T_s with their own caches
    S: float  # the paper's serial procedure over crosscut
    evaluations: dict[str, int]  # (query, example) pairs searched by each procedure
    f: list[float]  # f(1), f(2), ...: repetitions of the next level's work
    same_trees: bool


def measure(problem: Problem, n_folds: int = 10, *, seconds: float = 1.0) -> Measurement:
    """Grow the trees by each procedure and compare times and trees."""
    database, _, _ = problem.loaded
    n_folds = min(n_folds, database.n_examples)
    alone, folds = problem.grower(None), problem.grower(n_folds)
    forests: dict[str, RelationalForest] = {name: folds.grow(sharing) for name, sharing in SHARING.items()}
    jobs: dict[str, Callable[[], object]] = {
        name: partial(folds.grow, sharing) for name, sharing in SHARING.items()
    }
    jobs["one, serial"] = partial(alone.grow, "uncached")
    jobs["one, crosscut"] = partial(alone.grow, "parallel")
    times = {
        name: min(each.cpu)
        for name, each in take_turns(jobs, seconds=seconds, min_runs=2, max_runs=200).items()
    }
    texts = {name: [str(tree) for tree in forest.trees] for name, forest in forests.items()}
    return Measurement(
        problem=problem,
        n_examples=database.n_examples,
        n_tests=forests["paper"].levels[0].candidates if forests["paper"].levels else 0,
        paper=Timing(times["one, serial"], times["serial"], times["paper"]),
        crosscut=Timing(times["one, crosscut"], times["apart"], times["crosscut"]),
        S=times["serial"] / times["crosscut"],
        evaluations={name: forest.n_evaluations for name, forest in forests.items()},
        f=repeated_work(forests["paper"]),
        same_trees=all(text == texts["serial"] for text in texts.values()),
    )


def repeated_work(forest: RelationalForest) -> list[float]:
    """Return the repetitions of each level's work relative to one tree: 1 for the root, then f(1), ..."""
    return [level.bundles * len(forest.trees) / level.nodes for level in forest.levels]


@dataclass(frozen=True)
class Levels:
    """Seconds of each procedure on each level, and the repetitions of the level's work."""

    problem: Problem
    seconds: dict[str, list[float]]
    f: list[float]
    predicted: float  # the paper's model: n sum t_r(i) / sum f(i-1) t_r(i)
    measured: float


def levels(problem: Problem, n_folds: int = 10, *, deepest: int = 12, seconds: float = 0.3) -> Levels:
    """Time each level as the difference between growing down to it and down to the one above."""
    depth = min(deepest, len(problem.grower(n_folds).grow("parallel").levels))
    spent: dict[str, list[float]] = {"one": [], "serial": [], "paper": [], "crosscut": []}
    work: list[float] = []
    for level in range(1, depth + 1):
        folds, alone = problem.grower(n_folds, level), problem.grower(None, level)
        jobs: dict[str, Callable[[], object]] = {
            name: partial(folds.grow, SHARING[name]) for name in spent if name != "one"
        }
        jobs["one"] = partial(alone.grow, "uncached")
        for name, each in take_turns(jobs, seconds=seconds, min_runs=1, max_runs=20).items():
            spent[name].append(min(each.cpu))
        work = repeated_work(folds.grow("paper"))
    measured = spent["serial"][-1] / spent["paper"][-1]
    each_level = {name: np.maximum(np.diff([0.0, *totals]), 0.0).tolist() for name, totals in spent.items()}
    predicted = forest_speedup(each_level["one"][: len(work)], work[1:], n_folds)
    return Levels(problem, each_level, work, predicted, measured)


def overhead_by_folds(
    problem: Problem, numbers: list[int], *, seconds: float = 0.3
) -> dict[str, list[float]]:
    """Return the overhead over the final tree for several numbers of folds, by procedure."""
    alone = problem.grower(None)
    overhead: dict[str, list[float]] = {"serial": [], "paper": [], "crosscut": []}
    for n in numbers:
        folds = problem.grower(n)
        jobs: dict[str, Callable[[], object]] = {
            name: partial(folds.grow, SHARING[name]) for name in overhead
        }
        jobs["one, serial"] = partial(alone.grow, "uncached")
        jobs["one, crosscut"] = partial(alone.grow, "parallel")
        times = take_turns(jobs, seconds=seconds, min_runs=1, max_runs=20)
        for name, values in overhead.items():
            one = "one, crosscut" if name == "crosscut" else "one, serial"
            values.append(min(times[name].cpu) / min(times[one].cpu) - 1)
    return overhead
