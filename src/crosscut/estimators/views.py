"""Ways to look at a fitted tree: model files, JSON, pictures, the report, and what a notebook shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from os import PathLike

    from crosscut.forest import Forest
    from crosscut.schema import Schema


class Views:
    """Methods that show or store a fitted estimator; what they need is imported when they are called."""

    forest_: Forest
    _schema: Schema

    def save(self, path: str | PathLike[str], *, target: str = "target", held_out: bool = True) -> None:
        """Write a model file, which :func:`crosscut.load_model` reads; see :func:`crosscut.save_model`.

        Parameters
        ----------
        path : path
            The file to write.
        target : str
            Name of what is predicted.
        held_out : bool
            Also store the target and the leaf of every held-out row, from which ``cv_…`` results come.
        """
        from crosscut.model_file import save_model

        save_model(self, path, target=target, held_out=held_out)  # type: ignore[arg-type]

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the final tree as JSON, with names and categories (``crosscut.tree_json`` says how).

        Parameters
        ----------
        indent : int, optional
            Spaces per level; one line by default.
        """
        from crosscut.tree_json import tree_data

        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        return json.dumps(
            tree_data(self.forest_[0], self._schema, classes), indent=indent, ensure_ascii=False
        )

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
