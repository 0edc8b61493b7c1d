"""Generated relational data with a known structure: the same arguments give the same data everywhere.

Used by the benchmarks, the documentation and the tests; nothing is downloaded.
"""

from crosscut_relational.datasets.facts import asm, bongard, machines, molecules
from crosscut_relational.datasets.linked import shop

__all__ = ["asm", "bongard", "machines", "molecules", "shop"]
