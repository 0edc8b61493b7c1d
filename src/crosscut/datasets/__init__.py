"""Generated data with a known structure. The same arguments give the same data on every machine.

Used by the benchmarks, the documentation and the tests; nothing is downloaded.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from crosscut.extensions import hint

if TYPE_CHECKING:
    from crosscut.datasets.customers import churn as churn
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
_TABULAR = (
    *("tree_like", "weak", "many_classes", "regression", "nominal", "mixed", "imbalanced", "census_like"),
    *("decision_list", "higgs_like"),
)
_WHERE = dict.fromkeys(_TABULAR, "tabular") | {"churn": "customers"}

__all__ = [*_WHERE]  # noqa: PLE0604, type checkers see the imports above


def __getattr__(name: str) -> object:
    if name in {"asm", "bongard", "machines", "molecules", "shop"}:
        raise ImportError(f"{hint(name)}; from crosscut_relational.datasets import {name}")
    if name not in _WHERE:
        raise AttributeError(
            f"module 'crosscut.datasets' has no attribute {name!r}; it has {', '.join(_WHERE)}"
        )
    function = getattr(import_module(f"crosscut.datasets.{_WHERE[name]}"), name)
    globals()[name] = function  # later look-ups find it without __getattr__
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
