"""The pages name what exists: links, paths and the navigation."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("benchmarks", "cpp", "docs", "examples", "relational", "src", "tests")
OF_SCIKIT_LEARN = {"test_search.py", "test_tree.py", "test_validation.py"}
TOP = ("README.md", "CONTRIBUTING.md", "cpp/README.md", "relational/README.md", "relational/cpp/README.md")
PAGES = [*(ROOT / page for page in TOP), *(ROOT / "docs").rglob("*.md")]
SOURCE = r"[\w./*-]+\.(?:py|pyi|cpp|hpp|toml)"
IN_FOLDER = rf"(?:{'|'.join(FOLDERS)})/[\w./*-]*"


@pytest.fixture(scope="module")
def paths():
    """Every path of the repository, with a slash in front."""
    top = [path for path in ROOT.iterdir() if path.is_file()]
    below = [path for folder in FOLDERS for path in (ROOT / folder, *(ROOT / folder).rglob("*"))]
    return [f"/{path.relative_to(ROOT)}" for path in [*top, *below]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_exist(page, paths):
    """A path may leave out the folders in front, where the text around it names them."""
    for word in re.findall(r"`([^`\n]+)`", page.read_text()):
        if re.fullmatch(f"{SOURCE}|{IN_FOLDER}", word) and Path(word).name not in OF_SCIKIT_LEARN:
            ending = re.compile(re.escape("/" + word.strip("/")).replace(r"\*", "[^/]*") + "$")
            assert any(ending.search(path) for path in paths), word


def test_every_page_is_in_the_navigation():
    named = set(re.findall(r": ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert named == {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
