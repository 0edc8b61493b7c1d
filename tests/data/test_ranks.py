"""The core's ranks against NumPy's, on random columns of every shape, stride and type."""

from itertools import groupby

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from crosscut import _core
from crosscut.data.table import MAX_COARSE, Table

TINY = np.float32(1e-7)


def joined(counts, limit):
    """First rank of each interval, walking up one rank at a time: the rule of data/intervals.cpp, slowly."""
    n = len(counts)
    if n <= limit:
        return list(range(n + 1))
    total = sum(counts)
    heavy = [count * limit > 2 * total for count in counts]
    runs = [(alone, list(ranks)) for alone, ranks in groupby(range(n), key=heavy.__getitem__)]
    runs_after = sum(not alone for alone, _ in runs)
    left = sum(count for count, alone in zip(counts, heavy, strict=True) if not alone)
    first, shares = [], limit - sum(heavy)
    for alone, ranks in runs:
        if alone:
            first += ranks
            continue
        runs_after -= 1
        first.append(ranks[0])
        held = counts[ranks[0]]
        for r in ranks[1:]:
            if (2 * held + counts[r]) * shares > 2 * left and shares > runs_after + 1:
                first.append(r)
                left, shares, held = left - held, shares - 1, 0
            held += counts[r]
        left, shares = left - held, shares - 1
    return [*first, n]


def check_column(table, f, column):
    column = column.astype(np.float32)
    gone = np.isnan(column)
    values, where, counts = np.unique(column[~gone] + np.float32(0), return_inverse=True, return_counts=True)
    assert table.n_values[f] == len(values)
    np.testing.assert_array_equal(table.values[f], values)
    assert not np.signbit(table.values[f][table.values[f] == 0]).any()
    np.testing.assert_array_equal(table.ranks[f][~gone], where)
    assert (table.ranks[f][gone] == len(values)).all()
    assert table.has_missing[f] == gone.any()
    spans = (k for k in range(1, len(values) + 1) if not (values[:-k] + TINY >= values[k:]).any())
    assert table.close[f] == next(spans, len(values)) - 1 if len(values) else table.close[f] == 0
    first = table.coarse_first[f]
    assert first.tolist() == joined(counts.tolist(), MAX_COARSE)
    assert table.n_coarse[f] == len(first) - 1 <= MAX_COARSE
    np.testing.assert_array_equal(table.coarse[f][~gone], np.searchsorted(first, where, side="right") - 1)
    assert (table.coarse[f][gone] == len(first) - 1).all()


FLOATS = st.one_of(
    st.floats(width=32, allow_infinity=False),
    st.sampled_from(
        np.array([0.0, -0.0, 1, 1 + 1.2e-7, 1e-40, -1e-40, np.nan, 3.4e38, -3.4e38], np.float32).tolist()
    ),
)


@settings(max_examples=150, deadline=None)
@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 40), st.integers(1, 5)), elements=FLOATS), st.data())
def test_ranks_equal_numpy(matrix, data):
    kind = data.draw(
        st.sampled_from([np.float32, np.float64, np.float16, np.int64, np.int8, np.uint8, np.bool_])
    )
    if kind not in (np.float32, np.float64):
        matrix = np.nan_to_num(np.clip(matrix, 0, 100))
    matrix = matrix.astype(kind)
    form = data.draw(st.sampled_from(["C", "F", "every second", "backwards", "read only", "big end first"]))
    if form == "F":
        matrix = np.asfortranarray(matrix)
    elif form == "every second":
        matrix = np.repeat(np.repeat(matrix, 2, 0), 2, 1)[::2, ::2]
    elif form == "backwards":
        matrix = matrix[::-1, ::-1]
    elif form == "read only":
        matrix.flags.writeable = False
    elif form == "big end first":
        matrix = matrix.astype(matrix.dtype.newbyteorder(">"))
    table = Table.from_data(matrix)
    for f in range(matrix.shape[1]):
        check_column(table, f, matrix[:, f])


@pytest.mark.parametrize("max_bins", [None, 20])
@pytest.mark.parametrize("n_categories", [0, 1, 255, 256, 700])
def test_codes_of_categories(n_categories, max_bins):
    r = np.random.default_rng(n_categories)
    codes = np.where(r.random(900) < 0.1, -1, (r.random(900) ** 3 * n_categories).astype(int))
    codes = np.where(codes < n_categories, codes, -1)
    frame = pd.DataFrame(
        {"number": r.random(900), "nominal": pd.Categorical.from_codes(codes, range(n_categories))}
    )
    table, matrix = Table.with_matrix(frame, max_bins=max_bins)
    np.testing.assert_array_equal(table.ranks[1], np.where(codes < 0, n_categories, codes))
    np.testing.assert_array_equal(matrix[:, 1], np.where(codes < 0, np.nan, codes))
    first = np.array(joined(np.bincount(codes[codes >= 0], minlength=n_categories).tolist(), MAX_COARSE))
    assert table.coarse_first[1].tolist() == first.tolist()
    np.testing.assert_array_equal(
        table.coarse[1], np.searchsorted(first[:-1], table.ranks[1], side="right") - (codes >= 0)
    )
    assert (table.n_values[1], table.n_missing[1], table.close[1]) == (n_categories, (codes < 0).sum(), False)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
@pytest.mark.parametrize("n_rows", [300, 5_000, 40_000])
def test_many_rows_any_threads(n_rows, n_jobs):
    r = np.random.default_rng(n_rows)
    matrix = np.column_stack(
        [
            r.normal(size=n_rows),
            r.integers(0, 400, n_rows),  # more values than intervals, many rows each
            np.where(r.random(n_rows) < 0.6, 7.5, r.normal(size=n_rows)),  # one heavy value
            np.where(r.random(n_rows) < 0.3, np.nan, np.round(r.normal(size=n_rows), 2)),
            np.full(n_rows, 3.0),
            np.full(n_rows, np.nan),
            r.choice([-1.5, -0.0, 0.0, 3.0, np.nan], n_rows),
            np.append(np.nan, np.arange(n_rows - 1) % 254),  # as many values as can be found without sorting
            np.append(np.nan, np.arange(n_rows - 1) % 255),
        ]
    )
    for columns in (range(9), [0], [2, 3]):
        part = matrix[:, list(columns)]
        table = Table.from_data(part, n_jobs=n_jobs)
        for f in range(part.shape[1]):
            check_column(table, f, part[:, f])


@pytest.mark.parametrize("max_bins", [None, 100])
def test_idle_threads_help_with_columns(max_bins):
    """More threads than columns: the rows of a column are divided among several."""
    n = 200_000
    r = np.random.default_rng(1)
    matrix = np.column_stack(
        [
            r.normal(size=n),
            np.where(r.random(n) < 0.3, np.nan, r.normal(size=n)),
            np.round(r.normal(size=n), 2),
            r.integers(0, 9, n),
        ]
    )
    one, many = (Table.from_data(matrix, max_bins=max_bins, n_jobs=n_jobs) for n_jobs in (1, 16))
    for name in ("ranks", "coarse", "n_values", "n_missing", "close"):
        np.testing.assert_array_equal(getattr(many, name), getattr(one, name), name)
    for f in range(matrix.shape[1]):
        np.testing.assert_array_equal(many.values[f], one.values[f])
        np.testing.assert_array_equal(many.coarse_first[f], one.coarse_first[f])


def test_heavy_value_stands_alone():
    column = np.concatenate([np.arange(1000.0), np.full(5000, 499.5)])
    table = Table.from_data(column[:, None])
    alone = table.coarse[0][-1]
    assert (table.coarse[0] == alone).sum() == 5000
    rest = np.bincount(np.delete(table.coarse[0], slice(1000, None)), minlength=table.n_coarse[0])
    assert rest.max() <= 8  # about 1000 / 254


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(2, 20))
def test_intervals(counts, limit):
    first = np.empty(len(counts) + 1, np.uint32)
    n = _core.intervals(np.cumsum(counts, dtype=np.uint32), limit, first)
    assert first[: n + 1].tolist() == joined(counts, limit)
    assert n <= limit


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 255), st.integers(1, 400), st.integers(0, 2**32))
def test_bins(max_bins, n_rows, seed):
    r = np.random.default_rng(seed)
    column = np.where(r.random(n_rows) < 0.1, np.nan, np.round(r.normal(size=n_rows), int(r.integers(0, 4))))
    table = Table.from_data(column[:, None], max_bins=max_bins)
    own, gone = column.astype(np.float32), np.isnan(column)
    values, counts = np.unique(own[~gone] + np.float32(0), return_counts=True)
    first = np.array(joined(counts.tolist(), max_bins))
    assert table.n_values[0] == table.n_coarse[0] == len(first) - 1 <= max_bins
    low, high = values[first[1:-1] - 1].astype(float), values[first[1:-1]].astype(float)
    np.testing.assert_array_equal(table.edges[0], low / 2 + high / 2)
    np.testing.assert_array_equal(table.values[0], values[first[:-1]])
    bins = np.where(gone, len(first) - 1, np.searchsorted(table.edges[0], own, side="left"))
    np.testing.assert_array_equal(table.ranks[0], bins)
    np.testing.assert_array_equal(table.coarse[0], bins)
    np.testing.assert_array_equal(table.coarse_first[0], np.arange(len(first)))
    assert not table.close[0]


@pytest.mark.parametrize("n_rows", [140_000, 530_000])
def test_bins_of_many_rows(n_rows):
    """Above 2**17 rows bins are found from sorted keys; above 2**19 from those near the borders."""
    r = np.random.default_rng(0)
    normal = r.normal(size=n_rows).astype(np.float32)
    alike = r.choice([-1e30, -0.0, 0.0, 1e-40, 3.0, 1e30], n_rows).astype(np.float32)
    missing = np.where(r.random(n_rows) < 0.3, np.nan, np.exp(9 * normal)).astype(np.float32)
    heavy = np.where(r.random(n_rows) < 0.5, np.round(normal, 1), normal)
    outlier = np.where(np.arange(n_rows) == 7, 1e30, 1 + normal / 1e4)
    few = np.where(np.arange(n_rows) < 40, np.arange(n_rows), r.integers(0, 300, n_rows))
    columns = [normal, alike, missing, np.full_like(normal, np.nan), 1e6 + np.round(normal, 2)]
    X = np.column_stack([*columns, heavy, outlier, few])
    for max_bins in (2, 100, 255):
        table = Table.from_data(X, max_bins=max_bins)
        for f, column in enumerate(X.T.astype(np.float32)):
            gone = np.isnan(column)
            values, counts = np.unique(column[~gone] + np.float32(0), return_counts=True)
            first = np.empty(max_bins + 1, np.uint32)
            n = _core.intervals(np.cumsum(counts, dtype=np.uint32), max_bins, first)
            bins = np.searchsorted(values[first[:n]], column, side="right") - 1
            np.testing.assert_array_equal(table.ranks[f], np.where(gone, n, bins))
            np.testing.assert_array_equal(table.coarse[f], table.ranks[f])
            np.testing.assert_array_equal(table.values[f], values[first[:n]])
            assert table.n_missing[f] == gone.sum()


def test_core_refuses_bad_shapes():
    def call(**changed):
        arguments = {
            "matrix": np.zeros((4, 2)), "max_intervals": 255, "bins": False, "n_threads": 1,
            "n_categories": np.full(2, -1, np.int32), "ranks": np.empty((2, 4), np.uint32),
            "coarse": np.empty((2, 4), np.uint8), "values": np.empty((2, 4), np.float32),
            "coarse_first": np.empty((2, 256), np.uint32), "n_values": np.empty(2, np.int32),
            "n_coarse": np.empty(2, np.int32), "n_missing": np.empty(2, np.int64),
            "close": np.empty(2, np.uint32),
        }  # fmt: skip
        return _core.rank_columns(**{**arguments, **changed})

    assert call() is None
    for wrong in (
        {"matrix": np.zeros((0, 2))},
        {"max_intervals": 256},
        {"max_intervals": 1},
        {"n_categories": np.array([0, -2], np.int32)},
        {"n_categories": np.array([0, 2**24 + 1], np.int32)},
        {"n_categories": np.array([0], np.int32)},
        {"ranks": np.empty((2, 3), np.uint32)},
        {"ranks": None},
        {"ranks": None, "bins": True, "n_categories": np.array([-1, 256], np.int32)},
        {"coarse": np.empty((1, 4), np.uint8)},
        {"coarse_first": np.empty((2, 255), np.uint32)},
        {"matrix": np.zeros((4, 2), np.complex128)},
    ):
        with pytest.raises(ValueError, match=r"rank_columns|the matrix must be float32"):
            call(**wrong)
    with pytest.raises(ValueError, match="ascend"):
        _core.intervals(np.array([3, 2], np.uint32), 5, np.empty(3, np.uint32))
    with pytest.raises(ValueError, match="too short"):
        _core.intervals(np.array([3, 4], np.uint32), 5, np.empty(2, np.uint32))
