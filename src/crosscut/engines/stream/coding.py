"""Convert rows to codes of one byte per value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut import _core
from crosscut.data.columns import infinite_error
from crosscut.data.schema import Schema
from crosscut.data.threads import n_threads
from crosscut.tasks.fold_rule import group_keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.columns import Column
    from crosscut.engines.stream.survey import Roles
    from crosscut.typing import TableLike


@dataclass(frozen=True)
class Batch:
    """Consecutive coded rows."""

    first_row: int
    codes: NDArray[np.uint8]  # (columns, rows)
    target: NDArray[Any]  # int32 class codes, or float64
    fold: NDArray[np.uint8]
    keys: NDArray[np.uint64] | None = None  # hashes of the rows' groups
    sample_weight: NDArray[np.float64] | None = None  # without class weights
    weight: NDArray[np.float64] | None = None  # including class weights; None if all weights are 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])


@dataclass(frozen=True, eq=False)
class Coding:
    """Information to code a row."""

    roles: Roles
    schema: Schema
    edges: list[NDArray[np.float64]]  # threshold after each bin except the last; empty for nominal columns
    n_bins: NDArray[np.int64]  # bins or categories of each column; missing values have the next code
    n_missing: NDArray[np.int64]  # missing values of each column
    classes: NDArray[Any] | None  # in sorted order
    n_rows: int
    sampled: tuple[str, ...] = ()  # columns whose bins come from a sample of the rows
    class_weights: NDArray[np.float64] | None = None

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.roles.weight is not None or self.class_weights is not None

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return 0 if self.classes is None else len(self.classes)

    @cached_property
    def first_bin(self) -> NDArray[np.int64]:
        """Offsets of the columns' bins, including the bins of missing values."""
        return np.concatenate([[0], np.cumsum(self.n_bins + 1)]).astype(np.int64)

    @property
    def has_missing(self) -> NDArray[np.bool_]:
        """Which columns have missing values."""
        return self.n_missing > 0

    @cached_property
    def nominal(self) -> NDArray[np.bool_]:
        """Which columns are nominal."""
        return np.array([kind == "nominal" for kind in self.schema.kinds])

    @cached_property
    def target_type(self) -> np.dtype[Any]:
        """Stored type of the target: the smallest integer type for class codes, or float64."""
        if self.classes is None:
            return np.dtype(np.float64)
        return np.dtype(np.uint8 if self.n_classes <= 256 else np.uint16)

    @property
    def row_bytes(self) -> int:
        """Bytes of a coded row in the cache."""
        optional = sum(8 for name in (self.roles.group, self.roles.weight) if name)
        return len(self.n_bins) + self.target_type.itemsize + optional

    def to_notes(self) -> dict[str, Any]:
        """Return a dict that can be written as JSON, which keeps all bits of floats."""
        return {
            "schema": [self.schema.names, self.schema.kinds, self.schema.categories],
            "edges": [edges.tolist() for edges in self.edges],
            "n_bins": self.n_bins.tolist(),
            "n_missing": self.n_missing.tolist(),
            "classes": None if self.classes is None else [self.classes.dtype.str, self.classes.tolist()],
            "n_rows": self.n_rows,
            "sampled": self.sampled,
            "class_weights": None if self.class_weights is None else self.class_weights.tolist(),
        }

    @classmethod
    def from_notes(cls, roles: Roles, notes: dict[str, Any]) -> Coding:
        """Return the coding written by :meth:`to_notes`."""
        names, kinds, categories = notes["schema"]
        classes = None
        if notes["classes"] is not None:
            classes = np.array(notes["classes"][1], dtype=notes["classes"][0])
        return cls(
            roles=roles,
            schema=Schema(tuple(names), tuple(kinds), tuple(tuple(c) for c in categories)),
            edges=[np.array(edges, np.float64) for edges in notes["edges"]],
            n_bins=np.array(notes["n_bins"], np.int64),
            n_missing=np.array(notes["n_missing"], np.int64),
            classes=classes,
            n_rows=notes["n_rows"],
            sampled=tuple(notes["sampled"]),
            class_weights=None if notes["class_weights"] is None else np.array(notes["class_weights"]),
        )

    def batch(self, frame: TableLike, first_row: int, where: str, n_jobs: int | None = None) -> Batch:
        """Code the rows of a frame, without their folds."""
        columns, target, group, weight = self.roles.split(frame, where)
        codes = np.empty((len(columns), len(target.values)), np.uint8)
        for f, column in enumerate(columns):
            if self.nominal[f]:
                self._code_categories(f, column, codes[f], where)
            else:
                self._code_numbers(f, column, codes[f], first_row, n_jobs)
        fold = np.zeros(codes.shape[1], np.uint8)
        keys = None if group is None else group_keys(group)
        targets = self._targets(target, where)
        sample_weight = None if weight is None else np.ascontiguousarray(weight.values, dtype=np.float64)
        return Batch(first_row, codes, targets, fold, keys, sample_weight, self.weigh(targets, sample_weight))

    def weigh(
        self, target: NDArray[Any], sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64] | None:
        """Return sample weight times class weight, or None if all weights are 1."""
        if self.class_weights is None:
            return sample_weight
        by_class: NDArray[np.float64] = self.class_weights[target]
        return by_class if sample_weight is None else sample_weight * by_class

    def _code_numbers(
        self, f: int, column: Column, codes: NDArray[np.uint8], first_row: int, n_jobs: int | None
    ) -> None:
        values = column.values
        if values.dtype not in {np.dtype(np.float32), np.dtype(np.float64)}:
            values = values.astype(np.float64)
        if not self.n_bins[f]:
            codes[:] = 0
            return
        # arrays from Dask may be unaligned
        values, edges = (np.require(array, requirements="A") for array in (values, self.edges[f]))
        infinite = _core.bin_codes(values, edges, int(self.n_bins[f]), codes, n_threads(n_jobs))
        if infinite >= 0:
            raise infinite_error(column.name, first_row + infinite, column.values[infinite])

    def _code_categories(self, f: int, column: Column, codes: NDArray[np.uint8], where: str) -> None:
        known = {category: c for c, category in enumerate(self.schema.categories[f])}
        present = np.unique(column.values)
        absent = [column.categories[c] for c in present[present >= 0] if column.categories[c] not in known]
        if absent:
            raise ValueError(
                f"column {column.name!r} of {where} has new values {absent[:3]}: the data changed; fit again"
            )
        of_code = [known.get(category, 0) for category in column.categories] + [len(known)]
        codes[:] = np.array(of_code, np.uint8)[column.values.astype(np.int64)]

    def _targets(self, target: Column, where: str) -> NDArray[Any]:
        if self.classes is None:
            return np.ascontiguousarray(target.values, dtype=np.float64)
        if target.kind == "nominal":
            known = {label: c for c, label in enumerate(self.classes.tolist())}
            of_code = np.array([known.get(category, -1) for category in target.categories] or [-1], np.int64)
            coded = of_code[target.values.astype(np.int64)]
        else:
            coded = np.minimum(np.searchsorted(self.classes, target.values), self.n_classes - 1)
            coded = np.where(self.classes[coded] == target.values, coded, -1)
        if (coded < 0).any():
            raise ValueError(f"the target of {where} has a new class: the data changed; fit again")
        return coded.astype(self.target_type)
