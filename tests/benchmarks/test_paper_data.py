import numpy as np
import pytest

from crosscut_relational.queries.resolve import resolve
from paper.data import asm, bongard, machines, molecules


def facts(database, name, arity):
    terms = database.constants.terms
    return [tuple(terms[each] for each in row) for row in database.relations[name, arity].columns.T.tolist()]


def labels(database):
    return [database.classes[code] for code in database.target]


def test_machines_follow_their_rule():
    database, _ = machines()
    fixed = {part for (part,) in facts(database, "not_replaceable", 1)}
    for key, label in zip(database.examples, labels(database), strict=True):
        parts = {part for machine, part in facts(database, "worn", 2) if machine == key}
        assert label == ("sendback" if parts & fixed else "fix" if parts else "ok")


def test_simple_bongard_pictures_follow_the_theory():
    database, _ = bongard("simple", n=300, seed=3)
    triangles, circles = set(facts(database, "triangle", 2)), set(facts(database, "circle", 2))
    positive = {
        key
        for key, inner, outer in facts(database, "in", 3)
        if (key, inner) in triangles and (key, outer) in circles
    }
    assert {
        key for key, label in zip(database.examples, labels(database), strict=True) if label == "pos"
    } == positive
    assert 30 < len(positive) < 270


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: bongard("complex", n=200, seed=seed),
        lambda seed: molecules(60, seed=seed),
        lambda seed: asm(80, seed=seed),
    ],
)
def test_data_depend_on_the_seed_alone_and_have_both_classes(make):
    (first, bias), (again, _), (other, _) = make(1), make(1), make(2)
    np.testing.assert_array_equal(first.target, again.target)
    for predicate, relation in first.relations.items():
        np.testing.assert_array_equal(relation.columns, again.relations[predicate].columns)
    assert not np.array_equal(first.target, other.target)
    counts = np.bincount(first.target, minlength=2)
    assert counts.min() >= len(first.target) / 8
    assert resolve(bias, first).modes


def test_noise_changes_about_its_share_of_the_classes():
    clean, noisy = bongard(n=1000, seed=5)[0], bongard(n=1000, noise=1.0, seed=5)[0]
    assert (clean.target != noisy.target).all()


def test_paper_sizes_are_the_default():
    assert bongard("simple")[0].n_examples == 1453
    assert bongard("complex")[0].n_examples == 1521
    with pytest.raises(ValueError, match="but 'hard' was given"):
        bongard("hard")
