import json
import re
from pathlib import Path

import numpy as np
import pytest

from crosscut import Database, RelationalRuleClassifier, RuleClassifier, datasets
from crosscut.data.files import split_target
from crosscut.report.rules import summarize_rules


@pytest.fixture(scope="module")
def model():
    X, y = split_target(datasets.churn(), "churned")
    return RuleClassifier(min_coverage=30, max_length=2, random_state=0).fit(X, y)


def test_the_summary_says_what_the_model_says(model):
    summary = summarize_rules(model.fit_, model.wording_)
    assert len(summary["rules"]) == len(model.rules_) + 1
    assert summary["cv"]["error"] == pytest.approx(1 - model.cv_score_)
    confusion = summary["confusion"]
    assert sum(summary["cv"]["rows_by_fold"]) == confusion["rows"] == len(model.cv_predictions_)
    matrix = np.array(confusion["matrix"])
    assert np.trace(matrix) / matrix.sum() == pytest.approx(1 - summary["cv"]["error"], abs=0.01)
    for rule in summary["rules"]:
        assert 0 <= rule["same"] <= rule["alike"] <= 10


def test_a_rule_all_folds_found_is_counted_in_all():
    X = np.tile(np.arange(40.0), 5)[:, None]
    model = RuleClassifier(cv=5).fit(X, X[:, 0] > 20)
    first = summarize_rules(model.fit_, model.wording_)["rules"][0]
    assert (first["same"], first["alike"]) == (5, 5)
    assert "All 5 folds found every rule" in summarize_rules(model.fit_, model.wording_)["words"]


def test_the_page_has_every_rule_and_needs_nothing_else(model, tmp_path):
    model.report(tmp_path / "r.html", target="<churned>")
    page = (tmp_path / "r.html").read_text()
    assert "<h1>Predicting <em>&lt;churned&gt;</em></h1>" in page
    body = page.split('id="rules"')[1].split("</table>")[0]
    assert body.count('<th scope="row">') == len(model.rules_) + 1
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "<script" not in page


def test_without_cross_validation_there_is_no_page(tmp_path):
    X, y = split_target(datasets.churn(), "churned")
    with pytest.raises(AttributeError, match=r"report\(\) needs cross-validation"):
        RuleClassifier(cv=None, max_length=1).fit(X, y).report(tmp_path / "r.html")


def test_the_different_sets_of_the_folds_are_all_folds(model):
    sets = summarize_rules(model.fit_, model.wording_)["sets"]
    assert sorted(fold for each in sets for fold in each["folds"]) == list(range(1, 11))
    assert len({tuple(each["rules"]) for each in sets}) == len(sets)


def test_the_page_of_first_order_rules(tmp_path):
    database, bias = datasets.bongard("simple", n=200)
    model = RelationalRuleClassifier(bias, cv=5).fit(database)
    model.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<h1>Predicting <em>bongard</em></h1>" in page
    assert "RelationalRuleClassifier(\n    bias," in page
    assert ").fit(database)" in page
    assert "200 examples" in page
    assert "<script" not in page
    summary = summarize_rules(model.fit_, model.wording_, target="bongard")
    assert json.loads(json.dumps(summary)) == summary
    # no noise: every fold finds the theory, some with its literals in another order
    assert summary["sets"] == [
        {"rules": summary["sets"][0]["rules"], "folds": [1, 2, 3, 4, 5], "final": True}
    ]
    assert [rule["same"] for rule in summary["rules"]] == [5] * len(summary["rules"])


def test_rules_about_tables_use_their_words(tmp_path):
    database = Database.from_folder(
        Path(__file__).parents[2] / "examples" / "shop", target="customer.churned"
    )
    RelationalRuleClassifier(cv=3).fit(database).report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<h1>Predicting <em>customer.churned</em></h1>" in page
    assert "some purchase with " in page


def test_folds_given_as_numbers_are_named_in_the_code():
    database, bias = datasets.bongard("simple", n=60)
    model = RelationalRuleClassifier(bias, cv=np.arange(60) % 3).fit(database)
    assert "cv=list(folds)" in summarize_rules(model.fit_, model.wording_)["code"]
