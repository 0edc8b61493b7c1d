"""Which rows are held out together: what the options about folds mean to an estimator."""

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
    """Training and held-out rows, as a splitter of scikit-learn gives them; ``name`` says how."""

    name: str
    rows: list[Rows]

    def split(self, X: TableLike = None, y: ColumnLike = None, groups: ColumnLike = None) -> Iterator[Rows]:  # noqa: ARG002, scikit-learn's
        """Yield the rows."""
        return iter(self.rows)

    def get_n_splits(self, X: TableLike = None, y: ColumnLike = None, groups: ColumnLike = None) -> int:  # noqa: ARG002, scikit-learn's
        """Return their number."""
        return len(self.rows)

    def __repr__(self) -> str:
        return self.name


def splitter(source: Source, *, cv: str, folds: int, repeats: int, seed: int | None) -> CrossValidation:
    """Return the ``cv`` of an estimator; no ``seed`` means that rows are not shuffled."""
    if source.folds is not None:
        why = "cannot be combined with --folds-column, which says which rows are held out together"
        options.refuse(("folds", "repeats", "groups", "in_order", "cv", "time"), why)
        return _marked(source.folds)
    if cv == "time":
        options.refuse(
            ("repeats", "groups", "in_order"), "cannot be combined with folds in the order of time"
        )
        return _in_time(source, folds)
    classify = source.kind == "classification"
    if source.groups is None and repeats == 1:
        return folds
    if repeats > 1 and seed is None:
        raise Failure(
            "--in-order and --repeats cannot be combined: in order all repeats are alike", UNSUITABLE
        )
    from sklearn import model_selection as ms

    if source.groups is not None:
        if repeats > 1:
            raise Failure("--groups and --repeats cannot be combined", UNSUITABLE)
        n_groups = len(set(source.groups.tolist()))
        if n_groups < folds:
            raise Failure(f"--groups has {n_groups} different values, fewer than --folds {folds}", UNSUITABLE)
        kind = ms.StratifiedGroupKFold if classify else ms.GroupKFold
        return kind(folds, shuffle=seed is not None, random_state=seed)
    kind = ms.RepeatedStratifiedKFold if classify else ms.RepeatedKFold
    return kind(n_splits=folds, n_repeats=repeats, random_state=seed)


def _marked(folds: NDArray[Any]) -> Splits:
    """Hold out the rows of each fold that a column names."""
    names, code = np.unique(folds, return_inverse=True)
    if not 2 <= len(names) <= len(folds) / 2:
        raise Failure(
            f"--folds-column has {len(names)} different values in {len(folds)} rows; name a column that "
            "puts them into two or more folds",
            UNSUITABLE,
        )
    parts = [(np.flatnonzero(code != k), np.flatnonzero(code == k)) for k in range(len(names))]
    return Splits("PredefinedSplit(folds)", parts)


def _in_time(source: Source, folds: int) -> Splits:
    """Hold out each part of the rows in turn, and train on what came before it."""
    from sklearn.model_selection import TimeSeriesSplit

    order = np.argsort(source.time, kind="stable") if source.time is not None else np.arange(len(source.y))
    try:
        parts = list(TimeSeriesSplit(folds).split(order))
    except ValueError:
        raise Failure(
            f"--folds {folds} are too many for {len(order)} rows in the order of time", UNSUITABLE
        ) from None
    return Splits(f"TimeSeriesSplit({folds})", [(order[train], order[test]) for train, test in parts])
