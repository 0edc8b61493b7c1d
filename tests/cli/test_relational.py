import json

import pytest

from crosscut.cli.failure import UNREADABLE

from .calls import call, refused


@pytest.fixture
def application(tmp_path):
    facts = []
    for i in range(30):
        action = ("ok", "fix", "sendback")[i % 3]
        facts.append(f"machine(m{i},{action}).")
        facts += [f"worn(m{i},gear)."] * (action != "ok") + [f"worn(m{i},engine)."] * (action == "sendback")
    (tmp_path / "app.kb").write_text("\n".join(facts))
    (tmp_path / "app.bg").write_text("replaceable(gear).\nlost(M) :- worn(M, P), \\+ replaceable(P).\n")
    (tmp_path / "app.s").write_text(
        "predict(machine(+machine,-action)).\nclasses([ok,fix,sendback]).\nminimal_cases(2).\n"
        "rmode(worn(+M,-P)).\nrmode(lost(+M)).\ntype(machine(machine,action)).\ntype(worn(machine,part)).\n"
        "type(lost(machine)).\n"
    )
    return tmp_path / "app.s"


def test_an_ace_application_is_learnt(application, tmp_path):
    result = call("relational", application, "--folds", "5", "--prolog", tmp_path / "tree.pl")
    assert result.exit_code == 0, result.output
    assert "lost(A) ?" in result.stdout
    assert "accuracy 1 ± 0 (mean of 5 folds" in result.stdout
    assert "sendback" in (tmp_path / "tree.pl").read_text()
    summary = json.loads(call("relational", application, "--json").stdout)
    assert summary["folds"] == 10
    assert summary["score"] == 1.0


def test_files_that_cannot_be_read(application):
    assert "no file" in refused(call("relational", application.with_name("none.s")), UNREADABLE)
    application.write_text("predict(machine(+machine,-action)")
    assert "app.s" in refused(call("relational", application), UNREADABLE)
    application.with_suffix(".kb").unlink()
    assert "app" in refused(call("relational", application), UNREADABLE)
