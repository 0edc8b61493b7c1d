"""`import crosscut` is light, and its public names are there when asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

import crosscut

HEAVY = ["sklearn", "pandas", "polars", "pyarrow", "matplotlib", "scipy", "duckdb", "dask", "narwhals"]


def modules_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    "statement",
    [
        "import crosscut",
        "import numpy, crosscut.data.table; crosscut.data.table.Table.from_data(numpy.eye(4))",
        "import numpy, crosscut.tasks; crosscut.tasks.Tasks.from_cv(2, numpy.arange(4) % 2, classifier=True)",
    ],
)
def test_no_heavy_import(statement):
    assert not modules_after(statement) & set(HEAVY)


def test_names_are_found():
    for name in crosscut.__all__:
        assert getattr(crosscut, name) is not None
        assert name in {*dir(crosscut), "__version__"}


def test_unknown_name():
    with pytest.raises(AttributeError, match="attribute Trees"):
        crosscut.Trees  # noqa: B018


def test_the_command_line_starts_without_scikit_learn():
    loaded = modules_after("import crosscut.cli.program")
    assert not loaded & {*HEAVY, "numpy", "rich"}
    call = "from click.testing import CliRunner; from crosscut.cli.program import program\n"
    assert not modules_after(f"{call}CliRunner().invoke(program, ['--help'])") & {
        "sklearn",
        "scipy",
        "pandas",
    }


def test_python_m_crosscut():
    command = [sys.executable, "-m", "crosscut", "--version"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown == f"crosscut {crosscut.__version__}\n"


def test_a_tree_on_the_command_line_needs_little_of_scikit_learn():
    churn = Path(__file__).parents[1] / "examples" / "churn.csv"
    call = f"program(['cv', {str(churn)!r}, '-t', 'churned', '--folds', '3'], standalone_mode=False)"
    code = f"import sys\nfrom crosscut.cli.program import program\n{call}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    slow = {"sklearn.tree", "sklearn.model_selection", "sklearn.metrics", "jinja2", "matplotlib"}
    assert "sklearn.base" in loaded
    assert not loaded & slow
