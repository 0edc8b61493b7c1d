import os
import subprocess
import sys
from pathlib import Path

import pytest

import crosscut

from .calls import call


def test_version_and_help():
    assert call("--version").stdout == f"crosscut {crosscut.__version__}\n"
    told = call("--help").stdout
    for command in ("cv", "predict", "show"):
        assert command in told
    assert "Exit codes" in told


def test_shells_complete_commands():
    program = Path(sys.executable).parent / "crosscut"
    environment = {
        **os.environ,
        "_CROSSCUT_COMPLETE": "bash_complete",
        "COMP_WORDS": "crosscut pre",
        "COMP_CWORD": "1",
    }
    told = subprocess.run([program], env=environment, capture_output=True, text=True, check=True).stdout
    assert "predict" in told


def test_an_unexpected_error_is_one_line(monkeypatch, capsys):
    from crosscut.cli import program as module

    def broken(**_):
        raise RuntimeError("oh")

    monkeypatch.setattr(module, "program", broken)
    with pytest.raises(SystemExit) as end:
        module.main()
    assert end.value.code == 1
    assert capsys.readouterr().err.startswith("crosscut: unexpected RuntimeError: oh")
