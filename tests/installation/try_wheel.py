"""Install a wheel of a folder into an empty environment and use it: `try_wheel.py PYTHON FOLDER`."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 5_000_000  # bytes
IMPORT = """
import time, numpy
start = time.process_time()
import crosscut, crosscut._core
print(f"crosscut {crosscut.__version__} from {crosscut.__file__}")
print(f"import: {time.process_time() - start:.2f} s of processor time beyond NumPy")
"""


def wheel_for(python: str, folder: Path) -> Path:
    """The wheel of a folder that serves this interpreter: its own, or that of all versions."""
    asked = [python, "-c", "import sys; print(sys.version_info.minor)"]
    minor = int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    (wheel,) = folder.glob("*-cp311-cp311-*.whl" if minor == 11 else "*-cp312-abi3-*.whl")
    assert wheel.stat().st_size <= LARGEST, (
        f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LARGEST}"
    )
    return wheel.resolve()


def try_wheel(python: str, wheel: Path, folder: Path) -> None:
    """Use the wheel in an empty folder, with no program of the system in reach."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    programs = folder / "venv" / "bin"
    around = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    around["PATH"] = str(programs)

    def run(program: str, *arguments: str) -> None:
        subprocess.run([programs / program, *arguments], cwd=folder, env=around, check=True)

    run("pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    run("python", "-c", IMPORT)
    shutil.copy(ROOT / "examples" / "churn.csv", folder / "some.csv")
    run("crosscut", "cv", "some.csv", "--target", "churned", "--report", "r.html", "--save", "some.crosscut")
    run("crosscut", "predict", "some.crosscut", "some.csv", "--out", "predictions.csv")
    assert "churned" in (folder / "r.html").read_text()
    (readme,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text().split("\n## ")[0], re.DOTALL
    )
    run("pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[plot]")
    run("python", "-c", readme)
    assert (folder / "forest.svg").exists()


if __name__ == "__main__":
    interpreter, wheels = sys.argv[1:]
    with tempfile.TemporaryDirectory() as empty:
        try_wheel(interpreter, wheel_for(interpreter, Path(wheels)), Path(empty))
