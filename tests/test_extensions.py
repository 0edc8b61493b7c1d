"""What other distributions build on, and what crosscut says where crosscut-relational is not installed."""

import importlib.metadata
from pathlib import Path

import numpy as np
import pytest
from cli.calls import call

import crosscut
from crosscut import ModelFileError, TreeClassifier, load_model, save_model
from crosscut.data.array_file import read_arrays, write_arrays
from crosscut.extensions import RELATIONAL, extensions

BASE = Path(__file__).resolve().parents[1] / "cpp" / "base"


@pytest.fixture
def _alone(monkeypatch):
    """As if nothing that extends crosscut were installed."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [])
    extensions.cache_clear()
    yield
    extensions.cache_clear()


def test_the_shared_code_is_installed():
    installed = Path(crosscut.get_include()) / "base"
    assert {path.name for path in installed.iterdir()} == {path.name for path in BASE.iterdir()}
    assert (installed / "threads.hpp").read_text() == (BASE / "threads.hpp").read_text()


@pytest.mark.parametrize("name", sorted(RELATIONAL))
def test_names_that_moved_say_where(name):
    assert name not in crosscut.__all__
    with pytest.raises(ImportError, match=f"crosscut-relational; from crosscut_relational import {name}$"):
        getattr(crosscut, name)


def test_data_that_moved_say_where():
    with pytest.raises(ImportError, match=r"from crosscut_relational.datasets import shop"):
        crosscut.datasets.shop  # noqa: B018


@pytest.mark.usefixtures("_alone")
@pytest.mark.parametrize("arguments", [(), ("shop", "--target", "customer.churned"), ("--help",)])
def test_the_command_names_the_package_to_install(arguments):
    result = call("relational", *arguments)
    assert result.exit_code == 2
    assert result.stderr == (
        "crosscut: crosscut relational is part of crosscut-relational: pip install crosscut-relational\n"
    )


@pytest.mark.usefixtures("_alone")
def test_model_files_say_what_to_install(tmp_path):
    path = tmp_path / "model"
    save_model(TreeClassifier(cv=None).fit(np.eye(4), [0, 1, 0, 1]), path)
    header, arrays = read_arrays(path)
    write_arrays(path, {**header, "model": "RelationalTreeClassifier"}, arrays)
    with pytest.raises(ModelFileError, match="pip install crosscut-relational"):
        load_model(path)
    assert "pip install crosscut-relational" in call("show", path).stderr


def test_a_broken_extension_leaves_the_other_commands_alone(monkeypatch):
    broken = importlib.metadata.EntryPoint("relational", "no_such_module:command", "crosscut.commands")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [broken])
    extensions.cache_clear()
    try:
        assert "Cannot be loaded" in call("--help").stdout
        result = call("relational", "shop")
        assert result.exit_code == 1
        assert "crosscut relational cannot be loaded: No module named 'no_such_module'" in result.stderr
    finally:
        extensions.cache_clear()
