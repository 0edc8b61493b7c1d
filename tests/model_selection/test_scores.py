"""Metrics of all splits at once are scikit-learn's, split by split."""

import numpy as np
import pytest
from sklearn import metrics

from crosscut.model_selection.scores import QUICK, Segments, quick_metric


@pytest.mark.parametrize("function", list(QUICK))
def test_metrics(function):
    rng = np.random.default_rng(0)
    rows = [np.arange(5), np.arange(5, 7), np.arange(3, 40)]
    classes = function is metrics.accuracy_score
    truth = rng.integers(0, 3, 40) if classes else rng.normal(size=40)
    segments = Segments.of(rows, truth)
    predicted = rng.integers(0, 3, 44) if classes else rng.normal(size=44)
    found = QUICK[function](segments, predicted)
    expected = [
        function(truth[part], predicted[begin:end])
        for part, begin, end in zip(rows, segments.first, segments.first[1:], strict=False)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_only_plain_scorers_are_quick():
    accuracy = metrics.make_scorer(metrics.accuracy_score)
    assert quick_metric(accuracy, classifier=True) is not None
    assert quick_metric(accuracy, classifier=False) is None
    assert quick_metric(metrics.make_scorer(metrics.accuracy_score, normalize=False), classifier=True) is None
    assert quick_metric(metrics.get_scorer("roc_auc"), classifier=True) is None
    assert quick_metric(metrics.get_scorer("neg_mean_squared_error"), classifier=False)[0] == -1
    assert quick_metric(lambda estimator, X, y: 0.0, classifier=True) is None
