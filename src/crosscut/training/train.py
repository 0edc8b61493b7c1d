"""Train trees: grow, prune and validate them for an estimator."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin, clone

from crosscut.data.target import Target
from crosscut.engines.stream.stream import Stream
from crosscut.forest.forest import Forest
from crosscut.forest.predict import apply_held_out
from crosscut.forest.pruning_table import pessimistic
from crosscut.forest.shrinkage import shrunk
from crosscut.forest.smaller_trees import prune
from crosscut.sklearn_private import _safe_indexing
from crosscut.statistics.validation import TreeValidation
from crosscut.tasks import Tasks
from crosscut.training.fit import Fit
from crosscut.training.growing import grow_own_classes, grow_with_class_weights
from crosscut.training.guards import guard
from crosscut.training.parameters import (
    check_parameters,
    chooses,
    cost_matrix,
    growth_of,
    is_integer,
    leaf_sizes,
    limits_of,
    measure_of,
    objective_of,
)
from crosscut.training.streamed_set import StreamedSet
from crosscut.training.training_set import TrainingSet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.forest.pruning_table import Objective, PruningTable
    from crosscut.tasks.growth import Growth
    from crosscut.typing import ColumnLike, CrossValidation, Estimator, TableLike, TreeEstimator


class Leaves:
    """Rows of a stream, represented by the leaves they reach."""

    def __init__(self, leaf: NDArray[np.int32]) -> None:
        self.leaf = leaf

    def __len__(self) -> int:
        return len(self.leaf)


def held_out_rows(data: TrainingSet, tasks: Tasks, task: int) -> tuple[Any, NDArray[Any]]:
    """Return the rows that a task holds out and their labels."""
    rows = tasks.test_rows(task)
    return _safe_indexing(data.X, rows), data.labels[rows]


def held_out_leaves(fit: Fit, task: int) -> tuple[Leaves, NDArray[Any]]:
    """Return the rows of a stream that a task holds out and their labels."""
    validation: Any = fit.validation
    of_task = validation.held_out.of(task)
    y = validation.y[validation.rows[of_task]]
    return Leaves(validation.held_out.leaf[of_task]), y if fit.classes is None else fit.classes[y]


def with_scores(model: Estimator, fit: Fit, rows_of: Callable[[int], tuple[Any, NDArray[Any]]]) -> Fit:
    """Return the fit with fold scores by the estimator's ``scoring``, if it has one.

    ``rows_of(task)`` returns the rows that a task holds out and their labels.
    """
    if model.scoring is None or fit.validation is None:
        return fit
    from sklearn.metrics import check_scoring

    scorer = check_scoring(model, model.scoring)
    scores = []
    for task in range(1, len(fit.forest)):
        fitted = copy(model)
        fitted.fit_ = replace(fit, forest=_only(fit.forest, task), validation=None, chosen_by=None)
        try:
            scores.append(scorer(fitted, *rows_of(task)))
        except ValueError as error:
            if isinstance(model.scoring, str) and ("pos_label" in str(error) or "average=" in str(error)):
                raise ValueError(
                    f"scoring={model.scoring!r} needs two classes, 0 and 1 or False and True, to know which "
                    "is "
                    f"positive, but the classes are {', '.join(map(repr, fit.known_classes.tolist()[:5]))}; "
                    "use "
                    f"{model.scoring}_macro, or a scorer with pos_label"
                ) from error
            raise
    return replace(fit, validation=fit.validation.scored(np.array(scores, dtype=np.float64), model.scoring))


def _only(forest: Any, task: int) -> Any:
    """Return one model of a forest, as a forest."""
    return Forest(forest.packed.only(task)) if isinstance(forest, Forest) else (forest[task],)


def train(
    model: TreeEstimator,
    X: TableLike,
    y: ColumnLike,
    sample_weight: ColumnLike = None,
    groups: ColumnLike = None,
) -> Fit:
    """Grow, prune and validate the trees of a tree estimator, and set its attributes for the columns of X."""
    check_parameters(model)
    if Stream.takes(X, y):
        return _train_streamed(model, X, y, sample_weight, groups)
    data = TrainingSet.read(model, X, y, sample_weight)
    if leaf_sizes(model):
        fit = _best_leaf_size(model, data, groups)
    else:
        tasks = tasks_of(model, data, groups)
        fit = _pruned_fit(model, data, tasks, grow_trees(model, data, tasks))
    notes = guard(data, fit.validation, int(model.cv) if is_integer(model.cv, 2) else None)
    return replace(fit, notes=notes) if notes else fit


def _pruned_fit(model: TreeEstimator, data: TrainingSet, tasks: Tasks, grown: Forest) -> Fit:
    evaluate = partial(validate, data, tasks, n_jobs=model.n_jobs, objective=objective_of(model))
    fit = _fit(model, data, grown, None if tasks.n_tasks == 1 else evaluate)
    return with_scores(model, fit, partial(held_out_rows, data, tasks))


def _best_leaf_size(model: TreeEstimator, data: TrainingSet, groups: ColumnLike) -> Fit:
    """Choose among leaf sizes by the lowest error of their prunings; the larger size if errors are equal."""
    models = [copy(model) for _ in leaf_sizes(model)]
    for each, size in zip(models, sorted(leaf_sizes(model), reverse=True), strict=True):
        each.min_samples_leaf = size
    tasks = tasks_of(models[0], data, groups)
    fits = [
        _pruned_fit(each, data, tasks, grown)
        for each, grown in zip(models, _grow_together(models, data, tasks), strict=True)
    ]
    best = fits[int(np.argmin([fit.pruning_table.cv_error.min() for fit in fits]))]
    selections = [fit.validation.selection for fit in fits if isinstance(fit.validation, TreeValidation)]
    validation: Any = best.validation
    validation.selection.others = tuple(each for each in selections if each is not validation.selection)
    return best


def _grow_together(models: Sequence[Any], data: TrainingSet, tasks: Tasks) -> list[Forest]:
    """Grow the trees of estimators that differ only in limits, without pruning."""
    crossed = tasks.with_limits([limits_of(model) for model in models])
    every = _grown(models[0], data, crossed)
    parts = (Forest(every.packed.select(range(k, len(crossed), len(models)))) for k in range(len(models)))
    return [with_costs(model, part, data) for model, part in zip(models, parts, strict=True)]


def train_together(
    models: Sequence[Any],
    X: TableLike,
    y: ColumnLike,
    sample_weight: ColumnLike = None,
    groups: ColumnLike = None,
) -> None:
    """Fit estimators that differ only in criterion, limits and pruning, on the same folds.

    The rows are read once, and all trees of a criterion are grown together. The forests do not record the
    work of growing, because they share it.
    """
    first = models[0]
    for model in models:
        check_parameters(model)
    data = TrainingSet.read(first, X, y, sample_weight)
    tasks = tasks_of(first, data, groups)
    by_growth: dict[Growth, list[Any]] = {}
    for model in models:
        by_growth.setdefault(growth_of(model), []).append(model)
    for same in by_growth.values():
        grown = _grow_together(same, data, tasks)
        for model, forest in zip(same, grown, strict=True):
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(first, name):
                    setattr(model, name, getattr(first, name))
            model.fit_ = _pruned_fit(model, data, tasks, forest)
    guard(data, first.fit_.validation, int(first.cv) if is_integer(first.cv, 2) else None)


def _train_streamed(
    model: TreeEstimator, X: TableLike, target: str, sample_weight: ColumnLike, groups: ColumnLike
) -> Fit:
    """Train on data that is not in memory."""
    data = StreamedSet.read(model, X, target, sample_weight, groups)
    model.n_features_in_ = len(data.schema)
    model.feature_names_in_ = np.array(data.schema.names, dtype=object)
    grown = with_costs(model, data.grow(), data)
    fit = _fit(model, data, grown, data.validate if data.folds.n_folds else None)
    return with_scores(model, fit, partial(held_out_leaves, fit))


def without_folds(tree: BaseEstimator, **parameters: object) -> BaseEstimator:
    """Return a checked, unfitted copy of a tree estimator that grows only the final tree."""
    model = clone(tree).set_params(cv=None, **parameters)
    check_parameters(model)
    return model


def tasks_of(model: TreeEstimator, data: TrainingSet, groups: ColumnLike) -> Tasks:
    """Return the tasks of a tree estimator: the final tree, and one per split of ``cv``."""
    limits = limits_of(model)
    tasks = Tasks.of_target(
        _repeated(model, groups),
        data.target,
        data.classes,
        X=data.X,
        groups=groups,
        random_state=model.random_state,
        limits=None if limits.has_fractions else limits,
        n_jobs=model.n_jobs,
    )
    return tasks.with_limits([limits]) if limits.has_fractions else tasks


def _repeated(model: TreeEstimator, groups: ColumnLike) -> CrossValidation:
    """Return the ``cv`` of a tree estimator; a number of folds to repeat becomes a splitter."""
    if model.repeats == 1:
        return model.cv
    if groups is not None:
        raise ValueError(
            f"repeats={model.repeats} would split groups; use cv=GroupKFold() or another splitter for groups"
        )
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    kind = RepeatedStratifiedKFold if isinstance(model, ClassifierMixin) else RepeatedKFold
    return kind(n_splits=model.cv, n_repeats=model.repeats, random_state=model.random_state or 0)


def grow_trees(model: TreeEstimator, data: TrainingSet, tasks: Tasks) -> Forest:
    """Grow all tasks, without pruning."""
    return with_costs(model, _grown(model, data, tasks), data)


def _grown(model: TreeEstimator, data: TrainingSet, tasks: Tasks) -> Forest:
    growth, n_jobs = growth_of(model), model.n_jobs
    weights = data.class_weights_of(model, tasks)
    if weights is None:
        return grow_own_classes(data.table, data.target, tasks, growth, n_jobs=n_jobs)
    target = Target(data.target.values, data.target.n_classes, data.sample_weight)
    ones_count = getattr(model, "class_weight", None) == "balanced"
    return grow_with_class_weights(
        data.table, target, weights, tasks, growth, n_jobs=n_jobs, ones_count=ones_count
    )


def with_costs(model: TreeEstimator, forest: Forest, data: TrainingSet | StreamedSet) -> Forest:
    """Return the trees with the estimator's ``loss``, which leaves minimise, and its class weights."""
    cost, weights = cost_matrix(model, data.classes), data.class_weights
    if cost is None and weights is None:
        return forest
    return Forest(forest.packed.with_fields(loss=cost, class_weights=weights), forest.work)


def validate(
    data: TrainingSet,
    tasks: Tasks,
    forest: Forest,
    *,
    n_jobs: int | None = None,
    objective: Objective | None = None,
) -> TreeValidation:
    """Return the out-of-fold results of a forest."""
    held_out = apply_held_out(forest, data.matrix, tasks, n_jobs=n_jobs)
    validation = TreeValidation(
        forest, held_out, data.target.values, data.classes, data.sample_weight, objective=objective
    )
    validation.groups = tasks.groups
    return validation


def prune_each(model: TreeEstimator, forest: Forest) -> Forest:
    """Prune and shrink each tree on its own, without the folds."""
    if model.ccp_alpha > 0:
        forest = prune(forest, model.ccp_alpha, measure_of(model))
    if model.prune == "pessimistic":
        forest = pessimistic(forest)
    if chooses(model) or model.shrinkage is None or model.shrinkage == "auto":
        return forest
    return shrunk(forest, model.shrinkage, classifies=isinstance(model, ClassifierMixin))


def _fit(
    model: TreeEstimator,
    data: TrainingSet | StreamedSet,
    grown: Forest,
    evaluate: Callable[[Forest], TreeValidation] | None,
) -> Fit:
    """Prune, shrink and evaluate the trees; with ``prune="best"`` or ``"1se"``, as the folds choose."""
    forest, alpha, table = prune_each(model, grown), float(model.ccp_alpha), None
    validation = evaluate(forest) if evaluate else None
    if validation and (model.prune == "best" or model.prune == "1se"):  # noqa: PLR1714, mypy reads these
        table = validation.pruning_table
        alpha = max(alpha, float(table.alpha[table.choose(model.prune)]))
        if isinstance(data, StreamedSet):  # reads the held-out rows again
            forest = pruned_by(model.prune, table, forest)
            validation = data.validate(forest)
        else:
            validation = validation.chosen(table, model.prune)
            forest = validation.forest
    return Fit.of(
        model, data, forest=forest, grown=grown, validation=validation, alpha=alpha, chosen_by=table
    )


def pruned_by(rule: Literal["best", "1se"], table: PruningTable, forest: Forest) -> Forest:
    """Prune the final tree at the chosen alpha and the fold trees as in its row; shrink them."""
    row = table.choose(rule)
    smaller = Forest(forest.packed.cut(table.tests_kept(forest.packed, row))[0], forest.work)
    return shrunk(smaller, table.shrinkage[row], classifies=forest.packed.value.shape[1] > 1)
