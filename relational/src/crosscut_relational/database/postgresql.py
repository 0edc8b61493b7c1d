"""Read the tables of a PostgreSQL server through ADBC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosscut.data.databases import quoted
from crosscut_relational.database.table_files import StoredTables

if TYPE_CHECKING:
    import pyarrow as pa

# Types that are read unchanged; `numeric` becomes double, and types not listed become text.
_PLAIN = {"boolean", "smallint", "integer", "bigint", "real", "double precision", "text", "character varying"}
_PLAIN |= {"date", "timestamp without time zone", "bytea"}
_CASTS = {"numeric": "double precision", "timestamp with time zone": "timestamp without time zone"}

_COLUMNS = """
    SELECT table_name, column_name, data_type FROM information_schema.columns
    WHERE table_schema = $1 ORDER BY table_name, ordinal_position"""
_KEYS = """
    SELECT c.conname, c.contype::text AS kind, t.relname AS "table", a.attname AS "column",
        o.relname AS other, b.attname AS "other column"
    FROM pg_constraint c
    CROSS JOIN LATERAL unnest(c.conkey, c.confkey) WITH ORDINALITY AS k(linking, referred, place)
    JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.linking
    LEFT JOIN pg_class o ON o.oid = c.confrelid
    LEFT JOIN pg_attribute b ON b.attrelid = o.oid AND b.attnum = k.referred
    WHERE n.nspname = $1 AND c.contype IN ('p', 'f') ORDER BY t.relname, c.conname, k.place"""
_VIEWS = "SELECT viewname, definition FROM pg_views WHERE schemaname = $1"


def read_postgresql(uri: str, schema: str = "public") -> StoredTables:
    """Return the tables and views of a schema, and the keys it declares."""
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise ImportError(
            "reading PostgreSQL needs adbc-driver-postgresql: pip install 'crosscut-relational[postgresql]'"
        ) from None
    with dbapi.connect(uri) as connection, connection.cursor() as cursor:

        def rows(query: str) -> list[dict[str, Any]]:
            cursor.execute(query, [schema])
            records: list[dict[str, Any]] = cursor.fetch_arrow_table().to_pylist()
            return records

        columns: dict[str, list[str]] = {}
        for row in rows(_COLUMNS):
            name, kind = quoted(row["column_name"]), row["data_type"]
            cast = "" if kind in _PLAIN else f"::{_CASTS.get(kind, 'text')} AS {name}"
            columns.setdefault(row["table_name"], []).append(name + cast)
        if not columns:
            raise ValueError(f"schema is {schema!r}, which has no tables that can be read")
        tables: dict[str, pa.Table] = {}
        for table, chosen in columns.items():
            cursor.execute(f"SELECT {', '.join(chosen)} FROM {quoted(schema)}.{quoted(table)}")  # noqa: S608, quoted
            tables[table] = cursor.fetch_arrow_table()
        primary: dict[str, tuple[str, ...]] = {}
        foreign: dict[tuple[str, str], tuple[tuple[str, ...], str, tuple[str, ...]]] = {}
        for row in rows(_KEYS):
            table, column = row["table"], row["column"]
            if row["kind"] == "p":
                primary[table] = (*primary.get(table, ()), column)
            else:
                linking, other, others = foreign.get((table, row["conname"]), ((), row["other"], ()))
                foreign[table, row["conname"]] = (*linking, column), other, (*others, row["other column"])
        views = {row["viewname"]: row["definition"] for row in rows(_VIEWS)}
    links = [(table, *rest) for (table, _), rest in foreign.items()]
    return StoredTables(tables, primary, links, views)
