import json
from html.parser import HTMLParser

import numpy as np

from crosscut_relational import Bias, Database, RelationalTreeClassifier, RelationalTreeRegressor
from crosscut_relational.report import summarize
from paper.data import bongard


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass


def test_the_page_tells_what_the_model_knows(tmp_path):
    database, bias = bongard("complex", n=200, noise=0.1)
    model = RelationalTreeClassifier(bias, cv=4).fit(database)
    summary = summarize(model.fit_)
    assert json.loads(json.dumps(summary)) == summary
    assert summary["code"].startswith("from crosscut_relational import RelationalTreeClassifier\n")
    confusion = np.array(summary["confusion"]["matrix"])
    assert confusion.sum() == 200
    assert np.trace(confusion) == np.sum(model.cv_predictions_ == np.array(database.classes)[database.target])
    assert sum(summary["cv"]["rows_by_fold"]) == 200
    assert sum(n for _, n in summary["cv"]["first_tests"]) == 5
    model.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "triangle(" in page
    assert page.count('<g class="node leaf"') == model.tree_.n_leaves
    assert page.count('<g class="node test"') == model.tree_.n_nodes
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert not tags.wrong


def test_pages_of_numbers_of_no_folds_and_of_hostile_names(tmp_path):
    facts = "".join(f"w({i},{1.5 * (i % 3)}). has({i},p{i % 3}). " for i in range(30))
    database = Database.from_prolog(facts, predict="w(+thing,-number)", regression=True)
    RelationalTreeRegressor(Bias.of(["has(+T,#)"]), cv=3).fit(database).report(tmp_path / "n.html")
    assert "R²" in (tmp_path / "n.html").read_text()
    named = {"t": [(i, "ab"[i % 2]) for i in range(12)], "p": [(i, f"<script>{i % 2}") for i in range(12)]}
    hostile = Database.from_facts(named, predict="t(+k,-c)")
    RelationalTreeClassifier(Bias.of(["p(+K,#)"]), cv=None).fit(hostile).report(tmp_path / "h.html")
    page = (tmp_path / "h.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "Held-out" not in page
