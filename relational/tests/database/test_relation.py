import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from crosscut_relational.database.relation import Relation, distinct_facts, fact_numbers

TABLES = hnp.arrays(np.int32, st.tuples(st.integers(1, 4), st.integers(0, 12)), elements=st.integers(0, 3))


@given(TABLES)
def test_distinct_facts_are_the_first_occurrences_in_order(table):
    expected = list(dict.fromkeys(map(tuple, table.T.tolist())))
    assert list(map(tuple, distinct_facts(table).T.tolist())) == expected


@given(TABLES)
def test_fact_numbers_agree_across_tables(table):
    first, second = fact_numbers([table, table[:, ::-1]])
    np.testing.assert_array_equal(first, second[::-1])


def test_fact_numbers_do_not_overflow():
    wide = np.full((6, 2), np.iinfo(np.int32).max - 1, np.int32)
    wide[5, 1] = 0
    (numbers,) = fact_numbers([wide])
    assert numbers[0] != numbers[1]
    assert (numbers >= 0).all()


def test_a_proposition_is_one_fact_without_columns():
    assert distinct_facts(np.empty((0, 3), np.int32)).shape == (0, 1)


def test_distinct_constants_keep_their_order():
    relation = Relation("p", np.array([[5, 2, 5, 9]], np.int32), (None,))
    assert relation.distinct(0).tolist() == [5, 2, 9]
