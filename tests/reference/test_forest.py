import pytest
from hypothesis import given, settings

from crosscut.reference.forest import grow_forest, grow_forest_level_wise
from crosscut.reference.node import flatten
from crosscut.reference.refine import refine_folds, refine_overlapping
from crosscut.reference.tree import grow_tree

from .problem import problems

WAYS = {
    "Figure 2": lambda *given: grow_forest(*given, refinement=refine_folds),
    "Figure 2, the paper's forks": lambda *given: grow_forest(*given, same_constants=True),
    "overlapping sets": lambda *given: grow_forest(*given, refinement=refine_overlapping),
    "level-wise": lambda *given: grow_forest_level_wise(*given, batch=7),
    "level-wise, the paper's forks": lambda *given: grow_forest_level_wise(*given, same_constants=True),
}


@pytest.mark.parametrize("way", WAYS)
@given(problem=problems())
@settings(max_examples=60, deadline=None)
def test_parallel_trees_are_the_serial_trees(way, problem):
    examples, tasks = problem.spelled_out()
    forest = WAYS[way](examples, tasks)
    for i, task in enumerate(tasks):
        alone = flatten(grow_tree(examples, task), examples)
        assert flatten(forest.tree(i), examples).equals(alone)
