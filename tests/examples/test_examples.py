"""The scripts of the gallery run, print what their pages show and draw the pictures there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ["churn_report", "nested_comparison", "grouped_patients", "linked_tables"]


def run(script: str, *arguments: object) -> list[str]:
    command = [sys.executable, ROOT / "examples" / f"{script}.py", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.rstrip() for line in done.stdout.splitlines()]


def page_of(script: str) -> tuple[list[str], list[str]]:
    """Lines of output and names of pictures on the page of a script."""
    text = (ROOT / "docs" / "examples" / f"{script}.md").read_text()
    (output,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    pictures = re.findall(r"\]\(\.\./images/examples/(.*?)\)", text)
    assert all((ROOT / "docs" / "images" / "examples" / name).exists() for name in pictures)
    return output.splitlines(), pictures


def questions(lines: list[str]) -> set[str]:
    """The tests of a tree without their thresholds, which depend on the rows."""
    return {re.split("[<>]", line)[0] for line in lines if line.startswith("|") and "class" not in line}


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_prints_and_draws_what_its_page_shows(script, tmp_path):
    shown, pictures = page_of(script)
    printed = run(script, tmp_path)
    assert [line for line in printed if line in shown] == shown
    assert all((tmp_path / name).exists() for name in pictures)


@pytest.mark.slow
def test_cross_fitting_gives_the_estimate_of_separate_fits():
    pytest.importorskip("doubleml")
    shown, _ = page_of("cross_fitting")
    assert run("cross_fitting") == shown


@pytest.mark.slow
def test_large_parquet_with_fewer_rows(tmp_path):
    shown, pictures = page_of("large_parquet")
    printed = run("large_parquet", tmp_path, 400_000)
    assert printed[0].startswith("400,000 rows")
    assert questions(printed) <= questions(shown)
    assert all((tmp_path / name).exists() for name in pictures)
