import json

from crosscut import save_model
from crosscut.cli.failure import UNSUITABLE

from .calls import call, refused
from .test_cv import CHURN


def test_a_saved_model_is_shown_as_tree_rules_json_and_report(tmp_path):
    model, page = tmp_path / "m", tmp_path / "r.html"
    call("cv", CHURN, "-t", "churned", "--save", model)
    shown = call("show", model).stdout
    assert "churned: 5 leaves" in shown
    assert "Stability" in shown
    assert len(call("show", model, "--rules").stdout.splitlines()) == 5
    nodes = json.loads(call("show", model, "--json").stdout)["nodes"]
    assert nodes[0]["column"] == "support_calls"
    assert [branch["to"] for branch in nodes[0]["branches"]] == [1, 6]
    assert call("show", model, "--report", page).exit_code == 0
    assert "<title>Predicting churned" in page.read_text()


def test_without_held_out_rows_there_is_no_report(tmp_path):
    from crosscut import TreeClassifier

    save_model(TreeClassifier(cv=2).fit([[0.0], [1.0]] * 4, [0, 1] * 4), tmp_path / "m", held_out=False)
    assert "2 leaves" in call("show", tmp_path / "m").stdout
    assert "without cross-validation" in refused(
        call("show", tmp_path / "m", "--report", tmp_path / "r.html"), 4
    )


def test_a_tree_is_shown_as_code(tmp_path):
    call("cv", CHURN, "-t", "churned", "--save", tmp_path / "m")
    assert 'return "yes";' in call("show", tmp_path / "m", "--code", "c").stdout
    call("rules", CHURN, "-t", "churned", "--save", tmp_path / "r")
    assert "--code is for trees" in refused(call("show", tmp_path / "r", "--code", "java"), UNSUITABLE)
