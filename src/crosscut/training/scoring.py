"""Scores of the folds by one of scikit-learn's scorers, for the parameter ``scoring``."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing

from crosscut.forest.forest import Forest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.tasks import Tasks
    from crosscut.training.fit import Fit
    from crosscut.training.training_set import TrainingSet


class Leaves:
    """Rows of a stream, represented by the leaves they reach."""

    def __init__(self, leaf: NDArray[np.int32]) -> None:
        self.leaf = leaf

    def __len__(self) -> int:
        return len(self.leaf)


def held_out_rows(data: TrainingSet, tasks: Tasks, task: int) -> tuple[Any, NDArray[Any]]:
    """Return the rows that a task holds out, and their labels."""
    rows = tasks.test_rows(task)
    return _safe_indexing(data.X, rows), data.labels[rows]


def held_out_leaves(fit: Fit, task: int) -> tuple[Leaves, NDArray[Any]]:
    """Return the rows of a stream that a task holds out, and their labels."""
    validation: Any = fit.validation
    own = validation.held_out.of(task)
    y = validation.y[validation.rows[own]]
    return Leaves(validation.held_out.leaf[own]), y if fit.classes is None else fit.classes[y]


def with_scores(model: Any, fit: Fit, rows_of: Callable[[int], tuple[Any, NDArray[Any]]]) -> Fit:
    """Return the fit with the folds scored by ``scoring``, if that is given.

    ``rows_of(task)`` are the rows that a task holds out, and their labels.
    """
    if model.scoring is None or fit.validation is None:
        return fit
    scorer = check_scoring(model, model.scoring)
    scores = []
    for task in range(1, len(fit.forest)):
        fitted = copy(model)
        fitted.fit_ = replace(fit, forest=_only(fit.forest, task), validation=None, chosen_by=None)
        scores.append(scorer(fitted, *rows_of(task)))
    return replace(fit, validation=fit.validation.scored(np.array(scores, dtype=np.float64), model.scoring))


def _only(forest: Any, task: int) -> Any:
    """Return one model of a forest, as a forest."""
    return Forest(forest.packed.only(task)) if isinstance(forest, Forest) else (forest[task],)
