"""The two distributions have one version, and declare what they import."""

import tomllib
from itertools import chain
from pathlib import Path

from installation.test_metadata import canonical, libraries_of

import crosscut
import crosscut_relational

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_versions_move_together():
    version = crosscut.__version__
    assert crosscut_relational.__version__ == version
    assert f"crosscut=={version}" in PROJECT["dependencies"]
    other = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]
    assert other["optional-dependencies"]["relational"] == [f"crosscut-relational=={version}"]


def test_every_library_that_is_imported_is_declared():
    declared = chain(PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    libraries = libraries_of(ROOT / "src") - {"crosscut-relational"}
    assert libraries <= {canonical(line) for line in declared}
