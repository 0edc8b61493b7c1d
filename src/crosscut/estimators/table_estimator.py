"""What estimators of tables have in common whatever they learn: the kinds of columns, and model files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from crosscut.data.schema import Schema


class TableEstimator:
    """An estimator of rows with numeric and nominal columns, which can be saved once it is fitted."""

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
            Also store what was found for every held-out row, from which ``cv_…`` results come.
        """
        from crosscut.model_file import save_model

        save_model(self, path, target=target, held_out=held_out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # BaseEstimator's
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
