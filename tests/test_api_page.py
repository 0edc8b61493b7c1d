"""The API page shows each parameter with its own default."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

griffe = pytest.importorskip("griffe", reason="griffe, which reads docstrings for the site, is not installed")
ROOT = Path(__file__).parents[1]
NAMES = re.findall(r"^::: (\S+)", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)


def object_of(path):
    """The object with a dotted path."""
    parts = path.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            found = getattr(found, part)
        return found
    raise AssertionError(path)


def documented(described, path):
    """Yield each class, method and function on the page, with its path."""
    described = described.final_target if described.is_alias else described
    if described.is_module:
        for name in object_of(path).__all__:
            yield from documented(described[name], f"{path}.{name}")
        return
    yield described, path
    if described.is_class:
        members = described.all_members.items()
        yield from ((m, f"{path}.{n}") for n, m in members if m.is_function and not n.startswith("_"))


def defaults_shown(described):
    for section in described.docstring.parse("numpy") if described.docstring else ():
        if section.kind.value == "parameters":
            yield from ((each.name, each.default) for each in section.value if not each.name.startswith("*"))


def test_defaults_are_those_of_the_signature():
    paths = [ROOT / "src", ROOT / "relational" / "src"]
    packages = griffe.GriffeLoader(search_paths=paths, docstring_parser="numpy")
    for package in {name.split(".")[0] for name in NAMES}:
        pytest.importorskip(package)
        packages.load(package)
    wrong = []
    for name in NAMES:
        for described, path in documented(packages.modules_collection[name], name):
            described = described.final_target if described.is_alias else described  # noqa: PLW2901
            try:
                parameters = inspect.signature(object_of(path)).parameters
            except (TypeError, ValueError, AttributeError):
                continue  # a property, or a class without a signature
            for parameter, shown in defaults_shown(described):
                if shown is None or not re.match(r"[\"'\d]|True|False|None", str(shown)):
                    continue  # nothing is shown, or a constant by its name
                actual = repr(parameters[parameter].default) if parameter in parameters else "no parameter"
                if str(shown).replace('"', "'") != actual:
                    wrong.append(f"{path}({parameter}): shown {shown}, is {actual}")
    assert wrong == []
