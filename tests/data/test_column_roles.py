import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from crosscut.data.column_roles import findings

N = 200
Y = np.array(["no", "yes"])[np.arange(N) * 7 % 11 % 2]
WORDS = ["the", "parcel", "came", "late", "again", "and", "it", "was", "broken", "so", "sad"]


def sentence(i):
    return " ".join(WORDS[(i * k) % 11] for k in range(1, 7)) + f" {i}"


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([f"k{i}" for i in range(N)], "identifier"),
        ([f"k{i % 190}" for i in range(N)], "identifier"),
        ([f"k{i}" if i % 2 else None for i in range(N)], "identifier"),
        ([sentence(i) for i in range(N)], "free text"),
        ([f"town {i % 60}" for i in range(N)], "many categories"),
        (["same"] * N, "constant"),
        ([f"{label}!" for label in Y], "leak"),
        ([i * 7 % 11 % 2 for i in range(N)], "leak"),
        ([i + 1000.0 * (i * 7 % 11 % 2) for i in range(N)], "leak"),  # by one cut
        ([dt.date(2020, 1, 1) + dt.timedelta(i + 1000 * (i * 7 % 11 % 2)) for i in range(N)], "leak"),
        ([f"plan {i % 5}" for i in range(N)], None),
        ([i % 13 for i in range(N)], None),
        ([i * 0.5 for i in range(N)], None),
        ([i * 37 % 1009 for i in range(N)], None),  # whole numbers that differ are no key
    ],
)
def test_what_is_remarkable(values, what):
    found = findings(pa.table({"x": values}), Y, classes=True)
    assert [finding.what for finding in found] == ([] if what is None else [what])


@pytest.mark.parametrize(
    ("name", "what"),
    [*((name, "identifier") for name in ("customer_id", "customerId", "rownames")), ("age", None)],
)
def test_numbers_are_keys_by_name_or_in_the_order_of_rows(name, what):
    numbers = np.arange(1, N + 1)
    for values, kind in ((numbers[::-1], what), (numbers, "identifier")):
        found = findings(pa.table({name: values, "other": np.arange(N) % 7}), Y, classes=True)
        assert [finding.what for finding in found if finding.name == name] == ([] if kind is None else [kind])
    assert not findings(pa.table({"age": numbers}), Y, classes=True)  # the only column


def test_leaks_of_numbers():
    y = np.random.default_rng(0).normal(size=N)
    X = pa.table({"same": y * 3 + 1, "other": y + np.random.default_rng(1).normal(size=N)})
    assert [(found.name, found.what) for found in findings(X, y, classes=False)] == [("same", "leak")]
