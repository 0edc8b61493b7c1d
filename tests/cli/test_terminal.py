import io

from rich.console import Console

from crosscut.cli import terminal
from crosscut.engines.progress import watcher


def shown(monkeypatch, *, watched, share=0.42):
    stream = io.StringIO()
    monkeypatch.setattr(terminal, "messages", lambda: Console(file=stream, force_terminal=watched))
    with terminal.waiting("reading x.csv"):
        if watcher() is not None:
            watcher()(share)
    return stream.getvalue()


def test_progress_is_shown_to_people_only(monkeypatch):
    seen = shown(monkeypatch, watched=True)
    assert "reading x.csv" in seen
    assert "42%" in seen
    assert shown(monkeypatch, watched=False) == ""


def test_without_progress_the_bar_only_pulses(monkeypatch):
    assert "%" not in shown(monkeypatch, watched=True, share=0.001)
