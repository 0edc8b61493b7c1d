"""The whole reproduction, in the smallest size that shows everything."""

import json

import pytest

from crosscut.reproduce import relational, reproduction

pytest.importorskip("matplotlib")


def test_everything_is_on_the_page(tmp_path, monkeypatch):
    few = [problem for problem in relational.problems() if problem.row in {"CB", "Mach"}]
    monkeypatch.setattr(relational, "problems", lambda: few)
    monkeypatch.setattr(reproduction, "QUICK", reproduction.Effort(0.0, (2, 10), 2, 300, 30))
    said = []
    page = reproduction.reproduce(tmp_path, quick=True, say=said.append)
    assert "Table 1: Mach (15 machines)" in said
    text = page.read_text()
    assert text.count("<svg") == 4
    assert "**no**" not in (tmp_path / "reproduction.md").read_text()
    record = json.loads((tmp_path / "reproduction.json").read_text())
    assert [row["row"] for row in record["table 1"]] == ["CB", "Mach"]
    assert all(row["same trees"] for row in record["table 1"] + record["tables"])
    assert record["machine"]["cores"] >= 1
    assert len(record["tables"]) == 6 * 2 + 6


def test_data_that_cannot_be_read_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(relational, "problems", list)
    monkeypatch.setattr(reproduction, "QUICK", reproduction.Effort(0.0, (2, 10), 2, 300, 30))
    (tmp_path / "broken.s").write_text("predict(machine(+m,-a)).")
    (tmp_path / "broken.kb").write_text("machine(1,ok")
    page = reproduction.reproduce(tmp_path / "out", quick=True, data=tmp_path, say=str)
    assert "Left out: broken" in page.read_text()
