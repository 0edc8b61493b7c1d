"""Tables for the tests of streams: written to files in pieces, and grown in memory for comparison."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from crosscut.data.files import split_target
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.forest.tree import SHARED
from crosscut.tasks import Tasks
from crosscut.tasks.fold_rule import FoldRule, group_keys
from crosscut.tasks.growth import Growth, Limits
from crosscut.training.checks import read_class_weights, read_weights, with_class_weights


def table_of(seed=0, n_rows=3000, *, n_classes=2, regression=False):
    """A table with numbers, missing values, few and many distinct values, text and truth values."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    few = rng.integers(0, 6, n_rows)
    gaps = np.where(rng.random(n_rows) < 0.2, np.nan, rng.exponential(size=n_rows))
    kind = rng.choice(["red", "green", "blue", "grey"], n_rows)
    flag = rng.random(n_rows) < 0.3
    signal = x + 0.5 * few + np.where(kind == "red", 2.0, 0.0) + np.where(np.isnan(gaps), 1.0, gaps)
    noisy = signal + rng.normal(size=n_rows)
    if regression:
        y = pa.array(noisy)
    else:
        cuts = np.quantile(noisy, np.linspace(0, 1, n_classes + 1)[1:-1])
        y = pa.array(np.array(["no", "yes", "maybe", "never"])[np.searchsorted(cuts, noisy)])
    text = pa.array([None if rng.random() < 0.1 else k for k in kind])
    columns = {
        "x": pa.array(x.astype(np.float32)),
        "few": pa.array(few),
        "gaps": pa.array(gaps, from_pandas=True),
    }
    return pa.table(columns | {"kind": text, "flag": pa.array(flag), "y": y})


def write_pieces(table, folder, n_pieces):
    """Write a table as Parquet, in so many files."""
    bounds = np.linspace(0, table.num_rows, n_pieces + 1).astype(int)
    for i, (begin, end) in enumerate(pairwise(bounds)):
        parquet.write_table(table.slice(begin, end - begin), folder / f"part-{i:03d}.parquet")
    return str(folder / "*.parquet")


def folds_in_memory(rule, y_codes, n_rows, groups=None):
    """The folds a stream gives its rows."""
    if rule.grouped:
        return rule.of_keys(group_keys(groups))
    if rule.stratified:
        return rule.of_classes(y_codes, np.zeros(int(y_codes.max()) + 1, np.int64))
    return rule.of_places(np.arange(n_rows))


def with_weights(table, seed=0):
    """The table with a column of weights, some of them 0."""
    rng = np.random.default_rng(seed)
    weight = np.where(rng.random(table.num_rows) < 0.1, 0.0, rng.exponential(size=table.num_rows))
    return table.append_column("w", pa.array(weight))


def forest_in_memory(table, model, rule: FoldRule):
    """The forest of the in-memory engine with the same bins and folds; a column "w" holds weights."""
    sample_weight = None
    if "w" in table.column_names:
        sample_weight = table["w"].to_numpy()
        table = table.drop_columns(["w"])
    X, y = split_target(table, "y")
    coded = Table.from_data(X, max_bins=model.max_bins or 255)
    regression = not hasattr(model, "class_weight")
    weights = read_weights(sample_weight, len(y))
    if regression:
        target, codes = Target(np.asarray(y, np.float64), 0, weights), None
    else:
        classes, codes = np.unique(y, return_inverse=True)
        by_class = read_class_weights(model.class_weight, codes, classes)
        target = Target(codes.astype(np.int32), len(classes), with_class_weights(weights, by_class, codes))
    folds = folds_in_memory(rule, codes, table.num_rows)
    limits = Limits(
        model.max_depth, model.min_samples_split, model.min_samples_leaf, model.min_impurity_decrease
    )
    criterion = "variance" if regression else model.criterion
    return grow(coded, target, Tasks.from_folds(folds, limits=limits), Growth(criterion, model.splits))


def assert_same(forest, other):
    """Every tree of both is the same bit for bit."""
    assert len(forest) == len(other)
    for t, (mine, theirs) in enumerate(zip(forest, other, strict=True)):
        for name in set(mine.__dataclass_fields__) - set(SHARED):
            np.testing.assert_array_equal(
                getattr(mine, name), getattr(theirs, name), err_msg=f"tree {t}: {name}"
            )
