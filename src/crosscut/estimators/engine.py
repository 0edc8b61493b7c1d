"""The engine the estimators grow with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crosscut.reference.engine import grow as grow_alone

if TYPE_CHECKING:
    from crosscut.forest import Forest
    from crosscut.growth import Growth, Target
    from crosscut.table import Table
    from crosscut.tasks import Tasks


def grow(table: Table, target: Target, tasks: Tasks, growth: Growth, *, n_jobs: int | None = None) -> Forest:
    """Grow all tasks; the plain Python engine has one thread whatever ``n_jobs`` says."""
    del n_jobs
    return grow_alone(table, target, tasks, growth)
