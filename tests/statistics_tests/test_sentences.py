import numpy as np
import pytest

from crosscut import TreeClassifier, TreeRegressor
from crosscut.statistics.sentences import answer


def test_classes_are_counted_in_hundreds_and_compared_with_guessing():
    X = np.repeat([[0.0], [1.0]], [150, 50], axis=0)
    y = np.where(X[:, 0] > 0, "yes", "no")
    y[:20] = "yes"  # 10% of the rows cannot be known
    said = answer(TreeClassifier(cv=5, random_state=0).fit(X, y).fit_.validation)
    assert said["sentence"] == "The answer is right for 90 of 100 new rows."
    assert said["comparison"] == "Always answering “no” would be right for 65."
    assert said["low"] < 0.9 < said["high"]
    assert said["interval"].startswith("90% interval: 8")
    assert said["trust"][0][0] == "good"


def test_noise_is_called_no_better_than_guessing():
    random = np.random.default_rng(0)
    y = np.where(random.random(100) < 0.2, "b", "a")
    said = answer(TreeClassifier(cv=5).fit(random.normal(size=(100, 2)), y).fit_.validation)
    signs = [sign for sign, _ in said["trust"]]
    assert signs[0] == "careful"
    told = " ".join(sentence for _, sentence in said["trust"])
    assert "no better than always answering “a”" in told
    assert "only 100 rows" in told
    assert "that are “b” it recognises only" in told


def test_numbers_are_off_by_so_much_on_average():
    X = np.arange(100.0)[:, None]
    model = TreeRegressor(cv=5, random_state=0, max_depth=2).fit(X, X[:, 0])
    said = answer(model.fit_.validation)
    assert said["off"] == pytest.approx(np.abs(X[:, 0] - model.cv_predictions_).mean())
    assert said["baseline"] == pytest.approx(25.0)
    assert "Always answering the mean, 49.5, would be off by 25." in said["comparison"]
    assert said["score"] == pytest.approx(model.cv_score_)


def test_weights_count_in_the_guess():
    y = np.array([0, 1] * 20)
    model = TreeClassifier(cv=4).fit(np.zeros((40, 1)), y, sample_weight=1.0 + 2 * y)
    said = answer(model.fit_.validation)
    assert said["usual"] == "1"
    assert said["baseline"] == pytest.approx(0.75)
