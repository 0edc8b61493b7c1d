"""All trees in one run are those grown one by one, and TILDE's where its output is known."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut.forest.pruning_table import additional_errors
from crosscut_relational import datasets
from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier
from crosscut_relational.language.bias import Bias
from crosscut_relational.queries.growth import Grower
from crosscut_relational.queries.prediction import leaf_numbers
from crosscut_relational.queries.queries import Facts
from crosscut_relational.queries.resolve import resolve
from crosscut_relational.training_set import RelationalSet
from paper.data import asm, bongard, machines, molecules
from tests.machines import ESTIMATED_ERRORS, FORMS, PROGRAMS, TREES, write_machines


def grower(database, bias, cv=10):
    language = resolve(bias, database)
    examples = np.arange(database.n_examples, dtype=np.int32)
    folds = np.full_like(examples, -1) if cv is None else examples % cv
    return Grower(Facts.of(database, language), language, folds)


def assert_same(forest, other):
    assert forest.trees == other.trees
    assert forest.pruned == other.pruned
    assert np.array_equal(forest.held_out, other.held_out, equal_nan=True)
    assert forest.held_out_leaves.tolist() == other.held_out_leaves.tolist()


@pytest.mark.parametrize("form", FORMS)
def test_the_tree_is_the_one_tilde_printed(tmp_path, form):
    prefix = write_machines(tmp_path, form)
    model = RelationalTreeClassifier(Bias.from_ace(prefix), cv=None).fit(Database.from_ace(prefix))
    assert [line.rstrip() for line in str(model).splitlines()] == TREES[form].splitlines()
    assert all(correct == covered for _, correct, covered in model.tree_.leaves())
    assert (model.tree_.n_nodes, model.tree_.n_literals) == (2, 2)
    estimated = sum(n - correct + additional_errors(n, n - correct) for _, correct, n in model.tree_.leaves())
    assert estimated == pytest.approx(ESTIMATED_ERRORS, abs=1e-12)
    clauses, ours = (
        [line.strip().replace("[", "").replace("]", "") for line in text.splitlines() if ":-" in line]
        for text in (PROGRAMS[form], model.to_prolog())
    )
    assert ours == clauses


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (machines, {}),
        (bongard, {"theory": "simple", "n": 200}),
        (bongard, {"theory": "complex", "n": 200, "noise": 0.1}),
        (molecules, {"n": 60}),
        (asm, {"n": 150}),
        (asm, {"n": 150, "linked": True}),
    ],
)
def test_generated_data_give_the_same_trees_in_one_run_and_one_by_one(make, arguments):
    growing = grower(*make(**arguments))
    together = growing.grow()
    for sharing in ("paper", "serial", "uncached"):
        assert_same(together, growing.grow(sharing))


BIAS = ["p(+K,-X)", "q(+K,+X,+-Y)", "r(+X)", "+X = #[c0,c1]", "\\+ r(+X)"]
TYPES = ["p(key,thing)", "q(key,thing,thing)", "r(thing)", "thing = thing"]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["gain", "gainratio", "gini", "variance"]),
    st.integers(1, 3),
    st.booleans(),
)
def test_random_databases_give_the_same_trees(seed, heuristic, minimal_cases, limited):
    random = np.random.default_rng(seed)
    regression = heuristic == "variance"
    text = [
        f"t({e},{random.integers(0, 9) if regression else random.choice(list('abc'))})." for e in range(24)
    ]
    text += [f"p({random.integers(24)},c{random.integers(4)})." for _ in range(40)]
    text += [f"q({random.integers(24)},c{random.integers(4)},c{random.integers(4)})." for _ in range(40)]
    text += [f"r(c{i})." for i in range(2)]
    database = Database.from_prolog(
        "\n".join(text), predict="t(+key,-value)", types=TYPES[:3], regression=regression
    )
    modes = [f"1: {BIAS[0]}", *BIAS[1:]] if limited else BIAS
    bias = Bias.of(
        modes, types=TYPES, heuristic=heuristic, minimal_cases=minimal_cases, regression=regression, ftest=0.5
    )
    growing = grower(database, bias, 6)
    together = growing.grow()
    for sharing in ("paper", "serial", "uncached"):
        assert_same(together, growing.grow(sharing))
    for tree in together.trees:
        for node in tree.root.walk():
            sizes = [
                branch.statistics[0] if regression else sum(branch.statistics) for branch in node.branches
            ]
            assert all(size >= minimal_cases for size in sizes)
            assert sum(sizes) in {0, node.statistics[0] if regression else sum(node.statistics)}


def test_a_mode_is_used_as_often_as_it_may_be_on_a_path():
    database, _ = bongard("complex", n=150)
    types = ["triangle(pic,obj)", "in(pic,obj,obj)"]
    for uses in (1, 2):
        bias = Bias.of(
            [f"{uses}: triangle(+P,-S)", "in(+P,+S,-T)"], types=types, pruning="none", minimal_cases=1
        )
        forest = grower(database, bias, None).grow()

        def deepest(node, used=0):
            used_here = used + any(goal.name == "triangle" for goal in node.test)
            return max([used, *(deepest(b, used_here if b is node.yes else used) for b in node.branches)])

        assert deepest(forest.trees[0].root) <= uses


def test_the_first_of_equal_tests_is_taken():
    facts = "c(1,a). c(2,a). c(3,b). c(4,b). " + "".join(f"p({e}). q({e}). " for e in (1, 2))
    database = Database.from_prolog(facts, predict="c(+k,-v)")
    for modes in (["p(+K)", "q(+K)"], ["q(+K)", "p(+K)"]):
        tree = grower(database, Bias.of(modes), None).grow().trees[0]
        assert tree.root.test[0].name == modes[0][0]


def test_a_shorter_test_is_preferred_to_an_earlier_one():
    facts = "c(1,a). c(2,a). c(3,b). c(4,b). " + "".join(f"p({e},x). q({e}). " for e in (1, 2))
    database = Database.from_prolog(facts, predict="c(+k,-v)")
    tree = grower(database, Bias.of(["(p(+K,-X), q(+K))", "q(+K)"]), None).grow().trees[0]
    assert [goal.name for goal in tree.root.test] == ["q"]


def test_regression_splits_only_what_is_significant():
    facts = "".join(
        f"y({e},{e % 2 + e / 100}). " + (f"odd({e}). " if e % 2 else "") + (f"low({e}). " if e < 10 else "")
        for e in range(20)
    )
    database = Database.from_prolog(facts, predict="y(+k,-v)", regression=True)
    strict = Bias.of(["odd(+K)", "low(+K)"], regression=True, ftest=1e-30)
    tree = grower(database, strict.with_settings(ftest=0.05), None).grow().trees[0]
    assert tree.root.test[0].name == "odd"
    assert tree.root.yes.statistics[:2] == pytest.approx((10, 1.1))
    within = sum((e % 2 + e / 100 - 1.1) ** 2 for e in range(1, 20, 2))
    assert tree.root.yes.statistics[2] == pytest.approx(within)
    assert grower(database, strict, None).grow().trees[0].n_nodes == 0


def test_max_depth_and_minimal_cases_limit_the_tree():
    database, bias = bongard("complex", n=200)
    shallow = grower(database, bias.with_settings(max_depth=2), None).grow().trees[0]
    assert shallow.depth == 2
    large = grower(database, bias.with_settings(minimal_cases=30), None).grow().trees[0]
    assert min(sum(leaf.statistics) for leaf in large.root.leaves()) >= 30


def test_what_growing_did_is_counted():
    growing = grower(*machines())
    forest = growing.grow()
    assert [level.f for level in forest.levels] == [1.0, 1.0]
    assert forest.levels[0].bundles == 1
    assert forest.levels[0].nodes == 11
    apart = growing.grow("serial")
    assert apart.levels[0].bundles == apart.levels[0].nodes == 11


def test_growing_asks_for_a_known_way_of_sharing():
    with pytest.raises(ValueError, match="parallel, paper, serial, uncached"):
        grower(*machines()).grow("both")


@pytest.mark.parametrize(("declared", "both"), [("same(X,X)", False), ("same(_,_)", True)])
def test_a_type_variable_is_bound_by_its_first_use_on_a_path(declared, both):
    facts = {"t": [], "p": [], "q": []}
    for key, (p, p_same, q, q_same) in enumerate(product([0, 1], repeat=4)):
        for copy in (2 * key, 2 * key + 1):
            facts["t"].append((copy, "a" if p and p_same and q and q_same else "b"))
            facts["p"] += [(copy, "red", "red" if p_same else "blue")] * p
            facts["q"] += [(copy, 1, 1 if q_same else 2)] * q
    types = ["p(k,col,col)", "q(k,num,num)", declared]
    database = Database.from_facts(facts, predict="t(+k,-c)", types=types, background="same(X,X).")
    bias = Bias.of(
        ["p(+K,-A,-B)", "q(+K,-A,-B)", "same(+A,+B)"], types=types, pruning="none", heuristic="gain"
    )
    tree = RelationalTreeClassifier(bias, cv=None).fit(database).tree_
    clauses = [line for line in tree.to_prolog().splitlines() if ":-" in line]
    assert any(clause.count("same(") == 2 for clause in clauses) == both
    assert any(clause.count("same(") == 1 for clause in clauses)


def test_arguments_of_one_type_variable_are_of_one_type():
    facts = {
        "t": [(key, "ab"[key % 2]) for key in range(8)],
        "p": [(key, "x") for key in range(8)],
        "q": [(key, "x" if key % 2 else "y") for key in range(8)],
    }
    for second, expected in (("left", 1), ("right", 0)):
        types = ["p(k,left)", f"q(k,{second})", "same(X,X)"]
        database = Database.from_facts(facts, predict="t(+k,-c)", types=types, background="same(X,X).")
        bias = Bias.of(
            ["p(+K,-A)", "(p(+K,-A), q(+K,-B))", "same(+A,+B)"], types=types, exhaustive_lookahead=1
        )
        assert RelationalTreeClassifier(bias, cv=None).fit(database).tree_.n_nodes == expected


@pytest.mark.parametrize(("minimal_cases", "looked_at"), [(1, 4), (2, 2)])
def test_what_follows_a_test_is_looked_at_where_the_test_may_be_chosen(minimal_cases, looked_at):
    facts = "c(1,a). c(2,a). c(3,b). c(4,b). p(1,x). q(1,x,u). r(2)."
    database = Database.from_prolog(facts, predict="c(+k,-v)")
    bias = Bias.of(
        ["p(+K,-X)", "r(+K)"], lookahead=[("p(K,X)", "q(K,X,#[u,v])")], minimal_cases=minimal_cases
    )
    assert grower(database, bias, None).grow().levels[0].candidates == looked_at


def test_lookahead_of_several_steps_gives_the_same_trees_in_one_run_and_one_by_one():
    database, bias = molecules(40, seed=3)
    for more in ({"max_lookahead": 2}, {"exhaustive_lookahead": 1}):
        growing = grower(database, bias.with_settings(**more, max_depth=3), 4)
        together = growing.grow()
        for sharing in ("paper", "serial", "uncached"):
            assert_same(growing.grow(sharing), together)


def ace_tree(folder, facts, settings):
    (folder / "app.kb").write_text(facts)
    (folder / "app.s").write_text(settings)
    model = RelationalTreeClassifier(Bias.from_ace(folder / "app"), cv=None).fit(
        Database.from_ace(folder / "app")
    )
    return [line.rstrip() for line in str(model).splitlines()]


def test_a_key_without_type_has_that_of_its_first_use(tmp_path):
    facts = "t(1,pos). t(2,neg). t(3,pos). t(4,neg). edge(1,a). edge(3,b). edge(2,c). red(a). red(b). red(4)."
    settings = "predict(t(+K,-c)). minimal_cases(1). pruning(none). warmode(edge(+n,-m)). warmode(red(+m))."
    assert ace_tree(tmp_path, facts, settings) == [
        "t(-A,-B)",
        "edge(A,-C) ?",
        "+--yes: red(C) ?",  # and not red(A): A is an n here
        "|       +--yes: [pos] 2.0 [[pos:2.0,neg:0.0]]",
        "|       +--no:  [neg] 1.0 [[pos:0.0,neg:1.0]]",
        "+--no:  [neg] 1.0 [[pos:0.0,neg:1.0]]",
    ]


@pytest.mark.parametrize(("first", "classes"), [("pos", ""), ("neg", ""), ("neg", "classes([neg,pos])."),
                                                ("pos", "classes([neg,pos]).")])  # fmt: skip
def test_of_classes_that_tie_ace_predicts_the_last(tmp_path, first, classes):
    second = {"pos": "neg", "neg": "pos"}[first]
    facts = f"t(1,{first}). t(2,{second}). p(1)."
    order = ["neg", "pos"] if classes else [first, second]
    settings = f"predict(t(+k,-c)). {classes} rmode(p(+K))."
    assert ace_tree(tmp_path, facts, settings)[1] == f"[{order[1]}] 2.0 [[{order[0]}:1.0,{order[1]}:1.0]]"
    database = Database.from_prolog(facts, predict="t(+k,-c)")
    model = RelationalTreeClassifier(Bias.of(["p(+K)"]), cv=None).fit(database)
    assert model.predict(database).tolist() == ["neg", "neg"]  # otherwise the first, here in sorted order


def test_trees_do_not_depend_on_the_memory_for_truth(monkeypatch):
    database, bias = molecules(seed=2)
    ample = RelationalTreeClassifier(bias, cv=3).fit(database)
    monkeypatch.setattr("crosscut_relational.queries.queries.MEMORY", 20_000)
    tight = RelationalTreeClassifier(bias, cv=3).fit(database)
    assert tight.forest_.trees == ample.forest_.trees
    assert tight.cv_predictions_.tolist() == ample.cv_predictions_.tolist()
    assert tight.forest_.n_evaluations > ample.forest_.n_evaluations


def test_what_a_node_evaluated_is_handed_down(monkeypatch):
    monkeypatch.setattr("crosscut_relational.queries.queries.MEMORY", 1 << 20)  # too little to keep it
    database = Database.from_tables(datasets.shop(60, purchases=4, seed=1), target="customer.churned")
    bias = Bias.from_schema(database, pruning="none", minimal_cases=2)
    model = RelationalTreeClassifier(bias, cv=3, sharing="serial").fit(database)
    again = RelationalTreeClassifier(bias, cv=3, sharing="uncached").fit(database)
    assert again.forest_.trees == model.forest_.trees
    assert again.forest_.n_evaluations > 1.5 * model.forest_.n_evaluations


def test_truth_that_is_forgotten_while_examples_are_routed_changes_nothing():
    """Rows of truth of this number of examples and tests exceed what is kept."""
    tables = datasets.shop(20_000, purchases=3, noise=0.5)
    database = Database.from_tables(tables, target="customer.churned")
    bias = Bias.from_schema(database, pruning="none", minimal_cases=1, max_aggregates=0, depth_of_links=0)
    data = RelationalSet.read(database, bias, 2)
    grown, leaves = data.grow("parallel", 10**6, 1)
    rows_and_sets = 2 * 20_000 / 8 * sum(tree.n_nodes for tree in grown.trees[1:])
    assert rows_and_sets > 1 << 25
    held_out = data.tasks.test_rows(1)
    numbers = leaf_numbers(grown.trees[1], database[held_out], step_limit=10**6)
    expected = [number for number, node in enumerate(grown.trees[1].root.walk()) if node.is_leaf]
    assert np.array(expected)[numbers].tolist() == leaves[: len(held_out)].tolist()
