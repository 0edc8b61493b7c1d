import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crosscut.rules.rule_set import Rule
from crosscut_relational.database.constants import Constants
from crosscut_relational.language.rule import Goal
from crosscut_relational.queries.tree import Signature
from crosscut_relational.rules.first_order import FirstOrderWording, goals_of

CONSTANTS = Constants()
CONSTANTS.intern_all(range(10))
WORDING = FirstOrderWording(Signature(CONSTANTS), np.array(["a", "b"]))


def meaning(conditions, n_fixed, *, thresholds=True):
    assert n_fixed == WORDING.schema.n_fixed
    return WORDING.meaning(Rule(conditions, (1.0, 0.0)), thresholds=thresholds)


PART, RED, BIG = Goal("part", (0, 1)), Goal("red", (1,)), Goal("big", (1,))


def test_one_part_or_two():
    one = ((PART,), (RED,), (BIG,))
    two = ((PART,), (RED,), (Goal("part", (0, 2)), Goal("big", (2,))))
    assert meaning(one, 1) != meaning(two, 1)
    assert goals_of(two)[-1] == Goal("big", (2,))
    # found in another order, the variables have other numbers
    turned = ((Goal("part", (0, 1)), Goal("big", (1,))), (Goal("part", (0, 2)),), (Goal("red", (2,)),))
    assert meaning(two, 1) == meaning(turned, 1)


def test_a_chain_may_be_found_from_either_end():
    forth = ((Goal("triangle", (0, 1)),), (Goal("in", (0, 1, 2)),), (Goal("circle", (0, 2)),))
    back = ((Goal("circle", (0, 1)),), (Goal("in", (0, 2, 1)),), (Goal("triangle", (0, 2)),))
    other = ((Goal("circle", (0, 1)),), (Goal("in", (0, 1, 2)),), (Goal("triangle", (0, 2)),))
    assert meaning(forth, 1) == meaning(back, 1) != meaning(other, 1)


def test_negation_and_categories_count_and_thresholds_may_not():
    assert meaning(((PART,),), 1) != meaning(((Goal("part", (0, 1), True),),), 1)
    for thresholds in (True, False):
        red, blue = (((Goal("colour", (0, ~c)),),) for c in (1, 2))
        assert meaning(red, 1, thresholds=thresholds) != meaning(blue, 1, thresholds=thresholds)
    above = [((Goal("age", (0, 2)), Goal(">", (2, ~constant))),) for constant in (5, 6)]
    assert meaning(above[0], 1) != meaning(above[1], 1)
    assert meaning(above[0], 1, thresholds=False) == meaning(above[1], 1, thresholds=False)


def test_two_chains_may_have_any_numbers():
    assert meaning(((Goal("p", (2, 3)), Goal("p", (4, 1))),), 1) == meaning(
        ((Goal("p", (1, 3)), Goal("p", (4, 2))),), 1
    )


@given(st.data())
def test_neither_order_nor_numbers_matter(data):
    variables = st.integers(-2, 4)
    goal = st.builds(Goal, st.sampled_from("pq"), st.tuples(variables, variables), st.booleans())
    goals = data.draw(st.lists(goal, min_size=1, max_size=5))
    numbers = dict(zip(range(1, 5), data.draw(st.permutations(range(1, 5))), strict=True))
    renamed = [Goal(g.name, tuple(numbers.get(a, a) for a in g.args), g.negated) for g in goals]
    turned = data.draw(st.permutations(renamed))
    assert meaning((tuple(goals),), 1) == meaning(tuple((g,) for g in turned), 1)
