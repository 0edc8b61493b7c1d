import numpy as np

from crosscut_relational.database.constants import Constants
from crosscut_relational.language.terms import Compound


def test_equal_numbers_are_one_constant_written_as_first_read():
    constants = Constants()
    assert constants.intern(1.0) == constants.intern(1)
    assert constants.text(0) == "1.0"


def test_numbers_follow_new_constants():
    constants = Constants()
    constants.intern_all(["a", 2])
    np.testing.assert_array_equal(constants.numbers, [np.nan, 2.0])
    constants.intern_all([("a", 3), Compound("f", (1,)), -0.5])
    np.testing.assert_array_equal(constants.numbers, [np.nan, 2.0, np.nan, np.nan, -0.5])


def test_an_unknown_constant_has_no_id():
    constants = Constants()
    assert constants.id("a") is None
    assert "a" not in constants
