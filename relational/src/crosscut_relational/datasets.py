"""Two generated tables of a shop; the same arguments give the same rows on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


def shop(
    n_customers: int = 300, *, purchases: float = 4.0, noise: float = 0.05, seed: int = 2001
) -> dict[str, pa.Table]:
    """Make customers of a shop, their purchases, and whether they left (``churned``: yes or no).

    Customers leave if they returned something that cost more than 80, or if they are not members and never
    bought groceries. A fraction ``noise`` of them does the opposite. ``purchases`` is the mean number of
    purchases per customer.

    Examples
    --------
    >>> tables = shop()
    >>> tables["customer"].column_names
    ['customer_id', 'region', 'member', 'churned']
    >>> tables["purchase"].column_names
    ['purchase_id', 'customer_id', 'category', 'amount', 'returned']
    """
    import pyarrow as pa

    draw = np.random.default_rng(seed)
    region = draw.choice(["north", "east", "south", "west"], n_customers)
    member = draw.random(n_customers) < 0.5
    counts = draw.poisson(purchases, n_customers)
    owner = np.repeat(np.arange(n_customers), counts)
    category = draw.choice(["grocery", "clothes", "tools", "books"], len(owner), p=[0.35, 0.3, 0.2, 0.15])
    amount = np.round(draw.gamma(2.0, 30.0, len(owner)) + 1, 2)
    returned = draw.random(len(owner)) < 0.2
    sent_back = np.bincount(owner[returned & (amount > 80)], minlength=n_customers) > 0
    groceries = np.bincount(owner[category == "grocery"], minlength=n_customers) > 0
    left = sent_back | (~member & ~groceries)
    left ^= draw.random(n_customers) < noise

    def words(values: np.ndarray) -> list[str]:
        return ["yes" if value else "no" for value in values]

    return {
        "customer": pa.table(
            {
                "customer_id": np.arange(1, n_customers + 1),
                "region": region.tolist(),
                "member": words(member),
                "churned": words(left),
            }
        ),
        "purchase": pa.table(
            {
                "purchase_id": np.arange(1, len(owner) + 1),
                "customer_id": owner + 1,
                "category": category.tolist(),
                "amount": amount,
                "returned": words(returned),
            }
        ),
    }
