import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.data.columns import Column
from crosscut.tasks.fold_rule import FoldRule, group_keys, mix


@settings(deadline=None)
@given(st.integers(2, 63), st.integers(0, 500), st.integers(0, 2**31))
def test_folds_are_of_equal_size_and_do_not_depend_on_batches(n_folds, n_rows, seed):
    rule = FoldRule(n_folds, seed=seed)
    folds = rule.of_places(np.arange(n_rows))
    sizes = np.bincount(folds, minlength=n_folds)
    assert sizes.max() - sizes.min() <= 1
    cut = n_rows // 3
    parts = [rule.of_places(np.arange(cut)), rule.of_places(np.arange(cut, n_rows))]
    np.testing.assert_array_equal(np.concatenate(parts), folds)


@settings(deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1), st.integers(0, 100))
def test_every_class_is_dealt_out_by_itself(classes, cut):
    rule = FoldRule(3, stratified=True)
    y = np.array(classes, np.uint8)
    counts = np.zeros(4, np.int64)
    folds = np.concatenate([rule.of_classes(y[:cut], counts), rule.of_classes(y[cut:], counts)])
    np.testing.assert_array_equal(counts, np.bincount(y, minlength=4))
    for c in range(4):
        sizes = np.bincount(folds[y == c], minlength=3)
        assert sizes.max() - sizes.min() <= 1
        np.testing.assert_array_equal(folds[y == c], rule.of_places(np.arange((y == c).sum())))


def test_seeds_give_other_folds():
    rows = np.arange(1000)
    assert np.mean(FoldRule(5, seed=1).of_places(rows) == FoldRule(5, seed=2).of_places(rows)) < 0.4


def test_a_row_trains_all_tasks_but_its_own_folds():
    assert FoldRule(3).task_masks().tolist() == [0b1101, 0b1011, 0b0111]
    assert FoldRule(0).task_masks().tolist() == [1]
    assert FoldRule(63).task_masks()[62] == 2**63 - 1


def test_keys_of_groups_depend_on_the_value_alone():
    one = Column("g", "nominal", np.array([0, 1, -1]), ("a", "b"))
    other = Column("g", "nominal", np.array([2, 0, -1]), ("b", "c", "a"))
    np.testing.assert_array_equal(group_keys(one), group_keys(other))
    numbers = [group_keys(Column("g", "numeric", np.array([0, 7], kind))) for kind in (np.int64, np.float32)]
    np.testing.assert_array_equal(*numbers)
    zero = Column("g", "numeric", np.array([-0.0]))
    assert group_keys(zero)[0] == 0


def test_mix_keeps_numbers_apart():
    assert len(np.unique(mix(np.arange(100_000)))) == 100_000


@pytest.mark.parametrize("n_folds", [1, 64, -3])
def test_number_of_folds(n_folds):
    with pytest.raises(ValueError, match="from 2 to 63"):
        FoldRule(n_folds)
