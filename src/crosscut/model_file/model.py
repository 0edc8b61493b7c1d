"""Estimators to and from model files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut.forest.forest import Forest
from crosscut.model_file.container import ModelFileError, read_container, write_container
from crosscut.model_file.header import described, read_described
from crosscut.model_file.trees import TYPES, read_trees

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from crosscut.training.validation import CrossValidation

_ELSEWHERE = {  # models with a module of their own to read them
    "RuleClassifier": "crosscut.model_file.rules",
    "RelationalTreeClassifier": "crosscut.relational.model_file.trees",
    "RelationalTreeRegressor": "crosscut.relational.model_file.trees",
    "RelationalRuleClassifier": "crosscut.relational.model_file.rules",
}


def save_model(
    model: Any, path: str | PathLike[str], *, target: str = "target", held_out: bool = True
) -> None:
    """Write a fitted tree, and those of its folds, to a model file (docs/model-format.md).

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or RuleClassifier
        Fitted.
    path : path
        The file to write.
    target : str
        Name of what is predicted.
    held_out : bool
        Also store what the cross-validation needs: the target of every training row and the leaf it reached
        in the tree that held it out. Without it the file is smaller and tells nothing about single rows, but
        the loaded model has no ``cv_…`` results.

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
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if not hasattr(model, "_schema"):  # relational: the target has its name in the database
        raise TypeError(f"a {type(model).__name__} is saved by its own method: model.save(path)")
    if hasattr(model, "rules_"):
        from crosscut.model_file import rules

        rules.save(model, path, target=target, held_out=held_out)
        return
    cv = model._cv if held_out else None  # noqa: SLF001, one package
    header = described(model, target)
    header["columns"]["missing"] = None if model._n_missing is None else model._n_missing.tolist()  # noqa: SLF001
    header["ccp_alpha"] = model.ccp_alpha_
    levels = model.forest_.levels or {}
    header["levels"] = {name: np.asarray(counts).tolist() for name, counts in levels.items()}
    packed = model.forest_.packed
    arrays = {name: getattr(packed, name) for name in TYPES}
    if cv is not None:
        arrays |= {
            "held_out_rows": cv.held_out.rows,
            "held_out_start": cv.held_out.row_start,
            "held_out_leaf": cv.held_out.leaf,
            "y": cv.y,
        }
        if cv.weights is not None:
            arrays["row_weights"] = cv.weights
        if model._held_out_scores is not None:  # noqa: SLF001
            arrays["scores"] = model._held_out_scores  # noqa: SLF001
        table = model._pruned_by  # noqa: SLF001
        if table is not None:
            arrays |= {f"pruning_{name}": getattr(table, name) for name in table.__dataclass_fields__}
    write_container(path, header, arrays)


def load_model(path: str | PathLike[str]) -> Any:
    """Read a model file; it may come from anywhere, since nothing in it is run and everything is checked.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    estimator
        A fitted `TreeClassifier`, `TreeRegressor`, `RuleClassifier`, or one of the relational estimators.
        Parameters that are objects, such as splitters, are at their defaults.

    Raises
    ------
    ModelFileError
        If the file is no model file, damaged, or of a later version.
    """
    return read_model(path)[0]


def read_model(path: str | PathLike[str]) -> tuple[Any, str]:
    """Return the model in a file and the name of what it predicts."""
    header, arrays = read_container(path)
    try:
        return _model(header, arrays), str(header.get("target", "target"))
    except ModelFileError as error:
        raise ModelFileError(f"{str(path)!r}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise ModelFileError(f"{str(path)!r} is damaged: {type(error).__name__} {error}") from error


def _model(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
    from crosscut.estimators import TreeClassifier, TreeRegressor
    from crosscut.training.training_set import check_parameters

    name = header.get("model")
    if name in _ELSEWHERE:
        reader = import_module(_ELSEWHERE[name])
        return reader.read(header, arrays)
    makers: dict[str, Any] = {"TreeClassifier": TreeClassifier, "TreeRegressor": TreeRegressor}
    if name not in makers:
        raise ModelFileError(f"the model is a {name!r}; this crosscut knows {[*makers, *_ELSEWHERE]}")
    model = makers[name]()
    schema, classes = read_described(header, model)
    check_parameters(model)
    classifies = isinstance(model, TreeClassifier)
    if classifies != (classes is not None) or (classes is not None and len(classes) < 1):
        raise ModelFileError("the classes do not fit the model")
    n_classes = 0 if classes is None else len(classes)
    packed = read_trees(arrays, schema, n_classes)
    levels = {str(name): np.array(counts, dtype=np.float64) for name, counts in header["levels"].items()}
    if any(counts.ndim != 1 for counts in levels.values()):
        raise ModelFileError("the counts of levels are damaged")
    model.forest_ = Forest(packed, levels or None)
    # what growing cost belongs to the trees before they were pruned, which are not in the file
    pruned = "pruning_alpha" in arrays or model.ccp_alpha > 0 or model.prune == "pessimistic"
    model._grown = Forest(packed) if pruned else model.forest_  # noqa: SLF001, one package
    model._n_missing = _counts(header["columns"].get("missing"), len(schema))  # noqa: SLF001
    model.ccp_alpha_ = float(header["ccp_alpha"])
    model._cv = _cross_validation(arrays, model.forest_, classes)  # noqa: SLF001
    model._held_out_scores = _scores(arrays, packed.n_trees - 1)  # noqa: SLF001
    model._pruned_by = _pruning_table(arrays)  # noqa: SLF001
    return model


def _counts(missing: Any, n_columns: int) -> NDArray[np.int64] | None:
    if missing is None:
        return None
    if len(missing) != n_columns or not all(type(n) is int and 0 <= n < 2**62 for n in missing):
        raise ModelFileError("the numbers of missing values are damaged")
    return np.array(missing, np.int64)


def _scores(arrays: dict[str, NDArray[Any]], n_folds: int) -> NDArray[np.float64] | None:
    scores = arrays.get("scores")
    if scores is not None and (scores.shape != (n_folds,) or scores.dtype != np.float64):
        raise ModelFileError("the scores of the folds are damaged")
    return scores


def _cross_validation(
    arrays: dict[str, NDArray[Any]], forest: Forest, classes: NDArray[Any] | None
) -> CrossValidation | None:
    from crosscut.forest.predict import HeldOut
    from crosscut.training.validation import CrossValidation

    if "y" not in arrays:
        return None
    packed, y = forest.packed, arrays["y"]
    rows, start, leaf = (arrays[f"held_out_{name}"] for name in ("rows", "start", "leaf"))
    sound = (
        y.ndim == rows.ndim == start.ndim == leaf.ndim == 1
        and rows.dtype == start.dtype == np.int64
        and leaf.dtype == np.int32
        and y.dtype == (np.float64 if classes is None else np.int32)
        and len(start) == packed.n_trees + 1
        and len(rows) == len(leaf)
        and start[0] == 0
        and start[-1] == len(rows)
        and bool(np.all(np.diff(start) >= 0))
        and bool(np.all((rows >= 0) & (rows < len(y))))
        and bool(np.all(np.isfinite(y)))
        and (classes is None or bool(np.all((y >= 0) & (y < len(classes)))))
    )
    if not sound:
        raise ModelFileError("the held-out rows are damaged")
    size = np.repeat(np.diff(packed.node_start), np.diff(start))
    if not np.all((leaf >= 0) & (leaf < size)):
        raise ModelFileError("a held-out row is in no leaf")
    held_out = HeldOut(rows, start, leaf)
    if np.any(packed.feature[held_out.node(packed)] >= 0):
        raise ModelFileError("a held-out row is in no leaf")
    weights = arrays.get("row_weights")
    if weights is not None and (
        weights.shape != y.shape
        or weights.dtype != np.float64
        or not np.all((weights >= 0) & np.isfinite(weights))
    ):
        raise ModelFileError("the weights of the rows are damaged")
    return CrossValidation(forest, held_out, y, classes, weights)


def _pruning_table(arrays: dict[str, NDArray[Any]]) -> Any:
    from crosscut.forest.pruning_table import PruningTable

    if "pruning_alpha" not in arrays:
        return None
    columns = {name: arrays[f"pruning_{name}"] for name in PruningTable.__dataclass_fields__}
    length = len(columns["alpha"])
    if not length or not all(
        column.shape == (length,) and np.all(np.isfinite(column)) for column in columns.values()
    ):
        raise ModelFileError("the pruning table is damaged")
    return PruningTable(**columns)
