"""The partition into folds of a database's examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from crosscut.relational.database.database import Database


def folds_of(cv: int | str | ArrayLike | None, database: Database) -> NDArray[np.int32]:
    """Fold of each example, from 0; -1 for examples of no fold.

    Examples
    --------
    >>> from crosscut.relational.database.database import Database
    >>> db = Database.from_prolog("c(1,a). c(2,a). c(3,b). c(4,b). c(5,b).", predict="c(+k,-v)")
    >>> folds_of(2, db).tolist()
    [0, 1, 0, 1, 0]
    """
    n = database.n_examples
    if cv is None:
        return np.full(n, -1, np.int32)
    if isinstance(cv, str):
        if cv != "marks":
            raise ValueError(f"cv is {cv!r}; as text only 'marks' is known, the database's own fold marks")
        if database.folds is None:
            raise ValueError("cv is 'marks', but the database has no fold marks; see Database.with_folds")
        marks = database.folds
    elif isinstance(cv, (int, np.integer)):
        if not 2 <= cv <= n:
            raise ValueError(f"cv is {cv}; it has to be between 2 and the number of examples ({n})")
        # deal the examples class by class, so that every fold gets its share of each
        folds = np.empty(n, np.int32)
        folds[np.argsort(np.asarray(database.target), kind="stable")] = np.arange(n) % cv
        return folds
    else:
        marks = np.asarray(cv)
        if marks.shape != (n,) or marks.dtype.kind not in "iu":
            raise ValueError(
                f"cv has shape {marks.shape} and type {marks.dtype}; it needs one integer for each of "
                f"{n} examples"
            )
    folds = np.full(n, -1, np.int32)
    for number, mark in enumerate(np.unique(marks[marks >= 0])):
        folds[marks == mark] = number
    return folds
