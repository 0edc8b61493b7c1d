"""Trees as SQL in a real PostgreSQL server, where one is installed."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from .test_exports import some_model

TYPES = {
    "double": "double precision",
    "int64": "bigint",
    "string": "text",
    "bool": "boolean",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
}
FOLDERS = [Path(shutil.which("psql") or "x").parent, *sorted(Path("/usr/lib/postgresql").glob("*/bin"))]


@pytest.fixture(scope="module")
def server():
    """A server of its own, without network, that is gone afterwards."""
    programs = next(
        (folder for folder in FOLDERS[::-1] if (folder / "psql").exists() and (folder / "initdb").exists()),
        None,
    )
    other = ["runuser", "-u", "postgres", "--"] if os.name == "posix" and os.geteuid() == 0 else []
    if programs is None or (other and shutil.which("runuser") is None):
        pytest.skip("PostgreSQL is not installed")
    folder = tempfile.mkdtemp(prefix="pg")
    if other:
        shutil.chown(folder, "postgres")
    data = f"{folder}/data"

    def run(*command, **options):
        return subprocess.run(
            [*other, *command], check=True, cwd=folder, stdout=subprocess.PIPE, text=True, **options
        ).stdout

    run(f"{programs}/initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
    settings = f"-k {folder} -c listen_addresses='' -c fsync=off"
    run(f"{programs}/pg_ctl", "-D", data, "-o", settings, "-l", f"{folder}/log", "-w", "start")
    try:
        yield lambda sql: run(
            f"{programs}/psql", "-h", folder, "-d", "postgres", "-qAtX", "-f", "-", input=sql
        )
    finally:
        run(f"{programs}/pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


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


def test_postgresql_predicts_what_the_model_predicts(server):
    given = [some_model(seed) for seed in range(60)]
    found = iter(
        server("SET client_min_messages = warning;\n" + "".join(query(*each) for each in given)).splitlines()
    )
    for seed, (model, rows) in enumerate(given):
        assert [json.loads(next(found)) for _ in range(rows.num_rows)] == model.predict(rows).tolist(), seed
