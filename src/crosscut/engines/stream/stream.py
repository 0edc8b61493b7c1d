"""The stream engine: rows are read in batches, coded once, and never all held in memory."""

from __future__ import annotations

import hashlib
import re
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from crosscut.data.grid import Totals
from crosscut.data.source import BATCH_ROWS, Source
from crosscut.data.text.dialect import TextOptions
from crosscut.engines.progress import Meter, Progress
from crosscut.engines.stream.cache import CodeCache
from crosscut.engines.stream.coding import Coding
from crosscut.engines.stream.survey import Survey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from crosscut.data.source import Piece
    from crosscut.data.text.dialect import Reading
    from crosscut.engines.stream.coding import Batch
    from crosscut.engines.stream.dask import DaskRows
    from crosscut.engines.stream.passes import Pass, Sums
    from crosscut.engines.stream.survey import Roles
    from crosscut.tasks.fold_rule import FoldRule
    from crosscut.typing import ColumnLike, TableLike

_UNITS = {"": 1} | {f"{prefix}b": 1000**n for n, prefix in enumerate("kmgt", 1)}
_UNITS |= {f"{prefix}ib": 1024**n for n, prefix in enumerate("kmg", 1)}


class Stream:
    r"""Data for ``fit`` that need not fit in memory.

    ``TreeClassifier().fit("data/*.parquet", "target")`` uses a stream with the default settings.

    Parameters
    ----------
    data : path, paths, polars LazyFrame, or Dask frame, array or list of delayed frames
        Files of any kind that :func:`crosscut.read_file` reads, folders or patterns. Rows are numbered in the
        order of the files.
    memory_limit : int or str
        Bytes for statistics and gathered rows, such as ``"512MB"``. A level that needs more takes several
        passes. Python, its libraries and a few batches of rows need about 400 MB more.
    cache : path, optional
        Folder for the codes (one byte per value), kept for later fits on the same files; by default a
        temporary one.
    cache_limit : int or str, optional
        Maximum disk space for the codes. Rows that do not fit are read and coded again by every pass.
    checkpoint : path, optional
        File that is written after every level. If it exists, growth resumes from it. It is deleted when
        growth is finished.
    progress : bool or callable, optional
        True shows a line per pass; a function is called with a :class:`Progress` after every batch.
    batch_rows : int
        Maximum rows read at once. The result does not depend on it.
    worker_timeout : float
        Seconds that a Dask cluster may be without workers before ``fit`` raises ``TimeoutError``.
    **reading
        Override the detection of text formats: ``header``, ``separator``, ``decimal``, ``encoding``,
        ``missing`` and ``dates`` of :func:`crosscut.read_file`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from crosscut import TreeClassifier
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_text("size,kind\n" + "1,s\n2,s\n8,l\n9,l\n" * 10)
    ...     model = TreeClassifier(cv=4).fit(Stream(f"{folder}/a.csv", memory_limit="100MB"), "kind")
    >>> float(model.tree_.threshold[0]), model.cv_score_
    (5.0, 1.0)
    """

    def __init__(
        self,
        data: TableLike,
        *,
        memory_limit: int | str = "1GB",
        cache: str | Path | None = None,
        cache_limit: int | str | None = None,
        checkpoint: str | Path | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
        batch_rows: int = BATCH_ROWS,
        worker_timeout: float = 300,
        **reading: Unpack[Reading],
    ) -> None:
        self.data = data
        self.worker_timeout = worker_timeout
        self.options = TextOptions(**reading)
        self.memory_limit = read_bytes("memory_limit", memory_limit)
        self.cache = cache
        self.cache_limit = None if cache_limit is None else read_bytes("cache_limit", cache_limit)
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.progress = progress
        self.batch_rows = batch_rows

    @staticmethod
    def takes(X: TableLike, y: ColumnLike) -> bool:
        """Whether ``fit(X, y)`` needs a stream: X is files, a lazy frame or Dask data."""
        if isinstance(X, (list, tuple)):
            return (bool(X) and all(map(_is_path, X))) or _is_dask(X)
        return isinstance(X, Stream) or _is_path(X) or _is_dask(X) or (isinstance(y, str) and _is_lazy(X))

    @classmethod
    def of(cls, X: TableLike) -> Stream:
        """Return ``X`` as a stream."""
        return X if isinstance(X, Stream) else cls(X)

    def prepare(
        self, roles: Roles, max_bins: int, folds: FoldRule, n_jobs: int | None
    ) -> StreamRows | DaskRows:
        """Survey and code the data; return rows to run passes on."""
        if _is_dask(self.data):
            from crosscut.engines.stream.dask import Cluster, DaskRows

            cluster = Cluster(self.worker_timeout)
            return DaskRows.of(self.data, roles, max_bins, folds, self.progress, cluster=cluster)
        return StreamRows(self, roles, max_bins, folds, n_jobs)


class StreamRows:
    """Coded rows of files; every pass reads them from the cache."""

    def __init__(
        self, stream: Stream, roles: Roles, max_bins: int, folds: FoldRule, n_jobs: int | None
    ) -> None:
        self.folds = folds
        self.n_jobs = n_jobs
        self.meter = Meter(stream.progress)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        data = stream.data
        if _is_lazy(data):
            # polars writes its result batch by batch, so it is neither held in memory nor computed again
            self._folder = tempfile.TemporaryDirectory(prefix="crosscut-", dir=stream.cache)
            data = Path(self._folder.name, "rows.parquet")
            stream.data.sink_parquet(data)
        self.source = Source(data, batch_rows=stream.batch_rows, options=stream.options)
        state = [self.source.identity(), asdict(roles), max_bins]
        self.key = hashlib.sha256(repr(state).encode()).hexdigest()
        weighted = roles.weight is not None
        self.cache = CodeCache(stream.cache, stream.cache_limit, self.key, keeps_weights=weighted)
        notes = self.cache.load()
        if notes is None:
            notes = self._survey_and_code(roles, max_bins)
        self.coding = Coding.from_notes(roles, notes["coding"])
        self.totals = Totals.from_notes(notes["totals"])
        self._class_counts = {int(piece): np.array(counts) for piece, counts in notes["class_counts"].items()}

    @property
    def pieces(self) -> Sequence[Piece]:
        """Parts of the data, in the order in which passes read them."""
        return self.source.pieces

    def run(self, one_pass: Pass[Sums]) -> Sums:
        """Return the sums of a pass over all rows."""
        self.meter.start(one_pass.name, self.coding.n_rows)
        sums = one_pass.start()
        for batch in self.batches():
            one_pass.add(sums, batch)
            self.meter.add(batch.n_rows)
        return sums

    def batches(self) -> Iterator[Batch]:
        """Yield all coded rows with their folds."""
        for piece in self.pieces:
            counts = self._class_counts.get(piece.number, np.zeros(0, np.int64)).copy()
            batches = self._coded(self.coding, piece)
            if piece.number in self.cache:
                batches = self.cache.read(piece.number, piece.first_row, self.coding)
            for batch in batches:
                yield replace(batch, fold=fold_of(batch, self.folds, counts))

    def _survey_and_code(self, roles: Roles, max_bins: int) -> dict[str, Any]:
        """Run pass 0, which reads the files twice: to survey them and to code them."""
        survey = Survey(roles)
        self.meter.start("survey", self.source.n_rows)
        for piece in self.pieces:
            for first_row, table in self.source.read(piece):
                survey.add(table, first_row, piece.number, repr(str(piece.place)))
                self.meter.add(table.num_rows)
        coding = survey.coding(max_bins)
        totals = Totals()
        self.cache.start()
        self.meter.start("coding", coding.n_rows)
        try:
            for piece in self.pieces:
                size = piece.n_rows * coding.row_bytes
                for batch in self.cache.write(piece.number, self._coded(coding, piece), size):
                    add_totals(totals, batch, coding)
                    self.meter.add(batch.n_rows)
        except BaseException:
            self.cache.drop()  # incomplete codes are useless
            raise
        counts = survey.class_counts(coding, sorted(piece.number for piece in self.pieces))
        before = {piece: rows.tolist() for piece, rows in counts.items()}
        notes = {"coding": coding.to_notes(), "totals": totals.to_notes(), "class_counts": before}
        self.cache.finish(notes)
        return notes

    def _coded(self, coding: Coding, piece: Piece) -> Iterator[Batch]:
        for first_row, table in self.source.read(piece):
            yield coding.batch(table, first_row, repr(str(piece.place)), self.n_jobs)


def add_totals(totals: Totals, batch: Batch, coding: Coding) -> None:
    """Add a batch if the grids of its statistics depend on it."""
    if coding.classes is None:
        totals.add(batch.target, batch.sample_weight, batch.n_rows)
    elif coding.weighted:
        totals.add(None, batch.sample_weight, batch.n_rows)


def fold_of(batch: Batch, folds: FoldRule, counts: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the fold of each row; updates ``counts``, the rows of each class before the batch."""
    if folds.grouped:
        assert batch.keys is not None
        return folds.of_keys(batch.keys)
    if folds.stratified:
        return folds.of_classes(batch.target, counts)
    return folds.of_places(np.arange(batch.first_row, batch.first_row + batch.n_rows))


def read_bytes(name: str, size: int | str) -> int:
    """Return a number of bytes.

    >>> read_bytes("memory_limit", "512MB")
    512000000
    """
    match = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]*)\s*", str(size).lower())
    if not match or match[2] not in _UNITS or match[1].count(".") > 1 or not float(match[1] or 0) > 0:
        raise ValueError(f"{name} must be a number of bytes such as '512MB' or 2**29, not {size!r}")
    return int(float(match[1]) * _UNITS[match[2]])


def _is_lazy(data: TableLike) -> bool:
    return hasattr(data, "sink_parquet") and hasattr(data, "collect_schema")


def _is_path(data: TableLike) -> bool:
    return isinstance(data, str) or hasattr(type(data), "__fspath__")


def _is_dask(data: TableLike) -> bool:
    if isinstance(data, (list, tuple)):
        return bool(data) and all(map(_is_dask, data))
    return hasattr(type(data), "__dask_graph__")
