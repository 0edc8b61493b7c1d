import json
from pathlib import Path

import numpy as np

from crosscut.report.rules import summarize_rules
from crosscut_relational import Database, RelationalRuleClassifier
from paper.data import bongard


def test_the_page_of_first_order_rules(tmp_path):
    database, bias = bongard("simple", n=200)
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
        Path(__file__).parents[3] / "examples" / "shop", target="customer.churned"
    )
    RelationalRuleClassifier(cv=3).fit(database).report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<h1>Predicting <em>customer.churned</em></h1>" in page
    assert "some purchase with " in page


def test_folds_given_as_numbers_are_named_in_the_code():
    database, bias = bongard("simple", n=60)
    model = RelationalRuleClassifier(bias, cv=np.arange(60) % 3).fit(database)
    assert "cv=list(folds)" in summarize_rules(model.fit_, model.wording_)["code"]
