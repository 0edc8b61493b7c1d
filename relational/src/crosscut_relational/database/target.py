"""Classes of examples and their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut_relational.language.terms import term_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.language.terms import Constant


class TargetError(ValueError):
    """The target is missing or cannot be learnt."""


def class_codes(
    database: Database,
    values: NDArray[np.int32],
    classes: tuple[Constant, ...] | None,
    *,
    as_seen: bool = False,
) -> tuple[tuple[Constant, ...], NDArray[np.int32]]:
    """Return the classes (as listed, or in order of appearance if `as_seen`, or sorted) and all codes."""
    constants = database.constants
    if classes is None:
        classes = tuple(constants.terms[each] for each in dict.fromkeys(values.tolist()))
        if not as_seen:
            classes = tuple(sorted(classes, key=_class_order))
    codes = {constants.id(name): code for code, name in enumerate(classes)}
    unknown = [example for example, value in enumerate(values.tolist()) if value not in codes]
    if unknown:
        first = unknown[0]
        raise TargetError(
            f"example {database.example_text(first)} has class {constants.text(int(values[first]))}, "
            f"which is not one of classes({term_text(classes)})"
        )
    return classes, np.array([codes[value] for value in values.tolist()], np.int32)


def _class_order(term: Constant) -> tuple[int, float, str]:
    return (0, float(term), "") if isinstance(term, (int, float)) else (1, 0.0, term_text(term))


def check_all_or_none(database: Database, codes: NDArray[np.int32]) -> None:
    """Set the target; all examples must have a class, or none of them (for prediction)."""
    missing = np.flatnonzero(codes < 0)
    if len(missing) == len(codes):
        database.classes, database.target = (), None
        return
    if len(missing):
        names = ", ".join(database.example_text(int(example)) for example in missing[:5])
        raise TargetError(
            f"{len(missing)} of {len(codes)} examples have no class (the first: {names}); state one of "
            f"{term_text(database.classes)} for each, or for none if they are to be predicted"
        )
    database.target = codes


def check_one_target(database: Database, values: NDArray[np.int32]) -> None:
    """Raise if an example is stated with two different target values."""
    keys, first, counts = np.unique(database.keys, axis=1, return_index=True, return_counts=True)
    if keys.shape[1] < database.n_examples:
        example = int(first[np.flatnonzero(counts > 1)[0]])
        same = np.flatnonzero((database.keys == database.keys[:, example : example + 1]).all(axis=0))
        shown = " and ".join(database.constants.text(int(values[each])) for each in same[:2])
        raise TargetError(f"example {database.example_text(example)} has two target values, {shown}")
