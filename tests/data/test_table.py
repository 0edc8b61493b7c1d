"""Tables of mixed columns, and what they refuse. Ranks of numbers are in test_ranks.py."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from crosscut.data.table import Table


def mixed():
    return pl.DataFrame(
        {
            "age": [30.0, 20.0, None, 20.0],
            "plan": ["b", None, "a", "b"],
            "paid": [True, False, True, None],
            "visits": [3, 1, 2, 2],
        }
    )


def test_mixed_columns():
    table = Table.from_data(mixed())
    assert table.names == ("age", "plan", "paid", "visits")
    assert table.kinds == ("numeric", "nominal", "boolean", "numeric")
    assert table.categories == ((), ("a", "b"), (), ())
    assert (table.n_rows, table.n_columns) == (4, 4)
    assert table.ranks.tolist() == [[1, 0, 2, 0], [1, 2, 0, 1], [1, 0, 1, 2], [2, 0, 1, 1]]
    assert table.coarse.tolist() == table.ranks.tolist()
    assert table.n_values.tolist() == table.n_coarse.tolist() == [2, 2, 2, 3]
    assert [values.tolist() for values in table.values] == [[20, 30], [], [0, 1], [1, 2, 3]]
    assert [first.tolist() for first in table.coarse_first] == [[0, 1, 2]] * 3 + [[0, 1, 2, 3]]
    assert table.has_missing.tolist() == [True, True, True, False]
    assert not table.close.any()
    assert table.edges is None


def test_layout_is_what_the_core_reads():
    table = Table.from_data(mixed())
    kinds = {
        "ranks": np.uint32,
        "coarse": np.uint8,
        "n_values": np.int32,
        "n_coarse": np.int32,
        "has_missing": bool,
        "close": np.uint32,
    }
    for name, kind in kinds.items():
        array = getattr(table, name)
        assert array.dtype == kind
        assert array.flags.c_contiguous
    assert {values.dtype for values in table.values} == {np.dtype(np.float32)}
    assert {first.dtype for first in table.coarse_first} == {np.dtype(np.uint32)}


def test_bins_leave_nominal_columns():
    X = pd.DataFrame({"a": np.arange(100.0), "b": [f"c{i % 30:02}" for i in range(100)]})
    table = Table.from_data(X, max_bins=4)
    assert table.n_values.tolist() == [4, 30]
    assert table.edges[0].tolist() == [24.5, 49.5, 74.5]
    assert table.edges[1].size == 0
    assert table.ranks[1, :30].tolist() == list(range(30))
    assert table.coarse_first[1].tolist() == list(range(31))


def test_bins_are_stored_once():
    X = np.random.default_rng(0).normal(size=(400, 40)).astype(np.float32)  # keys are kept of 16 columns
    X[::7, 3] = np.nan
    table = Table.from_data(X, max_bins=30)
    assert table.ranks is table.coarse
    assert table.coarse.dtype == np.uint8
    for f in (0, 3, 13, 14, 39):
        alone = Table.from_data(X[:, [f]], max_bins=30)
        assert table.coarse[f].tolist() == alone.coarse[0].tolist()
        assert table.edges[f].tolist() == alone.edges[0].tolist()
    few = table.take(np.array([5, 3, 3]))
    assert few.ranks is few.coarse
    assert few.coarse.tolist() == table.coarse[:, [5, 3, 3]].tolist()
    frame = pd.DataFrame({"a": X[:, 0], "b": [f"c{i % 300}" for i in range(400)]})
    mixed = Table.from_data(frame, max_bins=30)
    assert mixed.ranks.dtype == np.uint32
    assert mixed.ranks[0].tolist() == mixed.coarse[0].tolist() == table.coarse[0].tolist()
    X[9, 25] = X[4, 31] = np.inf
    with pytest.raises(ValueError, match="x25"):
        Table.from_data(X, max_bins=30)


def test_many_categories_have_coarse_intervals():
    names = [f"c{i:04}" for i in range(1000)]
    table = Table.from_data(pl.DataFrame({"a": [*names, None]}))
    assert table.n_values[0] == 1000
    assert table.n_coarse[0] == len(table.coarse_first[0]) - 1 <= 255
    assert table.coarse[0, -1] == table.n_coarse[0]
    expected = np.searchsorted(table.coarse_first[0], np.arange(1000), side="right") - 1
    assert table.coarse[0, :1000].tolist() == expected.tolist()


def test_names():
    table = Table.from_data(np.eye(2), names=["a", "b"])
    assert table.names == ("a", "b")
    assert Table.from_data(np.eye(2)).names == ("x0", "x1")
    assert Table.from_data(mixed(), names=["visits", "age"]).ranks.tolist() == [[2, 0, 1, 1], [1, 0, 2, 0]]
    for X, names, match in [
        (np.eye(2), ["a"], "names has 1 entries, but X has 2 columns"),
        (np.eye(2), ["a", "a"], r"repeated: \['a'\]"),
        (mixed(), ["age", "income"], r"names contains \['income'\]"),
        ([["x", 1], ["y", 2]], ["a"], "names has 1 entries"),
    ]:
        with pytest.raises(ValueError, match=match):
            Table.from_data(X, names=names)
    assert Table.from_data([["x", 1], ["y", 2]], names=["p", "q"]).names == ("p", "q")


@pytest.mark.parametrize("max_bins", [1, 256, 2.5, "many", 0])
def test_max_bins_is_checked(max_bins):
    with pytest.raises(ValueError, match="max_bins must be an integer from 2 to 255"):
        Table.from_data(np.eye(3), max_bins=max_bins)


def test_infinite_values_are_named():
    X = np.zeros((4, 3))
    X[2, 1] = -np.inf
    with pytest.raises(ValueError, match="column 'x1' of X holds -inf in row 2"):
        Table.from_data(X)
    X[2, 1] = 1e300
    with pytest.raises(ValueError, match=r"column 'b' of X holds 1e\+300 in row 2"):
        Table.from_data(X, names="abc")
    with pytest.raises(ValueError, match=r"column 'b' of X holds 1e\+300 in row 2"):
        Table.from_data(pd.DataFrame(X, columns=list("abc")))


def test_notes_tell_about_dates():
    assert Table.from_data(np.array([["2020-01-01"]], "datetime64[D]")).notes == (
        "column 'x0' holds dates: used as days since 1970-01-01",
    )
    assert Table.from_data(mixed()).notes == ()


def test_pickle_and_repr():
    table = pickle.loads(pickle.dumps(Table.from_data(mixed())))
    assert table.ranks.tolist() == Table.from_data(mixed()).ranks.tolist()
    assert repr(table) == "Table(4 rows, 4 columns: age, plan, paid, visits)"


def test_numbers_of_every_type_become_float32():
    whole = [1, 0, 3, 2]
    kinds = ["f2", "f4", "f8", "g", *(f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8))]
    frame = pd.DataFrame(
        {kind: np.array(whole, kind) for kind in kinds} | {"?": np.array([1, 0, 1, 1], bool)}
    )
    frame["code"] = pd.Categorical.from_codes([1, -1, 0, 1], ["a", "b"])
    for given in (frame, frame.drop(columns=["f2", "g"])):  # without types that are converted first
        _, matrix = Table.with_matrix(given)
        assert matrix.dtype == np.float32
        assert matrix[:, :-2].tolist() == [[number] * (given.shape[1] - 2) for number in whole]
        np.testing.assert_array_equal(matrix[:, -2:].T, [[1, 0, 1, 1], [1, np.nan, 0, 1]])


def test_infinite_and_negative_numbers_of_frames():
    frame = pd.DataFrame({"a": [-1.5, 2.0], "b": pd.Categorical(["x", None])})
    assert Table.with_matrix(frame)[1][:, 0].tolist() == [-1.5, 2.0]
    for value in (1e300, -1e300, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"column 'a' of X holds .* in row 1"):
            Table.from_data(frame.assign(a=[1.0, value]))
