"""learning_curve and permutation_test_score give scikit-learn's results on data without ties."""

import numpy as np
import pytest
from sklearn import model_selection as scikit
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import crosscut
from crosscut import DelegationWarning, TreeClassifier, TreeRegressor

from .agreement import TOLERANCE
from .growths import count_growths
from .tie_free import make_data, make_weights, without_ties

pytestmark = pytest.mark.filterwarnings("error::crosscut.DelegationWarning")

CLASSES = DecisionTreeClassifier(min_samples_leaf=8, random_state=0)
NUMBERS = DecisionTreeRegressor(min_samples_leaf=8, random_state=0)
WEIGHTS = {"sample_weight": make_weights(0, 150)}  # counts of rows leave tests equal


def assert_same(name, estimator, *, seed=0, n_classes=2, names=None, **options):
    """Both give the same results on data from ``seed`` on without ties."""

    def theirs(attempt, state, sign):
        X, y = make_data(attempt, 150, n_classes=n_classes)
        model = clone(estimator)
        model.set_params(**{key: state for key in model.get_params() if key.endswith("random_state")})
        found = getattr(scikit, name)(model, sign * X, y if names is None else names[y], **options)
        return found, found

    attempt, expected = without_ties(theirs, seed)
    X, y = make_data(attempt, 150, n_classes=n_classes)
    ours = getattr(crosscut, name)(estimator, X, y if names is None else names[y], **options)
    assert len(ours) == len(expected)
    for mine, other in zip(ours, expected, strict=True):
        assert np.shape(mine) == np.shape(other)
        np.testing.assert_allclose(mine, other, **TOLERANCE)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"train_sizes": [30, 60, 100], "cv": 3},
        {"shuffle": True, "random_state": 3, "cv": KFold(4, shuffle=True, random_state=1)},
        {"scoring": "f1_macro", "cv": 4, "error_score": "raise"},
    ],
)
def test_learning_curves_of_classes(options):
    assert_same("learning_curve", CLASSES, n_classes=3, params=WEIGHTS, **options)


@pytest.mark.parametrize("estimator", [NUMBERS, make_pipeline(StandardScaler(), NUMBERS)])
def test_learning_curves_of_numbers(estimator):
    groups = np.random.default_rng(0).integers(0, 12, 150)
    options = {"groups": groups, "cv": GroupKFold(4), "train_sizes": [0.3, 0.9]}
    assert_same("learning_curve", estimator, n_classes=0, **options)
    X, y = make_data(5, 200, n_classes=0)
    ours = crosscut.learning_curve(estimator, X, y, return_times=True, train_sizes=[0.5, 1.0])
    assert [part.shape for part in ours] == [(2,), (2, 5), (2, 5), (2, 5), (2, 5)]
    assert np.all(ours[3] > 0)


def test_a_learning_curve_is_one_growth(monkeypatch):
    X, y = make_data(0)
    grown = count_growths(monkeypatch)
    crosscut.learning_curve(CLASSES, X, y, cv=4, train_sizes=[0.2, 0.6, 1.0])
    assert grown == [12]


def test_sizes_are_checked_as_by_scikit_learn(capsys):
    X, y = make_data(0)
    for sizes in ([0.0, 1.0], [10_000], [1.5]):
        with pytest.raises(ValueError, match="train_sizes"):
            scikit.learning_curve(CLASSES, X, y, train_sizes=sizes)
        with pytest.raises(ValueError, match=r"train_sizes must be fractions .*, not \["):
            crosscut.learning_curve(CLASSES, X, y, train_sizes=sizes)
    with pytest.warns(RuntimeWarning, match="the curve has 2 points"):
        sizes, *_ = crosscut.learning_curve(CLASSES, X, y, train_sizes=[0.5, 0.5, 1.0])
    with pytest.warns(RuntimeWarning, match="duplicate"):
        theirs, *_ = scikit.learning_curve(CLASSES, X, y, train_sizes=[0.5, 0.5, 1.0])
    np.testing.assert_array_equal(sizes, theirs)
    crosscut.learning_curve(CLASSES, X, y, train_sizes=[10, 20], verbose=1)
    assert "[learning_curve] Training set sizes: [10 20]" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options",
    [
        {"names": np.array(["no", "yes"])},
        {"scoring": "roc_auc", "cv": 4},
        {"random_state": 3},
        {"groups": np.arange(150) // 25, "cv": GroupKFold(3)},
    ],
)
def test_permutations_of_classes(options):
    assert_same("permutation_test_score", CLASSES, n_permutations=4, params=WEIGHTS, **options)


@pytest.mark.parametrize("estimator", [NUMBERS, make_pipeline(StandardScaler(), NUMBERS)])
def test_permutations_of_numbers(estimator):
    assert_same("permutation_test_score", estimator, n_classes=0, n_permutations=4)


def test_rows_are_ranked_once_for_all_permutations(monkeypatch):
    from crosscut.data.table import Table

    X, y = make_data(0)
    made, from_data = [], Table.from_data
    monkeypatch.setattr(
        Table, "from_data", lambda *given, **options: made.append(1) or from_data(*given, **options)
    )
    crosscut.permutation_test_score(CLASSES, X, y, n_permutations=3)
    assert len(made) == 1


@pytest.mark.parametrize("tree", [TreeClassifier(cv=None), TreeRegressor(cv=None)])
def test_our_trees(tree):
    X, y = make_data(0, 120)
    for name, options in (("learning_curve", {}), ("permutation_test_score", {"n_permutations": 2})):
        ours = getattr(crosscut, name)(tree, X, y, cv=3, **options)
        theirs = getattr(scikit, name)(tree, X, y, cv=3, **options)
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, **TOLERANCE)


@pytest.mark.filterwarnings("default::crosscut.DelegationWarning")
def test_what_is_delegated():
    limits = {"max_leaf_nodes": 4, "min_samples_leaf": 2, "min_weight_fraction_leaf": 0.01}
    tree = DecisionTreeClassifier(**limits, random_state=0)
    for name, options in (("learning_curve", {}), ("permutation_test_score", {"n_permutations": 3})):
        with pytest.warns(DelegationWarning, match=f"{name} is delegated.*GaussianNB"):
            assert_same(name, GaussianNB(), **options)
        with pytest.warns(DelegationWarning, match="twice"):
            assert_same(name, tree, **options)
    X, y = make_data(0, 100)
    with pytest.warns(DelegationWarning, match="partial_fit"), pytest.raises(ValueError, match="partial_fit"):
        crosscut.learning_curve(CLASSES, X, y, exploit_incremental_learning=True)
