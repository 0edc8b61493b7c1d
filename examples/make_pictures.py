"""Draw the pictures of README.md and docs/: `python examples/make_pictures.py [FOLDER]`."""

import sys
from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_iris

from crosscut import TreeClassifier, datasets, plot
from crosscut.data.files import split_target

if __name__ == "__main__":
    here = Path(__file__).resolve().parent.parent
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else here / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    # files without dates and random names, so that the same data give the same files
    mpl.rcParams["svg.hashsalt"] = "crosscut"
    X, y = split_target(datasets.churn(), "churned")
    pruned = TreeClassifier(prune="best", random_state=0).fit(X, y)
    grown = TreeClassifier(random_state=0).fit(X, y)
    iris = TreeClassifier(max_depth=3).fit(*load_iris(return_X_y=True, as_frame=True))
    pictures = {
        "tree": plot.plot_tree(iris),
        "forest": plot.plot_forest(pruned),
        "forest-iris": plot.plot_forest(iris),
        "pruning": plot.plot_pruning(pruned),
        "stability": plot.plot_stability(grown),
    }
    for name, ax in pictures.items():
        ax.figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
