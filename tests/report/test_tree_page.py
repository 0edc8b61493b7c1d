import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from crosscut import TreeClassifier, TreeRegressor
from crosscut.report.shared_nodes import shared_nodes
from crosscut.report.tree_page import write_report


@pytest.fixture(scope="module")
def noise():
    random = np.random.default_rng(0)
    X = random.normal(size=(1550, 6))
    return X, random.integers(0, 3, 1550)


def written(model, tmp_path, target="target"):
    path = tmp_path / "r.html"
    write_report(model, path, target=target)
    return path.read_text()


class Addresses(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found += [v for k, v in attributes if k in {"src", "href", "action"} and not v.startswith("#")]


def test_a_forest_of_ten_thousand_nodes_stays_below_two_megabytes_and_needs_no_network(noise, tmp_path):
    model = TreeClassifier().fit(*noise)
    forest = shared_nodes(model.fit_)
    assert len(forest["nodes"]) > 10_000
    assert forest["left_out"] == 0
    page = written(model, tmp_path)
    assert len(page.encode()) < 2_000_000
    addresses = Addresses()
    addresses.feed(page)
    assert addresses.found == []
    assert "url(" not in page
    assert "@import" not in page


def test_larger_forests_lose_their_deepest_nodes(noise):
    forest = shared_nodes(TreeClassifier().fit(*noise).fit_, most=100)
    assert len(forest["nodes"]) == 100
    assert forest["left_out"] > 5_000


def test_the_data_say_what_every_tree_does(noise):
    model = TreeClassifier(max_depth=4).fit(*noise)
    forest = shared_nodes(model.fit_)
    for task, tree in enumerate(model.forest_.trees):
        rows = []
        for tasks, counts, *_ in forest["nodes"]:
            own = forest["sets"][tasks]
            if task in own:
                rows.append(counts[own.index(task)])
        assert sorted(rows) == sorted(tree.n_rows.tolist())


def test_names_cannot_break_out_of_the_page(tmp_path):
    evil = "</script><script>alert(1)</script>"
    import polars as pl

    X = pl.DataFrame({evil: [evil, "b"] * 20, "<b>": list(range(40))})
    page = written(
        TreeClassifier(cv=3).fit(X, [evil, "</pre>"] * 20), tmp_path, target="<img src=x onerror=y>"
    )
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "</pre>\n</section>" in page
    data = re.search(r'id="forest-data">(.*?)</script>', page, re.DOTALL).group(1)
    assert evil in json.loads(data)["classes"]


@pytest.mark.parametrize("prune", [None, "best", "1se"])
def test_regression_has_residuals_in_place_of_a_confusion_matrix(tmp_path, prune):
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 3))
    page = written(TreeRegressor(prune=prune).fit(X, X[:, 0] + random.normal(size=200)), tmp_path)
    assert "Residuals of held-out rows" in page
    assert "root mean square" in page


def test_trees_without_a_test_have_a_report(tmp_path):
    random = np.random.default_rng(1)
    model = TreeClassifier(min_samples_leaf=31).fit(random.normal(size=(60, 2)), random.integers(0, 2, 60))
    assert model.tree_.n_leaves == 1
    assert "A tree of <b>1 leaf</b>" in written(model, tmp_path)


def test_a_tree_without_folds_has_no_report(tmp_path):
    model = TreeClassifier(cv=None).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(AttributeError, match="cv=None"):
        write_report(model, tmp_path / "r.html")
