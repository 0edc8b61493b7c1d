"""Compute the attributes of the examples from the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from crosscut_relational.database.database import MISSING
from crosscut_relational.database.relation import equal_pairs
from crosscut_relational.language.attributes import Attribute, attribute_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from crosscut_relational.database.database import Database
    from crosscut_relational.database.relation import Relation
    from crosscut_relational.language.attributes import Step

    Rows = tuple[NDArray[np.int64], NDArray[np.int64]]


class AttributeValues:
    """Values of attributes for every example of a database; rows of shared steps are computed once."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.missing = database.constants.intern(MISSING)
        self._rows: dict[tuple[Step, ...], Rows] = {}

    def constants(self, attribute: Attribute) -> NDArray[np.int32]:
        """Return the constant of every example, for an attribute without aggregation."""
        examples, rows = self._chosen(attribute)
        values = self._column(attribute, attribute.column or 0)[rows]
        if attribute.function == "latest":  # of rows with the same date, the greatest value
            dates = self._dates(attribute)[rows]
            known = ~np.isnan(dates) & (values != self.missing)
            distinct, codes = np.unique(values[known], return_inverse=True)
            terms = [self.database.constants.terms[each] for each in distinct]
            by_size = sorted(range(len(terms)), key=lambda i: (isinstance(terms[i], str), terms[i]))
            rank = np.argsort(by_size)[codes]
            order = np.flatnonzero(known)[np.lexsort((rank, dates[known], examples[known]))]
            examples, values = examples[order], values[order]
        result = np.full(self.database.n_examples, self.missing, np.int32)
        last = np.append(examples[1:] != examples[:-1], True)[: len(examples)]
        result[examples[last]] = values[last]
        return result

    def numbers(self, attribute: Attribute) -> NDArray[np.float64]:
        """Return the number of every example, or NaN."""
        if attribute.function in {"value", "latest"}:
            return self.database.constants.numbers[self.constants(attribute)]
        n = self.database.n_examples
        examples, rows = self._chosen(attribute)
        if attribute.function in {"count", "share"}:
            count = np.bincount(examples, minlength=n).astype(np.float64)
            if attribute.function == "count":
                return count
            all_examples, _ = self._chosen(attribute, conditional=False)
            return _quotient(count, np.bincount(all_examples, minlength=n))
        ids = self._column(attribute, attribute.column or 0)[rows]
        if attribute.function == "distinct":
            known = ids != self.missing
            pairs = np.unique(np.stack([examples[known], ids[known]]), axis=1)
            return np.bincount(pairs[0], minlength=n).astype(np.float64)
        values = self.database.constants.numbers[ids]
        known = ~np.isnan(values)
        examples, values = examples[known], values[known]
        if attribute.function in {"sum", "mean"}:
            total: NDArray[np.float64] = np.bincount(examples, values, minlength=n).astype(np.float64)
            mean = attribute.function == "mean"
            return _quotient(total, np.bincount(examples, minlength=n)) if mean else total
        result = np.full(n, np.nan)
        if len(examples):
            first = np.flatnonzero(np.append(True, examples[1:] != examples[:-1]))
            extreme = np.minimum if attribute.function == "min" else np.maximum
            result[examples[first]] = extreme.reduceat(values, first)
        return result

    def frame(self, attributes: Sequence[Attribute]) -> pd.DataFrame:
        """Return attributes, except keys of other rows, as columns of a pandas frame."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for each in attributes:
            name = text = attribute_text(each, self.database.columns)
            number = 2
            while name in columns:
                name, number = f"{text} ({number})", number + 1
            if each.is_number:
                columns[name] = self.numbers(each)
            elif each.kind == "nominal":
                ids = self.constants(each)
                distinct = np.unique(ids[ids != self.missing])
                codes = np.where(ids == self.missing, -1, np.searchsorted(distinct, ids))
                terms = [str(self.database.constants.terms[constant]) for constant in distinct]
                columns[name] = pd.Categorical.from_codes(codes, terms)
        return pd.DataFrame(columns, index=self.database.examples)

    def rows(self, steps: tuple[Step, ...]) -> Rows:
        """Return (example, row) pairs, by ascending example, for the rows that the steps reach."""
        if steps not in self._rows:
            *before, last = steps
            examples, wanted = np.arange(self.database.n_examples), self.database.keys[0]
            if before:
                examples, rows = self.rows(tuple(before))
                wanted = self._relation(before[-1]).columns[last.leave][rows]
            places, rows = equal_pairs(wanted, self._relation(last).columns[last.enter])
            self._rows[steps] = examples[places], rows
        return self._rows[steps]

    def _chosen(self, attribute: Attribute, *, conditional: bool = True) -> Rows:
        examples, rows = self.rows(attribute.steps)
        keep = np.ones(len(rows), bool)
        if attribute.condition is not None and conditional:
            column, value = attribute.condition
            keep &= self._column(attribute, column)[rows] == self.database.constants.id(value)
        if attribute.as_of is not None:
            dates = Attribute(attribute.steps[:1], attribute.as_of, "date")
            now, then = self.numbers(dates)[examples], self._dates(attribute)[rows]
            keep &= then < now
            if attribute.days is not None:
                keep &= then >= now - attribute.days
        return examples[keep], rows[keep]

    def _dates(self, attribute: Attribute) -> NDArray[np.float64]:
        assert attribute.date is not None
        return np.asarray(self.database.constants.numbers[self._column(attribute, attribute.date)])

    def _column(self, attribute: Attribute, column: int) -> NDArray[np.int32]:
        return np.asarray(self._relation(attribute.steps[-1]).columns[column])

    def _relation(self, step: Step) -> Relation:
        return self.database.relation(*step.predicate)


def _quotient(total: NDArray[np.float64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    result = np.full(len(total), np.nan)
    np.divide(total, count, out=result, where=count > 0)
    return result
