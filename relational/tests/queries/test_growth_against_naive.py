"""The C++ core grows the trees of the plain-Python oracle: same tests, same examples in every node."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crosscut_relational.database.database import Database
from crosscut_relational.estimators import RelationalTreeClassifier
from crosscut_relational.language.bias import Bias
from crosscut_relational.queries.queries import MEMORY, SINGLE_THREAD
from crosscut_relational.queries.resolve import resolve
from paper.data import bongard, molecules

from .naive import grow

TYPES = [
    "shape(k,obj)",
    "in(k,obj,obj)",
    "colour(k,obj,col)",
    "size(k,obj,num)",
    "warm(col)",
    "same(X,X)",
    "low(k,num)",
]
MODES = [
    "shape(+K,+-O)",
    "in(+K,+A,+-B)",
    "in(+K,-A,-B)",
    "colour(+K,+-O,#)",
    "2: colour(+K,+O,-C)",
    "warm(+C)",
    "same(+C,#[red,blue])",
    "same(+C,+D)",
    "size(+K,+O,-S)",
    "+S < #[1,2,3]",
    "(size(+K,-O,S), S >= #[2])",
    "\\+ shape(+K,+O)",
    "\\+ in(+K,+A,-B)",
    "low(+K,#[2,3])",
]
LOOKAHEAD = [("in(K,A,B)", "colour(K,B,#)"), ("colour(K,O,C)", "warm(C)"), ("in(K,A,B)", "in(K,B,+-D)")]
BACKGROUND = "same(X,X). low(K,T) :- size(K,_,V), V < T. warm(red). warm(gold)."


def made(draw_facts, labels, key):
    facts = {"t": [(key, label) for key, label in enumerate(labels)]} | draw_facts
    return Database.from_facts(
        facts, predict=f"t(+{key},-c)", types=TYPES, background=BACKGROUND, classes=["a", "b", "c"]
    )


OBJECTS = st.sampled_from(["o1", "o2", "o3"])
KEYS = st.integers(0, 11)
FACTS = st.fixed_dictionaries(
    {
        "shape": st.lists(st.tuples(KEYS, OBJECTS), max_size=14),
        "in": st.lists(st.tuples(KEYS, OBJECTS, OBJECTS), max_size=16),
        "colour": st.lists(
            st.tuples(KEYS, OBJECTS, st.sampled_from(["red", "blue", "gold"])), min_size=1, max_size=16
        ),
        "size": st.lists(st.tuples(KEYS, OBJECTS, st.integers(0, 4)), min_size=1, max_size=16),
    }
)


def assert_same(node, expected):
    assert tuple(int(count) for count in node.statistics) == expected.counts
    assert node.test == expected.test
    for mine, theirs in zip(node.branches, expected.branches, strict=True):
        assert_same(mine, theirs)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    facts=FACTS,
    labels=st.lists(st.sampled_from("abc"), min_size=12, max_size=12),
    modes=st.lists(st.sampled_from(MODES), min_size=1, max_size=6, unique=True),
    lookahead=st.lists(st.sampled_from(LOOKAHEAD), max_size=2, unique=True),
    key=st.sampled_from(["k", "K"]),  # declared, or bound by its first use
    memory=st.sampled_from([MEMORY, 1 << 20, 1]),  # truth is kept, handed down, or computed at every node
    alone=st.sampled_from([SINGLE_THREAD, 1]),  # one job, or one per node
    n_jobs=st.sampled_from([1, 2, 5]),
    growth=st.fixed_dictionaries(
        {"heuristic": st.sampled_from(["gain", "gainratio"]), "minimal_cases": st.integers(1, 3)}
    ),
)
@pytest.mark.filterwarnings("ignore:a mode uses")
def test_random_databases(*, facts, labels, modes, lookahead, key, memory, alone, n_jobs, growth):
    database = made(facts, labels, key)
    bias = Bias.of(modes, types=TYPES, lookahead=lookahead, **growth)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crosscut_relational.queries.queries.MEMORY", memory)
        patch.setattr("crosscut_relational.queries.queries.SINGLE_THREAD", alone)
        model = RelationalTreeClassifier(bias, cv=None, n_jobs=n_jobs).fit(database)
    assert_same(model.forest_.trees[0].root, grow(database, resolve(bias, database)))


@pytest.mark.parametrize("make", [lambda: bongard("complex", n=60, seed=2), lambda: molecules(25, seed=1)])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_generated_data_with_folds(make, n_jobs, monkeypatch):
    database, bias = make()
    monkeypatch.setattr("crosscut_relational.queries.queries.SINGLE_THREAD", 8 // n_jobs)
    model = RelationalTreeClassifier(bias, cv=np.arange(database.n_examples) % 3, n_jobs=n_jobs).fit(database)
    language = resolve(bias, database)
    assert_same(model.forest_.trees[0].root, grow(database, language))
    for fold in range(3):
        rest = [example for example in range(database.n_examples) if example % 3 != fold]
        assert_same(model.forest_.trees[fold + 1].root, grow(database, language, rest))
