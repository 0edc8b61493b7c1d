"""Ten sets of linked tables, with missing values and a class that takes links to find."""

import datetime as dt

import numpy as np

DAY = dt.date(2024, 1, 1)


def _holes(rng, values, share=0.1):
    return [None if rng.random() < share else value for value in values]


def shop(seed, n=120):
    """Customers with dated purchases of products; the class depends on one of several kinds of question."""
    rng = np.random.default_rng(seed)
    m = 5 * n
    customer, product = rng.integers(0, n, m), rng.integers(0, 12, m)
    amount = np.round(rng.gamma(2.0, 20.0, m), 2)
    returned = rng.random(m) < 0.3
    kind = rng.choice(["food", "tool", "toy's"], 12)
    days = rng.integers(0, 200, m)
    joined = rng.integers(100, 200, n)
    region = rng.choice(["north", "south"], 8)
    district = rng.integers(0, 8, n)
    sums = np.bincount(customer, amount, n)
    signal = [
        np.bincount(customer, minlength=n) > 5,
        sums > np.median(sums),
        np.isin(np.arange(n), customer[(amount > 60) & returned]),
        region[district] == "north",
        np.bincount(customer[kind[product] == "tool"], minlength=n) > 1,
        np.bincount(customer[(days < joined[customer]) & (days >= joined[customer] - 30)], minlength=n) > 0,
        np.bincount(customer, returned, n) / np.maximum(np.bincount(customer, minlength=n), 1) > 0.3,
        joined > 140,
        np.array([days[customer == i].max(initial=0) for i in range(n)]) > 170,
        np.array([len(set(product[customer == i])) for i in range(n)]) > 4,
    ][seed % 10]
    noisy = np.where(rng.random(n) < 0.1, ~signal, signal)
    tables = {
        "district": {"district_id": list(range(8)), "region": region.tolist()},
        "customer": {
            "customer_id": [f"c{i}" for i in range(n)],
            "district_id": _holes(rng, district.tolist()),
            "joined": [DAY + dt.timedelta(int(each)) for each in joined],
            "age": _holes(rng, rng.integers(18, 80, n).tolist()),
            "leaves": np.where(noisy, "yes", "no").tolist(),
        },
        "product": {"product_id": list(range(12)), "kind": kind.tolist(), "price": rng.random(12).tolist()},
        "purchase": {
            "purchase_id": list(range(m)),
            "customer_id": [f"c{i}" for i in customer],
            "product_id": product.tolist(),
            "amount": _holes(rng, amount.tolist(), 0.05),
            "returned": _holes(rng, np.where(returned, "yes", "no").tolist(), 0.05),
            "day": [DAY + dt.timedelta(int(each)) for each in days],
        },
    }
    return {name: tables[name] for name in tables}, "customer.leaves"
