"""Measure the gain of tuning by nested cross-validation: `python examples/nested_comparison.py [FOLDER]`."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from crosscut import GridSearchCV, cross_val_score, nested_cross_validate

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()

X, y = load_breast_cancer(return_X_y=True)
tree = DecisionTreeClassifier(random_state=0)
grid = {"max_depth": [2, 3, 4, 6, None], "min_samples_leaf": [1, 5, 20], "ccp_alpha": [0.0, 0.005, 0.02]}
folds = StratifiedKFold(10, shuffle=True, random_state=0)

search = GridSearchCV(tree, grid, cv=folds).fit(X, y)
untuned = cross_val_score(tree, X, y, cv=folds)
nested = nested_cross_validate(tree, grid, X, y, cv=folds)
print(f"untuned tree           {untuned.mean():.4f}")
print(f"best of the grid       {search.best_score_:.4f}  chosen by this score, so optimistic")
print(f"nested, tuned tree     {nested.score:.4f} ± {nested.standard_error:.4f}")
print(nested)

axes = plt.figure(figsize=(5, 4)).subplots()
axes.boxplot([untuned, nested.test_score], tick_labels=["untuned", "tuned (nested)"])
axes.axhline(search.best_score_, linestyle="--", label="best_score_ of the search")
axes.set_ylabel("accuracy on the outer folds")
axes.legend()
axes.figure.savefig(folder / "nested-comparison.svg", metadata={"Date": None}, bbox_inches="tight")
