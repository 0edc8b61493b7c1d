import numpy as np
import pyarrow as pa
import pytest

from crosscut.engines.stream.branching import plan_passes
from crosscut.engines.stream.bundle import Bundle
from crosscut.engines.stream.level_wise import Plan, State
from crosscut.tasks.fold_rule import FoldRule
from crosscut.tasks.growth import Growth, Limits

from .test_survey import survey_of


def plan_of(memory_limit, *, n_folds=3, max_depth=None):
    rng = np.random.default_rng(0)
    columns = {f"x{f}": rng.integers(0, 5 + 20 * f, 400).astype(float) for f in range(6)}
    coding = survey_of(pa.table(columns | {"y": rng.integers(0, 2, 400)})).coding(255)
    limits = (Limits(max_depth=max_depth),) * (n_folds + 1)
    return Plan(coding, None, FoldRule(n_folds), Growth(), limits, memory_limit)


def bytes_of(plan, bundle, unit):
    first_bin = plan.coding.first_bin
    bins = first_bin[unit.end_column] - first_bin[unit.first_column]
    return int(bins) * plan.n_channels * bundle.n_cells * 4


@pytest.mark.parametrize("memory_limit", [100, 4000, 30_000, 10**6])
@pytest.mark.parametrize("max_depth", [3, None])
def test_the_frontier_is_shared_out_within_the_limit(memory_limit, max_depth):
    plan = plan_of(memory_limit, max_depth=max_depth)
    state = State.start(plan)
    sizes = [400, 3, 200, 50, 120, 7]
    state.bundles += [
        Bundle(1, (0, 2, 3), (1, 1, 1), mixed=i % 2 == 0, n_rows=n) for i, n in enumerate(sizes)
    ]
    state.frontier = list(range(1, len(state.bundles)))
    columns_done = {}
    for units, gathered in plan_passes(plan, state)[0]:
        assert units or gathered
        used = [bytes_of(plan, state.bundles[unit.bundle], unit) for unit in units]
        lone = len(units) == 1 and units[0].end_column == units[0].first_column + 1
        assert sum(used) <= memory_limit // 2 or lone
        for b in gathered:
            assert b not in columns_done
            columns_done[b] = list(range(6))
        for unit in units:
            columns_done.setdefault(unit.bundle, []).extend(range(unit.first_column, unit.end_column))
    assert sorted(columns_done) == state.frontier
    assert all(columns == list(range(6)) for columns in columns_done.values())


def test_large_bundles_are_gathered_only_where_many_levels_follow():
    for max_depth, expected in ((3, []), (None, [1])):
        plan = plan_of(10**6, max_depth=max_depth)
        state = State.start(plan)
        state.bundles.append(Bundle(1, (0,), (1,), mixed=False, n_rows=390))
        state.frontier = [1]
        ((units, gathered),), _ = plan_passes(plan, state)
        assert gathered == expected
        assert bool(units) != bool(gathered)
