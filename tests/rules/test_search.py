"""The core's search against plain Python."""

import math
from contextlib import suppress
from functools import reduce
from operator import add

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crosscut import _core
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.rules.examples import TableRows, bits_of
from crosscut.rules.search import Request, Settings

from .problems import problems


def all_conditions(examples, rows):
    """Every condition about some rows, as (feature, operator, rank) with the rows that meet it."""
    member = examples.members(rows)
    for f in range(examples.table.n_columns):
        ranks, n_values = examples.table.ranks[f], examples.table.n_values[f]
        present = [r for r in np.unique(ranks[member]) if r < n_values]
        for rank in present:
            if examples.table.kinds[f] == "nominal":
                yield (f, 2, int(rank)), [i for i in member if ranks[i] == rank]
                yield (f, 3, int(rank)), [i for i in member if ranks[i] not in {rank, n_values}]
                continue
            yield (f, 0, int(rank)), [i for i in member if ranks[i] <= rank]
            yield (f, 1, int(rank)), [i for i in member if rank < ranks[i] < n_values]


def in_order(numbers):
    """Their sum as the core rounds it; `sum` of Python 3.12 and later rounds in another way."""
    return reduce(add, numbers, 0.0)


def quality(kind, n, counts, request):
    if kind == "entropy":
        return (in_order(c * math.log2(c) for c in counts if c) - n * math.log2(n)) / n
    codes = range(len(counts)) if request.target < 0 else [request.target]
    if kind == "foil":
        p, whole = counts[request.target], request.a  # the classes before
        return p * (math.log2(p / n) - math.log2(whole[request.target] / sum(whole)))
    if kind == "ratio":
        return max((counts[c] + request.a[c]) / (n + request.b) for c in codes)
    return max(counts[c] - n * request.a[c] for c in codes)


def best_condition(examples, request, kind):
    """The best single condition, if it is better than none."""
    whole = examples.class_totals(request.rows)
    if kind == "foil":
        request = request._replace(a=whole)
    best = (0.0 if kind == "foil" else quality(kind, sum(whole), whole, request), 0, ())
    chosen = None
    for key, rows in all_conditions(examples, request.rows):
        counts = examples.class_totals(sum(1 << int(i) for i in rows))
        n = sum(counts)
        if (
            not 0 < n < sum(whole)
            or n < request.least
            or (request.target >= 0 and not counts[request.target])
        ):
            continue
        rank = (quality(kind, n, counts, request), n, tuple(-k for k in key))
        if rank[0] > best[0] or (chosen is not None and rank > best):
            best, chosen = rank, key
    return chosen


def requested(examples, task, *, target, kind, least, significance=0.0):
    """Request a rule; what is measured in weights is so in units of the task."""
    k, unit = examples.n_classes, examples.unit(task)
    a, b = ((unit,) * k, unit * k) if kind == "ratio" else ((0.25,) * k, 0.0)
    return Request(task, target, a, b, least * unit, significance * unit)


@given(
    problems(90),
    st.sampled_from(["ratio", "linear", "entropy", "foil"]),
    st.booleans(),
    st.sampled_from([1.0, 3.0]),
)
@settings(max_examples=150, deadline=None)
def test_the_first_condition_is_the_best_of_all(problem, kind, one_class, least):
    examples, tasks = problem
    target = 0 if (one_class and kind != "entropy") or kind == "foil" else -1
    requests = [
        requested(examples, task, target=target, kind=kind, least=least)
        for task in tasks
        if kind != "foil" or task & examples.of_class[0]
    ]
    assume(requests)
    greedy, width = (True, 1) if kind == "foil" else (False, 3)
    answers = examples.search(requests, Settings(kind, greedy, width, 1, unequal=True))
    for request, answer in zip(requests, answers, strict=True):
        chosen = best_condition(examples, request, kind)
        if chosen is None:
            assert answer == ()
            continue
        (condition,) = answer
        expected = {tuple(rows) for key, rows in all_conditions(examples, request.rows) if key == chosen}
        found = tuple(examples.members(examples.truth([condition]) & request.rows))
        assert expected == {found}
        assert (condition.feature, ["<=", ">", "=", "!="].index(condition.operator)) == chosen[:2]


def extensions(examples, request, rows, asked):
    """The best conditions to add to a rule of some rows: (-quality, -weight, key, rows they leave)."""
    whole = sum(examples.class_totals(rows))
    found = []
    for key, members in all_conditions(examples, rows):
        left = sum(1 << int(i) for i in members)
        counts = examples.class_totals(left)
        n = sum(counts)
        if 0 < n < whole and n >= request.least and (request.target < 0 or counts[request.target]):
            found.append((-quality(asked.kind, n, counts, request), -n, key, left))
    distinct = []
    for one in sorted(found):
        (feature, operator, _), left = one[2:]
        cut = operator < 2  # of the cuts of a feature the best of each side counts
        if not any(
            feature == other[0] and (operator == other[1] if cut else left == rows)
            for _, _, other, rows in distinct
        ):
            distinct.append(one)
    return distinct[: asked.width]


def plain_beam(examples, request, asked):
    """Beam search as it is defined: nothing is skipped."""
    k = range(examples.n_classes)

    def is_open(rows, length):
        counts = examples.class_totals(rows)
        own = max(counts) if request.target < 0 else counts[request.target]
        if not 0 < own < sum(counts) or (asked.max_length is not None and length >= asked.max_length):
            return False
        if asked.kind == "entropy":
            return True
        codes = k if request.target < 0 else [request.target]
        possible = (  # to cover a class and nothing else but what has to be covered
            quality(
                asked.kind,
                max(counts[c], request.least),
                [counts[c] if d == c else 0.0 for d in k],
                request._replace(target=c),
            )
            for c in codes
        )
        return max(possible) >= best[0]

    def is_significant(rows):
        before, counts = examples.class_totals(request.rows), examples.class_totals(rows)
        if request.target >= 0:
            before, counts = (
                [one[request.target], sum(one) - one[request.target]] for one in (before, counts)
            )
        share = sum(counts) / sum(before)
        ratio = in_order(c * math.log(c / (share * b)) for c, b in zip(counts, before, strict=True) if c)
        return request.significance <= 0 or 2 * ratio >= request.significance

    whole = [examples.class_totals(request.rows)[c] for c in k]
    best = (quality(asked.kind, sum(whole), whole, request), sum(whole), ())
    states = [((), request.rows)] if is_open(request.rows, 0) else []
    while states:
        found = [
            (value, n, [*path, (key, left)])
            for path, rows in states
            for value, n, key, left in extensions(examples, request, rows, asked)
        ]
        kept = []
        for one in sorted(found, key=lambda one: one[:2]):  # stable: then the earlier state
            if len(kept) < asked.width and all(one[2][-1][1] != other[2][-1][1] for other in kept):
                kept.append(one)
        for value, n, path in kept:
            better = -value > best[0] or (-value == best[0] and -n > best[1] and best[2])
            if better and is_significant(path[-1][1]):
                best = (-value, -n, path)
        states = [(path, path[-1][1]) for _, _, path in kept if is_open(path[-1][1], len(path))]
    return best[2]


@given(
    problems(70),
    st.builds(
        Settings,
        kind=st.sampled_from(["ratio", "linear", "entropy"]),
        width=st.integers(1, 4),
        max_length=st.sampled_from([1, 2, 3, None]),
        unequal=st.just(value=True),
    ),
    st.fixed_dictionaries(
        {"least": st.sampled_from([1.0, 3.0]), "significance": st.sampled_from([0.0, 0.0, 3.8])}
    ),
    st.sampled_from([-1, 0]),
    st.sampled_from(["baseline", "avx2", "avx512"]),
)
@settings(max_examples=150, deadline=None)
def test_searches_together_find_what_a_plain_beam_finds(problem, asked, least, target, level):
    examples, tasks = problem
    assume(target < 0 or asked.kind != "entropy")
    requests = [requested(examples, task, target=target, kind=asked.kind, **least) for task in tasks]
    before = _core.simd_level()
    try:
        with suppress(ValueError):  # a machine that lacks it
            _core.set_simd_level(level)
        answers = examples.search(requests, asked)
    finally:
        _core.set_simd_level(before)
    for request, answer in zip(requests, answers, strict=True):
        expected = plain_beam(examples, request, asked)
        assert [(c.feature, ["<=", ">", "=", "!="].index(c.operator)) for c in answer] == [
            key[:2] for (key, _) in expected
        ]
        for n, (_, left) in enumerate(expected, 1):
            assert examples.truth(answer[:n]) & request.rows == left


@given(problems(40), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_a_wider_beam_finds_rules_at_least_as_good(problem, width):
    examples, tasks = problem
    k = examples.n_classes
    request = Request(tasks[0], 0, (1.0,) * k, float(k))
    found = [examples.search([request], Settings("ratio", False, w, 2))[0] for w in (width, 1000)]

    def worth(conditions):
        counts = examples.class_totals(examples.truth(conditions) & request.rows)
        return quality("ratio", sum(counts), counts, request)

    assert worth(found[1]) >= worth(found[0])


@given(st.integers(0, 2**32 - 1), st.integers(2, 30))
@settings(max_examples=100, deadline=None)
def test_held_out_values_are_compared_with_thresholds_in_double_precision(seed, n_values):
    """Thresholds lie between values of the training rows; those of other rows may be very close."""
    draw = np.random.default_rng(seed)
    values = np.float32(1.6) + np.arange(n_values, dtype=np.float32) * np.float32(2.0**-23)
    X = draw.choice(values, (40, 2))
    examples = TableRows(Table.from_data(X), Target(draw.integers(0, 2, 40).astype(np.int32), 2))
    tasks = [bits_of(draw.random(40) < 0.5) | 1 for _ in range(5)]
    requests = [Request(task, 0, (1.0, 1.0), 2.0) for task in tasks]
    for conditions in examples.search(requests, Settings("ratio", False, 3, 2)):
        for condition in conditions:
            assert (examples.flags(examples.truth([condition])) == condition.holds(X)).all()
