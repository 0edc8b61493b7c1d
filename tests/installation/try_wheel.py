"""Install the wheels of both distributions in a folder into an empty environment and use them there.

`try_wheel.py PYTHON FOLDER` does what README.md shows and runs the examples; `try_wheel.py PYTHON FOLDER
GROUP TESTS` runs tests with the libraries of a dependency group, `oldest` or `newest`.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 5_000_000  # bytes
EXAMPLES = [
    ["churn_report"],
    ["nested_comparison"],
    ["grouped_patients"],
    ["linked_tables"],
    ["large_parquet", "100000"],
]
IMPORT = """
import time, numpy
start = time.process_time()
import crosscut, crosscut._core
print(f"crosscut {crosscut.__version__} from {crosscut.__file__}")
print(f"import: {time.process_time() - start:.2f} s of processor time beyond NumPy")
"""


def wheel_for(python: str, folder: Path, name: str) -> Path:
    """The wheel of a distribution that serves this interpreter: its own, or that of all versions."""
    asked = [python, "-c", "import sys; print(sys.version_info.minor)"]
    minor = int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    (wheel,) = folder.glob(f"{name}-[0-9]*-" + ("cp311-cp311-*.whl" if minor == 11 else "cp312-abi3-*.whl"))
    assert wheel.stat().st_size <= LARGEST, (
        f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LARGEST}"
    )
    return wheel.resolve()


class Environment:
    """An empty environment in an empty folder, with no program of the system in reach."""

    def __init__(self, python: str, folder: Path) -> None:
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        self.folder, self.programs = folder, folder / "venv" / "bin"
        self.variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.variables["PATH"] = str(self.programs)

    def run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the folder; one that may fail is quiet."""
        command = [self.programs / program, *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=self.variables, check=check, text=True, capture_output=not check
        )

    def install(self, *what: str) -> None:
        """Install with pip."""
        self.run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what)


def use(wheel: Path, relational: Path, empty: Environment) -> None:
    """Do what README.md shows, and run the examples."""
    empty.install(str(wheel))
    empty.run("python", "-c", IMPORT)
    shutil.copytree(ROOT / "examples", empty.folder / "examples")
    shutil.copy(ROOT / "examples" / "churn.csv", empty.folder / "some.csv")
    empty.run(
        "crosscut", "cv", "some.csv", "--target", "churned", "--report", "r.html", "--save", "some.crosscut"
    )
    empty.run("crosscut", *["predict", "some.crosscut", "some.csv", "--out", "predictions.csv"])
    assert "churned" in (empty.folder / "r.html").read_text()
    first_screen = (ROOT / "README.md").read_text().split("\n## ")[0]
    (readme,) = re.findall(r"```python\n(.*?)```", first_screen, re.DOTALL)
    empty.install(f"{wheel}[plot]")
    empty.run("python", "-c", readme)
    assert (empty.folder / "forest.svg").exists()
    refused = empty.run("crosscut", "relational", "examples/shop", check=False)
    assert refused.returncode == 2
    assert "pip install crosscut-relational" in refused.stderr
    empty.install(str(relational))
    empty.run("crosscut", "relational", "examples/shop", "--target", "customer.churned")
    for example, *arguments in EXAMPLES:
        empty.run("python", f"examples/{example}.py", ".", *arguments)


def run_tests(wheel: Path, relational: Path, empty: Environment, libraries: str, tests: list[str]) -> None:
    """Run tests of the clone against the wheels, folder by folder: each has its own configuration."""
    groups = [f"{ROOT / 'pyproject.toml'}:{name}" for name in ("test", libraries)]
    empty.install("--upgrade", "pip>=25.1")
    empty.install(f"{wheel}[all]", f"{relational}[all]", "--group", groups[0], "--group", groups[1])
    empty.run("python", "-m", "pip", "freeze")
    empty.run("python", "-c", IMPORT)
    for test in tests:
        empty.run("python", "-m", "pytest", "-q", "-n", "2", "-m", "not slow", str(ROOT / test))


if __name__ == "__main__":
    interpreter, wheels, *group_and_tests = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temporary:
        found = [wheel_for(interpreter, Path(wheels), name) for name in ("crosscut", "crosscut_relational")]
        fresh = Environment(interpreter, Path(temporary))
        if group_and_tests:
            run_tests(*found, fresh, group_and_tests[0], group_and_tests[1:])
        else:
            use(*found, fresh)
