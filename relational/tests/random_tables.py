"""Random linked tables with self-references, missing links, missing values and dates."""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
import warnings

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from crosscut_relational import Bias, Database

LINKS = {"thing.boss": "thing.thing_id", "task.helper": "thing.thing_id", "task.parent": "task.task_id"}
LINKS |= {"expert.expert_id": "thing.thing_id", "fee.expert_code": "expert.code"}


SIZE = 500  # problems of a slow test
BLOCKS = int(os.environ.get("CROSSCUT_BLOCKS", "4"))  # slow tests; `make test-slow` takes minutes for four
FIRST = [0, *(pytest.param(10**6 + SIZE * i, marks=pytest.mark.slow) for i in range(BLOCKS))]
KEPT = {"thing_id", "task_id", "site_id", "expert_id", "fee_id", "code", "expert_code", "boss", "seen", "y"}


def random_tables(rng, *, numbers=False):
    """Return tables of things with bosses, sites and tasks; about a fifth of links and values are missing."""
    n, n_sites = int(rng.integers(12, 40)), int(rng.integers(2, 5))
    n_tasks = int(rng.integers(n, 3 * n))

    def holes(values, fraction=0.2):
        return [None if rng.random() < fraction else value for value in np.asarray(values).tolist()]

    def days(size):
        return [dt.date(2024, 1, 1) + dt.timedelta(day) for day in rng.integers(0, 60, size).tolist()]

    noise = rng.random(n)
    things = {
        "thing_id": list(range(n)),
        "boss": holes(rng.integers(0, n, n), 0.4),
        "site_id": holes(rng.integers(0, n_sites, n)),
        "colour": holes(rng.choice(["u", "v", "w"], n)),
        "size": holes(rng.integers(0, 6, n)),
        "born": [None if rng.random() < 0.2 else day for day in days(n)],
        "seen": days(n),
    }
    signal = np.array([boss is not None for boss in things["boss"]]) ^ (noise < 0.2)
    things["y"] = (signal + noise).tolist() if numbers else np.where(signal, "p", "q").tolist()
    tasks = {
        "task_id": list(range(n_tasks)),
        "thing_id": holes(rng.integers(0, n, n_tasks)),
        "helper": holes(rng.integers(0, n, n_tasks), 0.5),
        "parent": holes(rng.integers(0, n_tasks, n_tasks), 0.5),
        "kind": holes(rng.choice(["k", "l"], n_tasks)),
        "amount": holes(rng.integers(0, 9, n_tasks) / 2),
        "day": [None if rng.random() < 0.2 else day for day in days(n_tasks)],
    }
    sites = {"site_id": list(range(n_sites)), "wet": holes(rng.choice(["yes", "no"], n_sites))}
    tables = {"thing": things, "task": tasks, "site": sites}
    if rng.random() < 0.4:  # things of a kind, with the same keys, and rows that refer to them
        keys = np.flatnonzero(rng.random(n) < 0.6)
        tables["expert"] = {"expert_id": keys.tolist(), "grade": holes(rng.integers(0, 4, len(keys)))}
        if len(keys):
            # they name an expert by the key, or by a code
            codes = [f"c{key}" for key in keys.tolist()]
            tables["expert"]["code"] = codes
            name, names = [("expert_id", keys), ("expert_code", codes)][int(rng.integers(2))]
            fees = {"fee_id": list(range(n)), name: holes(rng.choice(names, n))}
            tables["fee"] = {**fees, "paid": holes(rng.integers(0, 5, n))}
    for table, columns in tables.items():
        for name in [name for name in columns if name not in KEPT and rng.random() < 0.4]:
            del tables[table][name]
    return tables


def random_problem(seed, *, numbers=False):
    """Return tables, their database, a bias and folds."""
    rng = np.random.default_rng(seed)
    tables = random_tables(rng, numbers=numbers)
    ends = {link: link.split(".") for link in LINKS}
    links = {link: LINKS[link] for link, (table, column) in ends.items() if column in tables.get(table, {})}
    database = Database.from_tables(tables, target="thing.y", links=links)
    options = {"as_of": "seen"} if rng.random() < 0.3 else {}
    settings = {"minimal_cases": int(rng.integers(1, 3)), "ftest": 0.9} if numbers else {"minimal_cases": 1}
    pruning = "none" if rng.random() < 0.7 or numbers else "safe"
    bias = Bias.from_schema(
        database, max_aggregates=int(rng.choice([0, 5, 100])), pruning=pruning, **options, **settings
    )
    folds = rng.permutation(np.arange(database.n_examples) % 3)
    return tables, database, bias, folds


def in_duckdb(tables, query):
    """Return the results of a query of key and value in DuckDB."""
    with duckdb.connect() as connection:
        for name, columns in tables.items():
            connection.register("given", pa.table(columns))
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM given')
        return dict(connection.execute(query).fetchall())


def in_sqlite(tables, query):
    """Return the results of a query of key and value in SQLite."""
    connection = sqlite3.connect(":memory:")
    for name, columns in tables.items():
        connection.execute(f'CREATE TABLE "{name}" ({", ".join(columns)})')
        rows = [
            [str(v) if hasattr(v, "year") else v for v in row] for row in zip(*columns.values(), strict=True)
        ]
        connection.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(columns))})', rows)
    result = dict(connection.execute(query).fetchall())
    connection.close()
    return result


def in_postgresql(cursor, tables, query):
    """Return the results of a query of key and value in PostgreSQL."""
    for name, columns in tables.items():
        values = pa.table(columns)
        empty = [field.name for field in values.schema if field.type == pa.null()]
        cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
        cursor.adbc_ingest(name, values.cast(_without_null(values.schema)) if empty else values)
    cursor.execute(query)
    return dict(cursor.fetchall())


def _without_null(schema):
    return pa.schema([(each.name, pa.string() if each.type == pa.null() else each.type) for each in schema])


def check_all(check, first, few):
    """Call a check with a few seeds, or in a slow test with many, and name the seed that fails."""
    for seed in range(first, first + (SIZE if first else few)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(seed)
            except Exception as error:
                raise AssertionError(f"{check.__name__}({seed}) failed") from error
