import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from crosscut import TreeClassifier, TreeRegressor
from crosscut.report.interactive import tree_of_page
from crosscut.report.tree_page import node_facts, write_report
from crosscut.report.trial import sizes_of


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


def test_trees_of_ten_thousand_nodes_fit_a_page_that_needs_no_network(noise, tmp_path):
    model = TreeClassifier().fit(*noise)
    assert len(model.forest_.packed.feature) > 5_000
    path = tmp_path / "r.html"
    write_report(model, path, X=noise[0])
    page = path.read_text()
    assert len(page.encode()) < 2_000_000
    addresses = Addresses()
    addresses.feed(page)
    assert addresses.found == []
    assert "url(" not in page
    assert "@import" not in page


def test_node_details_list_the_folds(noise):
    model = TreeClassifier(max_depth=3, cv=4).fit(*noise)
    sizes = sizes_of(model.fit_, None)
    facts = node_facts(
        model.fit_, sizes.sizes[0].forest, range(len(model.tree_)), sizes.sizes[0].inner, noise[0]
    )
    assert [fold for fold, *_ in facts[0]["folds"]] == [1, 2, 3, 4]
    assert [rows for _, rows, _ in facts[0]["folds"]] == [int(t.n_rows[0]) for t in model.cv_trees_]
    assert facts[0]["held"] == f"{model.cv_score_:.0%} predicted correctly when held out"
    for node, told in facts.items():
        assert told["rows"] == model.tree_.n_rows[node]


def test_rows_other_than_the_training_rows_are_refused(noise, tmp_path):
    model = TreeClassifier(max_depth=2, cv=3).fit(*noise)
    with pytest.raises(ValueError, match="X must hold the 1550 training rows"):
        model.report(tmp_path / "r.html", X=noise[0][:-1])


def test_names_cannot_break_out_of_the_page(tmp_path):
    evil = "</script><script>alert(1)</script>"
    import polars as pl

    X = pl.DataFrame({evil: [evil, "b"] * 20, "<b>": list(range(40))})
    page = written(
        TreeClassifier(cv=3).fit(X, [evil, "</pre>"] * 20), tmp_path, target="<img src=x onerror=y>"
    )
    assert page.count("<script") == 2
    assert "<img" not in page
    data = re.search(r'id="page-data">(.*?)</script>', page, re.DOTALL).group(1)
    assert evil in json.loads(data)["trial"]["classes"]


@pytest.mark.parametrize("prune", [None, "best", "1se"])
def test_regression_has_residuals_in_place_of_a_confusion_matrix(tmp_path, prune):
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 3))
    page = written(TreeRegressor(prune=prune).fit(X, X[:, 0] + random.normal(size=200)), tmp_path)
    assert "actual minus predicted" in page
    assert "root mean square" in page


def test_trees_without_a_test_have_a_report(tmp_path):
    random = np.random.default_rng(1)
    model = TreeClassifier(min_samples_leaf=31).fit(random.normal(size=(60, 2)), random.integers(0, 2, 60))
    assert model.tree_.n_leaves == 1
    assert "No tree has a split" in written(model, tmp_path)


def test_a_tree_without_folds_has_no_report(tmp_path):
    model = TreeClassifier(cv=None).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(AttributeError, match="cv=None"):
        write_report(model, tmp_path / "r.html")


@pytest.mark.parametrize("learner", [TreeClassifier, TreeRegressor])
def test_cuts_change_the_error_as_the_cut_trees_do(noise, learner):
    """Cutting the root of all trees leaves what their roots predict; uncut places change nothing."""
    X, y = noise
    fit = learner(prune="best", random_state=0, cv=5).fit(X, y + 0.1 * (learner is TreeRegressor)).fit_
    sizes = sizes_of(fit, X.astype(np.float32))
    shown, data = tree_of_page(fit, sizes, [0, 1, 2] * (fit.classes is not None))
    assert shown[0] == 0
    cv = fit.validation
    for size, described in zip(sizes.sizes, data["sizes"], strict=True):
        actual = cv.y[cv.rows]
        roots = np.repeat(size.decided[size.forest.packed.node_start[:-1]], np.diff(cv.row_start))
        at_root = np.abs(actual - roots).sum() if fit.classes is None else (actual != roots).sum()
        now = (
            np.abs(actual - size.predicted).sum() if fit.classes is None else (actual != size.predicted).sum()
        )
        assert described["loss"] == pytest.approx(now)
        assert described["change"][0] == pytest.approx(at_root - now, abs=1e-5)
        leaves = [k for k, node in enumerate(data["nodes"]) if not node["column"]]
        assert not np.any(np.array(described["change"])[leaves])


def test_the_command_and_the_data_are_part_of_the_method(tmp_path):
    from crosscut.cli.program import program

    page = tmp_path / "r.html"
    churn = Path(__file__).parents[2] / "examples" / "churn.csv"
    CliRunner().invoke(program, ["cv", str(churn), "-t", "churned", "--report", str(page)])
    shown = page.read_text()
    assert f"<pre>crosscut cv {churn} -t churned --report {page}</pre>" in shown
    assert "X, y = split_target(read_file(&#39;churn.csv&#39;), &#39;churned&#39;)" in shown
