"""Common parts of the model files of all learners; everything read is checked."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.data.schema import Schema
from crosscut.forest.predict import HeldOut
from crosscut.forest.pruning_table import COLUMNS, PruningTable
from crosscut.statistics.selection import Correction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

    from crosscut.forest.pruning_table import Objective
    from crosscut.statistics.validation import Validation
    from crosscut.training.fit import Fit

_KINDS = ("numeric", "boolean", "date", "nominal")


class ModelFileError(ValueError):
    """The file is not a model file, is damaged, or has another format version."""


def need(holds: object, what: str) -> None:
    """Raise ModelFileError unless a condition on the file holds."""
    if not bool(holds):
        raise ModelFileError(f"the model is damaged: {what}")


def check_types(arrays: Mapping[str, NDArray[Any]], types: Mapping[str, Any]) -> None:
    """Check that arrays are present and have the right type."""
    for name, kind in types.items():
        need(name in arrays and arrays[name].dtype == kind, f"array {name!r} is missing or of the wrong type")


def spans(start: NDArray[Any], end: int) -> bool:
    """Whether offsets start at 0, end at ``end`` and never decrease."""
    return len(start) >= 2 and start[0] == 0 and start[-1] == end and bool(np.all(np.diff(start) >= 0))


def described(model: BaseEstimator, fit: Fit) -> dict[str, Any]:
    """Return the common part of headers: kind of the model, parameters, columns and classes."""
    schema = fit.schema
    return {
        "crosscut": crosscut.__version__,
        "model": fit.learner,
        "target": fit.target,
        "parameters": plain_parameters(model),
        "columns": {
            "names": list(schema.names),
            "kinds": list(schema.kinds),
            "categories": [_written(np.array(values, dtype=object)) for values in schema.categories],
            "named": schema.named,
        },
        "classes": None if fit.classes is None else _written(fit.classes),
    }


def plain_parameters(model: BaseEstimator) -> dict[str, Any]:
    """Return the parameters to store, without ``n_jobs`` and objects such as splitters."""
    parameters = model.get_params(deep=False).items()
    return {name: value for name, value in parameters if _is_plain(value) and name != "n_jobs"}


def set_parameters(model: BaseEstimator, parameters: dict[str, Any]) -> None:
    """Set the parameters from a file; checks their names and types, not their values."""
    unknown = set(parameters) - set(model.get_params(deep=False)) | set(parameters) & {"n_jobs"}
    known = not unknown and all(_is_plain(value) for value in parameters.values())
    need(known, f"the parameters {sorted(unknown) or parameters} are unknown")
    model.set_params(**parameters)


def read_described(header: dict[str, Any], model: BaseEstimator) -> tuple[Schema, NDArray[Any] | None]:
    """Restore the parameters, columns and classes that `described` returned."""
    set_parameters(model, header["parameters"])
    schema = _schema(header["columns"])
    model.n_features_in_ = len(schema)
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, dtype=object)
    return schema, None if header["classes"] is None else _read_values(header["classes"])


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _schema(columns: dict[str, Any]) -> Schema:
    names, kinds, categories = columns["names"], columns["kinds"], columns["categories"]
    equal = len(names) == len(kinds) == len(categories) > 0
    need(equal, "names, kinds and categories of the columns differ in number")
    different = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    need(different, "the names of the columns are not distinct strings")
    need(all(kind in _KINDS for kind in kinds), f"the kinds of the columns are not among {_KINDS}")
    values = tuple(tuple(_read_values(stored).tolist()) for stored in categories)
    for kind, labels in zip(kinds, values, strict=True):
        need(kind == "nominal" or not labels, "a column that is not nominal has categories")
        need(len(set(labels)) == len(labels), "the categories of a column are not distinct")
    return Schema(tuple(names), tuple(kinds), values, bool(columns["named"]))


def _written(values: NDArray[Any]) -> dict[str, Any]:
    """Return classes or categories with their type for JSON."""
    listed = values.tolist()
    if values.dtype.kind in "iufbU":
        return {"type": values.dtype.str.lstrip("<=|>"), "values": listed}
    if not all(isinstance(value, str | int | float | bool) for value in listed):
        kind = next(type(v).__name__ for v in listed if not isinstance(v, str | int | float | bool))
        raise TypeError(
            f"classes and categories of type {kind} cannot be saved; convert them to text or numbers"
        )
    return {"type": "object", "values": listed}


def _read_values(stored: dict[str, Any]) -> NDArray[Any]:
    kind, values = stored["type"], stored["values"]
    plain = isinstance(values, list) and all(isinstance(v, str | int | float | bool) for v in values)
    need(plain, "classes and categories are not text or numbers")
    if kind == "object":
        return np.array(values, dtype=object)
    known = isinstance(kind, str) and kind[:1] in set("iufbU") and kind[1:].isdecimal() and len(kind) <= 6
    need(known, f"classes of type {kind!r} are unknown")
    return np.array(values, dtype=np.str_ if kind[0] == "U" else np.dtype(kind))


def read_groups(arrays: Mapping[str, NDArray[Any]], n_rows: int) -> NDArray[np.int64] | None:
    """Return the group of each row, if the rows have groups."""
    groups = arrays.get("groups")
    sound = groups is None or (groups.shape == (n_rows,) and groups.dtype == np.int64)
    need(sound and (groups is None or np.all((groups >= 0) & (groups < n_rows))), "a group is invalid")
    return groups


def read_weights(
    arrays: Mapping[str, NDArray[Any]], n_rows: int, name: str = "row_weights"
) -> NDArray[np.float64] | None:
    """Return the weight of each row, if the rows have weights."""
    weights = arrays.get(name)
    sound = weights is None or (weights.shape == (n_rows,) and weights.dtype == np.float64)
    need(sound, "there must be one weight per row")
    need(weights is None or np.all((weights >= 0) & np.isfinite(weights)), "a row has an invalid weight")
    return weights


def read_held_out(
    arrays: Mapping[str, NDArray[Any]], is_leaf: Sequence[NDArray[np.bool_]], classes: NDArray[Any] | None
) -> tuple[HeldOut, NDArray[Any]]:
    """Return the leaves that held-out rows reach, and the target of all rows.

    ``is_leaf`` marks the leaves of each tree.
    """
    y = arrays["y"]
    rows, start, leaf = (arrays[f"held_out_{name}"] for name in ("rows", "start", "leaf"))
    sound = (
        y.ndim == rows.ndim == start.ndim == leaf.ndim == 1
        and rows.dtype == start.dtype == np.int64
        and leaf.dtype == np.int32
        and y.dtype == (np.float64 if classes is None else np.int32)
        and len(start) == len(is_leaf) + 1
        and len(rows) == len(leaf)
        and spans(start, len(rows))
        and bool(np.all((rows >= 0) & (rows < len(y))))
        and bool(np.all(np.isfinite(y)))
        and (classes is None or bool(np.all((y >= 0) & (y < len(classes)))))
    )
    need(sound, "the arrays of held-out rows are inconsistent")
    for leaves, (begin, end) in zip(is_leaf, pairwise(start), strict=True):
        reached = leaf[begin:end]
        inside = np.all((reached >= 0) & (reached < len(leaves)))
        need(inside and leaves[reached].all(), "a held-out row is not in a leaf")
    return HeldOut(rows, start, leaf), y


def choice_arrays(fit: Fit) -> dict[str, NDArray[Any]]:
    """Return the pruning table from which trees were chosen, and the corrections of scores for the choice."""
    arrays: dict[str, NDArray[Any]] = {}
    cv = fit.validation
    if cv is not None and cv.correction is not None and cv.error_correction is not None:
        corrections = [cv.correction, cv.error_correction, cv.scoring_correction]
        arrays["corrections"] = np.array([each for each in corrections if each is not None])
    if fit.chosen_by is not None:
        arrays |= {f"pruning_{name}": getattr(fit.chosen_by, name) for name in COLUMNS}
    return arrays


def read_corrections(arrays: Mapping[str, NDArray[Any]], validation: Validation) -> None:
    """Set the corrections of a file's scores."""
    if "corrections" not in arrays:
        return
    corrections = arrays["corrections"]
    valid = corrections.shape in {(2, 4), (3, 4)} and corrections.dtype == np.float64
    need(valid and np.isfinite(corrections).all(), "the correction of the score is wrong")
    validation.correction, validation.error_correction, *of_scoring = (
        Correction(*row) for row in corrections.tolist()
    )
    validation.scoring_correction = of_scoring[0] if of_scoring else None


def read_pruning_table(
    arrays: Mapping[str, NDArray[Any]], objective: Objective, *, classifies: bool
) -> PruningTable | None:
    """Return the pruning table of a file, if it has one."""
    if "pruning_alpha" not in arrays:
        return None
    length = len(arrays["pruning_alpha"])
    # earlier versions do not store these
    earlier = {"paired_error": np.full(length, np.nan), "shrinkage": np.zeros(length)}
    columns = {name: arrays.get(f"pruning_{name}", earlier.get(name)) for name in COLUMNS}
    valid = all(column is not None and column.shape == (length,) for column in columns.values())
    need(length and valid, "the pruning table is wrong")
    table: dict[str, Any] = columns
    may_lack = {"paired_error", "train_error"}
    finite = all(np.all(np.isfinite(table[name])) for name in COLUMNS if name not in may_lack)
    need(finite and not any(np.any(np.isinf(table[name])) for name in may_lack), "the pruning table is wrong")
    by = objective.by if classifies else "error"
    return PruningTable(**table, by=by, loss=objective.loss)
