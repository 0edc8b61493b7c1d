"""Turn the options about folds into the ``cv`` of an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.cli import options
from crosscut.cli.failure import UNSUITABLE, Failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from crosscut.cli.source import Source
    from crosscut.typing import ColumnLike, CrossValidation, TableLike

Rows = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


@dataclass(frozen=True, repr=False)
class Splits:
    """A scikit-learn splitter over fixed training and held-out rows; ``name`` is its repr."""

    name: str
    rows: list[Rows]

    def split(self, X: TableLike = None, y: ColumnLike = None, groups: ColumnLike = None) -> Iterator[Rows]:  # noqa: ARG002, scikit-learn's
        """Yield training and held-out rows."""
        return iter(self.rows)

    def get_n_splits(self, X: TableLike = None, y: ColumnLike = None, groups: ColumnLike = None) -> int:  # noqa: ARG002, scikit-learn's
        """Return the number of splits."""
        return len(self.rows)

    def __repr__(self) -> str:
        return self.name


def splitter(
    source: Source, *, cv: str, folds: int, repeats: int, gap: int = 0, seed: int | None
) -> CrossValidation:
    """Return the ``cv`` of an estimator; without a ``seed`` rows are not shuffled."""
    if cv != "time" or source.folds is not None:
        options.refuse(["gap"], "is for --cv time")
    if source.folds is not None:
        why = "cannot be combined with --folds-column, which defines the folds"
        options.refuse(("folds", "repeats", "groups", "in_order", "cv", "time"), why)
        return _predefined(source.folds)
    if cv == "time":
        options.refuse(("repeats", "in_order"), "cannot be combined with --cv time or --time")
        return _in_time(source, folds, gap)
    classify = source.kind == "classification"
    if source.groups is None and repeats == 1:
        return folds
    if repeats > 1 and seed is None:
        raise Failure(
            "--in-order and --repeats cannot be combined: without shuffling all repeats are the same",
            UNSUITABLE,
        )
    from sklearn import model_selection as ms

    if source.groups is not None:
        if repeats > 1:
            raise Failure("--groups and --repeats cannot be combined", UNSUITABLE)
        n_groups = len(set(source.groups.tolist()))
        if n_groups < folds:
            raise Failure(f"--groups has {n_groups} distinct values, fewer than --folds {folds}", UNSUITABLE)
        kind = ms.StratifiedGroupKFold if classify else ms.GroupKFold
        return kind(folds, shuffle=seed is not None, random_state=seed)
    kind = ms.RepeatedStratifiedKFold if classify else ms.RepeatedKFold
    return kind(n_splits=folds, n_repeats=repeats, random_state=seed)


def _predefined(folds: NDArray[Any]) -> Splits:
    """Hold out the rows with each value of a column in turn."""
    names, code = np.unique(folds, return_inverse=True)
    if not 2 <= len(names) <= len(folds) / 2:
        raise Failure(
            f"--folds-column has {len(names)} distinct values in {len(folds)} rows; name a column that "
            "puts them into two or more folds",
            UNSUITABLE,
        )
    parts = [(np.flatnonzero(code != k), np.flatnonzero(code == k)) for k in range(len(names))]
    return Splits("PredefinedSplit(folds)", parts)


def _in_time(source: Source, folds: int, gap: int) -> Splits:
    """Hold out each part of the rows in turn and train on the rows before it, except rows of its groups."""
    from sklearn.model_selection import TimeSeriesSplit

    order = np.argsort(source.time, kind="stable") if source.time is not None else np.arange(len(source.y))
    try:
        parts = [(order[a], order[b]) for a, b in TimeSeriesSplit(folds, gap=gap).split(order)]
    except ValueError:
        more = f" --gap {gap}" * bool(gap)
        raise Failure(
            f"--folds {folds}{more} is too many for {len(order)} rows with --cv time; use fewer folds",
            UNSUITABLE,
        ) from None
    name = f"TimeSeriesSplit({folds}{f', gap={gap}' * bool(gap)})"
    if source.groups is not None:
        groups = source.groups
        parts = [(train[~np.isin(groups[train], groups[test])], test) for train, test in parts]
        empty = next((k for k, (train, _) in enumerate(parts, 1) if not len(train)), None)
        if empty is not None:
            raise Failure(
                f"--groups with --cv time leaves no row to train on for held-out part {empty}: all earlier "
                "rows are "
                "of its groups; use fewer folds, or other groups",
                UNSUITABLE,
            )
        name += " without the groups of held-out rows"
    return Splits(name, parts)
