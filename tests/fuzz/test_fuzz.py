"""A few attacks of each kind; `make fuzz` runs many."""

import os
import shutil

import numpy as np
import pytest

from crosscut import _core

from .fuzz import attack
from .targets import TARGETS, UNATTACKED, Bindings

FEW = {"bindings": 30, "allocations": 30, "sql": 40, "checkpoints": 60, "names": 60}  # slow ones


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_refused_or_works(name):
    if hasattr(TARGETS[name], "preload") and shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("needs a C++ compiler")
    cases = FEW.get(name, 300)
    tried, faults = attack(name, 0, cases, seconds=120)
    assert tried.total() >= cases * 0.7
    assert faults == []


def called_and_offered(bindings):
    """Return the functions of a core that are recorded, and all that it has."""
    core = bindings.core
    owners = {name: owner for name, owner in vars(core).items() if isinstance(owner, type)}
    methods = {
        f"{name}.{each}"
        for name, owner in owners.items()
        for each in vars(owner)
        if each[0] != "_" and callable(getattr(owner, each))
    }
    functions = {name for name, each in vars(core).items() if name[0] != "_" and callable(each)}
    return {call[0] for session in bindings().sessions for call in session}, functions | methods


def test_every_function_of_the_core_is_attacked():
    called, offered = called_and_offered(Bindings)
    assert offered - called == UNATTACKED


def test_arrays_at_odd_addresses_are_copied_or_refused():
    def odd(array):
        raw = np.zeros(array.nbytes + 1, np.uint8)
        raw[1:] = np.frombuffer(array.tobytes(), np.uint8)
        return raw[1:].view(array.dtype)

    folds, ordered = np.array([1, 0, 1, 0]), np.zeros(4, np.int64)
    starts = _core.rows_by_fold(odd(folds), ordered, 1)
    assert ordered.tolist() == [1, 3, 0, 2]
    assert starts == _core.rows_by_fold(folds, ordered, 1)
    with pytest.raises(TypeError):
        _core.rows_by_fold(folds, odd(ordered), 1)


def test_the_largest_number_is_a_fold():
    ordered = np.zeros(2, np.int64)
    assert _core.rows_by_fold(np.array([2**63 - 1, 0]), ordered, 1) == [0, 1, 1, 2]
    assert ordered.tolist() == [1, 0]
