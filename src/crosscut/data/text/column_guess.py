"""Guess the form of a text column value by value, so that a stream gets the same result as one read."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from crosscut.data.text.forms import (
    BLANKS,
    DATES,
    MARKS,
    MISSING_AMONG_NUMBERS,
    NAMES,
    SHAPE,
    DateForm,
    NumberForm,
    PatternForm,
    TextForm,
    unit_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from crosscut.data.text.dialect import TextOptions
    from crosscut.data.text.forms import Form


class ColumnGuess:
    """The forms that fit all values of a column so far."""

    def __init__(self, missing: Iterable[str], options: TextOptions) -> None:
        self.forms: list[Form] | None = None  # None before the first value; empty if only text fits
        self.words: set[str] = set()  # they mean a missing value if all others are numbers or dates
        self._missing = frozenset(missing)
        self._options = options
        self._spaces = self._timed = False
        self._shapes: set[str] = set()
        self._marks: set[str] = set()  # between digits
        self._clashes: dict[tuple[Form, Form], str] = {}  # first value that two forms convert differently

    def add(self, values: Iterable[str | None]) -> None:
        """Narrow the forms by some values; duplicates are not needed."""
        for value in values:
            if value is None:
                continue
            text = value.strip(BLANKS)
            self._spaces |= len(text) < len(value)
            if text in self._missing or (self.forms is not None and not self.forms):
                continue
            if text in MISSING_AMONG_NUMBERS:
                self.words.add(text)
                continue
            if self.forms is None:
                self.forms = self._candidates(text)
            self._narrow(text)

    def _candidates(self, text: str) -> list[Form]:
        forms: list[Form] = []
        unit, dates = unit_of(text), self._options.dates
        if unit is not None:
            wanted = self._options.decimal
            forms += [NumberForm(mark, other, unit) for mark, other in MARKS if wanted in {None, mark}]
        if dates is None or dates in NAMES:
            return forms + [form for form in DATES if dates in {None, form.order}]
        return forms if dates == "none" else [PatternForm(dates), *forms]

    def _narrow(self, text: str) -> None:
        shape = text.translate(SHAPE)
        if shape in self._shapes and all(isinstance(form, NumberForm) for form in self.forms or ()):
            return
        self._shapes.add(shape)
        readings = [(form, form.value(text)) for form in self.forms or ()]
        kept = [(form, value) for form, value in readings if value is not None]
        self.forms = [form for form, _ in kept]
        if len({value for _, value in kept}) > 1:
            for (form, value), (other, other_value) in combinations(kept, 2):
                if value != other_value:
                    self._clashes.setdefault((form, other), text)
        if self.forms:
            self._timed |= ":" in text  # of a date
            marks = re.findall(r"(?<=\d)\D(?=\d)", text)
            self._marks |= {" " if mark in BLANKS else mark.replace("\u2019", "'") for mark in marks}

    def marks(self) -> set[str]:
        """Return the possible decimal marks; empty if the values contain neither."""
        marks = {form.decimal for form in self.forms or () if isinstance(form, NumberForm)}
        return marks if self._marks & set(".,") else set()

    def orders(self) -> set[str]:
        """Return the possible orders of day, month and year."""
        return {form.order for form in self.forms or () if isinstance(form, DateForm)}

    def settle(self, name: str, decimal: str, order: str) -> Form | None:
        """Choose a form; ``decimal`` and ``order`` come from the rest of the file, empty if unknown."""
        left = list(self.forms or ())
        if not left:
            return TextForm() if self._spaces else None
        fitting = [form for form in left if decimal in {"", getattr(form, "decimal", decimal)}] or left
        fitting = [form for form in fitting if order in {"", getattr(form, "order", order)}] or fitting
        for pair in combinations(fitting, 2):
            if pair in self._clashes:
                raise ValueError(_ambiguous(name, self._clashes[pair], pair))
        form = fitting[0]
        if isinstance(form, NumberForm):
            return replace(form, thousands=form.thousands if form.thousands in self._marks else "")
        return replace(form, timed=self._timed) if isinstance(form, DateForm) else form


def settle_all(guesses: Mapping[str, ColumnGuess], decimal: str) -> dict[str, Form]:
    """Choose the forms of all text columns of a file; an unambiguous column settles the others."""
    single_marks = [marks for guess in guesses.values() if len(marks := guess.marks()) == 1]
    single_orders = [orders for guess in guesses.values() if len(orders := guess.orders()) == 1]
    mark = decimal or _only(single_marks)
    order = _only(single_orders)
    chosen = {name: guess.settle(name, mark, order) for name, guess in guesses.items()}
    return {name: form for name, form in chosen.items() if form is not None}


def _only(choices: list[set[str]]) -> str:
    together = set().union(*choices)
    return together.pop() if len(together) == 1 else ""


def _ambiguous(name: str, text: str, pair: tuple[Form, Form]) -> str:
    readings = [form.value(text) for form in pair]
    if isinstance(pair[0], NumberForm):
        shown, option = (
            [f"{reading:.12g}" for reading in readings if isinstance(reading, float)],
            "decimal='.' or decimal=','",
        )
    else:
        shown = [
            f"{reading:%-d %B %Y}" for reading in readings if not isinstance(reading, float | str | None)
        ]
        option = " or ".join(f"dates='{getattr(form, 'order', '')}'" for form in pair)
    return f"column {name!r} can be read in two ways: {text!r} is {' or '.join(shown)}; choose with {option}"
