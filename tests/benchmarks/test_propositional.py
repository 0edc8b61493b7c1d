"""The experiment on tables in small."""

import pytest

from paper import propositional


@pytest.mark.parametrize("number", range(6))
def test_procedures_agree(number):
    concept = propositional.concepts(300)[number]
    found = propositional.measure(concept, 5, seconds=0.0)
    assert found.same_trees
    assert found.predicted["crosscut"] >= 1.0
    assert found.predicted["paper"] >= 1.0


def test_as_many_folds_as_rows_leave_one_out():
    concept = propositional.concepts(40)[2]
    tasks = concept.tasks(40)
    assert tasks.n_tasks == 41
    assert tasks.test_rows(3).tolist() == [2]
    assert propositional.measure(concept, 40, seconds=0.0).same_trees


def test_different_trees_are_noticed():
    one, other = (propositional.concepts(200)[number] for number in (2, 3))
    tasks = one.tasks(3)
    forest = one.grow(tasks)
    assert propositional._same(forest, [one.grow(tasks.take([task])) for task in range(4)])
    assert not propositional._same(forest, [other.grow(tasks.take([task])) for task in range(4)])
