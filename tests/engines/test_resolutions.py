"""Large bundles without a clear test, whose opened coarse intervals are divided and counted once more."""

import numpy as np
import pytest

from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.engines.memory import grow
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits

N = 150_000


def columns(seed):
    """Noise: distinct values, values that are often too close to part, many ties, missing values."""
    draw = np.random.default_rng(seed)
    close = (np.round(draw.normal(size=N), 4) + draw.integers(0, 3, N) * 3e-8).astype(np.float32)
    ties = draw.integers(0, 4000, N).astype(np.float32)
    missing = draw.normal(size=N).astype(np.float32)
    missing[draw.random(N) < 0.1] = np.nan
    return np.stack([draw.normal(size=N).astype(np.float32), close, ties, missing], 1)


def target_of(kind, seed):
    draw = np.random.default_rng(seed + 100)
    if kind == "regression":
        return Target(draw.normal(size=N), 0), Growth("variance")
    if kind == "weights":
        return Target(draw.integers(0, 2, N).astype(np.int32), 2, weights=draw.random(N)), Growth()
    classes = {"two": 2, "seven": 7, "entropy": 6, "gain_ratio": 3}[kind]
    y = np.minimum(draw.integers(0, classes + 1, N), classes - 1).astype(np.int32)
    return Target(y, classes), Growth(kind if kind in {"entropy", "gain_ratio"} else "gini")


@pytest.mark.parametrize("kind", ["two", "seven", "regression", "weights", "entropy", "gain_ratio"])
@pytest.mark.parametrize("one_task", [False, True])
def test_finer_intervals_find_the_same_tests(kind, one_task):
    table = Table.from_data(columns(len(kind)))
    target, growth = target_of(kind, len(kind))
    depth = 6 if kind in {"two", "regression"} else 2  # below the third level bundles have codes of their own
    tasks = Tasks.from_cv(5, n_rows=N, limits=Limits(max_depth=depth, min_samples_leaf=3))
    if one_task:
        tasks = tasks.take([0])
    fine = grow(table, target, tasks, growth, n_jobs=2)
    full = grow(table, target, tasks, growth, n_jobs=1, two_resolutions=False)
    for mine, other in zip(fine.trees, full.trees, strict=True):
        for name in mine.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(mine, name), getattr(other, name), err_msg=name)
