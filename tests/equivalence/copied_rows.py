"""Random problems, learnt together and from copies of each fold's training rows: by seed, so that any can be
repeated. Nothing but the training rows may reach a model."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from crosscut import BaggedTrees, RuleClassifier, TreeClassifier, TreeRegressor
from crosscut.data.table import Table
from crosscut.data.target import Target
from crosscut.tasks import Tasks
from crosscut.tasks.growth import Growth, Limits
from crosscut.training.train import grow_own_classes

SHOWN = (
    "feature",
    "threshold",
    "missing",
    "children",
    "low",
    "high",
    "n_rows",
    "weight",
    "value",
    "impurity",
)
SCALES = [1.0, 1.0, 1e30, 1e-30]


def random_columns(rng, n, *, shifted=True):
    """Few-valued and other numbers, missing ones among them, and categories that the type names."""
    columns = {}
    for f in range(rng.integers(1, 4)):
        column = rng.integers(0, rng.integers(2, 5), n).astype(float)
        kind = rng.random()
        if kind < 0.25:
            column = pd.Categorical.from_codes(column.astype(int), list("abcd"))
        elif kind < 0.5:
            column += rng.normal(size=n).round(1)
        if shifted and kind >= 0.25 and rng.random() < 0.3:
            column = column + 1e9 if rng.random() < 0.3 else column * rng.choice(SCALES)
        columns[f"x{f}"] = column
    X = pd.DataFrame(columns)
    return X.mask(rng.random(X.shape) < 0.2) if rng.random() < 0.3 else X


def random_numbers(rng, n):
    """Targets that tie, with offsets and scales at which sums of doubles are rounded."""
    tied = [np.arange(3.0), np.array([0.1, 0.2, 0.3]), np.array([1e-30, 2e-30, 1e30]), rng.normal(size=n)]
    y = rng.choice(tied[rng.integers(4)], n)
    return (y + rng.choice([0.0, 0.0, 1e9])) * rng.choice(SCALES)


def random_weights(rng, n):
    kind = rng.integers(5)
    if kind < 2:
        return None
    some = [np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]), np.array([1e-30, 1.0, 1e30])][kind - 2]
    return rng.choice(some, n) * rng.choice(SCALES)


def random_splits(rng, n, *, repeated=None):
    """Training sets, with repeated rows if asked for, out of order."""
    repeated = rng.random() < 0.3 if repeated is None else repeated
    splits = []
    for _ in range(3):
        train = rng.choice(n, max(2, int(n * 0.7)), replace=repeated)
        splits.append((train if repeated else np.sort(train), np.setdiff1d(np.arange(n), train)))
    return splits


def random_problem(rng, *, classes=None, shifted=True):
    """Rows, target (numbers if ``classes`` is 0) and weights."""
    n = int(rng.integers(6, 40))
    classes = int(rng.choice([0, 0, 2, 3, 4])) if classes is None else classes
    y = rng.integers(0, classes, n) if classes else random_numbers(rng, n)
    return random_columns(rng, n, shifted=shifted), y, random_weights(rng, n)


def random_limits(rng):
    return {
        "min_samples_leaf": int(rng.choice([1, 1, 2, 4])),
        "min_samples_split": [2, 2, 5, 0.3][rng.integers(4)],
        "max_depth": rng.choice([None, None, 2]),
        "min_impurity_decrease": float(rng.choice([0.0, 0.0, 0.01])),
    }


def taken(rows, *arrays):
    """Return copies of some rows."""
    return [
        one if one is None else one.iloc[rows].reset_index(drop=True) if hasattr(one, "iloc") else one[rows]
        for one in arrays
    ]


def same_trees(together, alone, classes=None, own=None, names=SHOWN):
    """Compare by what trees show; of classes that the copies lack there is nothing."""
    for name in names:
        mine, other = getattr(together, name), getattr(alone, name)
        if name == "value" and classes is not None:
            lacking = ~np.isin(classes, own)
            assert not mine[:, lacking].any()
            mine = mine[:, ~lacking]
        np.testing.assert_array_equal(mine, other, err_msg=name)


def check_trees(seed):
    """Trees in memory."""
    rng = np.random.default_rng(seed)
    X, y, w = random_problem(rng)
    splits = random_splits(rng, len(y))
    if w is not None and any(not w[train].any() for train, _ in splits):
        return
    numbers = y.dtype.kind == "f"
    options = random_limits(rng)
    if not numbers:
        options["criterion"] = str(rng.choice(["gini", "entropy", "gain_ratio"]))
        options["class_weight"] = rng.choice([None, None, "balanced"])
    options["splits"] = str(rng.choice(["binary", "multiway"]))
    kind = TreeRegressor if numbers else TreeClassifier
    model = kind(cv=splits, n_jobs=1, **options).fit(X, y, sample_weight=w)
    for tree, (train, _) in zip(model.cv_trees_, splits, strict=True):
        own_X, own_y, own_w = taken(train, X, y, w)
        alone = kind(cv=None, n_jobs=1, **options).fit(own_X, own_y, sample_weight=own_w)
        same_trees(tree, alone.tree_, *([] if numbers else [model.classes_, alone.classes_]))


def check_bagged(seed):
    """Bagged trees: rows that count several times are one row."""
    rng = np.random.default_rng(seed)
    X, y, w = random_problem(rng)
    n, numbers = len(y), y.dtype.kind == "f"
    leaf = int(rng.choice([1, 3]))
    tree = (TreeRegressor if numbers else TreeClassifier)(min_samples_leaf=leaf)
    model = BaggedTrees(tree, n_trees=3, random_state=seed, n_jobs=1).fit(X, y, sample_weight=w)
    growth = Growth("variance" if numbers else "gini")
    drawn = Tasks.bootstrap(3, n, random_state=int(np.random.RandomState(seed).randint(2**31)))
    classes, codes = np.unique(y, return_inverse=True)
    for t, grown in enumerate(model.forest_.trees):
        rows = drawn.train_rows(t)
        own_X, own_y, own_w = taken(rows, X, y if numbers else codes.astype(np.int32), w)
        target = Target(own_y, 0 if numbers else len(classes), own_w)
        one = Tasks.from_rows(
            [np.repeat(np.arange(len(rows)), drawn.multiplicity[t, rows])],
            len(rows),
            limits=Limits(min_samples_leaf=leaf),
        )
        tasks = replace(one, copies=False)
        alone = grow_own_classes(Table.from_data(own_X), target, tasks, growth, n_jobs=1)
        same_trees(grown, alone.trees[0])


def check_streams(seed):
    """Trees of a file; bins come from all rows, so that thresholds may differ where no training row is.

    Bins tell doubles apart that are one float32, or within scikit-learn's gap: there are none of these. The
    classes are those of all rows, which matters for categories of a fold that lacks one.
    """
    rng = np.random.default_rng(seed)
    X, y, w = random_problem(rng, shifted=False)
    numbers, n = y.dtype.kind == "f", len(y)
    splits = list(KFold(3).split(np.zeros(n)))
    lacking = not numbers and any(len(set(y[train])) < len(set(y)) for train, _ in splits)
    nominal = [name for name in X if X[name].dtype == "category"]
    if lacking and nominal:
        return
    X = X.astype(dict.fromkeys(nominal, str))
    options = {"min_samples_leaf": int(rng.choice([1, 1, 3])), "max_depth": 4}
    if not numbers:
        options["class_weight"] = rng.choice([None, "balanced"])
    kind = TreeRegressor if numbers else TreeClassifier
    frame = X.assign(target=y, w=1.0 if w is None else w)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        frame.drop(columns=["w"] if w is None else []).to_parquet(path)
        model = kind(cv=KFold(3), n_jobs=1, **options)
        model.fit(path, "target", sample_weight=None if w is None else "w")
        names = [name for name in SHOWN if name not in {"threshold", "low", "high"}]
        for tree, (train, _) in zip(model.cv_trees_, splits, strict=True):
            own_X, own_y, own_w = taken(train, X, y, w)
            alone = kind(cv=None, n_jobs=1, **options).fit(own_X, own_y, sample_weight=own_w)
            pair = [] if numbers else [model.classes_, alone.classes_]
            same_trees(tree, alone.tree_, *pair, names=names)


def named_conditions(model, rules):
    """Return the conditions of rules with categories by name; codes are those of a model's training rows."""
    categories = model.fit_.schema.categories
    return [
        [
            (c.feature, c.operator, categories[c.feature][int(c.value)] if categories[c.feature] else c.value)
            for c in rule.conditions
        ]
        for rule in rules
    ]


def check_rules(seed):
    """CN2 and RIPPER."""
    rng = np.random.default_rng(seed)
    X, y, w = random_problem(rng, classes=int(rng.integers(2, 5)))
    splits = random_splits(rng, len(y))
    options = {
        "strategy": str(rng.choice(["cn2", "ripper"])),
        "ordered": bool(rng.integers(2)),
        "measure": str(rng.choice(["laplace", "m_estimate", "wracc"])),
        "min_coverage": float(rng.choice([1, 2])),
        "max_length": rng.choice([None, 2]),
        "significance": rng.choice([None, 0.2]),
        "class_weight": rng.choice([None, None, "balanced"]),
    }
    model = RuleClassifier(cv=splits, **options).fit(X, y, sample_weight=w)
    for rules, (train, _) in zip(model.cv_rules_, splits, strict=True):
        own_X, own_y, own_w = taken(train, X, y, w)
        alone = RuleClassifier(cv=None, **options).fit(own_X, own_y, sample_weight=own_w)
        present = np.isin(model.classes_, alone.classes_)
        mine, other = rules.with_default, alone.rules_.with_default
        assert named_conditions(model, mine) == named_conditions(alone, other)
        assert [tuple(np.array(rule.totals)[present]) for rule in mine] == [rule.totals for rule in other]


# learner: check, cases by default, cases in all
CHECKS = {
    "trees": (check_trees, 150, 12_000),
    "bagged": (check_bagged, 30, 2_000),
    "rules": (check_rules, 60, 3_000),
    "streams": (check_streams, 30, 1_000),
}


def check_seeds(learner, seeds):
    """Run checks; a failure names its seed."""
    check = CHECKS[learner][0]
    for seed in seeds:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(seed)
        except Exception as error:
            raise AssertionError(f"{check.__name__}({seed}) failed") from error
