"""Generated data with a known structure: the same arguments give the same numbers everywhere.

Used by the benchmarks, the documentation and the tests; nothing is downloaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosscut.datasets.customers import churn as churn
    from crosscut.datasets.customers import shop as shop
    from crosscut.datasets.relational import asm as asm
    from crosscut.datasets.relational import bongard as bongard
    from crosscut.datasets.relational import machines as machines
    from crosscut.datasets.relational import molecules as molecules
    from crosscut.datasets.tabular import census_like as census_like
    from crosscut.datasets.tabular import decision_list as decision_list
    from crosscut.datasets.tabular import higgs_like as higgs_like
    from crosscut.datasets.tabular import imbalanced as imbalanced
    from crosscut.datasets.tabular import many_classes as many_classes
    from crosscut.datasets.tabular import mixed as mixed
    from crosscut.datasets.tabular import nominal as nominal
    from crosscut.datasets.tabular import regression as regression
    from crosscut.datasets.tabular import tree_like as tree_like
    from crosscut.datasets.tabular import weak as weak

# name -> module of this package that defines it
_WHERE = {
    "tree_like": "tabular",
    "weak": "tabular",
    "many_classes": "tabular",
    "regression": "tabular",
    "nominal": "tabular",
    "mixed": "tabular",
    "imbalanced": "tabular",
    "census_like": "tabular",
    "decision_list": "tabular",
    "higgs_like": "tabular",
    "churn": "customers",
    "shop": "customers",
    "bongard": "relational",
    "machines": "relational",
    "molecules": "relational",
    "asm": "relational",
}

__all__ = [*_WHERE]  # noqa: PLE0604, type checkers see the imports above


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(
            f"module 'crosscut.datasets' has no attribute {name!r}; it has {', '.join(_WHERE)}"
        )
    found = getattr(import_module(f"crosscut.datasets.{_WHERE[name]}"), name)
    globals()[name] = found  # the next look-up does not come here
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
