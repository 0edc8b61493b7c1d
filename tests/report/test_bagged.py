import re

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from crosscut import BaggedTrees, TreeRegressor, datasets
from crosscut.data.files import split_target


@pytest.fixture(scope="module")
def churn():
    return split_target(datasets.churn(), "churned")


def test_the_page_reports_the_mean_of_the_trees_not_single_trees(churn, tmp_path):
    model = BaggedTrees(n_trees=60, random_state=0).fit(*churn)
    model.report(tmp_path / "r.html", target="<churned>")
    page = (tmp_path / "r.html").read_text()
    assert "<h1>Predicting <em>&lt;churned&gt;</em></h1>" in page
    assert f"Correct for {100 * model.oob_score_:.0f} of 100 new rows" in page
    counts = [int(n.replace(",", "")) for n in re.findall(r'<td class="(?:right|wrong) s\d">([\d,]+)', page)]
    assert sum(counts) == len(churn[1])
    assert (counts[0] + counts[3]) / sum(counts) == pytest.approx(model.oob_score_)
    assert not re.search(r"(src|href)=\"(?!#)", page)
    first = re.search(r'<tr><th scope="row">(\w+)</th><td class="left"><svg class="meter"', page)
    names = model.fit_.schema.names
    assert first is not None
    assert first[1] == names[int(np.argmax(model.feature_importances_))]


def test_rows_in_every_sample_are_named(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = BaggedTrees(TreeRegressor(), n_trees=2, random_state=0).fit(X, y)
    model.report(tmp_path / "r.html")
    never = int(np.count_nonzero(np.isnan(model.oob_predictions_)))
    assert f"{never} rows are in every sample" in (tmp_path / "r.html").read_text()


def test_results_of_few_trees_are_those_of_a_smaller_model(churn):
    few, many = (BaggedTrees(n_trees=n, random_state=0).fit(*churn) for n in (5, 20))
    assert many._out_of_bag("oob", 5).all_scores[1] == pytest.approx(few.oob_score_)
