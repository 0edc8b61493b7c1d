"""Arithmetic comparisons and functions of background clauses, vectorised over columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    Operation = Callable[..., Any]

ORDERINGS: dict[str, Operation] = {"<": np.less, "=<": np.less_equal, ">": np.greater, ">=": np.greater_equal}
ORDERINGS |= {"=:=": np.equal, "=\\=": np.not_equal}


def _rounded(value: Any) -> Any:
    """Round halves away from zero, as Prolog does."""
    return np.copysign(np.floor(np.abs(value) + 0.5), value)


_UNARY: dict[str, Operation] = {
    name: getattr(np, name) for name in ("abs", "sqrt", "exp", "log", "log2", "sin", "cos", "tan", "floor")
}
_UNARY |= {"+": np.positive, "-": np.negative, "float": np.positive, "sign": np.sign, "atan": np.arctan}
_UNARY |= {"asin": np.arcsin, "acos": np.arccos, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh}
_UNARY |= {"ceiling": np.ceil, "truncate": np.trunc, "integer": _rounded, "round": _rounded}
_BINARY: dict[str, Operation] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_BINARY |= {"**": np.power, "^": np.power, "mod": np.mod, "rem": np.fmod}
_BINARY |= {"min": np.minimum, "max": np.maximum}
_BINARY |= {"div": np.floor_divide, "atan2": np.arctan2, "atan": np.arctan2}
_BINARY["//"] = lambda a, b: np.trunc(np.divide(a, b))

# Functions by name and arity.
FUNCTIONS: dict[tuple[str, int], Operation] = {
    **{(name, 1): function for name, function in _UNARY.items()},
    **{(name, 2): function for name, function in _BINARY.items()},
    ("pi", 0): lambda: np.float64(np.pi),
    ("e", 0): lambda: np.float64(np.e),
}
