"""The whole reproduction, in the smallest size that shows everything."""

import json
from functools import partial

import pytest

pytest.importorskip("matplotlib")
propositional, relational, reproduction, data = (
    pytest.importorskip(f"paper.{name}") for name in ("propositional", "relational", "reproduction", "data")
)


def test_everything_is_on_the_page(tmp_path, monkeypatch):
    pictures = relational.Problem("pictures", partial(data.bongard, "complex", 120, 0.1), "CB")
    machines = next(problem for problem in relational.problems() if problem.row == "Mach")
    concepts = propositional.concepts
    monkeypatch.setattr(relational, "problems", lambda: [pictures, machines])
    monkeypatch.setattr(propositional, "concepts", lambda n_rows: concepts(n_rows)[1:3])
    monkeypatch.setattr(reproduction, "QUICK", reproduction.Effort(0.0, (2, 10), 2, 100, 20))
    said = []
    page = reproduction.reproduce(tmp_path, quick=True, report=said.append)
    assert "Table 1: Mach (15 machines)" in said
    text = page.read_text()
    assert text.count("<svg") == 4
    assert "**no**" not in (tmp_path / "reproduction.md").read_text()
    record = json.loads((tmp_path / "reproduction.json").read_text())
    assert [row["row"] for row in record["table 1"]] == ["CB", "Mach"]
    assert all(row["same trees"] for row in record["table 1"] + record["tables"])
    assert record["machine"]["cores"] >= 1
    assert len(record["tables"]) == 2 * 2 + 2


def test_data_that_cannot_be_read_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(relational, "problems", list)
    monkeypatch.setattr(reproduction, "_propositional", lambda *_: [])
    (tmp_path / "broken.s").write_text("predict(machine(+m,-a)).")
    (tmp_path / "broken.kb").write_text("machine(1,ok")
    page = reproduction.reproduce(tmp_path / "out", quick=True, data=tmp_path, report=str)
    assert "Left out: broken" in page.read_text()
