"""The Dask engine: every pass is a tree of sums over partitions, on the active client.

A pass keeps no state of a row, so another worker can repeat the work of a dead one, with the same result. If
the scheduler restarts, the partitions are coded again and the pass is repeated.
"""

from __future__ import annotations

import hashlib
import sys
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.data.grid import Totals
from crosscut.engines.progress import Meter
from crosscut.engines.stream.stream import add_totals, fold_of
from crosscut.engines.stream.survey import Survey

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crosscut.engines.stream.coding import Batch, Coding
    from crosscut.engines.stream.passes import Pass, Sums
    from crosscut.engines.stream.survey import Roles
    from crosscut.tasks.fold_rule import FoldRule
    from crosscut.typing import TableLike

_FAN_IN = 8  # sums that are added up at once
_DISTRIBUTED = {None, "dask.distributed", "distributed"}
_TRIES = 3  # of a pass if the scheduler restarts


@dataclass(frozen=True)
class Cluster:
    """The active Dask cluster, or Dask's own threads if there is none."""

    timeout: float  # seconds that it may be without workers

    def compute(self, work: list[Any]) -> list[Any]:
        """Return the results of delayed work; Dask alone would wait for workers without limit."""
        import dask

        client = _client()
        if client is None:
            return list(dask.compute(*work))
        from distributed import wait

        futures, seen = client.compute(work), time.monotonic()
        while True:
            with suppress(TimeoutError):
                wait(futures, timeout=min(1.0, self.timeout))
                return list(client.gather(futures))
            if client.scheduler_info()["workers"]:
                seen = time.monotonic()
            elif time.monotonic() - seen > self.timeout:
                client.cancel(futures)
                raise TimeoutError(
                    f"the Dask cluster {client.scheduler.address} has had no worker for {self.timeout:g} s; "
                    "start workers, or raise worker_timeout of Stream"
                )


def _client() -> Any:
    """Return the client that Dask uses, or None."""
    import dask

    if "distributed" not in sys.modules or dask.config.get("scheduler", None) not in _DISTRIBUTED:
        return None
    from distributed import default_client

    with suppress(ValueError):  # there is none
        return default_client()
    return None


@dataclass(frozen=True)
class CodedPartition:
    """The rows of a partition as codes, and the number of rows of each class before it."""

    batch: Batch | None  # None if the partition is empty
    counts: NDArray[np.int64]

    def with_folds(self, folds: FoldRule) -> Batch | None:
        """Return the rows with their folds."""
        if self.batch is None:
            return None
        return replace(self.batch, fold=fold_of(self.batch, folds, self.counts.copy()))


class DaskRows:
    """Coded rows in the memory of Dask's workers, one byte per value; lost partitions are coded again."""

    totals: Totals
    key: str  # changes if the survey of the data changes

    def __init__(
        self, recipe: list[Any], coding: Coding, folds: FoldRule, meter: Meter, cluster: Cluster
    ) -> None:
        self._recipe, self.coding, self.folds, self.meter = recipe, coding, folds, meter
        self._cluster = cluster
        self._hold()

    def _hold(self) -> None:
        import dask

        self._parts = list(dask.persist(*self._recipe))

    def _total(self, work: Callable[[Any], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Return the merged results of delayed work on all partitions."""
        return _total(self._cluster, lambda: [work(part) for part in self._parts], merge, self._hold)

    @classmethod
    def of(
        cls, data: Any, roles: Roles, max_bins: int, folds: FoldRule, progress: Any, *, cluster: Cluster
    ) -> DaskRows:
        """Survey and code the partitions of a Dask frame, array or list of delayed frames."""
        import dask

        frames = partitions_of(data)
        if not frames:
            raise ValueError("the Dask data has no partitions")
        meter = Meter(progress)
        lengths = cluster.compute([dask.delayed(len)(frame) for frame in frames])
        first_rows = np.concatenate([[0], np.cumsum(lengths)]).tolist()
        meter.start("survey", first_rows[-1])
        survey: Survey = _total(
            cluster,
            lambda: [
                dask.delayed(_survey)(frame, first, number, roles)
                for number, (frame, first) in enumerate(zip(frames, first_rows, strict=False))
            ],
            _merge_surveys,
        )
        meter.add(first_rows[-1])
        coding = survey.coding(max_bins)
        counts = survey.class_counts(coding, range(len(frames)))
        none = np.zeros(0, np.int64)
        shared = dask.delayed(coding)
        meter.start("coding", first_rows[-1])
        recipe = [
            dask.delayed(_code)(frame, first, shared, counts.get(number, none))
            for number, (frame, first) in enumerate(zip(frames, first_rows, strict=False))
        ]
        rows = cls(recipe, coding, folds, meter, cluster)
        rows.totals = rows._total(lambda part: dask.delayed(_totals)(part, shared), Totals.merge)
        meter.add(first_rows[-1])
        known = [coding.to_notes(), rows.totals.to_notes(), first_rows, sorted(survey.pieces.items())]
        rows.key = hashlib.sha256(repr(known).encode()).hexdigest()
        return rows

    def run(self, one_pass: Pass[Sums]) -> Sums:
        """Return the sums of a pass over all partitions."""
        import dask

        self.meter.start(one_pass.name, self.coding.n_rows)
        if one_pass.n_jobs is None:
            one_pass = replace(one_pass, n_jobs=1)  # workers are Dask's threads
        shared, folds = dask.delayed(one_pass), self.folds
        total: Sums = self._total(lambda part: dask.delayed(_run_part)(shared, part, folds), one_pass.merge)
        self.meter.add(self.coding.n_rows)
        return total


def partitions_of(data: Any) -> list[Any]:
    """Return the partitions as delayed frames."""
    import dask

    if isinstance(data, (list, tuple)):
        return list(data)
    if not hasattr(data, "to_delayed"):
        raise TypeError(
            f"{type(data).__name__} is not a Dask frame, array or list of delayed frames; use its "
            "to_delayed() or dask.dataframe"
        )
    if hasattr(data, "chunks"):
        if data.ndim != 2:
            raise ValueError(f"a Dask array must have two dimensions, not {data.ndim}")
        blocks = data.rechunk({1: data.shape[1]}).to_delayed().ravel().tolist()
        return [dask.delayed(_named)(block) for block in blocks]
    return list(data.to_delayed())


def _named(block: NDArray[Any]) -> Any:
    """Return a block of an array as a frame with the columns x0, x1, …."""
    import pyarrow as pa

    return pa.table({f"x{f}": pa.array(np.ascontiguousarray(column)) for f, column in enumerate(block.T)})


def _total(
    cluster: Cluster,
    parts_of: Callable[[], list[Any]],
    merge: Callable[[Any, Any], Any],
    renew: Callable[[], None] = lambda: None,
) -> Any:
    """Merge in a tree, so that workers hold few sums at once; renew partitions if the scheduler restarts."""
    import dask

    for tries_left in reversed(range(_TRIES)):
        try:
            parts = parts_of()
            while len(parts) > 1:
                groups = [parts[i : i + _FAN_IN] for i in range(0, len(parts), _FAN_IN)]
                parts = [dask.delayed(_merge_all)(merge, group) for group in groups]
            return cluster.compute([parts[0]])[0]
        except CancelledError as error:
            if not tries_left:
                raise RuntimeError("Dask's scheduler cancelled the work repeatedly; restart it") from error
            renew()
    raise AssertionError


def _merge_all(merge: Callable[[Any, Any], Any], sums: list[Any]) -> Any:
    total = sums[0]
    for other in sums[1:]:
        total = merge(total, other)
    return total


def _survey(frame: TableLike, first_row: int, number: int, roles: Roles) -> Survey:
    survey = Survey(roles)
    if len(frame):
        survey.add(frame, first_row, number, f"partition {number}")
    return survey


def _merge_surveys(one: Survey, other: Survey) -> Survey:
    """Merge copies, because Dask may use the same sums again."""
    return deepcopy(one).merge(deepcopy(other))


def _code(frame: TableLike, first_row: int, coding: Coding, counts: NDArray[np.int64]) -> CodedPartition:
    batch = coding.batch(frame, first_row, f"the partition at row {first_row}", 1) if len(frame) else None
    return CodedPartition(batch, counts)


def _totals(part: CodedPartition, coding: Coding) -> Totals:
    totals = Totals()
    if part.batch is not None:
        add_totals(totals, part.batch, coding)
    return totals


def _run_part(one_pass: Pass[Any], part: CodedPartition, folds: FoldRule) -> Any:
    sums = one_pass.start()
    batch = part.with_folds(folds)
    if batch is not None:
        one_pass.add(sums, batch)
    return sums
