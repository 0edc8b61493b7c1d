"""The common part of the headers of relational model files: constants, literals, keys and classes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

import crosscut
from crosscut.training.stored import ModelFileError, need, plain_parameters, set_parameters
from crosscut_relational.database.constants import Constants
from crosscut_relational.language.attributes import Attribute, Column, ColumnKind, Function, Kind, Step
from crosscut_relational.language.prolog import PrologError, read_term
from crosscut_relational.language.rule import Goal
from crosscut_relational.language.terms import Variable, term_text
from crosscut_relational.queries.tree import Signature

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from crosscut.training.fit import Fit
    from crosscut_relational.language.attributes import Columns
    from crosscut_relational.language.terms import Constant

    Test = tuple[Goal, ...]


def written_language(model: Any, fit: Fit, tests: Iterable[Test]) -> dict[str, Any]:
    """Return the common part of a header: parameters, and the tests with their constants."""
    signature: Signature = fit.schema
    used = Constants()

    def goal(each: Goal) -> list[Any]:
        terms = signature.constants.terms
        return [each.name, [a if a >= 0 else ~used.intern(terms[~a]) for a in each.args], each.negated]

    return {
        "crosscut": crosscut.__version__,
        "model": fit.learner,
        "parameters": plain_parameters(model),
        "target": signature.target_name,
        "target_column": signature.target_column,
        "tests": [[goal(each) for each in test] for test in tests],
        "signature": {
            "n_keys": signature.n_keys,
            "n_fixed": signature.n_fixed,
            "root": [goal(each) for each in signature.root],
            "hidden_key": sorted([name, arity] for name, arity in signature.hidden_key),
            "implicit_key": signature.implicit_key,
        },
        "classes": [] if fit.classes is None else [_written(name) for name in fit.classes],
        # what the tests use, noted while they were written
        "constants": [_written(constant) for constant in used.terms],
        "columns": [
            [name, [[column.name, column.kind, column.refers_to, column.table] for column in columns]]
            for (name, _), columns in signature.columns.items()
        ],
        "attributes": [_written_attribute(each) for each in signature.attributes],
    }


def read_language(header: dict[str, Any], model: Any) -> tuple[Signature, list[Test], NDArray[Any] | None]:
    """Set the parameters of a model, and return the tests and classes; refuse inconsistent headers."""
    set_parameters(model, header["parameters"])
    limit = model.step_limit
    need(type(limit) is int and limit >= 1, f"the step limit is {limit!r}")
    classes = tuple(map(_read_constant, header["classes"]))
    need(len(set(classes)) == len(classes), "the classes are not distinct")
    constants = Constants()
    constants.intern_all(map(_read_constant, header["constants"]))
    need(len(constants) == len(header["constants"]), "the constants are not distinct")
    signature = _signature(header, constants)
    tests = [tuple(_goal(stored, len(constants)) for stored in test) for test in header["tests"]]
    need(all(tests), "a test is empty")
    return signature, tests, np.array(classes, dtype=object) if classes else None


def give_fit(model: Any, header: dict[str, Any], fit: Fit) -> None:
    """Set the fit of a model; a ``cv`` array is not stored but follows from the held-out examples."""
    cv = fit.validation
    if cv is not None and "cv" not in header["parameters"]:
        model.cv = np.full(len(cv.y), -1, np.int32)
        model.cv[cv.rows] = np.repeat(np.arange(-1, len(fit.forest) - 1), np.diff(cv.row_start))
    model.fit_ = replace(fit, settings={**fit.settings, "cv": model.cv})


def _written(constant: Constant) -> Any:
    """Atoms and numbers as themselves, other terms as Prolog text in a list."""
    return constant if isinstance(constant, str | int | float) else [term_text(constant)]


def _read_constant(stored: Any) -> Constant:
    if isinstance(stored, str | int | float) and not isinstance(stored, bool):
        return stored
    if isinstance(stored, list) and len(stored) == 1 and isinstance(stored[0], str):
        try:
            term = read_term(stored[0])
        except (PrologError, RecursionError) as error:
            raise ModelFileError(f"the constant {stored[0]!r} is not a term") from error
        if not isinstance(term, Variable):
            return term
    raise ModelFileError(f"{stored!r} is not a constant")


def _signature(header: dict[str, Any], constants: Constants) -> Signature:
    stored, column = header["signature"], header.get("target_column")
    n_keys, n_fixed = stored["n_keys"], stored["n_fixed"]
    are_counts = _is_count(n_keys) and _is_count(n_fixed)
    need(are_counts and 1 <= n_keys <= n_fixed, "the numbers of keys and fixed variables do not fit")
    columns = {
        (_text(name), len(each)): tuple(_column(column) for column in each)
        for name, each in header.get("columns", [])
    }
    attributes = tuple(_attribute(each, columns) for each in header.get("attributes", []))
    need(n_keys + len(attributes) <= n_fixed, "there are more attributes than fixed variables")
    return Signature(
        constants=constants,
        target_name=_text(header["target"]),
        target_column=None if column is None else _text(column),
        n_keys=n_keys,
        n_fixed=n_fixed,
        root=tuple(_goal(each, len(constants)) for each in stored["root"]),
        hidden_key=frozenset((_text(name), int(arity)) for name, arity in stored["hidden_key"]),
        implicit_key=bool(stored["implicit_key"]),
        columns=columns,
        attributes=attributes,
    )


def _column(stored: Any) -> Column:
    if isinstance(stored, str):  # a file of an earlier version
        return Column(stored, "nominal")
    name, kind, *refers_to = stored  # files of earlier versions do not name the table
    need(kind in get_args(ColumnKind), f"{kind!r} is not a kind of column")
    column, table = (None if each is None else _text(each) for each in (*refers_to, None, None)[:2])
    return Column(_text(name), kind, column, table)


def _written_attribute(attribute: Attribute) -> list[Any]:
    steps = [[each.table, each.arity, each.leave, each.enter, each.many] for each in attribute.steps]
    condition = attribute.condition and [attribute.condition[0], _written(attribute.condition[1])]
    rest = [attribute.column, attribute.kind, attribute.function, condition]
    return [steps, *rest, attribute.date, attribute.as_of, attribute.days]


def _attribute(stored: Any, columns: Columns) -> Attribute:
    steps, column, kind, function, condition, date, as_of, days = stored
    way = tuple(
        Step(_text(table), arity, leave, enter, many=bool(many)) for table, arity, leave, enter, many in steps
    )
    need(way and {each.predicate for each in way} <= columns.keys(), "an attribute is about an unknown table")
    asked = [(way[-1], column), (way[-1], date), (way[0], as_of), *((each, each.enter) for each in way)]
    asked += [(before, step.leave) for before, step in pairwise(way)]
    asked += [(way[-1], None if condition is None else condition[0])]
    if not all(
        position is None or (_is_count(position) and position < step.arity) for step, position in asked
    ):
        raise ModelFileError("an attribute is about a column that its table does not have")
    known = kind in get_args(Kind) and function in get_args(Function) and (days is None or _is_count(days))
    needs_date = function == "latest" or as_of is not None
    if not known or (needs_date and date is None) or (column is None) != (function in {"count", "share"}):
        raise ModelFileError(f"{function!r} of {kind!r} is not an attribute")
    chosen = None if condition is None else (condition[0], _read_constant(condition[1]))
    return Attribute(way, column, kind, function, chosen, date, as_of, days)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 16


def _text(value: Any) -> str:
    need(isinstance(value, str), f"{value!r} is not a name")
    return str(value)


def _goal(stored: Any, n_constants: int) -> Goal:
    name, args, negated = stored
    sound = isinstance(args, list) and len(args) <= 64 and isinstance(negated, bool)
    if not sound or not all(_is_count(a) or (type(a) is int and -n_constants <= a < 0) for a in args):
        raise ModelFileError(f"{stored!r} is not a literal")
    return Goal(_text(name), tuple(args), negated)
