import re

import numpy as np
import pytest

from crosscut import RuleClassifier, datasets
from crosscut.data.files import split_target
from crosscut.report.rules import summarize_rules


@pytest.fixture(scope="module")
def model():
    X, y = split_target(datasets.churn(), "churned")
    return RuleClassifier(min_coverage=30, max_length=2, random_state=0).fit(X, y)


def test_the_summary_agrees_with_the_model(model):
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


def test_different_rule_sets_cover_all_folds(model):
    sets = summarize_rules(model.fit_, model.wording_)["sets"]
    assert sorted(fold for each in sets for fold in each["folds"]) == list(range(1, 11))
    assert len({tuple(each["rules"]) for each in sets}) == len(sets)
