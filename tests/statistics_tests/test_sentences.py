import numpy as np
import pytest

from crosscut import TreeClassifier, TreeRegressor
from crosscut.statistics.sentences import performance


def test_classes_are_counted_in_hundreds_and_compared_with_the_baseline():
    X = np.repeat([[0.0], [1.0]], [150, 50], axis=0)
    y = np.where(X[:, 0] > 0, "yes", "no")
    y[:20] = "yes"  # 10% of the rows cannot be known
    result = performance(TreeClassifier(cv=5, random_state=0).fit(X, y).fit_.validation)
    assert result["sentence"] == "Correct for 90 of 100 new rows."
    assert result["comparison"] == "Always predicting “no” would be correct for 65."
    assert result["low"] < 0.9 < result["high"]
    assert result["interval"].startswith("90% interval: 8")
    assert result["trust"][0][0] == "good"


def test_noise_is_no_better_than_the_baseline():
    random = np.random.default_rng(0)
    y = np.where(random.random(100) < 0.2, "b", "a")
    result = performance(TreeClassifier(cv=5).fit(random.normal(size=(100, 2)), y).fit_.validation)
    signs = [sign for sign, _ in result["trust"]]
    assert signs[0] == "careful"
    sentences = " ".join(sentence for _, sentence in result["trust"])
    assert "no better than always predicting “a”" in sentences
    assert "only 100 rows" in sentences
    assert "less than half of the rows of “b”" in sentences


def test_mean_error_of_numbers():
    X = np.arange(100.0)[:, None]
    model = TreeRegressor(cv=5, random_state=0, max_depth=2).fit(X, X[:, 0])
    result = performance(model.fit_.validation)
    assert result["off"] == pytest.approx(np.abs(X[:, 0] - model.cv_predictions_).mean())
    assert result["baseline"] == pytest.approx(25.0)
    assert "Always predicting the mean, 49.5, would be off by 25." in result["comparison"]
    assert result["score"] == pytest.approx(model.cv_score_)


def test_weights_count_in_the_baseline():
    y = np.array([0, 1] * 20)
    model = TreeClassifier(cv=4).fit(np.zeros((40, 1)), y, sample_weight=1.0 + 2 * y)
    result = performance(model.fit_.validation)
    assert result["usual"] == "1"
    assert result["baseline"] == pytest.approx(0.75)


def test_classes_that_are_missed_are_named_however_rare():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 3)), np.repeat(["common", "rare", "rarer"], [985, 10, 5])
    model = TreeClassifier(cv=5, random_state=0, prune="best").fit(X, y)
    (sentence,) = [text for sign, text in performance(model.fit_.validation)["trust"] if "half" in text]
    assert "“rare” (0%, with only 10 rows)" in sentence
    assert "“rarer” (0%, with only 5 rows)" in sentence
    assert "Class weights" in sentence
