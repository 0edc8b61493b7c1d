"""Grown trees: how they predict, what they share, how they are pruned and written down."""

from crosscut.forest.forest import Forest

__all__ = ["Forest"]
