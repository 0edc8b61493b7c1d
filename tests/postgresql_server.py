"""A PostgreSQL server for tests, where one is installed."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

FOLDERS = [Path(shutil.which("psql") or "x").parent, *sorted(Path("/usr/lib/postgresql").glob("*/bin"))]


@dataclass
class Server:
    """What runs SQL and returns what it prints, and the server's address."""

    run: Callable[[str], str]
    uri: str


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
    psql = [f"{programs}/psql", "-h", folder, "-d", "postgres", "-qAtX", "-v", "ON_ERROR_STOP=1", "-f", "-"]
    user = "postgres" if other else getpass.getuser()
    try:
        yield Server(lambda sql: run(*psql, input=sql), f"postgresql:///postgres?host={folder}&user={user}")
    finally:
        run(f"{programs}/pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)
