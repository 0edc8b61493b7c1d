import numpy as np
import pytest

from crosscut import _core
from crosscut.engines.stream.bundle import Bundle, Split, Unit, flat_bundles
from crosscut.engines.stream.coding import Batch
from crosscut.engines.stream.passes import LevelPass
from crosscut.tasks.fold_rule import FoldRule

FIRST_BIN = np.array([0, 4, 10])  # three and five bins, and those of missing values


def forest():
    """A root that parts task 1 from tasks 0 and 2 in column 0; all of them are counted below."""
    left, right = np.zeros(256, np.uint64), np.zeros(256, np.uint64)
    left[:2], right[2] = 0b111, 0b111
    left[1], right[1] = 0b101, 0b010  # task 1 has another constant
    root = Bundle(0, (0, 1, 2), (0, 0, 0), mixed=False, n_rows=9, splits=[Split(0, [1, 2], [left, right])])
    return [root, Bundle(1, (0, 1, 2), (1, 1, 1), True, 9), Bundle(1, (0, 1, 2), (2, 2, 2), True, 9)]


def level_pass(gathered=()):
    units = [Unit(b, 0, 2) for b in (1, 2) if b not in gathered]
    arrays, offsets, ranges = flat_bundles(forest(), units, list(gathered), FIRST_BIN, 2, ranged=False)
    made = LevelPass(
        name="level 1",
        arrays=arrays,
        first_bin=FIRST_BIN,
        n_channels=2,
        n_statistics=int(offsets[-1]),
        n_ranges=int(ranges[-1]),
        wide=False,
        task_masks=FoldRule(2).task_masks(),
        grids=None,
        n_jobs=1,
    )
    return made, offsets


def rows(n=500, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, 3, n), rng.integers(0, 6, n)], np.uint8)
    return Batch(0, codes, rng.integers(0, 2, n).astype(np.uint8), rng.integers(0, 2, n).astype(np.uint8))


def test_statistics_are_those_of_every_task_by_itself():
    one_pass, offsets = level_pass()
    batch = rows()
    sums = one_pass.start()
    one_pass.add(sums, batch)
    for place, (bundle, begin, end) in enumerate(zip(forest()[1:], offsets, offsets[1:], strict=False)):
        cells = sums.statistics[begin:end]
        _core.cells_to_lanes(cells, len(bundle.tasks))
        lanes = cells[: 10 * 2 * len(bundle.tasks)].reshape(10, 2, len(bundle.tasks))
        for lane, task in enumerate(bundle.tasks):
            own = lanes[..., lane]
            cut = 0 if task == 1 else 1
            there = (batch.codes[0] > cut) == bool(place)
            trains = there if task == 0 else there & (batch.fold != task - 1)
            for f in range(2):
                for c in range(2):
                    counts = np.bincount(
                        batch.codes[f][trains & (batch.target == c)],
                        minlength=FIRST_BIN[f + 1] - FIRST_BIN[f],
                    )
                    np.testing.assert_array_equal(own[FIRST_BIN[f] : FIRST_BIN[f + 1], c], counts)


def test_sums_of_parts_add_up():
    one_pass, _ = level_pass(gathered=[2])
    whole, parts = one_pass.start(), []
    batch = rows()
    one_pass.add(whole, batch)
    for begin in range(0, 500, 90):
        end = begin + 90
        part = Batch(
            begin,
            np.ascontiguousarray(batch.codes[:, begin:end]),
            batch.target[begin:end],
            batch.fold[begin:end],
        )
        parts.append(one_pass.start())
        one_pass.add(parts[-1], part)
    total = parts[0]
    for other in parts[1:]:
        total = one_pass.merge(total, other)
    np.testing.assert_array_equal(total.statistics, whole.statistics)
    (together,) = whole.gathered[2]
    apart = [np.concatenate([part[i] for part in total.gathered[2]], axis=-1) for i in range(3)]
    for mine, theirs in zip(apart, together[:3], strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    "change",
    [
        {"codes": np.full((2, 500), 9, np.uint8)},
        {"codes": np.zeros((1, 500), np.uint8)},
        {"masks": np.zeros(3, np.uint64)},
        {"slot": np.full(500, 2, np.int32)},
        {"slot": np.full(500, -1, np.int32)},
        {"first_bin": np.array([0, 4])},
        {"n_channels": 3},
        {"statistics": np.zeros(5, np.int32)},
        {"child": np.array([0, 2], np.int32)},
        {"child": np.array([1, 7], np.int32)},
        {"feature": np.array([5], np.int32)},
        {"offset": np.array([0, -1, 0])},
        {"place": np.array([1, 2, 9], np.uint8)},
        {"table": np.zeros((2, 9), np.uint64)},
        {"lanes": np.zeros(3, np.uint64)},
        {"end_column": np.array([0, 3, 2], np.int32)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_core_refuses_arrays_that_do_not_fit(change):
    one_pass, _ = level_pass()
    batch = rows()
    arguments = {
        "codes": batch.codes,
        "masks": one_pass.task_masks[batch.fold],
        "slot": batch.target.astype(np.int32),
        "first_bin": FIRST_BIN,
        "n_channels": 2,
        "statistics": one_pass.start().statistics,
    }
    bundles = one_pass.arrays | {name: value for name, value in change.items() if name in one_pass.arrays}
    arguments |= {name: value for name, value in change.items() if name not in one_pass.arrays}
    with pytest.raises((ValueError, TypeError)):
        _core.pass_batch(bundles=bundles, amounts=None, target=None, ranges=None, n_threads=1, **arguments)


GRIDS = [(0, 50, 1), (0, 50, 1)]


def chosen(statistics, *, grids=()):
    n_classes, criterion = (0, "variance") if grids else (1, "gini")
    return _core.choose_tests(
        np.array(statistics, np.int64).reshape(-1),
        np.array([0, 2, 4]),
        first_column=0,
        end_column=2,
        nominal=np.zeros(2, bool),
        n_channels=3 if grids else 1,
        criterion=criterion,
        n_classes=n_classes,
        grids=list(grids),
        multiway=False,
        min_leaf=np.ones(2, np.int64),
    )


def test_sums_that_no_fit_has_are_refused():
    counts = np.array([[2, 3], [4, 1], [5, 2], [1, 2]])  # [bin of both columns][task]
    sums = np.stack([counts, -counts << 50, counts << 50], axis=1)  # the most that rows add to a digit
    assert len(chosen(counts)) == len(chosen(sums, grids=GRIDS)) == 2
    small = np.stack([counts, -counts, counts], axis=1)
    for bin_, lane, value in ((0, 0, -1), (0, 0, 2**62), (3, 1, 3)):
        for given, grids, place in ((counts, (), (bin_, lane)), (small, GRIDS, (bin_, 0, lane))):
            damaged = given.copy()
            damaged[place] = value
            with pytest.raises(ValueError, match="statistics must"):
                chosen(damaged, grids=grids)
    for channel in (1, 2):
        for value in (-(2**63), 2**63 - 1, (2 << 50) + 1):
            damaged = small.copy()
            damaged[0, channel, 0] = value
            with pytest.raises(ValueError, match="digits of the rows"):
                chosen(damaged, grids=GRIDS)
    with pytest.raises(ValueError, match="statistics must count rows"):  # too many for such digits
        chosen(np.stack([counts << 9, counts, counts], axis=1), grids=GRIDS)
