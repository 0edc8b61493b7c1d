"""Task lists against scikit-learn's splitters and against plain Python."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import model_selection as ms
from sklearn.datasets import load_iris

from crosscut import RuleClassifier, TreeClassifier, TreeRegressor, load_model, save_model
from crosscut.data.target import Target
from crosscut.tasks import Tasks
from crosscut.tasks.folds import folds_of, folds_of_splits, folds_that_fit, group_codes
from crosscut.tasks.growth import Limits


def check_against(tasks, splits, *, final=True):
    """Every task trains and tests on exactly the rows of its split."""
    splits = [(np.arange(tasks.n_rows), np.array([], int))] * final + [
        tuple(map(np.asarray, s)) for s in splits
    ]
    assert len(tasks) == tasks.n_tasks == len(splits) == len(tasks.limits)
    assert tasks.masks.shape == ((len(splits) + 14) // 15, tasks.n_rows)
    assert tasks.masks.dtype == np.uint16
    assert tasks.masks.flags.c_contiguous
    assert not (tasks.masks >> 15).any()
    for task, (train, test) in enumerate(splits):
        np.testing.assert_array_equal(tasks.train_rows(task), np.unique(train))
        np.testing.assert_array_equal(tasks.test_rows(task), test)
        if tasks.multiplicity is not None:
            np.testing.assert_array_equal(
                tasks.multiplicity[task], np.bincount(train, minlength=tasks.n_rows)
            )
    unused = tasks.masks[-1] >> ((len(splits) - 1) % 15 + 1)
    assert not unused.any()


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 20), st.integers(20, 120), st.integers(1, 4), st.booleans(), st.integers(0, 999))
def test_integer_cv_is_scikit_learns(n_folds, n_rows, n_classes, classifier, seed):
    y = np.random.default_rng(seed).integers(0, n_classes, n_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if classifier and np.bincount(y).max() < n_folds:
            with pytest.raises(ValueError, match="rows of the largest class"):
                Tasks.from_cv(n_folds, y, classifier=True)
            return
        peer = ms.StratifiedKFold(n_folds) if classifier else ms.KFold(n_folds)
        names = [y, y - 7, np.array(["d", "b", "c", "a"])[y], y * 100_000, y > 0][seed % 5]
        check_against(Tasks.from_cv(n_folds, names, classifier=classifier), peer.split(y, names))
        shuffled = folds_of(n_folds, n_rows, names if classifier else None, seed)
        peer = type(peer)(n_folds, shuffle=True, random_state=seed)
        np.testing.assert_array_equal(shuffled, folds_of_splits(peer.split(y, names), n_rows))


SPLITTERS = [
    ms.KFold(4, shuffle=True, random_state=1),
    ms.StratifiedKFold(4, shuffle=True, random_state=1),
    ms.RepeatedKFold(n_splits=3, n_repeats=7, random_state=0),
    ms.RepeatedStratifiedKFold(n_splits=3, n_repeats=5, random_state=0),
    ms.LeaveOneOut(),
    ms.LeavePOut(2),
    ms.ShuffleSplit(6, random_state=0),
    ms.TimeSeriesSplit(4),
    ms.GroupKFold(4),
    ms.StratifiedGroupKFold(2),
    ms.LeaveOneGroupOut(),
    ms.LeavePGroupsOut(2),
    ms.GroupShuffleSplit(3, random_state=0),
    ms.PredefinedSplit(np.arange(24) % 4 - 1),
]


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize("final", [True, False])
def test_every_splitter(cv, final):
    y, groups = np.arange(24) % 2, np.arange(24) // 3
    X = np.zeros((24, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tasks = Tasks.from_cv(cv, y, groups, final=final)
        check_against(tasks, cv.split(X, y, groups), final=final)
    assert tasks.has_final == final
    assert tasks.multiplicity is None


@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor, RuleClassifier])
def test_folds_of_rows_are_an_array(learner, tmp_path):
    X, y = load_iris(return_X_y=True)
    folds = np.arange(150) * 7 % 5
    model = learner(cv=folds).fit(X, y)
    split = learner(cv=ms.PredefinedSplit(folds)).fit(X, y)
    np.testing.assert_array_equal(model.cv_predictions_, split.cv_predictions_)
    assert len(model.cv_scores_) == 5
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").cv_predictions_, model.cv_predictions_)
    model.report(tmp_path / "page.html")
    with pytest.raises(ValueError, match="cv has 3 fold numbers; it must have one for each of 150 rows"):
        learner(cv=folds[:3]).fit(X, y)


def test_explicit_pairs():
    pairs = [([0, 1, 2], [3]), (np.array([True, False, True, False]), np.array([False, True, False, False]))]
    expected = [([0, 1, 2], [3]), ([0, 2], [1])]
    check_against(Tasks.from_cv(pairs, n_rows=4), expected)
    check_against(Tasks.from_splits(iter(pairs), 4), expected)


def test_repeated_rows_are_multiplicities():
    check_against(
        Tasks.from_splits([([0, 1, 1, 1], [2]), ([2], [0, 1])], 3), [([0, 1, 1, 1], [2]), ([2], [0, 1])]
    )


@given(st.lists(st.integers(-1, 30), min_size=2, max_size=80))
@settings(max_examples=60, deadline=None)
def test_folds(numbers):
    present = sorted(set(numbers) - {-1})
    folds = np.array([present.index(k) if k >= 0 else -1 for k in numbers])
    if not present or np.bincount(folds + 1)[1:].max() == len(folds):
        return
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(len(present))]
    check_against(Tasks.from_folds(folds), splits)
    check_against(Tasks.from_folds(folds, final=False), splits, final=False)


def test_leave_one_out():
    tasks = Tasks.leave_one_out(40)
    check_against(tasks, ms.LeaveOneOut().split(np.zeros(40)))
    assert Tasks.leave_one_out(1000).n_tasks == 1001


@pytest.mark.parametrize("cv", [ms.KFold(5), ms.KFold(5, shuffle=True, random_state=0), ms.GroupKFold(5)])
def test_nested(cv):
    y, groups = np.arange(35) % 2, np.arange(35) // 7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        splits = list(cv.split(y, y, groups))
    tasks = Tasks.nested(folds_of_splits(splits, 35))
    folds = [test for _, test in splits]
    assert tasks.n_tasks == 5 * 6 // 2 + 1
    assert set(tasks.pairs.values()) == set(range(1, 16))
    assert tasks.train_rows(0).size == 35
    for i in range(5):
        for j in range(5):
            out = np.unique(np.concatenate([folds[i], folds[j]]))
            task = tasks.pairs[i, j]
            assert task == tasks.pairs[j, i]
            np.testing.assert_array_equal(tasks.train_rows(task), np.setdiff1d(np.arange(35), out))
            np.testing.assert_array_equal(np.sort(tasks.test_rows(task)), out)


@pytest.mark.parametrize(
    ("cv", "match"),
    [
        (ms.ShuffleSplit(3, random_state=0), "partition"),
        (ms.TimeSeriesSplit(3), "partition"),
        (ms.PredefinedSplit(np.arange(12) % 4 - 1), "partition"),
        (ms.KFold(2), "at least 3 folds"),
    ],
)
def test_nested_needs_a_partition(cv, match):
    with pytest.raises(ValueError, match=match):
        Tasks.nested(folds_of_splits(cv.split(np.zeros(12)), 12))


def test_bootstrap():
    tasks = Tasks.bootstrap(20, 50, random_state=3)
    assert (tasks.n_tasks, tasks.has_final) == (20, False)
    assert tasks.multiplicity.dtype == np.uint8
    assert (tasks.multiplicity.sum(axis=1) == 50).all()
    for task, times in enumerate(tasks.multiplicity):
        np.testing.assert_array_equal(tasks.train_rows(task), np.flatnonzero(times))
        np.testing.assert_array_equal(tasks.test_rows(task), np.flatnonzero(times == 0))
    assert len({times.tobytes() for times in tasks.multiplicity}) == 20
    again = Tasks.bootstrap(20, 50, random_state=3, final=True, size=10)
    assert again.multiplicity[0].tolist() == [1] * 50
    assert (again.multiplicity[1:].sum(axis=1) == 10).all()
    assert (tasks.multiplicity == Tasks.bootstrap(20, 50, random_state=3).multiplicity).all()


def test_grid_of_limits():
    tasks = Tasks.from_cv(10, n_rows=30)
    leaves = [Limits(min_samples_leaf=n) for n in (1, 3, 5, 9)]
    grid = tasks.with_limits(leaves)
    assert grid.n_tasks == 44
    assert not (grid.masks[-1] >> (44 - 1) % 15 + 1).any()
    for task in range(44):
        base, setting = divmod(task, 4)
        assert (grid.base[task], grid.setting[task]) == (base, setting)
        assert grid.limits[task] is leaves[setting]
        np.testing.assert_array_equal(grid.train_rows(task), tasks.train_rows(base))
        np.testing.assert_array_equal(grid.test_rows(task), tasks.test_rows(base))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_take(data):
    n_tasks = data.draw(st.integers(1, 40))
    tasks = Tasks.bootstrap(n_tasks, 25)
    chosen = data.draw(st.lists(st.integers(0, n_tasks - 1), min_size=1, max_size=50))
    taken = tasks.take(chosen)
    for task, base in enumerate(chosen):
        np.testing.assert_array_equal(taken.train_rows(task), tasks.train_rows(base))
        np.testing.assert_array_equal(taken.test_rows(task), tasks.test_rows(base))
        np.testing.assert_array_equal(taken.multiplicity[task], tasks.multiplicity[base])


def test_features():
    tasks = Tasks.from_cv(2, n_rows=4, features=[True, False])
    assert tasks.features.tolist() == [[True, False]] * 3
    dropped = Tasks.from_cv(2, n_rows=4).dropping_features(3)
    assert dropped.n_tasks == 12
    assert dropped.features[:4].tolist() == [
        [True] * 3,
        [False, True, True],
        [True, False, True],
        [True, True, False],
    ]
    assert dropped.base.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    both = dropped.with_limits([Limits(), Limits(max_depth=2)])
    assert both.features.shape == (24, 3)
    for features, match in [
        ([1, 0], "boolean array"),
        ([False, False], "task 0 without a column"),
        ([[True, False]], "features has 1 rows for 3 tasks"),
    ]:
        with pytest.raises(ValueError, match=match):
            Tasks.from_cv(2, n_rows=4, features=features)


def test_limits():
    per_task = [Limits(max_depth=d) for d in (1, 2, 3)]
    assert Tasks.from_cv(2, n_rows=4, limits=per_task).limits == tuple(per_task)
    assert Tasks.from_cv(2, n_rows=4, limits=per_task[0]).limits == (per_task[0],) * 3
    with pytest.raises(ValueError, match="limits has 2 entries for 3 tasks"):
        Tasks.from_cv(2, n_rows=4, limits=per_task[:2])
    with pytest.raises(ValueError, match="settings is empty"):
        Tasks.from_cv(2, n_rows=4).with_limits([])


@pytest.mark.parametrize(
    ("cv", "match"),
    [
        (1, "at least 2 folds, not 1"),
        (9, "cv=9 exceeds the 6 rows"),
        ("5", "cv must be a number of folds"),
        (2.5, "cv must be a number of folds"),
        (True, "cv must be a number of folds"),
        ([], "cv has no splits"),
        ([([0, 1], [1])], "split 0 has row 1 in its training set and in its test set"),
        ([([0], [1]), ([], [1])], "split 1 has an empty training set"),
        ([([0, 6], [1])], "the training set of split 0 has rows from 0 to 6, but the rows are 0 to 5"),
        ([([0], [-1])], "the test set of split 0 has rows from -1 to -1"),
        ([([0.5], [1])], "must be a list of row numbers"),
        ([([True, False], [1])], r"is a mask of shape \(2,\)"),
        ([[0, 1, 2]], "split 0 of cv is not a pair"),
        ([([0] * 300, [1])], "split 0 has row 0 300 times; at most 255"),
    ],
)
def test_what_cv_must_not_be(cv, match):
    with pytest.raises(ValueError, match=match):
        Tasks.from_cv(cv, n_rows=6)


@pytest.mark.parametrize(
    ("folds", "match"),
    [
        ([0, 2], "no row of fold 1"),
        ([0, 0], "empty training set"),
        ([-1, -1], "from 0, or -1"),
        ([-2, 0], "from 0, or -1"),
        ([0.0, 1.0], "one integer per row"),
        ([[0, 1]], "one integer per row"),
        ([], "one integer per row"),
    ],
)
def test_what_folds_must_not_be(folds, match):
    with pytest.raises(ValueError, match=match):
        Tasks.from_folds(folds)


def test_lengths_differ():
    with pytest.raises(ValueError, match=r"their lengths are \{'y': 3, 'groups': 2\}"):
        Tasks.from_cv(2, [1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="the number of rows is unknown"):
        Tasks.from_cv(2)


def test_groups_with_plain_folds_are_reported():
    with pytest.warns(UserWarning, match=r"groups parameter is ignored by cv=2; use cv=GroupKFold\(2\)"):
        Tasks.from_cv(2, np.arange(4), np.arange(4))


def test_small_class_is_reported():
    with pytest.warns(
        UserWarning, match="least populated class in y has only 2 rows, fewer than the 3 folds"
    ):
        Tasks.from_cv(3, [0, 0, 0, 1, 1], classifier=True)


class TestCheck:
    tasks = Tasks.from_folds([0, 0, 1, 1])

    def test_sound(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.tasks.check(Target(np.array([0, 1, 0, 1], np.int32), 2), 3)
            self.tasks.check(Target(np.arange(4.0), 0, np.ones(4)))
            # class 2 is in no row at all, so no fold lacks it
            self.tasks.check(Target(np.array([0, 1, 0, 1], np.int32), 3))

    def test_class_that_a_fold_lacks(self):
        with pytest.warns(UserWarning, match="model of fold 1 trains on no row of class 0") as seen:
            self.tasks.check(Target(np.array([0, 0, 1, 1], np.int32), 2))
        assert "(1 more lacks a class)" in str(seen[0].message)

    @pytest.mark.parametrize(
        ("target", "match"),
        [
            (Target(np.array([0, 1, np.nan, 1]), 0), "y must be finite, but it is nan in row 2"),
            (Target(np.array([0, -np.inf, 2, 1]), 0), "y must be finite, but it is -inf in row 1"),
            (Target(np.zeros(3), 0), r"y must have one entry per row \(4\), but its shape is \(3,\)"),
            (Target(np.zeros(4), 0, np.ones(5)), "sample_weight must have one entry per row"),
            (Target(np.zeros(4), 0, np.array([1, np.inf, 1, 1])), "sample_weight must be finite"),
            (
                Target(np.zeros(4), 0, np.array([1.0, 1, -1, 1])),
                "sample_weight must not be negative, but it is -1.0",
            ),
            (Target(np.zeros(4), 0, np.array([1.0, 1, 0, 0])), "model of fold 1 has no row with weight"),
            (Target(np.zeros(4, np.int32), 1, np.zeros(4)), "final model has no row with weight"),
        ],
    )
    def test_unsound(self, target, match):
        with pytest.raises(ValueError, match=match):
            self.tasks.check(target)

    def test_features_of_another_table(self):
        with pytest.raises(ValueError, match="features has 3 columns, but the table has 2"):
            Tasks.from_folds([0, 1], features=[True] * 3).check(Target(np.zeros(2), 0), 2)


@pytest.mark.parametrize("seed", [None, 3])
def test_many_rows_are_dealt_out_by_several_threads(seed):
    y = np.random.default_rng(0).choice(3, 200_001, p=[0.7, 0.299, 0.001]).astype(np.int32)
    shuffled = {} if seed is None else {"shuffle": True, "random_state": seed}
    splits = list(ms.StratifiedKFold(10, **shuffled).split(y, y))
    folds, fewest = folds_that_fit(10, len(y), y, random_state=seed, n_jobs=3)
    np.testing.assert_array_equal(folds, folds_of_splits(splits, len(y)))
    assert fewest == np.bincount(y).min()
    check_against(Tasks.from_folds(folds, n_jobs=3), splits)


@pytest.mark.parametrize(
    "groups", [[3, -1, 3, 7], [0.5, np.nan, 0.5, 2.0], ["b", "a", "b", ""], [None, 1, None, "x"]]
)
def test_groups_get_numbers(groups):
    codes = group_codes(np.array(groups, object) if None in groups else groups)
    assert codes.dtype == np.int64
    assert codes[0] == codes[2]
    assert len({*codes[[0, 1, 3]].tolist()}) == 3
