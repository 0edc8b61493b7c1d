"""What pyproject.toml says of the package agrees with the package."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import crosscut

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
SOURCES = {path: path.read_text() for path in (ROOT / "src" / "crosscut").rglob("*.py")}


def canonical(requirement: str) -> str:
    return re.split(r"[\[<>=; ]", requirement)[0].lower().replace("_", "-")


def imported(source: str) -> set[str]:
    nodes = list(ast.walk(ast.parse(source)))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    froms = [node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.split(".")[0] for name in plain + froms}


def libraries_of(folder: Path) -> set[str]:
    """The distributions whose packages are imported below a folder."""
    names = set.union(*(imported(path.read_text()) for path in folder.rglob("*.py")))
    of = packages_distributions()
    others = names - {*sys.stdlib_module_names}
    return {canonical(of[name][0] if name in of else name) for name in others}


def test_the_version_stands_in_the_package_alone():
    assert "version" in PROJECT["dynamic"]
    assert f"\n## [{crosscut.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {crosscut.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_every_library_that_is_imported_is_declared():
    libraries = libraries_of(ROOT / "src") - {"crosscut"}
    declared = {canonical(line) for line in chain(PROJECT["dependencies"], *EXTRAS.values())}
    assert libraries - {"pandas"} <= declared  # pruning tables become data frames where pandas is installed


def test_extras_that_messages_name_exist():
    named = set(re.findall(r"crosscut\[(\w+)\]", "\n".join(SOURCES.values())))
    assert named <= set(EXTRAS)
    assert named >= {"plot", "duckdb"}
