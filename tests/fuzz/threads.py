"""Use the core from several threads of Python at once, under ThreadSanitizer (`make sanitize-threads`).

`python -m fuzz.threads` compares the results of concurrent calls with those of single ones. With `race
LIBRARY` it runs the planted race, which ThreadSanitizer has to report.
"""

import ctypes
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from crosscut import BaggedTrees, GridSearchCV, RuleClassifier, Stream, TreeClassifier, TreeRegressor

ROUNDS, THREADS = 3, 4


def calls(folder):
    """Return functions whose results must not depend on what other threads do."""
    random = np.random.default_rng(0)
    X = random.normal(size=(12000, 6)).round(2)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=len(X)) > 0).astype(int)
    small, few = X[:300], y[:300]
    shared = TreeClassifier(cv=5, n_jobs=2).fit(small, few)
    bagged = BaggedTrees(n_trees=20, random_state=0, n_jobs=2).fit(small, few)
    path = f"{folder}/a.parquet"
    columns = {f"x{f}": X[:3000, f] for f in range(6)} | {"y": y[:3000]}
    parquet.write_table(pa.table(columns), path)  # polars does not start under ThreadSanitizer
    stream = Stream(path, memory_limit="100KB")
    return [
        lambda: TreeClassifier(cv=10, max_depth=6, n_jobs=4).fit(X, y).cv_probabilities_,
        lambda: TreeClassifier(cv=5, criterion="entropy", n_jobs=4).fit(small, few).cv_probabilities_,
        lambda: TreeRegressor(cv=5, max_depth=6, n_jobs=4).fit(X, X[:, 0] ** 2).cv_predictions_,
        lambda: (
            TreeClassifier(cv=[(np.arange(len(few)) != i, [i]) for i in range(40)]).fit(small, few).cv_scores_
        ),
        lambda: RuleClassifier(cv=3, max_length=2).fit(small, few).cv_probabilities_,
        lambda: (
            GridSearchCV(TreeClassifier(), {"max_depth": [1, 2, 4]}, cv=3, n_jobs=2)
            .fit(small, few)
            .best_score_
        ),
        lambda: TreeClassifier(cv=3, max_depth=3, n_jobs=2).fit(stream, "y").cv_score_,
        lambda: shared.predict_proba(X),
        lambda: bagged.predict_proba(small),
    ]


def main():
    if sys.argv[1:2] == ["race"]:
        print(ctypes.CDLL(sys.argv[2]).race())
        return
    with tempfile.TemporaryDirectory() as folder:
        every = calls(folder)
        expected = [call() for call in every]
        with ThreadPoolExecutor(THREADS) as pool:
            for number in range(ROUNDS):
                order = np.random.default_rng(number).permutation(len(every) * 2) % len(every)
                for c, found in zip(order, pool.map(lambda c: every[c](), order), strict=True):
                    np.testing.assert_array_equal(found, expected[c])
    print(f"{ROUNDS * 2 * len(every)} concurrent calls gave the results of single ones")


if __name__ == "__main__":
    main()
