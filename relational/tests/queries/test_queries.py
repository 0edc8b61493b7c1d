"""The query kernel against a naive evaluator on random databases and queries."""

import signal
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosscut_relational import _core
from crosscut_relational.database.database import Database
from crosscut_relational.database.relation import Relation
from crosscut_relational.estimators import RelationalTreeClassifier
from crosscut_relational.language.rule import COMPARISONS, Goal, Rule
from crosscut_relational.queries.queries import CONSTANT, FIXED, VARIABLE, Facts, Queries, bits, members, term
from paper.data import bongard

N_EXAMPLES, N_CONSTANTS = 5, 9  # constants 0..4 are the examples' keys; 3..8 are numbers
NUMBERS = [np.nan, np.nan, np.nan, 3.0, 1.0, 2.5, 1.5, 0.0, 7.0]
ARITIES = {"p": 1, "q": 2, "r": 3, "s": 2}


def database(facts):
    made = Database()
    for i in range(N_CONSTANTS):
        made.constants.intern(f"c{i}" if np.isnan(NUMBERS[i]) else NUMBERS[i])
    made.keys = np.arange(N_EXAMPLES, dtype=np.int32)[None, :]
    for name, arity in ARITIES.items():
        rows = np.array(sorted(facts.get(name, [])), np.int32).reshape(-1, arity)
        made.relations[name, arity] = Relation(name, np.ascontiguousarray(rows.T), (None,) * arity)
    # either(X,Y) :- X < Y.  either(X,Y) :- q(X,Z), \+ q(Z,Y).
    bodies = ((Goal("<", (0, 1)),), (Goal("q", (0, 2)), Goal("q", (2, 1), negated=True)))
    made.rules["either", 2] = Rule("either", 2, bodies, frozenset({0, 1}))
    return made


def holds(db, goal, binding):
    """Whether a goal with all its variables bound is true."""
    values = [~a if a < 0 else binding[a] for a in goal.args]
    if goal.name in COMPARISONS:
        left, right = values
        if goal.name in {"=", "\\="}:
            return (left == right) == (goal.name == "=")
        a, b = NUMBERS[left], NUMBERS[right]
        return bool({"<": a < b, "=<": a <= b, ">": a > b, ">=": a >= b}[goal.name])
    if (goal.name, len(values)) in db.rules:
        return any(
            naive(db, body, dict(enumerate(values))) for body in db.rules[goal.name, len(values)].bodies
        )
    return values in db.relations[goal.name, len(values)].columns.T.tolist()


def naive(db, goals, binding):
    """Whether some assignment to the variables makes all goals true; negated ones have their own."""
    positive = [goal for goal in goals if not goal.negated]
    free = sorted({a for goal in positive for a in goal.args if a >= 0 and a not in binding})
    for values in product(range(N_CONSTANTS), repeat=len(free)):
        full = binding | dict(zip(free, values, strict=True))
        if all(holds(db, goal, full) for goal in positive) and not any(
            naive(db, [Goal(goal.name, goal.args)], full) for goal in goals if goal.negated
        ):
            return True
    return False


facts = st.fixed_dictionaries(
    {
        name: st.sets(st.tuples(*[st.integers(0, N_CONSTANTS - 1)] * arity), max_size=10)
        for name, arity in ARITIES.items()
    }
)


@st.composite
def conjunctions(draw):
    """Goals whose tests come after what binds their variables; variable 0 is the example's key."""
    goals, bound = [], [0]
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from([*ARITIES, *COMPARISONS, "either"]))
        arity = ARITIES.get(name, 2)
        negated = draw(st.integers(0, 4)) == 0
        # new variables of a negated goal are its own: they are bound nowhere else
        new = [] if name not in ARITIES else [max(bound, default=0) + 1 + k for k in range(2)]
        pool = [*bound, *new]
        constants = [~c for c in draw(st.lists(st.integers(0, N_CONSTANTS - 1), min_size=1, max_size=2))]
        args = tuple(draw(st.sampled_from([*pool, *constants])) for _ in range(arity))
        goals.append(Goal(name, args, negated))
        fresh = sorted({a for a in args if a >= 0 and a not in bound})
        bound += [10 + len(goals) * 3 + i for i in range(len(fresh))] if negated else fresh
        if negated:  # numbers that no other goal uses
            renamed = dict(zip(fresh, bound[len(bound) - len(fresh) :], strict=True))
            goals[-1] = Goal(name, tuple(renamed.get(a, a) for a in args), negated)
            bound = bound[: len(bound) - len(fresh)]
    return goals


def dense(goals):
    """The same goals with variables numbered 0, 1, 2, ... (0 stays the key)."""
    numbers = {0: 0}
    for goal in goals:
        for a in goal.args:
            if a >= 0:
                numbers.setdefault(a, len(numbers))
    return [Goal(g.name, tuple(numbers.get(a, a) for a in g.args), g.negated) for g in goals]


@settings(max_examples=150, deadline=None)
@given(
    facts, st.lists(conjunctions(), min_size=1, max_size=4), st.lists(st.booleans(), min_size=5, max_size=5)
)
def test_truth_is_that_of_a_naive_evaluator(given_facts, queries, first):
    db = database(given_facts)
    store = Queries(Facts(db))
    wanted = [dense(goals) for goals in queries]
    numbers = np.array([store.conjunction(goals) for goals in wanted], np.int32)
    expected = [[naive(db, goals, {0: e}) for e in range(N_EXAMPLES)] for goals in wanted]
    # some examples first, then all: what is known is kept, the rest is added
    some = bits(np.array(first))
    partial = store.store.truth(numbers, some)
    for row, truth in zip(partial, expected, strict=True):
        assert members(row, N_EXAMPLES).tolist() == [a and b for a, b in zip(truth, first, strict=True)]
    found = store.store.truth(numbers, store.all_examples)
    assert [members(row, N_EXAMPLES).tolist() for row in found] == expected


@settings(max_examples=60, deadline=None)
@given(facts, conjunctions(), st.randoms(use_true_random=False))
def test_a_component_does_not_depend_on_names_and_order(given_facts, goals, random):
    store = Queries(Facts(database(given_facts)))
    goals = [goal for goal in dense(goals) if goal.name in ARITIES and not goal.negated]
    if not goals:
        return
    shuffled = random.sample(goals, len(goals))
    variables = sorted({a for goal in goals for a in goal.args if a > 0})
    renamed = dict(zip(variables, random.sample(variables, len(variables)), strict=True))
    shuffled = [Goal(g.name, tuple(renamed.get(a, a) for a in g.args)) for g in shuffled]
    assert store.conjunction(goals) == store.conjunction(shuffled)


def test_extending_a_component_gives_its_variables_new_places():
    db = database({"q": {(0, 5), (1, 6)}, "r": {(0, 5, 7)}})
    store = Queries(Facts(db))
    core = store.store
    q, r = (store.facts.predicate(*each) for each in (("q", 2), ("r", 3)))
    _, (base,), _ = core.extend([], [(q, False, [term(FIXED, 0), term(VARIABLE, 0)])], [-1])
    longer = [(r, False, [term(FIXED, 0), term(VARIABLE, 0), term(VARIABLE, 1)])]
    query, parts, places = core.extend([base], longer, [-1])
    assert parts == [query]
    assert sorted(places) == [(0, 0), (0, 1)]
    truth = core.truth(np.array([base, query], np.int32), store.all_examples)
    assert [members(row, N_EXAMPLES).tolist()[:3] for row in truth] == [
        [True, True, False],
        [True, False, False],
    ]


def test_each_pair_is_evaluated_once():
    db = database({"q": {(e, c) for e in range(5) for c in range(5, 8)}})
    store = Queries(Facts(db))
    query = store.conjunction([Goal("q", (0, 1)), Goal("<", (1, ~3))])
    store.truth(query, bits(np.array([True, True, False, False, False])))
    assert store.store.n_evaluations == 2
    store.truth(query, store.all_examples)
    store.truth(query, store.all_examples)
    assert store.store.n_evaluations == 5


def test_literals_that_share_only_the_key_are_separate_components():
    db = database({"q": {(0, 5)}, "s": {(0, 6)}})
    store = Queries(Facts(db))
    store.conjunction([Goal("q", (0, 1)), Goal("s", (0, 2))])
    assert store.store.n_components == 3  # both parts and their conjunction
    store.conjunction([Goal("s", (0, 1))])
    assert store.store.n_components == 3


def test_a_search_that_takes_too_long_is_reported():
    db = database({"q": {(a, b) for a in range(9) for b in range(9) if a != b}})
    goals = [Goal("q", (0, 1)), Goal("q", (1, 2)), Goal("q", (2, 3)), Goal("p", (3,))]
    limited = Queries(Facts(db), step_limit=50)
    query = limited.conjunction(goals)
    assert not limited.truth(query, limited.all_examples).any()
    assert limited.limit_hits == [(query, e) for e in range(N_EXAMPLES)]
    ample = Queries(Facts(db))
    ample.truth(ample.conjunction(goals), ample.all_examples)
    assert ample.limit_hits == []


def test_a_limit_is_one_of_the_query_not_of_its_pack():
    db = database({"q": {(a, b) for a in range(9) for b in range(9)}, "p": {(8,)}})
    cheap = [Goal("q", (0, 1)), Goal("p", (1,))]
    dear = [Goal("q", (0, 1)), Goal("q", (1, 2)), Goal("q", (2, 3)), Goal("r", (3, 3, 3))]
    store = Queries(Facts(db), step_limit=40)
    core = store.store
    literals = [store.facts.literal(goal, 1) for goal in dear]
    _, (base,), _ = core.extend([], literals[:1], [-1])
    both = [
        core.extend([base], literals[1:], [-1, -1])[0],
        core.extend([base], [(store.facts.predicate("p", 1), False, [term(VARIABLE, 0)])], [])[0],
    ]
    truth = core.truth(np.array(both, np.int32), store.all_examples)
    assert [members(row, N_EXAMPLES).all() for row in truth] == [False, True]
    assert {query for query, _ in store.limit_hits} == {both[0]}
    assert store.truth(store.conjunction(cheap), store.all_examples).any()


@pytest.mark.parametrize("limit", [3, 10, 30, 100, 300])
def test_which_queries_take_too_long_does_not_depend_on_the_others(limit):
    rng = np.random.default_rng(limit)
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, 9, (40, 2))}
    facts = {"q": pairs, "p": {(8,)}, "r": {(e, a, b) for e in range(5) for a, b in pairs}}
    chains = [Goal("q", (0, 1)), Goal("q", (1, 2)), Goal("q", (2, 3))]
    ends = [
        Goal("p", (3,)),
        Goal("r", (3, 2, 1)),
        Goal("q", (3, 3)),
        Goal("r", (0, 3, 3)),
        Goal("p", (2,)),
        Goal("<", (3, 1)),
    ]

    def decided(order):
        store = Queries(Facts(database(facts)), step_limit=limit)
        first, *rest = [store.facts.literal(goal, 1) for goal in chains]
        last = [store.facts.literal(goal, 1) for goal in ends]
        _, (base,), _ = store.store.extend([], [first], [-1])
        queries = {n: store.store.extend([base], [*rest, last[n]], [-1, -1])[0] for n in order}
        rows = store.store.truth(np.array(list(queries.values()), np.int32), store.all_examples)
        given_up = set(store.limit_hits)
        return {
            number: (row.tolist(), sorted(example for query, example in given_up if query == queries[number]))
            for number, row in zip(queries, rows, strict=True)
        }

    together = decided(range(len(ends)))
    assert decided(range(len(ends))[::-1]) == together
    for number in range(len(ends)):
        assert decided([number])[number] == together[number]


def test_root_goals_with_one_solution_bind_fixed_variables():
    db = database({"r": {(e, 5 + e % 3, 8) for e in range(5)}, "q": {(5, 8)}})
    facts = Facts(db, [Goal("r", (0, 1, 2))])
    assert facts.fixed.tolist() == [[e, 5 + e % 3, 8] for e in range(5)]
    assert facts.root == ()
    store = Queries(facts)
    assert members(store.truth(store.conjunction([Goal("q", (1, 2))]), store.all_examples), 5).tolist() == [
        True, False, False, True, False,
    ]  # fmt: skip


def test_root_goals_with_several_solutions_stay_goals():
    facts = Facts(database({"q": {(0, 5), (0, 6), (1, 5)}}), [Goal("q", (0, 1))])
    assert facts.fixed.shape == (5, 1)
    assert facts.root == (Goal("q", (0, 1)),)


def test_bad_arguments_raise():
    with pytest.raises(ValueError, match="constants are numbered"):
        _core.FactStore(np.full((2, 1), 7, np.int32), np.zeros(3))
    facts = _core.FactStore(np.zeros((2, 1), np.int32), np.zeros(3))
    with pytest.raises(ValueError, match="constants are numbered"):
        facts.add_relation(np.array([[3]], np.int32))
    relation = facts.add_relation(np.array([[0, 1], [1, 2]], np.int32))
    with pytest.raises(ValueError, match="step_limit"):
        _core.QueryStore(facts, 0, np.arange(2))
    with pytest.raises(ValueError, match="every example once"):
        _core.QueryStore(facts, 10, np.zeros(2, np.int64))
    store = _core.QueryStore(facts, 10, np.arange(2))
    with pytest.raises(ValueError, match="has 2 arguments"):
        store.extend([], [(relation, False, [term(CONSTANT, 0)])], [])
    with pytest.raises(ValueError, match="was not added"):
        store.extend([], [(99, False, [])], [])
    with pytest.raises(ValueError, match="unknown variable"):
        store.extend([], [(relation, False, [term(FIXED, 0), term(VARIABLE, 0)])], [])
    query, _, _ = store.extend([], [(relation, False, [term(FIXED, 0), term(VARIABLE, 0)])], [-1])
    with pytest.raises(ValueError, match="unknown"):
        store.truth(np.array([query + 1], np.int32), np.zeros(1, np.uint64))
    with pytest.raises(ValueError, match="beyond the last example"):
        store.truth(np.array([query], np.int32), np.full(1, 2**63, np.uint64))
    with pytest.raises(ValueError, match="words"):
        store.truth(np.array([query], np.int32), np.zeros(2, np.uint64))
    for digits, width, message in ((np.nan, 9, "digits must"), (2.0**9, 9, "digits must"), (1.0, 52, "room")):
        with pytest.raises(ValueError, match=message):
            store.set_numbers(np.full((2, 3), digits), [(0, width, 1)] * 3, np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="set_language"):
        store.candidates([])
    with pytest.raises(ValueError, match="set_classes"):
        store.grow([-1], [], [], "gain", 2, 1.0, False, -1, [], [], True)


@pytest.mark.parametrize("level", ["avx2", "avx512"])
def test_trees_do_not_depend_on_the_instruction_set(level):
    # more than 255 examples of a class in a fold: counters of a byte have to be emptied on the way
    database, bias = bongard("complex", n=1200, noise=0.2, seed=3)
    before = _core.simd_level()
    try:
        for needed in ("baseline", level):
            _core.set_simd_level(needed)
    except ValueError as missing:
        pytest.skip(str(missing))  # an older machine, or a quick build
    try:
        own = RelationalTreeClassifier(bias, cv=2).fit(database)
        _core.set_simd_level("baseline")
        plain = RelationalTreeClassifier(bias, cv=2).fit(database)
    except ValueError as error:
        pytest.skip(str(error))  # the machine or a quick build lacks the level
    finally:
        _core.set_simd_level(before)
    assert own.forest_.trees == plain.forest_.trees
    root = plain.forest_.trees[0].root
    assert root.statistics == tuple(np.bincount(database.target, minlength=2))


def test_tails_are_kept_per_object_and_tell_examples_apart():
    """The same object in two examples, and two paths to one object: the tail's truth is the example's own."""
    facts = {
        "t": [(1, "a"), (2, "b"), (3, "b")],
        "p": [(1, "x"), (2, "x"), (3, "y")],
        "q": [(1, "x"), (2, "x"), (3, "y")],
        "colour": [(1, "x", "red"), (2, "x", "blue"), (3, "y", "red"), (3, "y", "blue")],
    }
    db = Database.from_facts(facts, predict="t(+k,-c)")
    queries = Queries(Facts(db))

    def examples(first, colour):
        constant = ~db.constants.intern(colour)
        base = [Goal(first, (0, 1))]
        _, parts, _ = queries.store.extend([], [queries.facts.literal(g, 1) for g in base], [-1])
        literal = queries.facts.literal(Goal("colour", (0, 1, constant)), 1)
        query, _, _ = queries.store.extend(parts, [literal], [])
        return members(queries.truth(query, queries.all_examples), 3).tolist()

    assert examples("p", "red") == [True, False, True]
    assert examples("q", "red") == [True, False, True]
    assert examples("q", "blue") == [False, True, True]


def test_ctrl_c_stops_a_search_and_the_next_one_works():
    everything = set(product(range(N_CONSTANTS), repeat=2))
    store = Queries(Facts(database({"q": everything, "p": {(0,)}})), step_limit=10**15)
    endless = store.conjunction([*(Goal("q", (v, v + 1)) for v in range(30)), Goal("<", (30, 30))])

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            store.truth(endless, store.all_examples)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert store.truth(store.conjunction([Goal("p", (0,))]), store.all_examples).any()
