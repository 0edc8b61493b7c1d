"""Training rows that are not in memory; a rule assigns them to folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from crosscut.data.grid import Bits, Grids
from crosscut.data.table import MAX_COARSE
from crosscut.engines.stream.checkpoint import Checkpoint
from crosscut.engines.stream.growing_tree import coded_trees, with_values
from crosscut.engines.stream.level_wise import Plan, grow_level_wise
from crosscut.engines.stream.passes import LeafPass, Pass, Sums
from crosscut.engines.stream.stream import Stream
from crosscut.engines.stream.survey import Roles
from crosscut.forest.forest import Forest, Packed
from crosscut.forest.tree import decisions
from crosscut.tasks.fold_rule import FoldRule
from crosscut.tasks.folds import check_trained
from crosscut.training.parameters import growth_of, is_integer, leaf_sizes, limits_of, objective_of
from crosscut.training.stream_validation import LossPass, StreamValidation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.grid import Totals
    from crosscut.data.schema import Schema
    from crosscut.engines.stream.coding import Batch, Coding
    from crosscut.engines.stream.dask import DaskRows
    from crosscut.engines.stream.level_wise import Rows
    from crosscut.engines.stream.stream import StreamRows
    from crosscut.tasks.growth import Limits
    from crosscut.typing import ColumnLike, TableLike, TreeEstimator


def with_class_weights(totals: Totals, class_weights: NDArray[np.float64] | None) -> Totals:
    """Return the totals if sample weights are multiplied by class weights."""
    if class_weights is None:
        return totals
    low, high = totals.weight.times(Bits.of(class_weights))
    return replace(
        totals, weight=Bits(low, high + 1)
    )  # one more bit, because products may round up to a power of two


@dataclass(kw_only=True)
class _BalancedPass(Pass[Sums]):
    """A pass with other class weights; None if all weights are 1."""

    wrapped: Pass[Sums]
    class_weights: NDArray[np.float64] | None

    def start(self) -> Sums:
        return self.wrapped.start()

    def add(self, sums: Sums, batch: Batch) -> None:
        weight = None
        if self.class_weights is not None:
            weight = self.class_weights[batch.target]
            weight = weight if batch.sample_weight is None else weight * batch.sample_weight
        self.wrapped.add(sums, replace(batch, weight=weight))

    def merge(self, sums: Sums, others: Sums) -> Sums:
        return self.wrapped.merge(sums, others)


class _BalancedRows(NamedTuple):
    """The rows of a stream with other class weights."""

    rows: Rows
    class_weights: NDArray[np.float64] | None

    def run(self, one_pass: Pass[Sums]) -> Sums:
        weights = self.class_weights
        return self.rows.run(_BalancedPass(name=one_pass.name, wrapped=one_pass, class_weights=weights))


@dataclass(kw_only=True)
class _FoldSizePass(Pass["NDArray[np.int64]"]):
    """Count the rows of each fold, by class."""

    n_folds: int
    n_classes: int  # 0 for numbers, which count as one class

    def start(self) -> NDArray[np.int64]:
        return np.zeros((max(1, self.n_folds), max(1, self.n_classes)), np.int64)

    def add(self, sums: NDArray[np.int64], batch: Batch) -> None:
        code = batch.target if self.n_classes else np.zeros(batch.n_rows, np.int64)
        cell = batch.fold.astype(np.int64) * sums.shape[1] + code
        sums += np.bincount(cell, minlength=sums.size).reshape(sums.shape)


@dataclass(eq=False)
class StreamedSet:
    """Rows of a stream; the counterpart of :class:`crosscut.training.training_set.TrainingSet`."""

    model: TreeEstimator
    stream: Stream
    rows: StreamRows | DaskRows
    coding: Coding
    grids: Grids | None
    folds: FoldRule
    name: str  # name of the target
    gather: bool = True

    @classmethod
    def read(
        cls, model: TreeEstimator, X: TableLike, target: str, sample_weight: ColumnLike, groups: ColumnLike
    ) -> StreamedSet:
        """Survey and code the data."""
        if model.repeats > 1:
            raise ValueError(f"repeats={model.repeats} must be 1 if X is not in memory")
        if leaf_sizes(model):
            raise ValueError(
                f"min_samples_leaf={model.min_samples_leaf!r} must be one size if X is not in memory"
            )
        _check_names(y=target, sample_weight=sample_weight, groups=groups)
        classifies = isinstance(model, ClassifierMixin)
        folds = _fold_rule(model, classifies, groups is not None)
        stream = Stream.of(X)
        max_bins = MAX_COARSE if model.max_bins is None else int(model.max_bins)
        roles = Roles(target, classifies, groups, sample_weight, _class_weight(model))
        rows = stream.prepare(roles, max_bins, folds, model.n_jobs)
        coding = rows.coding
        rows.folds = folds = replace(folds, n_rows=coding.n_rows)
        if folds.n_folds > coding.n_rows:
            raise ValueError(f"cv={folds.n_folds} exceeds the {coding.n_rows} rows; use a smaller cv")
        totals = with_class_weights(rows.totals, coding.class_weights)
        grids = Grids.of(totals, numbers=not classifies, weighted=coding.weighted)
        return cls(model, stream, rows, coding, grids, folds, target)

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.coding.schema

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes in sorted order; None for regression."""
        return self.coding.classes

    @property
    def class_weights(self) -> NDArray[np.float64] | None:
        """The weight of each class."""
        return self.coding.class_weights

    @property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing values in each column."""
        return self.coding.n_missing

    def limits(self) -> tuple[Limits, ...]:
        """Return the limits of each task; fractions become numbers of rows."""
        sizes = [self.coding.n_rows] * (self.folds.n_folds + 1)
        if limits_of(self.model).has_fractions:
            sizes = self._class_counts.sum(axis=1).tolist()
        return tuple(limits_of(self.model).of_rows(size) for size in sizes)

    @cached_property
    def _class_counts(self) -> NDArray[np.int64]:
        """Training rows of each task, by class."""
        n_folds = self.folds.n_folds
        held_out = self.rows.run(
            _FoldSizePass(name="fold sizes", n_folds=n_folds, n_classes=self.coding.n_classes)
        )
        whole = held_out.sum(axis=0)
        return np.array([whole, *(whole - held_out[:n_folds])])

    def grow(self) -> Forest:
        """Grow all tasks.

        With balanced class weights, which depend on the rows of a task, tasks are grown one by one.
        """
        limits = self.limits()
        if getattr(self.model, "class_weight", None) != "balanced":
            forest = self._grow(self.rows, self.grids, limits)
        else:
            forest = Forest.joined(self._grow_balanced(task, limits) for task in range(len(limits)))
        if self.classes is not None:
            packed = forest.packed
            trained = packed.value[packed.node_start[:-1]] > 0
            check_trained(trained[:, trained[0]], self.classes[trained[0]])
        return forest

    def _grow_balanced(self, task: int, limits: tuple[Limits, ...]) -> Forest:
        """Grow one task with the class weights of its rows; the other tasks remain leaves."""
        counts = self._class_counts[task]
        weights = np.ones(len(counts))
        weights[counts > 0] = counts.sum() / (np.count_nonzero(counts) * counts[counts > 0])
        counted = self.coding.roles.weight is None and bool(np.all(weights == 1))
        rows = _BalancedRows(self.rows, None if counted else weights)
        grids = Grids.of(with_class_weights(self.rows.totals, weights), numbers=False, weighted=not counted)
        others = replace(limits[task], max_depth=0)
        of_task = tuple(limit if t == task else others for t, limit in enumerate(limits))
        grown = self._grow(rows, grids, of_task, suffix=f".{task}")
        return Forest(grown.packed.only(task), grown.work)

    def _grow(self, rows: Rows, grids: Grids | None, limits: tuple[Limits, ...], suffix: str = "") -> Forest:
        """Grow the tasks; leaf values that are not counts need one more pass."""
        model = self.model
        growth = growth_of(model)
        plan = Plan(
            self.coding,
            grids,
            self.folds,
            growth,
            limits,
            self.stream.memory_limit,
            self.gather,
            model.n_jobs,
        )
        path = self.stream.checkpoint
        checkpoint = (
            None if path is None else Checkpoint(path.with_name(path.name + suffix), plan, self.rows.key)
        )
        saved = None if checkpoint is None else checkpoint.load()
        state = grow_level_wise(plan, rows, saved, None if checkpoint is None else checkpoint.save)
        trees = [tree.flatten(self.coding.n_classes, growth.criterion) for tree in state.trees]
        check_trained(np.array([tree.n_rows[:1] > 0 for tree in trees]), ["number"])
        packed = Packed.of(trees)
        work = {
            name: np.array([level[name] for level in state.work])
            for name in ("bundles", "rows", "passes", "seconds")
        }
        if any(tree.subtrees for tree in state.trees):
            del work["rows"]  # unknown by level for gathered bundles
        if grids is not None:
            coded = coded_trees(packed, self.coding)
            one_pass = LeafPass(
                name="leaves", coded=coded, coding=self.coding, grids=grids, n_jobs=model.n_jobs
            )
            sums = rows.run(one_pass)
            packed = with_values(packed, sums, grids, growth.criterion)
        if checkpoint is not None:
            checkpoint.remove()
        return Forest(packed, work)

    def validate(self, forest: Forest) -> StreamValidation:
        """Return the out-of-fold results, after one pass for the losses of the held-out rows."""
        packed, totals = forest.packed, self.rows.totals
        one_pass = LossPass(
            name="losses",
            predictions=packed.value[:, 0] if self.classes is None else decisions(packed.value, packed.loss),
            units=(totals.weight.high, 0 if self.classes is not None else totals.target.high + 1),
            coded=coded_trees(packed, self.coding),
            coding=self.coding,
            n_folds=self.folds.n_folds,
            n_jobs=self.model.n_jobs,
        )
        sums = self.rows.run(one_pass)
        return StreamValidation(forest, self.rows, one_pass, sums, objective_of(self.model))


def _check_names(**names: object) -> None:
    """Check that arguments are names of columns; y is required."""
    for role, name in names.items():
        if not isinstance(name, str) and (name is not None or role == "y"):
            raise TypeError(
                f"{role} must be the name of a column if X is not in memory, not {type(name).__name__}"
            )


def _fold_rule(model: TreeEstimator, classifies: bool, grouped: bool) -> FoldRule:
    """Return the rule of a number of folds, or of a splitter by row numbers, classes or groups."""
    from sklearn import model_selection as ms

    cv, stratified, in_order, random_state = model.cv, classifies and not grouped, False, model.random_state
    if cv is not None and not is_integer(cv, 2):
        kinds = (ms.KFold, ms.StratifiedKFold, ms.GroupKFold)
        kind = next((kind for kind in kinds if type(cv) is kind), None)
        if (
            kind is None
            or grouped != (kind is ms.GroupKFold)
            or (kind is ms.StratifiedKFold and not classifies)
        ):
            raise ValueError(
                "cv must be None, a number of folds, KFold, StratifiedKFold (for classes) or GroupKFold "
                f"(with groups) if X is not in memory, not {cv!r}" + (" with groups" if grouped else "")
            )
        stratified = kind is ms.StratifiedKFold
        in_order = kind is ms.KFold and not cv.shuffle
        cv, random_state = cv.n_splits, cv.random_state if cv.shuffle else None
    seed = 0 if random_state is None else int(check_random_state(random_state).randint(2**31))
    return FoldRule(0 if cv is None else int(cv), stratified, grouped, seed, in_order)


def _class_weight(model: TreeEstimator) -> str | tuple[tuple[Any, float], ...] | None:
    """Return the class weights for :class:`Roles`: "balanced", or pairs of class and weight."""
    weights: str | dict[Any, float] | None = getattr(model, "class_weight", None)
    if weights is None or weights == "balanced":
        return weights
    if not isinstance(weights, dict):
        raise TypeError(f"class_weight must be a dict, 'balanced' or None, not {weights!r}")
    return tuple(weights.items())
