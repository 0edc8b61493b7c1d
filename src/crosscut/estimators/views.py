"""Ways to look at a fitted tree: JSON, pictures, the report, and what a notebook shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.axes import Axes

    from crosscut.data.schema import Schema
    from crosscut.forest.forest import Forest


class Views:
    """Methods that show a fitted estimator; what they need is imported when they are called."""

    forest_: Forest
    _schema: Schema

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the final tree as JSON, with names and categories (``crosscut.forest.tree_json`` says how).

        Parameters
        ----------
        indent : int, optional
            Spaces per level; one line by default.
        """
        from crosscut.forest.tree_json import tree_data

        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        return json.dumps(
            tree_data(self.forest_[0], self._schema, classes), indent=indent, ensure_ascii=False
        )

    def plot(self, *, ax: Axes | None = None, max_depth: int | None = None) -> Axes:
        """Draw the final tree with class bars and counts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes as large as the tree needs.
        max_depth : int, optional
            Levels to draw; by default all, or as many as are readable.

        Returns
        -------
        Axes
            ``ax.figure.savefig("tree.svg")`` writes it. ``crosscut.plot`` has more pictures.
        """
        from crosscut.plot import plot_tree

        check_is_fitted(self)
        return plot_tree(self, ax=ax, max_depth=max_depth)

    def plot_forest(
        self, *, ax: Axes | None = None, max_depth: int | None = None, fold_shared: bool = True
    ) -> Axes:
        """Draw the trees of all folds in one picture: shared tests, forks, and which folds go where.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default new axes as large as the forest needs.
        max_depth : int, optional
            Levels to draw; by default as many as are readable.
        fold_shared : bool
            Draw parts on which all trees agree to the last leaf as one box.
        """
        from crosscut.plot import plot_forest

        check_is_fitted(self)
        return plot_forest(self, ax=ax, max_depth=max_depth, fold_shared=fold_shared)

    def report(self, path: str | PathLike[str], *, target: str = "target") -> None:
        """Write one HTML page about the tree, its error and where the folds disagree; it needs no network.

        Parameters
        ----------
        path : path
            The file to write.
        target : str
            Name of what is predicted.
        """
        from crosscut.report import write_report

        write_report(self, path, target=target)  # type: ignore[arg-type]

    # what a notebook shows: scikit-learn's view of the parameters, and below it the tree and its error

    def _repr_html_(self) -> str:
        from crosscut.report.notebook import notebook_html

        parameters: Any = super()._repr_html_  # type: ignore[misc]  # BaseEstimator's, a property
        shown = parameters() if callable(parameters) else str(parameters)
        return shown + notebook_html(self) if hasattr(self, "forest_") else shown

    def _repr_mimebundle_(self, **_options: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
