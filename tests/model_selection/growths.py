"""Counts what the drop-ins grow."""

from crosscut.training import growing


def count_growths(monkeypatch):
    """Return a list that gets the number of trees of every growth."""
    growths = []
    grow = growing.grow

    def counted(table, target, tasks, *arguments, **options):
        growths.append(tasks.n_tasks)
        return grow(table, target, tasks, *arguments, **options)

    monkeypatch.setattr(growing, "grow", counted)
    return growths
