"""Columns of every kind from every source the table reads."""

import datetime as dt
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.columns import column_of
from crosscut.data.frames import columns_of


def one(X):
    (column,) = columns_of(X)
    return column


NUMBERS = [
    pd.DataFrame({"a": [1.5, None, 3.0]}),
    pd.DataFrame({"a": pd.array([1.5, None, 3.0], dtype="Float64")}),
    pd.DataFrame({"a": [Decimal("1.5"), None, Decimal(3)]}),
    pd.DataFrame({"a": np.array([1.5, None, 3], dtype=object)}),
    pd.DataFrame({"a": pd.array([1.5, None, 3.0], dtype="float64[pyarrow]")}),
    pl.DataFrame({"a": [1.5, None, 3.0]}),
    pl.DataFrame({"a": [1.5, float("nan"), 3.0]}),
    pl.LazyFrame({"a": [1.5, None, 3.0]}),
    pl.DataFrame({"a": [Decimal("1.5"), None, Decimal(3)]}),
    pa.table({"a": [1.5, None, 3.0]}),
    pa.record_batch({"a": [1.5, None, 3.0]}),
    pa.table({"a": pa.array([Decimal("1.5"), None, Decimal(3)])}),
]


@pytest.mark.parametrize("frame", NUMBERS, ids=range(len(NUMBERS)))
def test_numbers(frame):
    column = one(frame)
    assert (column.name, column.kind, column.categories) == ("a", "numeric", ())
    np.testing.assert_array_equal(column.values.astype(np.float32), np.array([1.5, np.nan, 3], np.float32))


WHOLE = [
    pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}),
    pd.DataFrame({"a": pd.array([1, None, 3], dtype="UInt8")}),
    pl.DataFrame({"a": [1, None, 3]}, schema={"a": pl.Int8}),
    pa.table({"a": pa.array([1, None, 3], pa.int64())}),
]


@pytest.mark.parametrize("frame", WHOLE, ids=range(len(WHOLE)))
def test_whole_numbers_with_missing(frame):
    np.testing.assert_array_equal(one(frame).values.astype(float), [1, np.nan, 3])


BOOLEANS = [
    pd.DataFrame({"a": pd.array([True, None, False], dtype="boolean")}),
    pd.DataFrame({"a": np.array([True, None, False], dtype=object)}),
    pl.DataFrame({"a": [True, None, False]}),
    pa.table({"a": [True, None, False]}),
]


@pytest.mark.parametrize("frame", BOOLEANS, ids=range(len(BOOLEANS)))
def test_booleans(frame):
    column = one(frame)
    assert column.kind == "boolean"
    np.testing.assert_array_equal(column.values.astype(float), [1, np.nan, 0])


TEXT = [
    pd.DataFrame({"a": ["m", None, "f", "m"]}),
    pd.DataFrame({"a": np.array(["m", np.nan, "f", "m"], dtype=object)}),
    pd.DataFrame({"a": pd.array(["m", None, "f", "m"], dtype="string")}),
    pd.DataFrame({"a": np.array(["m", pd.NA, "f", "m"], dtype=object)}),
    pl.DataFrame({"a": ["m", None, "f", "m"]}),
    pl.DataFrame({"a": ["m", None, "f", "m"]}, schema={"a": pl.Categorical}),
    pa.table({"a": ["m", None, "f", "m"]}),
    pa.table({"a": pa.chunked_array([pa.array(["m", None]), pa.array(["f", "m"])])}),
    pa.table({"a": pa.array(["m", None, "f", "m"]).dictionary_encode()}),
]


@pytest.mark.parametrize("frame", TEXT, ids=range(len(TEXT)))
def test_text_is_nominal_and_sorted(frame):
    column = one(frame)
    assert (column.kind, column.categories) == ("nominal", ("f", "m"))
    assert column.values.tolist() == [1, -1, 0, 1]


def test_all_text_missing():
    column = one(pl.DataFrame({"a": pl.Series([None, None], dtype=pl.String)}))
    assert (column.kind, column.categories, column.values.tolist()) == ("nominal", (), [-1, -1])


ORDERED = [
    pd.DataFrame({"a": pd.Categorical(["low", None, "high"], ["low", "middle", "high"])}),
    pd.DataFrame({"a": pd.Categorical(["low", None, "high"], ["low", "middle", "high"], ordered=True)}),
    pl.DataFrame({"a": ["low", None, "high"]}, schema={"a": pl.Enum(["low", "middle", "high"])}),
    pa.table(
        {
            "a": pa.DictionaryArray.from_arrays(
                pa.array([0, None, 2], pa.int8()), pa.array(["low", "middle", "high"]), ordered=True
            )
        }
    ),
]


@pytest.mark.parametrize("frame", ORDERED, ids=range(len(ORDERED)))
def test_order_of_categories_is_kept(frame):
    column = one(frame)
    assert (column.kind, column.categories) == ("nominal", ("low", "middle", "high"))
    assert column.values.tolist() == [0, -1, 2]


def test_categories_need_not_be_text():
    column = one(pd.DataFrame({"a": pd.Categorical([30, 10, None], [30, 10])}))
    assert (column.kind, column.categories, column.values.tolist()) == ("nominal", (30, 10), [0, 1, -1])


MOMENT = dt.datetime(1970, 1, 3, 12)  # noqa: DTZ001
DATES = [
    pd.DataFrame({"a": pd.to_datetime([MOMENT, None])}),
    pd.DataFrame({"a": pd.to_datetime([MOMENT, None]).tz_localize("UTC")}),
    pd.DataFrame({"a": np.array([MOMENT, None], dtype=object)}),
    pl.DataFrame({"a": [MOMENT, None]}),
    pl.DataFrame(
        {"a": pl.Series([MOMENT, None]).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")}
    ),
    pa.table({"a": [MOMENT, None]}),
]


LATE = pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32())


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"a": LATE}),
        pa.table({"a": pa.array([2**62, 0]).cast(pa.timestamp("s"))}),
        pl.DataFrame({"a": pl.Series([2**31 - 1, 0], dtype=pl.Int32).cast(pl.Date)}),
        pd.DataFrame({"a": np.array([2**61, 0]).astype("M8[s]")}),
        pd.DataFrame({"a": pd.Series(LATE, dtype=pd.ArrowDtype(pa.date32()))}),
    ],
)
def test_dates_beyond_the_calendar_are_refused(frame):
    with pytest.raises(ValueError, match="'a' of X holds a date outside of the years 1 to 9999 in row 0"):
        columns_of(frame)


def test_the_last_moment_of_the_calendar_is_a_date():
    last = np.array([["9999-12-31T23:59:59"]], "M8[s]")
    assert columns_of(last)[0].values.tolist() == [pytest.approx(2932896.99998843)]


@pytest.mark.parametrize("frame", DATES, ids=range(len(DATES)))
def test_dates_are_days(frame):
    column = one(frame)
    assert column.kind == "date"
    assert "days since 1970-01-01" in column.note
    np.testing.assert_array_equal(column.values, [2.5, np.nan])


def test_days_without_time():
    day = dt.date(1970, 1, 11)
    for frame in (
        pl.DataFrame({"a": [day, None]}),
        pa.table({"a": [day, None]}),
        pd.DataFrame({"a": [day, None]}),
    ):
        np.testing.assert_array_equal(one(frame).values, [10, np.nan])
    assert one(np.array([["1970-01-11"]], "datetime64[D]")).values.tolist() == [10]


@pytest.mark.parametrize("frame", [pl.DataFrame({"a": [None, None]}), pa.table({"a": [None, None]})])
def test_nothing_but_missing(frame):
    column = one(frame)
    assert column.kind == "numeric"
    assert np.isnan(column.values.astype(float)).all()


def test_arrays_of_objects_and_lists():
    columns = columns_of([[1, "a", True], [2.5, None, False]])
    assert [c.kind for c in columns] == ["numeric", "nominal", "boolean"]
    assert [c.name for c in columns] == ["x0", "x1", "x2"]
    assert columns_of(np.array([["b"], ["a"]]))[0].values.tolist() == [1, 0]
    assert columns_of([[1, 2]])[1].values.tolist() == [2]
    assert columns_of(np.eye(2, dtype=bool))[0].kind == "boolean"


def test_masked_cells_are_missing():
    X = np.ma.masked_equal(np.array([[1, 2], [3, 2]]), 3)
    np.testing.assert_array_equal(columns_of(X)[0].values, [1, np.nan])


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([1, "a"], "int, str"),
        ([True, 2.0], "bool, float"),
        ([b"x"], "bytes"),
        ([[1], [2]], "list"),
        ([1j], "complex"),
        ([dt.date(2020, 1, 1), 3], "date, int"),
    ],
)
def test_mixed_column(cells, found):
    objects = np.empty(len(cells), object)
    objects[:] = cells
    with pytest.raises(TypeError, match=f"column 'a' of X holds objects of type {found}"):
        column_of("a", objects)


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        (np.zeros(3), ValueError, "two-dimensional"),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\)"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\)"),
        (pl.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (np.zeros((2, 2), complex), TypeError, "complex128"),
        (pl.DataFrame({"a": [[1], [2]]}), TypeError, "column 'a' of X has type List"),
        ({"a": 1}, TypeError, "X is a dict"),
        (7, TypeError, "X is a int"),
    ],
)
def test_what_is_refused(X, error, match):
    with pytest.raises(error, match=match):
        columns_of(X)


def test_sparse_is_refused():
    from scipy.sparse import csr_matrix

    with pytest.raises(TypeError, match="toarray"):
        columns_of(csr_matrix(np.eye(2)))


def test_only_categories_that_are_used_are_kept():
    column = pa.chunked_array([pa.DictionaryArray.from_arrays([2, None, 0, 2], ["z", "unused", "a"])])
    for frame in (pa.table({"a": column}), pl.DataFrame({"a": column})):
        found = one(frame)
        assert (found.categories, found.values.tolist()) == (("a", "z"), [0, -1, 1, 0])


TEXTS = st.lists(
    st.none() | st.text(max_size=20) | st.sampled_from(["a", "é", "\U0001d538", "\uffff", "b" * 13]),
    min_size=1,
)


@settings(max_examples=60, deadline=None)
@given(cells=TEXTS, cuts=st.lists(st.integers(0, 40), max_size=2))
def test_text_of_every_library_is_coded_alike(cells, cuts):
    found = sorted({cell for cell in cells if cell is not None})
    codes = [-1 if cell is None else found.index(cell) for cell in cells]
    bounds = [0, *sorted(min(cut, len(cells)) for cut in cuts), len(cells)]
    parts = [cells[begin:end] for begin, end in pairwise(bounds)]
    chunked = pa.chunked_array(parts, pa.string())
    kinds = [pa.string(), pa.large_string(), pa.string_view()]
    columns = [chunked.cast(kind) for kind in kinds]
    columns += [pa.chunked_array([part.dictionary_encode() for part in chunked.chunks])]
    columns += [columns[-1].cast(pa.dictionary(pa.int8(), pa.large_string()))]
    longer = pa.chunked_array([["before", None], *parts, ["after"]], pa.string())
    tables = [pa.table({"a": column}) for column in columns]
    tables.append(pa.table({"a": longer}).slice(2, len(cells)))
    series = pl.concat([pl.Series(part, dtype=pl.String) for part in parts], rechunk=False)
    frames = [pl.DataFrame({"a": kind}) for kind in (series, series.cast(pl.Categorical), series.slice(0))]
    frames += [
        pd.DataFrame({"a": pd.Series(cells, dtype=kind)}) for kind in ("str", "string", "string[pyarrow]")
    ]
    for frame in (*tables, *frames):
        column = one(frame)
        assert (column.kind, column.categories, column.ordered) == ("nominal", tuple(found), False)
        assert column.values.tolist() == codes


def test_many_texts_are_numbered():
    cells = [f"text {row * 7919 % 20_000}" for row in range(50_000)]
    column = one(pl.DataFrame({"a": cells}))
    assert column.categories == tuple(sorted(set(cells)))
    assert [column.categories[code] for code in column.values.tolist()] == cells


def test_ordered_dictionaries_of_parts_are_joined():
    kind = pa.dictionary(pa.int32(), pa.string(), ordered=True)
    parts = [pa.array(["low", None], kind), pa.array(["high", "low"], kind)]
    column = one(pa.table({"a": pa.chunked_array(parts)}))
    assert (column.categories, column.values.tolist(), column.ordered) == (
        ("low", "high"),
        [0, -1, 1, 0],
        True,
    )


@pytest.mark.parametrize(
    "kind", [*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float", "double"]
)
@pytest.mark.parametrize("missing", [False, True])
def test_numbers_in_parts(kind, missing):
    cells = [3, 1, None if missing else 7, 120, 5]
    whole = pa.table(
        {
            "a": pa.chunked_array(
                [cells[:2], cells[2:]],
                getattr(pa, kind.replace("float", "float32").replace("double", "float64"))(),
            )
        }
    )
    for table in (
        whole,
        whole.combine_chunks(),
        pa.concat_tables([whole, whole]).slice(5),
        pl.DataFrame(whole),
    ):
        column = one(table)
        assert column.kind == "numeric"
        np.testing.assert_array_equal(column.values, [np.nan if cell is None else cell for cell in cells])
        if not missing:
            assert column.values.dtype == whole["a"].to_numpy().dtype


def test_columns_that_polars_cannot_hand_over():
    frame = pl.DataFrame({"a\0b": ["x", "y"], "n\0": [1, 2], "t": ["v", "u"], "b": [True, False]})
    assert [(c.name, c.kind, c.values.tolist()) for c in columns_of(frame)] == [
        ("a\0b", "nominal", [0, 1]),
        ("n\0", "numeric", [1, 2]),
        ("t", "nominal", [1, 0]),
        ("b", "boolean", [True, False]),
    ]
    objects = pl.DataFrame({"t": ["v", "u"], "o": pl.Series([object(), object()], dtype=pl.Object)})
    with pytest.raises(TypeError, match="column 'o' of X"):
        columns_of(objects)
