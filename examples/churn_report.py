"""A pruned tree of customers who leave, and its error: `python examples/churn_report.py [FOLDER]`."""

import sys
from pathlib import Path

from sklearn.metrics import ConfusionMatrixDisplay

from crosscut import TreeClassifier, read_file, split_target
from crosscut.plot import plot_pruning

here = Path(__file__).resolve().parent
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()

X, y = split_target(read_file(here / "churn.csv"), "churned")
full = TreeClassifier(cv=10, random_state=0).fit(X, y)
model = TreeClassifier(cv=10, prune="1se", random_state=0).fit(X, y)
for name, tree in {"full": full, "pruned": model}.items():
    score = f"{tree.cv_score_:.3f} ± {tree.cv_standard_error_:.3f}"
    print(f"{name:>6}: {tree.get_n_leaves():3} leaves, accuracy on unseen rows {score}")
print(model.to_text())

plot_pruning(model).figure.savefig(folder / "churn-pruning.svg", metadata={"Date": None})
confusion = ConfusionMatrixDisplay.from_predictions(y, model.cv_predictions_)
confusion.figure_.savefig(folder / "churn-confusion.svg", metadata={"Date": None})
model.report(folder / "churn.html", X=X, target="churned")
