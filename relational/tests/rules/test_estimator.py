import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from crosscut.engines.progress import watching
from crosscut.rules import search
from crosscut.rules.cn2 import Quality
from crosscut.rules.examples import bits_of
from crosscut.rules.learning import Learning
from crosscut.rules.rule_set import Rule, RuleSet
from crosscut_relational import Bias, Database, RelationalRuleClassifier
from crosscut_relational.language.rule import Goal
from crosscut_relational.queries.queries import Facts, Queries
from crosscut_relational.queries.resolve import cuts_of_tasks, resolve
from crosscut_relational.rules.examples import RelationalExamples
from crosscut_relational.training_set import StepLimitWarning
from paper.data import molecules


@pytest.fixture(scope="module")
def shop():
    return Database.from_folder(Path(__file__).parents[3] / "examples" / "shop", target="customer.churned")


@pytest.mark.parametrize(
    "learning",
    [
        Learning("ripper", passes=1),
        Learning("cn2", min_rows=5.0, width=3, max_length=3),
        Learning("cn2", quality=Quality("entropy"), min_rows=5.0, width=2, max_length=2),
        Learning("cn2", False, Quality("wracc"), width=2, max_length=2),
    ],
)
def test_rules_learnt_together_are_those_learnt_alone(shop, learning):
    language = resolve(Bias.from_schema(shop, max_thresholds=4), shop)

    folds = np.arange(shop.n_examples) % 5

    def learn(left_out):
        examples = RelationalExamples(Queries(Facts.of(shop, language), language))
        tasks = [bits_of(folds != fold) for fold in left_out]
        sets = learning.rule_sets(examples, tasks)
        return sets, examples.queries.store.n_evaluations

    tasks = [-1, 0, 1, 2, 3, 4]
    together, alone = learn(tasks), [learn([task]) for task in tasks]
    assert together[0] == tuple(rules for sets, _ in alone for rules in sets)
    assert together[1] * 2 < sum(evaluations for _, evaluations in alone)
    assert len(together[0][0]) >= 1


@pytest.mark.parametrize("strategy", ["ripper", "cn2"])
def test_rules_find_the_concept_of_the_shop(shop, strategy):
    bias = Bias.of(
        [
            "customer(+C,_,#)",
            "(purchase(+C,-P,_,Amount,#[yes]), Amount > #[40,80,120])",
            "\\+ purchase(+C,_,#[grocery],_,_)",
        ]
    )
    model = RelationalRuleClassifier(bias, strategy=strategy, min_coverage=5).fit(shop)
    assert model.cv_score_ > 0.9
    assert model.score(shop) > 0.9
    assert len(model.cv_rules_) == 10


def test_predictions_follow_the_rules(shop):
    model = RelationalRuleClassifier(Bias.from_schema(shop, max_thresholds=4), cv=4).fit(shop)
    totals = np.array([rule.totals for rule in (*model.rules_.rules, model.rules_.default)])
    right = totals.max(axis=1).sum() / totals.sum()
    assert model.score(shop) == pytest.approx(right)
    assert model.predict_proba(shop).sum(axis=1) == pytest.approx(np.ones(shop.n_examples))
    with pytest.raises(ValueError, match="to_prolog cannot write values and summaries"):
        model.to_prolog()
    assert "out of fold" in model.to_text()


def test_rules_that_vote(shop):
    model = RelationalRuleClassifier(
        Bias.from_schema(shop, max_thresholds=4),
        strategy="cn2",
        ordered=False,
        measure="wracc",
        max_length=2,
        significance=0.01,
        cv=4,
    ).fit(shop)
    assert {rule.code for rule in model.rules_.rules} == {0, 1}
    whole = np.array(shop.classes, object)[np.asarray(shop.target)]
    assert model.score(shop) == np.mean(model.predict(shop) == whole) > 0.7
    # the covered examples of each rule add their classes up
    modes, _ = cuts_of_tasks(model.bias, shop, [np.ones(shop.n_examples, bool)])
    facts = Facts.of(shop, resolve(model.bias, shop, modes))
    examples = RelationalExamples(Queries(facts, resolve(model.bias, shop)))
    votes = np.zeros((shop.n_examples, 2))
    for rule in model.rules_.rules:
        votes[examples.flags(examples.truth(rule.conditions))] += rule.totals
    votes[votes.sum(axis=1) == 0] = model.rules_.default.totals
    assert model.predict_proba(shop) == pytest.approx(votes / votes.sum(axis=1, keepdims=True))


def test_a_rule_shares_variables_between_conditions():
    facts = "".join(
        f"{'class'}({i},{'pos' if i % 4 == 3 else 'neg'}). part({i},a{i}). part({i},b{i}). "
        + (f"red(a{i}). " if i % 2 else "")
        + (f"big({'a' if i % 4 == 3 else 'b'}{i}). " if i % 4 in {1, 3} else "")
        for i in range(40)
    )
    database = Database.from_prolog(facts, predict="class(+thing,-label)")
    bias = Bias.of(["part(+T,-P)", "(part(+T,-P), red(P))", "big(+P)"])
    model = RelationalRuleClassifier(bias, strategy="cn2", cv=4).fit(database)
    assert model.cv_score_ == 1
    assert "pos" in model.to_text()


def test_a_database_without_classes_is_refused():
    database = Database.from_prolog("weight(1,2.0). weight(2,3.0).", predict="weight(+t,-n)", regression=True)
    with pytest.raises(ValueError, match="the target has numbers"):
        RelationalRuleClassifier(cv=None).fit(database)


def test_long_lists_are_used_and_printed():
    """Longer than Python's recursion limit: a rule per example."""
    n = 1500
    facts = {"t": [(i, f"c{i % 2}") for i in range(n)], "p": [(i, f"v{i}") for i in range(n)]}
    database = Database.from_facts(facts, predict="t(+k,-c)")
    model = RelationalRuleClassifier(Bias.of(["p(+K,#)"]), cv=None)
    goals = [Goal("p", (0, ~database.constants.intern(f"v{i}"))) for i in range(n)]
    model.fit(Database.from_facts({"t": [(0, "c0"), (1, "c1")], "p": [(0, "v0")]}, predict="t(+k,-c)"))
    rules = tuple(Rule(((goal,),), (1.0, 0.0) if i % 2 == 0 else (0.0, 1.0)) for i, goal in enumerate(goals))
    schema = replace(model.fit_.schema, constants=database.constants)
    model.fit_ = replace(model.fit_, schema=schema, forest=(RuleSet(rules, Rule((), (1.0, 2.0))),))
    assert model.score(database) == 1.0
    assert len(model.to_prolog().splitlines()) == 2 * n + 2


def test_the_key_comes_first_in_the_alphabet():
    facts = {"t": [(i, "ab"[i % 2]) for i in range(12)], "size": [(i, float(i % 2)) for i in range(12)]}
    database = Database.from_facts(facts, predict="t(+k,-c)")
    model = RelationalRuleClassifier(Bias.of(["(size(+K,S), S > #[0.5])"]), strategy="cn2", cv=3).fit(
        database
    )
    assert "if size(A,B), B>0.5 then b" in model.to_text()
    assert "t(A,[b]) :- size(A,B),B>0.5, !." in model.to_prolog()


def test_other_databases_need_not_know_the_constants():
    facts = {"t": [(i, "ab"[i % 2]) for i in range(12)], "p": [(i, ["x", "y"][i % 2]) for i in range(12)]}
    known = Database.from_facts(facts, predict="t(+k,-c)")
    model = RelationalRuleClassifier(Bias.of(["p(+K,#)"]), strategy="cn2", cv=None).fit(known)
    other = Database.from_facts({"t": [(0, "a"), (1, "a")], "p": [(0, "z"), (1, "x")]}, predict="t(+k,-c)")
    assert list(model.predict(other)) == [model.classes_[model.rules_.default.code], "a"]


def test_queries_that_are_cut_off_are_reported():
    database, bias = molecules(n=30)
    with pytest.warns(StepLimitWarning, match=r"step_limit=20 steps .* the first is ") as told:
        RelationalRuleClassifier(bias, cv=None, step_limit=20).fit(database)
    assert told[0].filename == __file__


@pytest.mark.parametrize("choice", [{}, {"ordered": False, "measure": "wracc"}, {"measure": "entropy"}])
def test_whole_weights_are_copies(shop, choice):
    amounts = "purchase(+C,-P,_,Amount,_), Amount > #[20,40,60,80,100,120]"
    bias = Bias.of(["customer(+C,#,_)", "customer(+C,_,#)", f"({amounts})", "purchase(_,+P,#,_,_)"])
    weights = np.arange(shop.n_examples) % 4
    copies, folds = np.repeat(np.arange(shop.n_examples), weights), np.arange(shop.n_examples) // 2 % 3
    model = RelationalRuleClassifier(bias, strategy="cn2", max_length=2, beam_width=3, **choice)
    weighted = clone(model).set_params(cv=folds).fit(shop, sample_weight=weights)
    copied = clone(model).set_params(cv=folds[copies]).fit(shop[copies])
    assert weighted.rules_ == copied.rules_
    assert weighted.cv_rules_ == copied.cv_rules_
    assert weighted.cv_score_ == copied.cv_score_ != clone(model).set_params(cv=folds).fit(shop).cv_score_
    assert weighted.cv_predictions_[copies].tolist() == copied.cv_predictions_.tolist()
    precision = pytest.approx(np.array(copied.rule_precision_), nan_ok=True)
    assert np.array(weighted.rule_precision_) == precision
    assert weighted.score(shop, sample_weight=weights) == pytest.approx(copied.score(shop[copies]))


@pytest.mark.parametrize("strategy", ["ripper", "cn2"])
def test_only_the_ratios_of_weights_matter(shop, strategy):
    bias = Bias.from_schema(shop, max_thresholds=2, max_aggregates=0)
    model = RelationalRuleClassifier(bias, strategy=strategy, max_length=2, significance=0.1, cv=3)
    for weights in np.ones(shop.n_examples), np.random.default_rng(0).random(shop.n_examples):
        one, scaled = (clone(model).fit(shop, sample_weight=weights * by) for by in (1.0, 0.1))
        assert [rule.conditions for rule in one.rules_.rules] == [r.conditions for r in scaled.rules_.rules]
        assert one.cv_score_ == pytest.approx(scaled.cv_score_)


def test_weights_must_fit_the_examples(shop):
    with pytest.raises(ValueError, match="sample_weight"):
        RelationalRuleClassifier(cv=None).fit(shop, sample_weight=[1, 2])
    with pytest.raises(ValueError, match="negative"):
        RelationalRuleClassifier(cv=None).fit(shop, sample_weight=np.full(shop.n_examples, -1))


@pytest.mark.parametrize("choice", [{}, {"strategy": "cn2"}, {"strategy": "cn2", "ordered": False}])
def test_learning_tells_how_far_it_is(shop, choice, monkeypatch):
    ticks = itertools.count(1.0, 0.2)
    monkeypatch.setattr(search.time, "monotonic", lambda: next(ticks))
    told = []
    with watching(told.append):
        RelationalRuleClassifier(Bias.from_schema(shop, max_thresholds=2), max_length=2, cv=3, **choice).fit(
            shop
        )
    assert told == sorted(told)
    assert len({*told}) > 3
    assert (told[0], told[-1]) == (0.0, 1.0)


def test_whoever_watches_may_stop_the_learning(shop):
    def stop(share):
        raise KeyboardInterrupt

    model = RelationalRuleClassifier(Bias.from_schema(shop, max_thresholds=2))
    with pytest.raises(KeyboardInterrupt), watching(stop):
        model.fit(shop)
    assert not hasattr(model, "fit_")
