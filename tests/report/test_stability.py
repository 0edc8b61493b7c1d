import numpy as np

from crosscut import TreeClassifier
from crosscut.report.stability import stability


def test_all_agree_on_what_is_certain():
    X = np.repeat(np.arange(4.0), 25).reshape(-1, 1)
    told = stability(TreeClassifier(cv=5).fit(X, X[:, 0] > 1.5).fit_)
    assert told["agreed_levels"] == told["levels"] == 1
    assert told["words"] == ["All 5 folds and the final tree agree on every test of the level."]


def test_words_say_where_trees_part():
    random = np.random.default_rng(3)
    X = random.normal(size=(200, 4))
    y = (X[:, 0] > 0) ^ (random.random(200) < 0.2)
    told = stability(TreeClassifier(cv=5, max_depth=4).fit(X, y).fit_)
    assert 0 <= told["agreed_levels"] < 4
    assert told["f"][-1] > 1
    assert any("first differ at" in sentence for sentence in told["words"])


def test_no_test_at_all():
    told = stability(TreeClassifier(cv=2, min_samples_leaf=9).fit([[0.0], [1.0]] * 4, [0, 1] * 4).fit_)
    assert told["levels"] == 0
    assert "No tree has a test" in told["words"][0]
