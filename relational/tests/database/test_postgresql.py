"""Linked tables in a PostgreSQL server, where one is installed, and trees as SQL there."""

import json
import warnings

import pytest
from cli.calls import call, refused
from postgresql_server import server  # noqa: F401, a fixture

from crosscut_relational import RelationalRuleClassifier, RelationalTreeClassifier, RelationalTreeRegressor
from crosscut_relational.database.database import Database
from tests.queries.test_schemas import fitted, predicted
from tests.random_tables import FIRST, check_all, in_postgresql, random_problem
from tests.schemas import SCHEMAS, schema

dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")


def literal(value):
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return "'" + str(value).replace("'", "''") + "'"


def store(server, name):  # noqa: F811, the fixture
    """Put a database into the server's place for tables."""
    made = schema(name)
    script = [
        "SET client_min_messages = warning; DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public;"
    ]
    for table, rows in made.rows.items():
        lines = ["(" + ", ".join(map(literal, row)) + ")" for row in rows]
        script.append(f'INSERT INTO "{table}" VALUES {", ".join(lines)};')
    server.run("\n".join([script[0], made.tables, *script[1:], made.views]))
    return made


@pytest.mark.parametrize("name", SCHEMAS)
def test_tables_views_and_keys_of_a_server(name, server):  # noqa: F811, the fixture
    made = store(server, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        database = Database.from_postgresql(server.uri, target=made.target)
    model = fitted(made, database)
    assert model.tree_.n_leaves > 3
    lines = server.run(f"SELECT to_json(answer) FROM ({model.to_sql('postgresql')}) AS answer;").splitlines()
    column = made.target.rpartition(".")[2]
    found = {line["key"]: line[column] for line in map(json.loads, lines)}
    assert found == predicted(model, database)


@pytest.mark.parametrize("first", FIRST)
def test_random_trees_and_rules_as_sql_of_a_server(first, server):  # noqa: F811
    with dbapi.connect(server.uri) as connection, connection.cursor() as cursor:
        cursor.execute("SET jit = off")  # compiling takes longer than small queries
        connection.commit()

        def check(seed):
            numbers = seed % 3 == 2
            tables, database, bias, _ = random_problem(seed, numbers=numbers)
            maker = RelationalTreeRegressor if numbers else RelationalTreeClassifier
            models = [maker(bias, cv=None)]
            if seed % 6 == 0:
                models.append(RelationalRuleClassifier(bias, cv=None))
            for model in models:
                query = model.fit(database).to_sql("postgresql")
                found = in_postgresql(cursor, tables, query)
                expected = model.predict(database).tolist()
                predicted = [found[key] for key in database.examples]  # numbers are exact, and come as text
                assert ([*map(float, predicted)] if numbers else predicted) == pytest.approx(expected)
            connection.rollback()

        check_all(check, first, few=20)


def test_types_of_a_server(server):  # noqa: F811
    server.run(
        """DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE SCHEMA "Other";
        CREATE TABLE "Other".t(id uuid PRIMARY KEY, n numeric(9,2), at timestamptz, j jsonb, ok boolean,
            d date, raw bytea, y text);
        INSERT INTO "Other".t SELECT gen_random_uuid(), 2.5, '2024-05-01 12:00+00', '{"a": 1}', true,
            '2024-01-01', 'x', 'a' FROM generate_series(1, 3);"""
    )
    with pytest.warns(UserWarning, match="t: raw left out"):
        database = Database.from_postgresql(server.uri, target="t.y", schema="Other")
    (columns,) = database.columns.values()
    assert {column.name: column.kind for column in columns} == {
        "id": "key", "n": "numeric", "at": "date", "j": "nominal", "ok": "nominal", "d": "date",
    }  # fmt: skip
    with pytest.raises(ValueError, match="schema is 'none', which has no tables"):
        Database.from_postgresql(server.uri, target="t.y", schema="none")


def test_a_server_on_the_command_line(server, tmp_path):  # noqa: F811
    store(server, "houses")
    learnt = call("relational", server.uri, "--target", "house.price", "--save", tmp_path / "m")
    assert learnt.exit_code == 0, learnt.output
    assert "street.town.wages" in learnt.output
    answer = call("predict", tmp_path / "m", server.uri)
    assert answer.exit_code == 0, answer.output
    assert answer.output.count("\n") == 121
    wrong = call("relational", "postgresql://u:secret@127.0.0.1:1/db", "--target", "house.price")
    assert "secret" not in refused(wrong, 3)
