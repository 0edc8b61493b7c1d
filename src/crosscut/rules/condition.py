"""A condition on one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from crosscut.data.columns import cut_text, separates_days
from crosscut.forest.export.text import threshold_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crosscut.data.schema import Schema

Operator = Literal["<=", ">", "=", "!="]
OPERATORS: tuple[Operator, ...] = ("<=", ">", "=", "!=")


class Condition(NamedTuple):  # hashed often, and tuples hash fast
    """A column at most, above, equal or not equal to a constant; missing values satisfy no condition.

    Attributes
    ----------
    feature : int
        The column.
    operator : {"<=", ">", "=", "!="}
        Equality and its opposite are for nominal columns.
    value : float
        A threshold, or the code of a category. ``<=`` infinity: any value that is not missing.

    Examples
    --------
    >>> from crosscut.data.schema import Schema
    >>> schema = Schema(("age", "sex"), ("numeric", "nominal"), ((), ("f", "m")))
    >>> Condition(0, "<=", 40.5).text(schema), Condition(1, "=", 1.0).text(schema)
    ('age <= 40.5', 'sex = m')
    >>> Condition(0, ">", 0.5).text(Schema(("member",), ("boolean",), ((),)))
    'member = true'
    """

    feature: int
    operator: Operator
    value: float

    def holds(self, x: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return whether it holds for each row of a matrix from ``Schema.matrix``."""
        column = x[:, self.feature].astype(np.float64)
        if self.operator == "=":
            return np.asarray(column == self.value)
        if self.operator == "!=":
            return np.asarray((column != self.value) & ~np.isnan(column))
        return np.asarray(column <= self.value if self.operator == "<=" else column > self.value)

    def text(self, schema: Schema) -> str:
        """Return the condition as a formula."""
        name = schema.names[self.feature]
        if self.operator in {"=", "!="}:
            return f"{name} {self.operator} {schema.categories[self.feature][int(self.value)]}"
        if np.isinf(self.value):
            return f"{name} is present"
        if schema.kinds[self.feature] == "boolean":
            return f"{name} = {'true' if self.operator == '>' else 'false'}"
        if schema.kinds[self.feature] == "date":
            return f"{name} {self.operator} {cut_text(self.value, whole=separates_days(self.value))}"
        return f"{name} {self.operator} {threshold_text(self.value)}"
