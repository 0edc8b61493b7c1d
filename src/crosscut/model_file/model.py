"""Save estimators to model files and load them."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from crosscut.data.array_file import ArrayFileError, read_arrays, write_arrays
from crosscut.extensions import MODELS, RELATIONAL, extensions, hint
from crosscut.training.fit import fit_of
from crosscut.training.stored import ModelFileError

if TYPE_CHECKING:
    from os import PathLike
    from types import ModuleType

    from sklearn.base import BaseEstimator

    from crosscut.training.fit import Fit, Fitted

_KINDS = {  # module that writes and reads each kind of model; extensions add more
    "TreeClassifier": "crosscut.estimators.model_file",
    "TreeRegressor": "crosscut.estimators.model_file",
    "RuleClassifier": "crosscut.rules.model_file",
}


def save_model(
    model: Fitted | Fit, path: str | PathLike[str], *, target: str | None = None, held_out: bool = True
) -> None:
    """Write a fitted model and the models of its folds to a model file (docs/model-format.md).

    Parameters
    ----------
    model : estimator
        A fitted tree or rule set, of a table or a database.
    path : path
        The file to write.
    target : str, optional
        Name of the target, by default the name in the fit.
    held_out : bool
        Whether to store the cross-validation: the target of each training row and its leaf in the tree that
        holds it out. Without it, the file is smaller and contains no single rows, but the loaded model has no
        ``cv_…`` results.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from crosscut import TreeClassifier, load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TreeClassifier(cv=5).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "iris.crosscut")
    ...     save_model(model, path)
    ...     again = load_model(path)
    >>> bool((again.predict(X) == model.predict(X)).all()), again.cv_score_ == model.cv_score_
    (True, True)
    """
    fit = fit_of(model)
    if target is not None:
        fit = replace(fit, target=target)
    if not held_out:
        fit = replace(fit, validation=None)
    header, arrays = _kind(fit.learner).written(model, fit)
    write_arrays(path, header, arrays)


def load_model(path: str | PathLike[str]) -> BaseEstimator:
    """Read a model file, which may be untrusted: no code in it is run and everything is checked.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    estimator
        A fitted `TreeClassifier`, `TreeRegressor`, `RuleClassifier`, or an estimator of crosscut-relational.
        Parameters that are objects, such as splitters, have their defaults.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, or has another format version.
    """
    return read_model(path)[0]


def read_model(path: str | PathLike[str]) -> tuple[Any, str]:
    """Return the model in a file and the name of its target."""
    try:
        header, arrays = read_arrays(path)
        model = _kind(str(header.get("model"))).read(header, arrays)
        if "scores" in arrays and model.fit_.validation is not None:
            model.fit_.validation.scoring = model.scoring
    except ArrayFileError as error:
        raise ModelFileError(str(error)) from error
    except ModelFileError as error:
        raise ModelFileError(f"{str(path)!r}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ModelFileError(f"{str(path)!r} is damaged: {type(error).__name__} {error}") from error
    return model, str(header.get("target", "target"))


def _kind(learner: str) -> ModuleType:
    """Return the module that writes and reads a kind of model."""
    if learner in _KINDS:
        return import_module(_KINDS[learner])
    others = extensions(MODELS)
    if learner in others:
        module: ModuleType = others[learner].load()
        return module
    if learner in RELATIONAL:
        raise ModelFileError(hint(learner))
    raise ModelFileError(f"the model is a {learner!r}; this crosscut knows {[*_KINDS, *others]}")
