"""The pruning table is rpart's: skipped where R or rpart is absent (Debian: r-base-core, r-cran-rpart)."""

import io
import shutil
import subprocess
from itertools import product

import numpy as np
import pandas as pd
import pytest

from crosscut import TreeClassifier, TreeRegressor

SCRIPT = """
library(rpart)
for (file in commandArgs(TRUE)) {
  d <- read.csv(file)
  w <- d$w; fold <- d$fold; d$w <- NULL; d$fold <- NULL
  method <- if (grepl("class", file)) "class" else "anova"
  if (method == "class") d$y <- factor(d$y)
  fit <- rpart(y ~ ., d, weights = w, method = method, xval = fold, cp = 0, minsplit = 16, minbucket = 8,
               maxcompete = 0, maxsurrogate = 0)
  write.csv(format(as.data.frame(fit$cptable), digits = 17), row.names = FALSE)
  cat("--\\n")
}
"""
CASES = [*product(("class", "anova"), (True,), range(12)), *product(("anova",), (False,), range(4))]
# unweighted classes nearly always have ties, which two programs may break in two ways
CASES += [("class", False, 2), ("class", False, 3)]


def has_rpart():
    if shutil.which("Rscript") is None:
        return False
    return (
        subprocess.run(["Rscript", "-e", "library(rpart)"], capture_output=True, check=False).returncode == 0
    )


pytestmark = pytest.mark.skipif(not has_rpart(), reason="Rscript with rpart is not installed")


def fitted(seed, kind, *, weighted, n=300):
    """A model, and its rows with weights and folds."""
    rng = np.random.default_rng(seed)
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
    rows = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=w, fold=fold + 1)
    return model.fit(X, y, w if weighted else None), rows


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Our pruning table and rpart's for every case, from one run of R."""
    folder, ours, files = tmp_path_factory.mktemp("rpart"), [], []
    for kind, weighted, seed in CASES:
        model, rows = fitted(seed, kind, weighted=weighted)
        ours.append(model.pruning_table_)
        files.append(str(folder / f"{kind}-{weighted}-{seed}.csv"))
        rows.to_csv(files[-1], index=False, float_format="%.17g")
    (folder / "table.R").write_text(SCRIPT)
    command = ["Rscript", str(folder / "table.R"), *files]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    theirs = [pd.read_csv(io.StringIO(part)) for part in printed.split("--\n")[:-1]]
    return dict(zip(CASES, zip(ours, theirs, strict=True), strict=True))


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_the_table_is_rparts(case, tables):
    ours, theirs = tables[case]
    ours = ours.to_rpart()
    assert list(ours.columns) == list(theirs.columns)
    assert len(ours) == len(theirs) > 6
    np.testing.assert_allclose(ours.to_numpy(), theirs.to_numpy(), rtol=0, atol=1e-12)


def test_rparts_order_is_not_always_carts(tables):
    """CART's trees are the best of their size; rpart forgets what has fallen below a son."""
    differ = 0
    for ours, theirs in tables.values():
        saved = -np.diff(ours.train_error[::-1]) / np.diff(ours.n_leaves[::-1])
        np.testing.assert_allclose(ours.alpha[:0:-1], saved, rtol=1e-9)
        cp, splits = theirs["CP"].to_numpy()[:-1], theirs["nsplit"].to_numpy()
        differ += np.any(cp < -np.diff(theirs["rel error"]) / np.diff(splits) - 1e-4)
    assert differ > 3
