"""Compare rule learning with Orange's CN2, wittgenstein's RIPPER, and with crosscut fold by fold.

    python benchmarks/rules.py [--only NAME] [--json FILE] [--no-peers]

A peer is cross-validated in 10 folds on the same rows and then learns the final rule set, once; crosscut does
the same in one fit. Times are processor times on one thread. Accuracies within two standard errors of their
difference over the folds count as equal. Peers that are not installed are skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # waiting threads would count as processor time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold

import generated
from crosscut import RuleClassifier, Table
from crosscut.data.target import Target
from crosscut.rules.examples import TableRows, bits_of
from crosscut.rules.learning import Learning


def mushroom_like(n_rows=4000, seed=0):
    """Return 22 nominal columns with 2 to 9 categories, and classes by a few short rules, like mushrooms."""
    draw = np.random.default_rng(seed)
    X = np.array([draw.integers(0, 2 + f % 8, n_rows) for f in range(22)]).T
    poisonous = (X[:, 4] <= 1) | ((X[:, 7] == 3) & (X[:, 0] == 0)) | ((X[:, 12] == 2) & (X[:, 3] == 4))
    letters = np.array(list("abcdefghi"), object)
    return letters[X], poisonous.astype(int)


def rule_like(n_rows=20_000, seed=0):
    """Return 20 numeric columns, and classes by three short rules."""
    X = np.random.default_rng(seed).random((n_rows, 20)).astype(np.float32)
    first, second = (X[:, 7] > 0.6) & (X[:, 0] <= 0.5), (X[:, 12] > 0.7) & (X[:, 3] <= 0.4)
    return X, ((X[:, 4] <= 0.2) | first | second).astype(int)


DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "mushroom_like": mushroom_like,
}


def timed(job):
    begin = time.process_time()
    result = job()
    return time.process_time() - begin, result


def orange_cn2(X, y, splits):
    from Orange.classification import CN2Learner
    from Orange.data import ContinuousVariable, DiscreteVariable, Domain
    from Orange.data import Table as OrangeTable

    nominal = X.dtype == object
    names = [sorted(set(column)) for column in X.T] if nominal else []
    columns = [
        DiscreteVariable(f"x{f}", values=names[f]) if nominal else ContinuousVariable(f"x{f}")
        for f in range(X.shape[1])
    ]
    codes = (
        np.array([[names[f].index(v) for f, v in enumerate(row)] for row in X], float)
        if nominal
        else X.astype(float)
    )
    domain = Domain(columns, DiscreteVariable("class", values=[str(c) for c in range(int(y.max()) + 1)]))
    table = OrangeTable.from_numpy(domain, codes, y.astype(float))

    def fit(rows):
        return CN2Learner()(table[rows])

    return [float(np.mean(fit(train)(table[test]) == y[test])) for train, test in splits], lambda: fit(
        np.arange(len(y))
    )


def wittgenstein_ripper(X, y, splits):
    import pandas as pd
    import wittgenstein as lw

    frame = pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])])

    def fit(rows):
        known = frame.iloc[rows].assign(label=y[rows])
        model = lw.RIPPER(random_state=0)
        model.fit(known, class_feat="label", pos_class=1)  # returns nothing
        return model

    scores = [
        float(np.mean(np.array(fit(train).predict(frame.iloc[test])) == y[test])) for train, test in splits
    ]
    return scores, lambda: fit(np.arange(len(y)))


PEERS = {
    "Orange CN2": ("Orange", "cn2", orange_cn2),
    "wittgenstein RIPPER": ("wittgenstein", "ripper", wittgenstein_ripper),
}


def compare(name, peer):
    module, strategy, run = PEERS[peer]
    if find_spec(module) is None:
        print(f"{name:14} {peer}: skipped, not installed")
        return None
    X, y = DATA[name]()
    if strategy == "ripper" and y.max() > 1:
        y = (y == 1).astype(int)  # wittgenstein learns one class against the rest
    splits = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    RuleClassifier(strategy=strategy).fit(X[:50], y[:50] if len(set(y[:50])) > 1 else np.arange(50) % 2)
    seconds, model = min(
        (timed(lambda: RuleClassifier(strategy=strategy, cv=splits).fit(X, y)) for _ in range(3)),
        key=lambda t: t[0],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cv_time, (scores, final) = timed(lambda: run(X, y, splits))
        final_time, _ = timed(final)
    difference = model.cv_scores_ - np.array(scores)
    error = float(difference.std(ddof=1) / np.sqrt(10))
    row = {
        "data": name,
        "peer": peer,
        "accuracy": model.cv_score_,
        "peer accuracy": float(np.mean(scores)),
        "standard error of the difference": error,
        "seconds": seconds,
        "peer seconds": cv_time + final_time,
        "speed-up": (cv_time + final_time) / seconds,
        "speed-up over one rule set": final_time / seconds,
    }
    worse = float(np.mean(difference)) < -2 * error
    print(
        f"{name:14} {peer:20} accuracy {model.cv_score_:.3f} vs {np.mean(scores):.3f} (± {error:.3f}"
        f"{', worse' if worse else ''}); {seconds:.3f} s vs {cv_time + final_time:.1f} s: "
        f"{row['speed-up']:.0f}×"
    )
    return row


# Stable: a few clear rules determine the class, and most are found in every fold. Unstable: many columns
# have a weak effect, so that folds choose different conditions. Tree-like data are between the two for rules:
# the first test of a tree is the same in all folds, but the leaf that is covered first is not. Limits on
# coverage and length keep CN2 from fitting noise.
SHARING = {  # name: data, parameters, and the target speed-up
    "stable, nominal": (lambda: mushroom_like(20_000), {"min_coverage": 20}, 5),
    "stable, numeric": (rule_like, {"min_coverage": 100, "max_length": 3}, 5),
    "stable, ripper": (lambda: mushroom_like(20_000), {"strategy": "ripper"}, 5),
    "tree-like, numeric": (
        lambda: generated.tree_like(10_000, 20, noise=0.0),
        {"min_coverage": 100, "max_length": 3},
        2.5,
    ),
    "unstable, numeric": (lambda: generated.weak(3000, 20), {"min_coverage": 20, "max_length": 3}, 2.5),
    "unstable, unordered": (
        lambda: generated.weak(3000, 20),
        {"ordered": False, "min_coverage": 20, "max_length": 3},
        2.5,
    ),
    "unstable, ripper": (lambda: generated.weak(3000, 20), {"strategy": "ripper"}, 2.5),
}


def agreement_of(model):
    """Return the mean fraction of folds that find a final rule, up to thresholds and order of conditions."""
    final, *others = (
        {model.wording_.meaning(rule, thresholds=False) for rule in rules.rules}
        for rules in (model.rules_, *model.cv_rules_)
    )
    return float(np.mean([rule in other for rule in final for other in others]))


def share(name):
    """Fit once with 10 folds, and one by one: every fold separately, from its training rows."""
    make, parameters, asked = SHARING[name]
    X, y = make()
    folds = np.random.default_rng(0).permutation(len(y)) % 10
    splits = [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(10)]

    def together():
        return RuleClassifier(**parameters, cv=splits).fit(X, y)

    def one_by_one():
        RuleClassifier(**parameters, cv=None).fit(X, y)
        for train, test in splits:
            RuleClassifier(**parameters, cv=None).fit(X[train], y[train]).predict(X[test])

    table, target = Table.from_data(X), Target(y.astype(np.int32), int(y.max()) + 1)
    learning = Learning.of(RuleClassifier(**parameters), seed=0)
    everything = bits_of(np.ones(len(y), bool))
    tasks = [everything, *(bits_of(folds != fold) for fold in range(10))]

    def search(lists):
        examples = [TableRows(table, target) for _ in lists]
        return timed(
            lambda: [
                rules
                for each, part in zip(examples, lists, strict=True)
                for rules in learning.rule_sets(each, part)
            ]
        ), examples[0].work

    model = together()
    agreement = agreement_of(model)
    fits = [(timed(together)[0], timed(one_by_one)[0]) for _ in range(5)]
    searches = [(search([tasks]), search([[task] for task in tasks])) for _ in range(5)]
    assert all(all_at_once[0][1] == single[0][1] for all_at_once, single in searches)
    fast, slow = (min(times) for times in zip(*fits, strict=True))
    fast_search, slow_search = (min(run[0][0] for run in runs) for runs in zip(*searches, strict=True))
    work = searches[0][0][1]
    print(
        f"{name:20} 10 folds and all rows {fast:.3f} s, one by one {slow:.3f} s: {slow / fast:.2f}× (asked "
        f"{asked}); search {fast_search:.3f} and {slow_search:.3f} s: {slow_search / fast_search:.2f}×, "
        f"rows visited {work['visits_alone'] / work['visits']:.1f}× fewer; "
        f"{len(model.rules_)} rules, found in {agreement:.0%} of the folds"
    )
    return {
        "data": name,
        "together": fast,
        "serial": slow,
        "speed-up": slow / fast,
        "asked": asked,
        "agreement": agreement,
        "search": fast_search,
        "serial search": slow_search,
        **work,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="a data set")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--no-peers", action="store_true", help="compare only with crosscut fold by fold")
    options = parser.parse_args()
    rows = [share(name) for name in SHARING if options.only in {None, name}]
    if not options.no_peers:
        rows += [
            row
            for name in DATA
            if options.only in {None, name}
            for peer in PEERS
            if (row := compare(name, peer))
        ]
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
