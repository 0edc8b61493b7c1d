"""The symbol table of a database, which maps every constant to a small integer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crosscut_relational.language.terms import Compound, Constant, term_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class Constants:
    """Constants of a database, numbered in the order in which they were first seen.

    Numbers that compare equal (``1`` and ``1.0``) are one constant, printed as it was first read. Other
    constants are equal only to themselves.
    """

    def __init__(self) -> None:
        self.terms: list[Constant] = []
        self._ids: dict[Constant, int] = {}
        self._numbers: NDArray[np.float64] = np.empty(0)

    def __len__(self) -> int:
        return len(self.terms)

    def __contains__(self, term: object) -> bool:
        return term in self._ids

    def intern(self, term: Constant) -> int:
        """Return the constant's id, adding the constant if needed."""
        known = self._ids.get(term)
        if known is None:
            known = self._ids[term] = len(self.terms)
            self.terms.append(term)
        return known

    def intern_all(self, terms: Iterable[Constant]) -> NDArray[np.int32]:
        """Return the ids of constants, adding those that are new."""
        listed, known = list(terms), self._ids
        new = [term for term in dict.fromkeys(listed) if term not in known]
        known.update(zip(new, range(len(self.terms), len(self.terms) + len(new)), strict=True))
        self.terms += new
        return np.fromiter(map(known.__getitem__, listed), np.int32, len(listed))

    def id(self, term: Constant) -> int | None:
        """Return the constant's id, or None if the database does not contain it."""
        return self._ids.get(term)

    @property
    def numbers(self) -> NDArray[np.float64]:
        """Value of every constant; NaN for constants that are not numbers, so comparisons fail."""
        known, wanted = len(self._numbers), len(self.terms)
        if known < wanted:
            terms = self.terms[known:]
            plain = {*map(type, terms)} <= {int, float}
            new = terms if plain else [_value(term) for term in terms]
            self._numbers = np.concatenate([self._numbers, np.array(new, np.float64)])
        return self._numbers

    def text(self, constant: int) -> str:
        """Return the constant in Prolog syntax."""
        return term_text(self.terms[constant])


def _value(term: Constant) -> float:
    return np.nan if isinstance(term, (str, tuple, Compound)) else float(term)
