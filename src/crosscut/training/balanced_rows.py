"""Rows of a stream with class weights that are not those of all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from crosscut.data.grid import Bits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from crosscut.data.grid import Totals
    from crosscut.engines.stream.coding import Batch


def weighed(totals: Totals, class_weights: NDArray[np.float64] | None) -> Totals:
    """Return what grids depend on if sample weights are multiplied by class weights."""
    if class_weights is None:
        return totals
    low, high = totals.weight.times(Bits.of(class_weights))
    return replace(totals, weight=Bits(low, high + 1))  # products are rounded, perhaps to a power of two


@dataclass
class BalancedPass:
    """Another pass, over rows with other class weights; None if rows count the same."""

    own: Any
    class_weights: NDArray[np.float64] | None

    @property
    def name(self) -> str:
        """Name of the pass."""
        return str(self.own.name)

    def start(self) -> Any:
        """Start it."""
        return self.own.start()

    def add(self, sums: Any, batch: Batch) -> None:
        """Add a batch with its weights."""
        weight = None
        if self.class_weights is not None:
            weight = self.class_weights[batch.target]
            weight = weight if batch.sample_weight is None else weight * batch.sample_weight
        self.own.add(sums, replace(batch, weight=weight))

    def merge(self, sums: Any, others: Any) -> Any:
        """Add up."""
        return self.own.merge(sums, others)


class BalancedRows(NamedTuple):
    """The rows of a stream, with other class weights."""

    rows: Any
    class_weights: NDArray[np.float64] | None

    def run(self, one_pass: Any) -> Any:
        """Return the sums of a pass over all rows."""
        return self.rows.run(BalancedPass(one_pass, self.class_weights))
