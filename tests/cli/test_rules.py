import json

from sklearn.datasets import load_iris

from crosscut import RuleClassifier, save_model
from crosscut.cli.failure import UNSUITABLE

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


def test_the_way_to_what_rules_cannot_do_is_shown(tmp_path):
    numbers = refused(call("rules", CHURN, "-t", "monthly_charge"), 4)
    assert "too many to be classes; use crosscut cv to predict numbers" in numbers
    for linked in (tmp_path, tmp_path / "app.s"):
        assert "crosscut relational --rules" in refused(call("rules", linked, "-t", "x"), 3)
    ripper = call("rules", CHURN, "-t", "churned", "--strategy", "ripper", "--beam", 2)
    assert ripper.exit_code == 2
    assert "--beam is for --strategy cn2" in ripper.stderr


def test_rules_are_saved_shown_and_used(tmp_path):
    saved, page = tmp_path / "rules.crosscut", tmp_path / "rules.html"
    options = ("--strategy", "ripper", "--folds", 3)
    learnt = call("rules", CHURN, "-t", "churned", *options, "--save", saved, "--report", page)
    assert learnt.exit_code == 0, learnt.output
    assert "Rules of the folds" in page.read_text()
    shown = call("show", saved, "--report", tmp_path / "again.html")
    assert shown.stdout in learnt.stdout  # which has notes on the columns as well
    assert (tmp_path / "again.html").read_text() == page.read_text()
    assert json.loads(call("show", saved, "--json").stdout)["target"] == "churned"
    predicted = call("predict", saved, CHURN, "--probabilities").stdout.splitlines()
    assert predicted[0].startswith("churned,churned = ")
    assert len({line.split(",")[0] for line in predicted[1:]}) == 2


def test_without_held_out_rows_there_is_no_report(tmp_path):
    X, y = load_iris(return_X_y=True)
    save_model(RuleClassifier().fit(X, y), tmp_path / "m", held_out=False)
    assert "without cross-validation" in refused(
        call("show", tmp_path / "m", "--report", tmp_path / "r.html"), 4
    )
    assert "accuracy" not in call("show", tmp_path / "m").stdout


def test_numbers_are_not_classes(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "".join(f"{i % 9},{i % 50}\n" for i in range(500)))
    assert "use crosscut cv to predict numbers" in refused(call("rules", path, "-t", "y"), UNSUITABLE)
