"""The tests stand in the rooms of the packages they test."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUITES = {  # that test several packages at once
    "benchmarks": "the paper's experiments",
    "equivalence": "engines against the reference",
    "examples": "the scripts of the gallery",
    "fuzz": "damaged input",
    "installation": "what is installed",
    "sklearn_suite": "scikit-learn's own tests",
}


def folders(top):
    found = (path for path in top.rglob("*") if path.is_dir() and any(path.glob("*.py")))
    return {str(path.relative_to(top)) for path in found}


def test_every_package_has_its_folder_of_tests():
    assert folders(ROOT / "src" / "crosscut") - folders(ROOT / "tests") == set()


def test_every_folder_of_tests_is_a_package_or_a_suite():
    assert folders(ROOT / "tests") - folders(ROOT / "src" / "crosscut") <= set(SUITES)


def test_every_package_is_named_in_the_guide_for_contributors():
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    packages = [path.parent.name for path in (ROOT / "src" / "crosscut").glob("*/__init__.py")]
    assert [name for name in packages if f"`{name}/`" not in guide] == []
