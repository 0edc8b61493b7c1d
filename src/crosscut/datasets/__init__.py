"""A generated table of customers; the same arguments give the same rows on every machine."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from crosscut.extensions import hint

__all__ = ["churn"]


def churn(n_rows: int = 800, *, seed: int = 2001) -> pa.Table:
    """Make customers of a telephone company, with ``churned`` (yes or no) as the target.

    Customers without a long contract leave when they are new, call support often or pay late. The others
    leave when they are dissatisfied, which is known only for customers who answered a survey. Some cells are
    missing.

    Examples
    --------
    >>> table = churn()
    >>> table.num_rows, table.column_names[-1]
    (800, 'churned')
    """
    draw = np.random.default_rng(seed)
    contract = draw.choice(["monthly", "one year", "two years"], n_rows, p=[0.55, 0.25, 0.20])
    plan = draw.choice(["basic", "standard", "premium"], n_rows, p=[0.40, 0.40, 0.20])
    region = draw.choice(["north", "east", "south", "west"], n_rows, p=[0.30, 0.20, 0.35, 0.15])
    payment = draw.choice(["card", "direct debit", "invoice"], n_rows, p=[0.35, 0.45, 0.20])
    age = np.clip(draw.normal(46, 15, n_rows), 18, 90).astype(np.int64)
    tenure = np.minimum(draw.exponential(np.where(contract == "monthly", 20, 42)), 96).astype(np.int64) + 1
    base = np.select([plan == "basic", plan == "standard"], [18.0, 32.0], 54.0)
    charge = np.round(base + draw.gamma(2.0, 4.0, n_rows), 2)
    data = np.round(draw.gamma(2.0, base / 8), 1)
    calls = draw.poisson(np.where(draw.random(n_rows) < 0.25, 4.0, 0.8))
    late = draw.poisson(np.where(payment == "invoice", 1.1, 0.25))
    paperless = draw.random(n_rows) < np.where(age < 55, 0.75, 0.35)
    international = draw.random(n_rows) < 0.22
    satisfaction = np.clip(np.rint(draw.normal(3.9 - 0.45 * calls.clip(0, 5), 0.9)), 1, 5)

    monthly = contract == "monthly"
    log_odds = (
        -2.9
        + 2.2 * (monthly & (tenure <= 10))
        + 2.4 * (monthly & (calls >= 3))
        + 1.9 * (monthly & (late >= 2))
        + 1.7 * (satisfaction <= 2)
        + 1.2 * ((plan == "basic") & (data > 6))
        + 0.6 * (charge > 62)
        - 0.8 * (tenure > 48)
    )
    left = draw.random(n_rows) < 1 / (1 + np.exp(-log_odds))

    def absent(fraction: float) -> np.ndarray:
        return draw.random(n_rows) < fraction

    return pa.table(
        {
            "age": pa.array(age, mask=absent(0.03)),
            "region": region,
            "plan": plan,
            "contract": contract,
            "payment": pa.array(payment, mask=absent(0.04)),
            "tenure_months": tenure,
            "monthly_charge": charge,
            "data_gb": pa.array(data, mask=absent(0.05)),
            "support_calls": calls,
            "late_payments": late,
            "satisfaction": pa.array(satisfaction.astype(np.int64), mask=absent(0.35)),
            "paperless": paperless,
            "international": international,
            "churned": np.where(left, "yes", "no"),
        }
    )


def __getattr__(name: str) -> object:
    if name == "shop":
        raise ImportError(f"{hint(name)}; from crosscut_relational.datasets import {name}")
    raise AttributeError(f"module 'crosscut.datasets' has no attribute {name!r}; it has churn")
