"""Tasks: which trees to grow."""

from crosscut.tasks.tasks import Tasks

__all__ = ["Tasks"]
