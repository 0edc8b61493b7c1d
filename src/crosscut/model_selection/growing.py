"""Plan the growths for all candidates and training sets, and run them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.target import Target
from crosscut.forest.smaller_trees import LargestTrees
from crosscut.model_selection.candidates import NotShared
from crosscut.model_selection.rows import is_matrix
from crosscut.tasks.growth import CRITERIA, Limits
from crosscut.training.growing import grow_own_classes, grow_with_class_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.forest.forest import Packed
    from crosscut.model_selection.candidates import Candidate, Setting
    from crosscut.model_selection.rows import TrainingRows
    from crosscut.tasks import Tasks


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
    """Return the trees of all training sets for each of the limits, and whether rows have no weights."""
    n_classes = 0 if examples.classes is None else len(examples.classes)
    target, table = Target(examples.codes, n_classes, examples.weights), examples.table(setting.max_bins)
    tasks, n_jobs = sets.with_limits(limits), examples.n_jobs
    if setting.class_weight is None:
        _check_weights(examples.weights, sets)
        grown = grow_own_classes(table, target, tasks, setting.growth, n_jobs=n_jobs)
    else:
        by_class = np.empty((len(sets), n_classes))
        for t in range(len(sets)):
            by_class[t] = examples.class_weights_of(setting.class_weight, sets.drawn_rows(t))
            _check_weights(examples.with_class_weights(by_class[t]), sets.take([t]))
        crossed = np.repeat(by_class, len(limits), axis=0)
        grown = grow_with_class_weights(table, target, crossed, tasks, setting.growth, n_jobs=n_jobs)
    by_limits = np.arange(len(tasks)).reshape(len(sets), len(limits)).T.ravel()
    counted = setting.class_weight is None and examples.weights is None
    return grown.packed.select(by_limits.tolist()), counted


def _check_weights(weights: NDArray[np.float64] | None, sets: Tasks) -> None:
    if weights is not None and not all(weights[sets.trains(t)].any() for t in range(len(sets))):
        raise NotShared("the weights of a training set are all 0")
