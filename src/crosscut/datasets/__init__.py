"""Data sets to try things on: generated, so that nothing has to be downloaded."""

from crosscut.datasets.relational import asm, bongard, machines, molecules

__all__ = ["asm", "bongard", "machines", "molecules"]
