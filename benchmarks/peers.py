"""The peers, each as a job on a workload, and a description of what each of them computes.

Every function takes a workload and returns a job. Imports and conversions are done before the job is returned
and are not timed. Data are passed as a float32 matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workloads import FOLDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from workloads import Workload

    Job = Callable[[], object]

LEAVES = 255
THREADS = 2


def crosscut_growing(work: Workload) -> Job:
    return work.all_trees


def crosscut_fit(work: Workload, n_jobs: int | None = None) -> Job:
    from crosscut import TreeClassifier, TreeRegressor

    kind = TreeRegressor if work.is_regression else TreeClassifier
    limits = {"max_depth": work.limits.max_depth, "min_samples_leaf": work.limits.min_samples_leaf}
    model = kind(**limits, max_bins=work.max_bins, n_jobs=n_jobs)
    return lambda: model.fit(*work.data)


def sklearn_fit(work: Workload) -> Job:
    X, y = work.matrix, work.data[1]
    return lambda: work.sklearn_tree().fit(X, y)


def sklearn_cv(work: Workload, n_jobs: int = 1) -> Job:
    from joblib import parallel_config
    from sklearn.model_selection import cross_val_score

    X, y = work.data

    def job() -> object:
        with parallel_config("threading"):
            cross_val_score(work.sklearn_tree(), X, y, cv=FOLDS, n_jobs=n_jobs)
        return work.sklearn_tree().fit(X, y)

    return job


def sklearn_cv_2(work: Workload) -> Job:
    return sklearn_cv(work, THREADS)


def _one_tree(work: Workload) -> dict[str, Any]:
    """Return the arguments with which a booster cross-validates a single tree."""
    return {"num_boost_round": 1, "nfold": FOLDS, "stratified": not work.is_regression, "seed": 0}


def lightgbm_cv(work: Workload) -> Job:
    import lightgbm

    X, y = work.data
    parameters = {
        **_objective(work, "regression", "binary", "multiclass"),
        "num_leaves": LEAVES,
        "max_depth": work.limits.max_depth or -1,
        "num_threads": THREADS,
        "verbosity": -1,
        "seed": 0,
    }
    return lambda: lightgbm.cv(
        parameters,
        lightgbm.Dataset(X, y),
        **_one_tree(work),
    )


def xgboost_cv(work: Workload) -> Job:
    import xgboost

    X, y = work.data
    parameters = {
        **_objective(work, "reg:squarederror", "binary:logistic", "multi:softprob"),
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": LEAVES,
        "max_depth": work.limits.max_depth or 0,
        "nthread": THREADS,
        "verbosity": 0,
    }
    return lambda: xgboost.cv(
        parameters,
        xgboost.DMatrix(X, y, nthread=THREADS),
        **_one_tree(work),
    )


def ydf_cv(work: Workload) -> Job:
    import ydf

    X, y = work.data
    ydf.verbose(0)
    learner = ydf.CartLearner(
        label="y",
        task=ydf.Task.REGRESSION if work.is_regression else ydf.Task.CLASSIFICATION,
        max_depth=-1 if work.limits.max_depth is None else work.limits.max_depth,
        min_examples=work.limits.min_samples_leaf,
        num_threads=THREADS,
    )
    columns = {f"x{f}": np.ascontiguousarray(X[:, f]) for f in range(X.shape[1])} | {"y": y}
    return lambda: learner.cross_validation(columns, folds=FOLDS, parallel_evaluations=THREADS)


def _objective(work: Workload, regression: str, binary: str, classes: str) -> dict[str, object]:
    if work.is_regression:
        return {"objective": regression}
    if work.target.n_classes == 2:
        return {"objective": binary}
    return {"objective": classes, "num_class": work.target.n_classes}


@dataclass(frozen=True)
class Peer:
    """A library to compare with; ``job`` is None for a separate program (rpart.R)."""

    job: Callable[[Workload], Job] | None
    computes: str


PEERS = {
    "crosscut": Peer(
        crosscut_growing,
        f"encoding, the final tree and {FOLDS} folds; exact splits (max_bins=255 on HIGGS); all cores",
    ),
    "crosscut fit": Peer(
        crosscut_fit,
        "the estimator's whole fit: the same, and out-of-fold predictions, scores and the pruning table",
    ),
    "scikit-learn, one fit": Peer(sklearn_fit, "one tree, no cross-validation; exact splits; one thread"),
    "scikit-learn": Peer(
        sklearn_cv, f"cross_val_score ({FOLDS} folds) and the final tree; exact splits; n_jobs=1"
    ),
    "scikit-learn, 2 jobs": Peer(sklearn_cv_2, "the same with n_jobs=2 (threads)"),
    "LightGBM cv": Peer(
        lightgbm_cv,
        f"cv: {FOLDS} folds, no final tree; one round of at most {LEAVES} leaves (one tree per class if"
        f" several); columns binned once, 255 bins; {THREADS} threads",
    ),
    "XGBoost cv": Peer(
        xgboost_cv,
        f"cv: {FOLDS} folds, no final tree; one round of at most {LEAVES} leaves (one tree per class if"
        f" several); hist, columns binned for each fold; {THREADS} threads",
    ),
    "YDF CART": Peer(
        ydf_cv,
        f"cross_validation: {FOLDS} folds, no final tree; exact splits; 10% of each training set are held out"
        f" to prune with; {THREADS} evaluations in parallel",
    ),
    "rpart": Peer(
        None,
        "rpart(xval=10, cp=0, no surrogates): the final tree, the folds and the pruning table; exact splits;"
        " depth at most 30; one thread",
    ),
}
