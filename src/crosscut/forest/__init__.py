"""Grown trees: prediction, pruning, sharing and export."""

from crosscut.forest.forest import Forest

__all__ = ["Forest"]
