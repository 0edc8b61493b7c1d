import json

from .calls import call, refused
from .test_cv import CHURN


def test_rules_of_a_file_are_learnt_and_cross_validated(tmp_path):
    sql = tmp_path / "rules.sql"
    result = call("rules", CHURN, "-t", "churned", "--min-coverage", 20, "--max-length", 2, "--sql", sql)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "(10 folds)" in result.stdout
    assert lines[-1].startswith("else then ")
    assert "out of fold" in lines[-2]
    assert sql.read_text().startswith("CASE")


def test_the_result_as_json():
    result = call("rules", CHURN, "-t", "churned", "--strategy", "ripper", "--folds", 3, "--json")
    summary = json.loads(result.stdout)
    assert len(summary["scores"]) == 3
    assert 0.5 < summary["score"] <= 1
    assert summary["rules"][-1]["text"].startswith("else then")


def test_what_cannot_be_is_refused():
    assert "ordered must be True" in refused(
        call("rules", CHURN, "-t", "churned", "--unordered", "--measure", "entropy"), 4
    )
