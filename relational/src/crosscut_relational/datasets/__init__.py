"""Generated relational data with a known structure: the same arguments give the same data everywhere.

Used by the benchmarks, the documentation and the tests; nothing is downloaded.
"""

from crosscut_relational.datasets.facts import bongard, machines
from crosscut_relational.datasets.linked import shop

__all__ = ["bongard", "machines", "shop"]
