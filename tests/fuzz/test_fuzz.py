"""A few attacks of each kind; `make fuzz` runs many."""

import pytest

from .fuzz import attack
from .targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_refused_or_works(name):
    tried, faults = attack(name, 0, 30 if name == "bindings" else 300, seconds=120)
    assert tried.total() >= 300
    assert faults == []
