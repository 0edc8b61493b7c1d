"""What the headers of models of tables have in common: parameters, columns and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import crosscut
from crosscut.data.schema import Schema
from crosscut.model_file.container import ModelFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.training.fit import Fit

_KINDS = ("numeric", "boolean", "date", "nominal")


def described(model: Any, fit: Fit) -> dict[str, Any]:
    """Return what every header says: the kind of the model, its parameters, columns and classes."""
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


def plain_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters that can be stored; objects such as splitters cannot."""
    return {k: v for k, v in model.get_params(deep=False).items() if _is_plain(v)}


def set_parameters(model: Any, given: dict[str, Any]) -> None:
    """Give a model the parameters of a file; they are known, but their values have yet to be checked."""
    unknown = set(given) - set(model.get_params(deep=False))
    if unknown or not all(_is_plain(value) for value in given.values()):
        raise ModelFileError(f"the parameters {sorted(unknown) or given} are unknown")
    model.set_params(**given)


def read_described(header: dict[str, Any], model: Any) -> tuple[Schema, NDArray[Any] | None]:
    """Give a model what `described` wrote; the parameters are known, but have yet to be checked."""
    set_parameters(model, header["parameters"])
    schema = _schema(header["columns"])
    model.n_features_in_ = len(schema)
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, dtype=object)
    return schema, None if header["classes"] is None else _read_values(header["classes"])


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _schema(columns: dict[str, Any]) -> Schema:
    names, kinds, categories = columns["names"], columns["kinds"], columns["categories"]
    if not (len(names) == len(kinds) == len(categories) > 0):
        raise ModelFileError("names, kinds and categories of the columns differ in number")
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ModelFileError("the names of the columns are not different texts")
    if not all(kind in _KINDS for kind in kinds):
        raise ModelFileError(f"the kinds of the columns must be among {_KINDS}")
    values = tuple(tuple(_read_values(stored).tolist()) for stored in categories)
    for kind, own in zip(kinds, values, strict=True):
        if (kind != "nominal" and own) or len(set(own)) < len(own):
            raise ModelFileError("the categories of a column are damaged")
    return Schema(tuple(names), tuple(kinds), values, bool(columns["named"]))


def _written(values: NDArray[Any]) -> dict[str, Any]:
    """Return classes or categories as JSON, with their type."""
    listed = values.tolist()
    if values.dtype.kind in "iufbU":
        return {"type": values.dtype.str.lstrip("<=|>"), "values": listed}
    if not all(isinstance(value, str | int | float | bool) for value in listed):
        kind = next(type(v).__name__ for v in listed if not isinstance(v, str | int | float | bool))
        raise TypeError(f"classes and categories of type {kind} cannot be saved; text and numbers can")
    return {"type": "object", "values": listed}


def _read_values(stored: dict[str, Any]) -> NDArray[Any]:
    kind, values = stored["type"], stored["values"]
    if not isinstance(values, list) or not all(isinstance(v, str | int | float | bool) for v in values):
        raise ModelFileError("classes and categories must be text or numbers")
    if kind == "object":
        return np.array(values, dtype=object)
    if not isinstance(kind, str) or kind[:1] not in set("iufbU") or not kind[1:].isdecimal() or len(kind) > 6:
        raise ModelFileError(f"classes of type {kind!r} are unknown")
    return np.array(values, dtype=np.str_ if kind[0] == "U" else np.dtype(kind))
