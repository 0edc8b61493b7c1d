"""What README.md shows can be run as it stands."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_python_of_the_first_screen_runs(tmp_path, monkeypatch, capsys):
    text = (ROOT / "README.md").read_text()
    screen = text.split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", screen, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", screen, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out == shown
    assert (tmp_path / "forest.svg").exists()
    assert "churned" in (tmp_path / "churn.html").read_text()


def test_the_install_line_brings_what_the_python_below_it_needs():
    screen = (ROOT / "README.md").read_text().split("\n## ")[0]
    (extras,) = re.findall(r'^    pip install "crosscut\[(.*?)\]"', screen, re.MULTILINE)
    assert ("plot" in extras) == ("plot_forest" in screen)
    assert screen.index("pip install") < screen.index("```python")
