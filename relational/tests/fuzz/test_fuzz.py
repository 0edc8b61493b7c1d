"""A few attacks of each kind; `make fuzz` runs many."""

import pytest
from fuzz.fuzz import attack
from fuzz.test_fuzz import called_and_offered

from .targets import TARGETS, Bindings


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_refused_or_works(name):
    tried, faults = attack(
        name, 0, 30 if name in {"bindings", "allocations"} else 300, 120, "tests.fuzz.targets"
    )
    assert tried.total() >= 300
    assert faults == []


def test_every_function_of_the_core_is_attacked():
    called, offered = called_and_offered(Bindings)
    no_input = {"Candidates", "QueryForest", "simd_level", "best_simd_level", "set_simd_level"}
    assert offered - called == no_input
