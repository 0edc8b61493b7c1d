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
RENAMED = {"statistics": "statistics_tests"}  # Python has a module of this name


def folders(top):
    found = (path for path in top.rglob("*") if path.is_dir() and any(path.glob("*.py")))
    return {str(path.relative_to(top)) for path in found}


def test_every_package_has_its_folder_of_tests():
    packages = {RENAMED.get(name, name) for name in folders(ROOT / "src" / "crosscut")}
    assert packages - folders(ROOT / "tests") == set()


def test_every_folder_of_tests_is_a_package_or_a_suite():
    packages = {RENAMED.get(name, name) for name in folders(ROOT / "src" / "crosscut")}
    assert folders(ROOT / "tests") - packages <= set(SUITES)


def test_every_package_is_named_in_the_guide_for_contributors():
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    packages = [path.parent.name for path in (ROOT / "src" / "crosscut").glob("*/__init__.py")]
    assert [name for name in packages if f"`{name}/`" not in guide] == []
