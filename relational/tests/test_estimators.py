import pickle
import pydoc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    TimeSeriesSplit,
    cross_val_score,
)

import crosscut_relational
from crosscut.data import memory
from crosscut.training.fit import Validated
from crosscut_relational import (
    Bias,
    Database,
    RelationalRuleClassifier,
    RelationalTreeClassifier,
    RelationalTreeRegressor,
    datasets,
)
from crosscut_relational.training_set import folds_of, tasks_of
from paper.data import bongard, machines


@pytest.fixture(scope="module")
def pictures():
    return bongard("complex", n=200, noise=0.1)


@pytest.fixture(scope="module")
def model(pictures):
    database, bias = pictures
    return RelationalTreeClassifier(bias, cv=5).fit(database)


def test_each_fold_is_predicted_by_the_tree_that_left_it_out(pictures, model):
    database, bias = pictures
    folds = folds_of(tasks_of(5, database))
    for fold in range(5):
        mine = folds == fold
        # the same tree, grown alone on the other folds' examples
        alone = RelationalTreeClassifier(bias, cv=np.where(mine, 0, -1)).fit(database)
        assert alone.cv_trees_[0] == model.cv_trees_[fold]
        assert alone.cv_probabilities_[mine].tolist() == model.cv_probabilities_[mine].tolist()
        assert np.isnan(alone.cv_probabilities_[~mine]).all()
        accuracy = np.mean(model.cv_predictions_[mine] == database.labels[mine])
        assert model.cv_scores_[fold] == accuracy
    right = model.cv_predictions_ == database.labels
    assert model.cv_score_ == pytest.approx(right.mean())
    assert model.cv_standard_error_ == pytest.approx(right.std() / np.sqrt(len(right)))


def test_predictions_on_another_database_do_not_depend_on_its_numbering(pictures, model):
    database, _ = pictures
    correct = sum(correct for _, correct, _ in model.tree_.leaves())
    assert model.score(database) == pytest.approx(correct / database.n_examples)
    other, _ = bongard("complex", n=50, noise=0.1, seed=7)
    predicted = model.predict(other)
    assert set(predicted) <= set(database.classes)
    names = [other.classes[code] for code in other.target]
    assert model.score(other) == pytest.approx(
        np.mean([a == b for a, b in zip(predicted, names, strict=True)])
    )


def test_probabilities_are_those_of_the_leaves(pictures, model):
    database, _ = pictures
    probabilities = model.predict_proba(database)
    assert probabilities.sum(axis=1) == pytest.approx(1)
    best = probabilities.max(axis=1)
    codes = [list(model.classes_).index(name) for name in model.predict(database)]
    assert best == pytest.approx(probabilities[np.arange(len(codes)), codes])
    held_out = model.cv_probabilities_
    assert held_out.sum(axis=1) == pytest.approx(1)
    codes = [list(model.classes_).index(name) for name in model.cv_predictions_]
    assert held_out[np.arange(len(codes)), codes] == pytest.approx(held_out.max(axis=1))


def test_the_m_estimate_pulls_towards_the_prior(pictures):
    database, bias = pictures
    plain = RelationalTreeClassifier(bias, cv=None).fit(database)
    pulled = RelationalTreeClassifier(bias.with_settings(m_estimate=1000.0), cv=None).fit(database)
    assert str(plain) == str(pulled)
    prior = np.bincount(database.target) / database.n_examples
    assert (
        np.abs(pulled.predict_proba(database) - prior).max()
        < np.abs(plain.predict_proba(database) - prior).max()
    )


def test_ways_of_sharing_give_the_same_model(pictures, model):
    database, bias = pictures
    for sharing in ("paper", "serial", "uncached"):
        other = RelationalTreeClassifier(bias, cv=5, sharing=sharing).fit(database)
        assert other.cv_predictions_.tolist() == model.cv_predictions_.tolist()
        assert str(other) == str(model)


def test_a_bias_is_made_from_linked_tables_when_none_is_given():
    database = Database.from_tables(datasets.shop(), target="customer.churned")
    model = RelationalTreeClassifier(cv=3).fit(database)
    assert model.cv_score_ > 0.85  # the planted theory needs an amount and a return of the same purchase
    assert "purchase" in str(model)


def test_leaves_are_class_correct_covered():
    database, bias = machines()
    with pytest.warns(UserWarning, match=r"cv=10 exceeds the 6 rows of the largest class; using 6"):
        model = RelationalTreeClassifier(bias=bias, cv=10).fit(database)
    assert model.tree_.leaves() == [("sendback", 6.0, 6.0), ("fix", 6.0, 6.0), ("ok", 3.0, 3.0)]
    assert model.cv_score_ == 1.0
    assert len(model.cv_trees_) == 6


def test_examples_without_facts_fail_every_test():
    facts = "c(1,a). c(2,a). c(3,b). c(4,b). p(1,x). p(2,x)."
    database = Database.from_prolog(facts, predict="c(+k,-v)")
    model = RelationalTreeClassifier(Bias.of(["p(+K,-X)"], pruning="none"), cv=None).fit(database)
    assert model.predict(database).tolist() == ["a", "a", "b", "b"]


def test_an_unknown_predicate_is_false_and_warned_about():
    database = Database.from_prolog("c(1,a). c(2,b). p(1).", predict="c(+k,-v)")
    with pytest.warns(UserWarning, match="no facts and no rules"):
        model = RelationalTreeClassifier(Bias.of(["nowhere(+K)"]), cv=None).fit(database)
    assert model.tree_.n_nodes == 0


def test_regression_predicts_means_and_scores_by_determination():
    facts = "".join(f"y({e},{e % 3}). p({e},{e % 3}). " for e in range(30))
    database = Database.from_prolog(facts, predict="y(+k,-v)", regression=True)
    model = RelationalTreeRegressor(Bias.of(["p(+K,#)"]), cv=5).fit(database)
    assert model.predict(database).tolist() == database.target.tolist()
    assert model.cv_scores_ == pytest.approx(np.ones(5))
    assert model.score(database) == pytest.approx(1.0)
    assert sorted(model.tree_.leaves()) == [(0.0, 0.0, 10.0), (1.0, 0.0, 10.0), (2.0, 0.0, 10.0)]


def test_the_estimators_are_public_and_clonable():
    assert crosscut_relational.RelationalTreeClassifier is RelationalTreeClassifier
    copied = clone(RelationalTreeClassifier(Bias(), cv=4, step_limit=7))
    assert copied.get_params()["cv"] == 4
    assert copied.get_params()["step_limit"] == 7
    assert str(copied).startswith("RelationalTreeClassifier")


def test_a_fitted_model_can_be_pickled(pictures, model):
    again = pickle.loads(pickle.dumps(model))
    assert str(again) == str(model)
    assert again.forest_.trees == model.forest_.trees
    assert again.cv_predictions_.tolist() == model.cv_predictions_.tolist()
    assert again.predict(pictures[0]).tolist() == model.predict(pictures[0]).tolist()


@pytest.fixture(scope="module")
def shop():
    return Database.from_tables(datasets.shop(), target="customer.churned")


def trees(model):
    return [str(tree) for tree in (model.tree_, *model.cv_trees_)]


def test_weights_are_copies_of_examples(shop):
    weights, folds = 1 + np.arange(len(shop)) % 3, np.arange(len(shop)) % 4
    copies = np.repeat(np.arange(len(shop)), weights)
    model = RelationalTreeClassifier(cv=folds).fit(shop, sample_weight=weights)
    copied = RelationalTreeClassifier(cv=folds[copies]).fit(shop[copies])
    assert trees(model) == trees(copied)
    bias = Bias.from_schema(shop, pruning="c45")  # a choice by the folds takes copies for further examples
    model = RelationalTreeClassifier(bias, cv=folds).fit(shop, sample_weight=weights)
    copied = RelationalTreeClassifier(bias, cv=folds[copies]).fit(shop[copies])
    assert trees(model) == trees(copied)
    assert model.cv_score_ == pytest.approx(copied.cv_score_)
    assert len(model.cv_predictions_) == len(shop)
    with pytest.raises(ValueError, match=r"sample_weight contains 0\.5; trees need"):
        RelationalTreeClassifier().fit(shop, sample_weight=weights / 2)


def test_splitters_of_scikit_learn(shop):
    by_number = RelationalTreeClassifier(cv=np.repeat(np.arange(5), 60)).fit(shop)
    for cv in (KFold(5), list(KFold(5).split(np.arange(300))), KFold(5).split(np.arange(300))):
        model = RelationalTreeClassifier(cv=cv).fit(shop)
        assert trees(model) == trees(by_number)
        assert model.forest_.levels == by_number.forest_.levels  # in one run
    regions = shop.constants.numbers[shop.keys[0]] % 6
    grouped = RelationalTreeClassifier(cv=GroupKFold(3)).fit(shop, groups=regions)
    assert [len(np.unique(regions[part])) for part in _held_out(grouped)] == [2, 2, 2]
    with pytest.raises(ValueError, match="cv holds out some examples more than once"):
        RelationalTreeClassifier(cv=RepeatedKFold(n_splits=3, n_repeats=2)).fit(shop)


def _held_out(model):
    validation = model.fit_.validation
    return np.split(validation.rows, validation.row_start[2:-1])


def test_trees_in_the_order_of_time_train_on_what_came_before(shop):
    splits = list(TimeSeriesSplit(3).split(np.arange(300)))
    model = RelationalTreeClassifier(cv=TimeSeriesSplit(3), minimal_cases=4).fit(shop)
    bias = Bias.from_schema(shop)
    for tree, (train, test) in zip(model.cv_trees_, splits, strict=True):
        alone = RelationalTreeClassifier(bias, cv=None, minimal_cases=4).fit(shop[train])
        assert str(alone) == str(tree)
        held_out = model.cv_probabilities_[test]
        assert np.array_equal(alone.predict_proba(shop[test]), held_out)
    rules = RelationalRuleClassifier(cv=TimeSeriesSplit(3)).fit(shop)
    assert len(rules.cv_scores_) == 3


def test_scikit_learn_searches_over_parameters(shop):
    grid = {"minimal_cases": [2, 30], "max_depth": [1, 3], "heuristic": ["gain", "gainratio"]}
    search = GridSearchCV(RelationalTreeClassifier(cv=None), grid, cv=3).fit(shop)
    scores = cross_val_score(clone(search.best_estimator_), shop, cv=3)
    assert search.best_score_ == pytest.approx(scores.mean())
    assert search.best_estimator_.tree_.depth <= 3
    by_f1 = GridSearchCV(RelationalTreeClassifier(cv=None), grid, cv=3, scoring="f1_macro")
    assert by_f1.fit(shop, shop.labels).predict(shop[:3]).shape == (3,)


def test_prediction_intervals_cover():
    numbers = [round(10 * (i % 2) + i / 40, 3) for i in range(40)]
    facts = "".join(f"weight({i},{n}). " + (f"big({i}). " if i % 2 else "") for i, n in enumerate(numbers))
    db = Database.from_prolog(facts, predict="weight(+thing,-number)", regression=True)
    low, high = RelationalTreeRegressor(Bias.of(["big(+T)"]), cv=4).fit(db).predict_interval(db, 0.9).T
    assert np.mean((low <= numbers) & (numbers <= high)) >= 0.9
    assert (high - low).max() < 3  # the two kinds are distinguished


def test_what_a_fit_needs_is_known_before_it_starts(monkeypatch):
    database, bias = bongard("simple", 20)
    with monkeypatch.context() as patched:
        patched.setattr(memory, "NOTABLE", 0)
        patched.setattr(memory, "available", lambda: 100)
        with pytest.raises(MemoryError, match="facts"):
            RelationalTreeClassifier(bias, cv=2).fit(database)
    RelationalTreeClassifier(bias, cv=2).fit(database)


@pytest.mark.parametrize("estimator", [RelationalTreeClassifier, RelationalRuleClassifier])
def test_results_of_cross_validation_are_documented_for_help_and_for_the_site(estimator):
    help_text = pydoc.plain(pydoc.render_doc(estimator))
    listed = estimator.__doc__.split("Attributes\n")[1].split("Examples\n")[0]
    found = {
        name: value for name in dir(estimator) if isinstance(value := getattr(estimator, name), Validated)
    }
    assert "cv_scores_" in found
    for name, value in found.items():
        assert value.__doc__ in help_text
        assert name in listed
