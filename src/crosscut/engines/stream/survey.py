"""Pass 0: collect the information about all data that coding a row needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.column_types import check_same
from crosscut.data.columns import Column, Kind, infinite_error
from crosscut.data.frames import columns_of
from crosscut.data.schema import Schema
from crosscut.data.target import MOST_CLASSES
from crosscut.engines.stream.coding import Coding
from crosscut.engines.stream.sketch import DistinctValues, RowSample, edges_of, edges_of_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from crosscut.typing import TableLike

MAX_CATEGORIES = 255  # the next code, for missing values, fits in a byte


@dataclass(frozen=True)
class Roles:
    """Roles of the columns: target, group, weight, or tested."""

    target: str
    classifies: bool
    group: str | None = None
    weight: str | None = None
    class_weight: str | tuple[tuple[Any, float], ...] | None = None  # "balanced", or class and weight

    def split(
        self, frame: TableLike, where: str
    ) -> tuple[list[Column], Column, Column | None, Column | None]:
        """Return the columns to test, the target, the group and the weight."""
        columns = {column.name: column for column in columns_of(frame)}
        known = list(columns)
        taken: list[Column | None] = []
        for role, name in (("y", self.target), ("groups", self.group), ("sample_weight", self.weight)):
            if name is not None and name not in columns:
                why = "it has another role" if name in known else f"the columns are {known}"
                raise ValueError(f"{role}: there is no column {name!r} in {where} to use: {why}")
            taken.append(None if name is None else columns.pop(name))
        if not columns:
            raise ValueError(f"{where} has no column to test besides the target {self.target!r}")
        target, group, weight = taken
        assert target is not None
        return list(columns.values()), target, group, weight


@dataclass
class Survey:
    """Names, kinds, categories, values and classes; surveys of parts of the data merge in any order."""

    roles: Roles
    n_rows: int = 0
    names: tuple[str, ...] = ()
    kinds: list[Kind] = field(default_factory=list)
    categories: list[dict[Any, None]] = field(default_factory=list)  # keys in order of appearance
    ordered: list[bool] = field(default_factory=list)  # whether that order is the order of the type
    distinct: list[DistinctValues] = field(default_factory=list)
    n_missing: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    sample: RowSample = field(default_factory=lambda: RowSample.empty(0))
    labels: dict[Any, int] = field(default_factory=dict)  # rows of each class
    label_type: str = ""
    n_trained: int = 0  # rows of positive weight
    pieces: dict[int, dict[Any, int]] = field(default_factory=dict)  # rows of each class in each piece

    def add(self, frame: TableLike, first_row: int, piece: int, where: str) -> None:
        """Add the rows of a frame, whose numbers start at ``first_row``."""
        columns, target, _, weight = self.roles.split(frame, where)
        if not self.names:
            self._start(columns)
        check_same(self.known, {column.name: column.kind for column in columns}, where)
        for f, column in enumerate(columns):
            if column.kind == "nominal":
                present = np.unique(column.values)
                self.n_missing[f] += np.count_nonzero(column.values < 0)
                labels = (column.categories[code] for code in present[present >= 0].tolist())
                self.categories[f] |= dict.fromkeys(column.categories if column.ordered else labels)
                self._check_categories(f)
        numbers = [self._numbers(c, first_row) for c in columns if c.kind != "nominal"]
        numeric = [f for f, c in enumerate(columns) if c.kind != "nominal"]
        for f, values in zip(numeric, numbers, strict=True):
            self.n_missing[f] += np.count_nonzero(np.isnan(values))
            self.distinct[f].add(values)
        self.sample.add(first_row, numbers)
        trains = None if weight is None else self._training_rows(weight, first_row)
        self.n_trained += len(target.values) if trains is None else int(np.count_nonzero(trains))
        self._add_target(target, first_row, piece)
        self.n_rows += len(target.values)

    def merge(self, other: Survey) -> Survey:
        """Add the survey of another part of the data."""
        if not other.names:
            return self
        if not self.names:
            return other
        check_same(self.known, other.known, "another part of the data")
        self.n_rows += other.n_rows
        self.n_trained += other.n_trained
        self.n_missing += other.n_missing
        self.sample.merge(other.sample)
        for f, distinct in enumerate(self.distinct):
            distinct.merge(other.distinct[f])
            self.categories[f] |= other.categories[f]
            self._check_categories(f)
        for label, count in other.labels.items():
            self.labels[label] = self.labels.get(label, 0) + count
        self.pieces |= other.pieces
        return self

    def coding(self, max_bins: int) -> Coding:
        """Return the coding of rows."""
        if not self.n_rows:
            raise ValueError("the data has no rows")
        if not self.n_trained:
            raise ValueError(f"sample_weight: every row has the weight 0 in {self.roles.weight!r}")
        classes = self._classes()
        known = zip(self.categories, self.ordered, strict=True)
        categories = tuple(tuple(c if ordered else sorted(c)) for c, ordered in known)
        schema = Schema(self.names, tuple(self.kinds), categories)
        edges: list[NDArray[np.float64]] = []
        bins: list[int] = []
        sampled: list[str] = []
        place = 0
        for f, kind in enumerate(self.kinds):
            if kind == "nominal":
                edges.append(np.empty(0))
                bins.append(len(schema.categories[f]))
                continue
            values = self.distinct[f]
            if values.many:
                edges.append(edges_of_sample(self.sample.rows[:, place], max_bins))
                bins.append(len(edges[-1]) + 1)
                if self.n_rows > len(self.sample.keys):
                    sampled.append(self.names[f])
            else:
                edges.append(edges_of(values.values, values.counts, max_bins))
                bins.append(len(edges[-1]) + 1 if len(values.values) else 0)
            place += 1
        return Coding(
            roles=self.roles,
            schema=schema,
            edges=edges,
            n_bins=np.array(bins, np.int64),
            n_missing=self.n_missing,
            classes=classes,
            n_rows=self.n_rows,
            sampled=tuple(sampled),
            class_weights=None if classes is None else self._class_weights(classes),
        )

    def class_counts(self, coding: Coding, pieces: Sequence[int]) -> dict[int, NDArray[np.int64]]:
        """Return the rows of each class before each piece, for stratified folds."""
        if coding.classes is None:
            return {}
        before = np.zeros(len(coding.classes), np.int64)
        code = {label: c for c, label in enumerate(coding.classes.tolist())}
        starts = {}
        for piece in pieces:
            starts[piece] = before.copy()
            for label, count in self.pieces.get(piece, {}).items():
                before[code[label]] += count
        return starts

    def _start(self, columns: list[Column]) -> None:
        self.names = tuple(column.name for column in columns)
        self.kinds = [column.kind for column in columns]
        self.categories = [{} for _ in columns]
        self.ordered = [column.ordered for column in columns]
        self.distinct = [DistinctValues() for _ in columns]
        self.n_missing = np.zeros(len(columns), np.int64)
        self.sample = RowSample.empty(sum(kind != "nominal" for kind in self.kinds))

    @property
    def known(self) -> dict[str, str]:
        """Kind of each column."""
        return dict(zip(self.names, self.kinds, strict=True))

    def _check_categories(self, f: int) -> None:
        if len(self.categories[f]) > MAX_CATEGORIES:
            raise ValueError(
                f"column {self.names[f]!r} has more than {MAX_CATEGORIES} categories, which do not "
                "fit in one byte per value; leave it out, group its categories, or fit the data in memory"
            )

    def _numbers(self, column: Column, first_row: int) -> NDArray[np.float32]:
        with np.errstate(over="ignore"):
            values = np.ascontiguousarray(column.values, dtype=np.float32)
        infinite = np.isinf(values)
        if infinite.any():
            at = int(np.argmax(infinite))
            raise infinite_error(column.name, first_row + at, column.values[at])
        return values

    def _training_rows(self, weight: Column, first_row: int) -> NDArray[np.bool_]:
        """Return which rows have a positive weight; raise for invalid weights."""
        if weight.kind == "nominal":
            raise ValueError(f"sample_weight: column {weight.name!r} holds text, but weights must be numbers")
        wrong = ~np.isfinite(weight.values) | (weight.values < 0)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise ValueError(
                f"sample_weight: column {weight.name!r} holds {weight.values[at]} in row {first_row + at}, "
                "but weights must be numbers >= 0"
            )
        return np.asarray(weight.values > 0)

    def _add_target(self, target: Column, first_row: int, piece: int) -> None:
        nominal = target.kind == "nominal"
        missing = target.values < 0 if nominal else np.isnan(target.values)
        if missing.any():
            row = first_row + int(np.argmax(missing))
            raise ValueError(
                f"target column {target.name!r} is missing in row {row} (counted from 0 over all "
                "data); remove rows with a missing target"
            )
        if not self.roles.classifies:
            if nominal:
                raise ValueError(f"target column {target.name!r} holds text; regression needs numbers")
            return
        values, counts = np.unique(target.values, return_counts=True)
        if not nominal and values.dtype.kind == "f" and np.any(values != np.rint(values)):
            raise ValueError(
                f"target column {target.name!r} holds numbers that are not integers, which cannot "
                "be classes; use TreeRegressor"
            )
        self.label_type = "O" if nominal else values.dtype.str
        names = [target.categories[c] for c in values.tolist()] if nominal else values.tolist()
        in_piece = self.pieces.setdefault(piece, {})
        for label, count in zip(names, counts.tolist(), strict=True):
            self.labels[label] = self.labels.get(label, 0) + count
            in_piece[label] = in_piece.get(label, 0) + count
        if len(self.labels) > MOST_CLASSES:
            raise ValueError(
                f"target column {target.name!r} has more than {MOST_CLASSES:,} classes; use TreeRegressor"
            )

    def _classes(self) -> NDArray[Any] | None:
        if not self.roles.classifies:
            return None
        labels = np.empty(len(self.labels), self.label_type)
        labels[:] = sorted(self.labels)
        return labels

    def _class_weights(self, classes: NDArray[Any]) -> NDArray[np.float64] | None:
        """Return the weight of each class, by the formulas of scikit-learn."""
        weights = self.roles.class_weight
        if weights is None:
            return None
        if isinstance(weights, str):  # "balanced"
            counts = np.array([self.labels[label] for label in classes.tolist()], np.float64)
            return np.asarray(self.n_rows / (len(classes) * counts))
        from sklearn.utils import compute_class_weight

        return np.asarray(compute_class_weight(dict(weights), classes=classes, y=classes), np.float64)
