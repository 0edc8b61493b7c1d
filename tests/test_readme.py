"""What README.md shows can be run as it stands."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_python_of_the_first_screen_runs(tmp_path, monkeypatch, capsys):
    text = (ROOT / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text.split("\n## ")[0], re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    exec(compile(code, "README.md", "exec"), {})
    assert "support_calls" in capsys.readouterr().out
    assert (tmp_path / "forest.svg").exists()
    assert "churned" in (tmp_path / "churn.html").read_text()
