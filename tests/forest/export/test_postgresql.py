"""Trees as SQL in a real PostgreSQL server, where one is installed."""

import json

from postgresql_server import server  # noqa: F401, a fixture

from .test_exports import some_model

TYPES = {
    "double": "double precision",
    "int64": "bigint",
    "string": "text",
    "bool": "boolean",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
}


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool | int):
        return str(value).lower()
    return "'" + str(value).replace("'", "''") + "'"


def query(model, rows):
    columns = ", ".join(
        f'"{field.name.replace(chr(34), chr(34) * 2)}" {TYPES[str(field.type)]}' for field in rows.schema
    )
    lines = [f"({n}, {', '.join(map(literal, row.values()))})" for n, row in enumerate(rows.to_pylist())]
    return (
        f"CREATE TEMP TABLE given (place int, {columns}); INSERT INTO given VALUES {', '.join(lines)};\n"
        f"SELECT to_json({model.to_sql('postgresql')}) FROM given ORDER BY place; DROP TABLE given;\n"
    )


def test_postgresql_predicts_what_the_model_predicts(server):  # noqa: F811, the fixture
    given = [some_model(seed) for seed in range(60)]
    found = iter(
        server.run(
            "SET client_min_messages = warning;\n" + "".join(query(*each) for each in given)
        ).splitlines()
    )
    for seed, (model, rows) in enumerate(given):
        assert [json.loads(next(found)) for _ in range(rows.num_rows)] == model.predict(rows).tolist(), seed
