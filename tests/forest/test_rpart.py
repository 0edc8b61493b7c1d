"""The pruning table is rpart's: skipped where R or rpart is absent (Debian: r-base-core, r-cran-rpart)."""

import io
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from crosscut import TreeClassifier, TreeRegressor

SCRIPT = """
library(rpart)
given <- commandArgs(TRUE)
d <- read.csv(given[1])
w <- d$w; fold <- d$fold; d$w <- NULL; d$fold <- NULL
if (given[2] == "class") d$y <- factor(d$y)
fit <- rpart(y ~ ., d, weights = w, method = given[2], xval = fold, cp = 0, minsplit = 16, minbucket = 8,
             maxcompete = 0, maxsurrogate = 0)
write.csv(format(as.data.frame(fit$cptable), digits = 17), row.names = FALSE)
"""


def has_rpart():
    if shutil.which("Rscript") is None:
        return False
    return (
        subprocess.run(["Rscript", "-e", "library(rpart)"], capture_output=True, check=False).returncode == 0
    )


pytestmark = pytest.mark.skipif(not has_rpart(), reason="Rscript with rpart is not installed")


def tables(folder, seed, kind, *, weighted):
    """The pruning tables of crosscut and of rpart on the same folds."""
    rng = np.random.default_rng(seed)
    n = 300
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(float)
    score = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + rng.normal(size=n) * 0.8
    y = np.digitize(score, [-0.5, 0.6]) if kind == "class" else score
    # rpart takes weights for numbers of rows, so they add up to the number of rows
    half = np.linspace(512, 1536, n // 2).round() / 1024
    w = rng.permutation(np.r_[half, 2 - half]) if weighted else np.ones(n)
    assert w.sum() == n
    fold = rng.permutation(n) % 5
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    settings = {"cv": splits, "min_samples_leaf": 8, "min_samples_split": 16}
    model = TreeClassifier(prune_by="error", **settings) if kind == "class" else TreeRegressor(**settings)
    ours = model.fit(X, y, w if weighted else None).pruning_table_.to_rpart()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=w, fold=fold + 1)
    frame.to_csv(folder / "rows.csv", index=False, float_format="%.17g")
    (folder / "table.R").write_text(SCRIPT)
    command = ["Rscript", str(folder / "table.R"), str(folder / "rows.csv"), kind]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return ours, pd.read_csv(io.StringIO(printed))


@pytest.mark.parametrize(
    ("kind", "seed", "weighted"),
    [("class", 2, False), ("class", 3, False), ("class", 6, True), ("anova", 0, False), ("anova", 3, True)],
)
def test_the_table_is_rparts(kind, seed, weighted, tmp_path):
    ours, theirs = tables(tmp_path, seed, kind, weighted=weighted)
    assert list(ours.columns) == list(theirs.columns)
    assert len(ours) == len(theirs) > 6
    np.testing.assert_allclose(ours.to_numpy(), theirs.to_numpy(), rtol=0, atol=1e-12)


def test_where_rparts_alphas_are_too_low(tmp_path):
    """Rpart forgets grandchildren that are pruned before their parents but after a node itself."""
    ours, theirs = tables(tmp_path, 2, "class", weighted=True)
    shared = ["nsplit", "rel error"]
    np.testing.assert_allclose(ours[shared], theirs[shared], rtol=0, atol=1e-12)
    saved = -np.diff(ours["rel error"]) / np.diff(ours["nsplit"])
    np.testing.assert_allclose(ours["CP"][:-1], saved, rtol=1e-9)
    assert np.all(theirs["CP"][:-1] < saved + 1e-12)
    assert np.any(theirs["CP"][:-1] < saved - 1e-4)
