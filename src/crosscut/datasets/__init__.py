"""Generated data with a known structure. The same arguments give the same data on every machine.

Used by the benchmarks, the documentation and the tests; nothing is downloaded.
"""

from crosscut.datasets.customers import churn
from crosscut.datasets.tabular import (
    census_like,
    decision_list,
    higgs_like,
    imbalanced,
    many_classes,
    mixed,
    nominal,
    regression,
    tree_like,
    weak,
)
from crosscut.extensions import hint

__all__ = [
    "census_like",
    "churn",
    "decision_list",
    "higgs_like",
    "imbalanced",
    "many_classes",
    "mixed",
    "nominal",
    "regression",
    "tree_like",
    "weak",
]


def __getattr__(name: str) -> object:
    if name in {"asm", "bongard", "machines", "molecules", "shop"}:
        raise ImportError(f"{hint(name)}; from crosscut_relational.datasets import {name}")
    raise AttributeError(f"module 'crosscut.datasets' has no attribute {name!r}; it has {', '.join(__all__)}")
