"""Serve scikit-learn's callbacks, such as a progress bar, from the progress of one growth."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from crosscut.engines.progress import watcher, watching
from crosscut.model_selection.candidates import NotShared
from crosscut.sklearn_private import callback_management_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sklearn.base import BaseEstimator


class Silent:
    """A callback context that calls nothing, because ``serving_callbacks`` does."""

    def subcontext(self, **_task: object) -> Self:
        """Return the context of a part of the task."""
        return self

    def call_on_fit_task_begin(self, **_data: object) -> Self:
        """Begin a task."""
        return self

    def call_on_fit_task_end(self, **_data: object) -> Self:
        """End a task."""
        return self


_HOOKS = ("on_fit_task_begin", "on_fit_task_end")


def refuse_callbacks(*estimators: BaseEstimator) -> None:
    """Refuse callbacks of estimators and steps of pipelines, which expect one call per fit."""
    steps = [step for estimator in estimators for _, step in getattr(estimator, "steps", [])]
    if any(getattr(estimator, "_skl_callbacks", None) for estimator in [*estimators, *steps]):
        raise NotShared("callbacks of the estimator are called for every fit")


@contextmanager
def serving_callbacks(search: Any, n_fits: int, *, refit: bool) -> Iterator[None]:
    """Call the callbacks of a search: a task for each candidate and split, and one for the refit.

    The trees are grown together, so the tasks end as the growth proceeds. A callback that takes the data or
    the fitted estimator of a task cannot be served.
    """
    callbacks = getattr(search, "_skl_callbacks", [])
    for callback in callbacks:
        parameters = [
            p for hook in _HOOKS for p in inspect.signature(getattr(callback, hook)).parameters.values()
        ]
        if any(p.kind == p.KEYWORD_ONLY for p in parameters):
            raise NotShared(f"the callback {type(callback).__name__} takes the fitted estimator of every fit")
    if not callbacks:
        yield
        return
    outer, done = watcher(), 0

    def update(fraction: float) -> None:
        nonlocal done
        while done < int(fraction * n_fits + 1e-9):
            _task(tasks, search, "candidate-split-evaluation", done)
            done += 1
        if outer is not None:
            outer(fraction)

    with callback_management_context(search):
        root = search._init_callback_context(max_subtasks=1 + refit).call_on_fit_task_begin(estimator=search)
        tasks = root.subcontext("search", max_subtasks=n_fits, sequential_subtasks=False)
        tasks.call_on_fit_task_begin(estimator=search)
        with watching(update):
            yield
        update(1.0)
        tasks.call_on_fit_task_end(estimator=search)
        if refit:
            _task(root, search, "refit-with-best-params", None)
        root.call_on_fit_task_end(estimator=search)


def _task(parent: Any, search: Any, name: str, number: int | None) -> None:
    task = parent.subcontext(name, task_id=number).call_on_fit_task_begin(estimator=search)
    task.call_on_fit_task_end(estimator=search)
