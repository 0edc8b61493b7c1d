"""Plan the growths for all candidates and training sets, and run them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.target import Target
from crosscut.forest.forest import Packed
from crosscut.forest.predict import apply
from crosscut.forest.smaller_trees import LargestTrees
from crosscut.model_selection.candidates import NotShared
from crosscut.model_selection.rows import is_matrix
from crosscut.tasks import Tasks
from crosscut.tasks.growth import CRITERIA, Limits
from crosscut.tasks.masks import BLOCK
from crosscut.training.train import grow_own_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.model_selection.candidates import Candidate, Setting
    from crosscut.model_selection.rows import TrainingRows

FEW = 0.01  # fraction of the rows; leaving out at most this fraction changes few nodes of a tree


def grow_settings(
    examples: TrainingRows, candidates: Sequence[Candidate], sets: Tasks
) -> dict[Setting, LargestTrees]:
    """Grow the trees of every setting, one for each training set in ``sets``.

    Each tree has the loosest limits of the setting's candidates and so contains all of them. Settings that
    differ only in limits grow together.
    """
    examples, sets = _without_unused(examples, sets)
    limits: dict[Setting, list[Limits]] = {}
    for candidate in candidates:
        limits.setdefault(candidate.setting, []).append(candidate.limits)
    together: dict[Any, list[Setting]] = {}
    for setting in limits:
        key = setting.growth, setting.max_bins, setting.class_weight
        together.setdefault(key, []).append(setting)
    by_setting = {}
    for settings in together.values():
        loosest = [Limits.loosest(limits[setting]) for setting in settings]
        packed, counted = _grow_together(examples, settings[0], loosest, sets)
        for k, setting in enumerate(settings):
            trees = packed.select(range(k * len(sets), (k + 1) * len(sets)))
            criterion = CRITERIA[setting.growth.criterion]
            exact = counted and criterion.squares and not criterion.numbers
            by_setting[setting] = LargestTrees(trees, exact_ties=exact, min_impurity=setting.min_impurity)
    return by_setting


def _without_unused(examples: TrainingRows, sets: Tasks) -> tuple[TrainingRows, Tasks]:
    """Leave out rows that train no tree, if these are at least half of all rows: this saves ranking them."""
    used = np.flatnonzero(np.bitwise_or.reduce(sets.masks, axis=0))
    if len(used) > examples.n_rows / 2 or not is_matrix(examples.matrix):
        return examples, sets
    return examples.part(used, examples.matrix[used]), sets.among(used)


def _grow_together(
    examples: TrainingRows, setting: Setting, limits: list[Limits], sets: Tasks
) -> tuple[Packed, bool]:
    """Return the trees of all training sets for each of the limits, and whether rows have no weights.

    Training sets grow together if their rows have the same weights.
    """
    growths: dict[bytes, tuple[NDArray[np.float64] | None, list[int]]] = {}
    for t in range(len(sets)):
        if t == 0 or setting.class_weight is not None:
            weights = examples.weights_of(setting.class_weight, sets.drawn_rows(t))
            key = b"" if weights is None else weights.tobytes()
        if weights is not None and not weights[sets.trains(t)].any():
            raise NotShared("the weights of a training set are all 0")
        growths.setdefault(key, (weights, []))[1].append(t)
    grown = [
        _grow(examples, setting, limits, sets.take(tasks), weights) for weights, tasks in growths.values()
    ]
    counted = list(growths) == [b""]
    if len(grown) == 1:
        return grown[0], counted
    trees = {
        (j, t): packed.tree(j * len(tasks) + k)
        for packed, (_, tasks) in zip(grown, growths.values(), strict=True)
        for k, t in enumerate(tasks)
        for j in range(len(limits))
    }
    return Packed.of([trees[j, t] for j in range(len(limits)) for t in range(len(sets))]), counted


def _grow(
    examples: TrainingRows,
    setting: Setting,
    limits: list[Limits],
    sets: Tasks,
    weights: NDArray[np.float64] | None,
) -> Packed:
    n_classes = 0 if examples.classes is None else len(examples.classes)
    target = Target(examples.codes, n_classes, weights)
    table = examples.table(setting.max_bins)

    def grown(tasks: Tasks) -> Packed:
        return grow_own_classes(table, target, tasks, setting.growth, n_jobs=examples.n_jobs).packed

    n_sets, n_limits = len(sets), len(limits)
    numbers = np.arange(n_sets * n_limits).reshape(n_sets, n_limits)
    by_limits = numbers.T.ravel().tolist()
    if n_sets * n_limits <= BLOCK:  # one block, whatever the order
        return grown(sets.with_limits(limits).take(by_limits))
    many = n_sets * n_limits > 2 * BLOCK
    left_out = [np.flatnonzero(~sets.trains(t)) for t in range(n_sets)] if many else []
    if not many or max(map(len, left_out)) > FEW * examples.n_rows:
        return grown(sets.with_limits(limits)).select(by_limits)
    # A tree differs from the final tree on the paths of the rows it leaves out. Tasks of a block share the
    # nodes on which they agree, so tasks that leave out rows of the same leaf go into the same block.
    everything = Tasks.from_rows([np.arange(examples.n_rows)], examples.n_rows)
    leaf = apply(grown(everything.with_limits(limits[:1])), examples.rows, n_jobs=examples.n_jobs)[0]
    order = np.argsort([leaf[rows[0]] if len(rows) else 0 for rows in left_out], kind="stable")
    back = numbers[np.argsort(order)].T
    return grown(sets.take(order).with_limits(limits)).select(back.ravel().tolist())
