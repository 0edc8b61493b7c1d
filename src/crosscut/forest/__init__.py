"""Grown trees: prediction, pruning, what they share, and export."""

from crosscut.forest.forest import Forest

__all__ = ["Forest"]
