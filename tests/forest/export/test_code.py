"""A tree as C, Java and JavaScript: compiled or run by the tools at hand, it predicts what it predicts."""

import base64
import ctypes
import datetime as dt
import json
import math
import re
import shutil
import subprocess

import numpy as np
import pyarrow as pa
import pytest

from crosscut import TreeClassifier, TreeRegressor, datasets, split_target

from .test_exports import EPOCH, some_model

TYPES = {
    "bool": ctypes.c_bool,
    "long long": ctypes.c_longlong,
    "double": ctypes.c_double,
    "const char *": ctypes.c_char_p,
}


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def days(value):
    if isinstance(value, dt.datetime):
        return (value - EPOCH) / dt.timedelta(days=1)
    return (value - EPOCH.date()).days if isinstance(value, dt.date) else value


def in_c(source, rows, folder):
    """The predictions of a shared library, called with the struct that the source declares."""
    folder.mkdir()
    (folder / "tree.c").write_text(source)
    library = folder / "tree.so"
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", library, folder / "tree.c"], check=True)
    fields = re.findall(r"^    (const char \*|double )(\w+); /\* (.*) \*/$", source, re.MULTILINE)
    names = [(name, json.loads(shown.replace("* /", "*/"))) for _, name, shown in fields]
    kinds = [(name, TYPES[kind.strip()]) for kind, name, _ in fields]
    row_type = type("Row", (ctypes.Structure,), {"_fields_": kinds or [("unused", ctypes.c_char)]})
    predict = ctypes.CDLL(str(library)).predict
    predict.restype = TYPES[re.search(r"^(.*?)\s?predict\(const", source, re.MULTILINE)[1].strip()]

    def predicted(row):
        values = row_type()
        for (name, kind), (_, column) in zip(kinds, names, strict=True):
            value = row[column]
            if kind is ctypes.c_char_p:
                setattr(values, name, None if value is None else value.encode())
            else:
                setattr(values, name, math.nan if value is None else days(value))
        result = predict(ctypes.byref(values))
        return result.decode() if isinstance(result, bytes) else result

    return [predicted(row) for row in rows.to_pylist()]


def in_javascript(source, rows, folder):
    folder.mkdir()
    (folder / "tree.js").write_text(source)
    cells = json.dumps(
        [
            {k: {"days": days(v)} if isinstance(v, dt.date) else v for k, v in row.items()}
            for row in rows.to_pylist()
        ]
    )
    script = (
        f"const {{ predict }} = require({json.dumps(str(folder / 'tree.js'))});\n"
        "const rows = JSON.parse(require('fs').readFileSync(0));\n"
        "for (const row of rows) for (const name of Object.keys(row)) if (row[name] && row[name].days !== "
        "undefined)\n"
        "  row[name] = new Date(Math.round(row[name].days * 86400000));\n"
        "console.log(JSON.stringify(rows.map(predict)));\n"
    )
    shown = subprocess.run(
        ["node", "-e", script], input=cells, capture_output=True, text=True, check=True
    ).stdout
    return [float(value) if type(value) is int else value for value in json.loads(shown)]


def java_value(value):
    if isinstance(value, dt.datetime):
        return f'java.time.LocalDateTime.parse("{value.isoformat()}")'
    if isinstance(value, dt.date):
        return f'java.time.LocalDate.parse("{value.isoformat()}")'
    return "null" if value is None else f"{value}L" if type(value) is int else json.dumps(value)


SHOW = """class Main {
    static void put(java.util.Map<String, Object> row, String name, Object value) { row.put(name, value); }
    static void show(Object value) {
        byte[] bytes = String.valueOf(value).getBytes(java.nio.charset.StandardCharsets.UTF_8);
        System.out.println(java.util.Base64.getEncoder().encodeToString(bytes));
    }
"""


def in_java(models, folder):
    """The predictions of several (source, rows), compiled together, as text."""
    calls = []
    for k, (source, rows) in enumerate(models):
        (folder / f"Tree{k}.java").write_text(source.replace("final class Tree ", f"final class Tree{k} "))
        for row in rows.to_pylist():
            puts = "".join(
                f"put(row, {json.dumps(name)}, {java_value(value)});" for name, value in row.items()
            )
            map_of = "java.util.Map<String, Object> row = new java.util.HashMap<>();"
            calls.append(f"{{ {map_of} {puts} show(Tree{k}.predict(row)); }}")
    parts = [f"static void part{k}() {{ {' '.join(calls[k : k + 50])} }}" for k in range(0, len(calls), 50)]
    run = " ".join(f"part{k}();" for k in range(0, len(calls), 50))
    main = f"public static void main(String[] arguments) {{ {run} }} }}"
    (folder / "Main.java").write_text("\n".join([SHOW, *parts, main]))
    subprocess.run(["javac", "-encoding", "UTF-8", "-d", folder, *folder.glob("*.java")], check=True)
    shown = subprocess.run(["java", "-cp", folder, "Main"], capture_output=True, text=True, check=True).stdout
    return [base64.b64decode(line).decode() for line in shown.splitlines()]


@needs("gcc")
@pytest.mark.parametrize("seed", range(25))
def test_c(seed, tmp_path):
    model, rows = some_model(seed)
    assert in_c(model.to_code("c"), rows, tmp_path / "c") == model.predict(rows).tolist()


@needs("node")
@pytest.mark.parametrize("seed", range(25))
def test_javascript(seed, tmp_path):
    model, rows = some_model(seed)
    assert in_javascript(model.to_code("javascript"), rows, tmp_path / "js") == model.predict(rows).tolist()


@needs("javac")
def test_java(tmp_path):
    models = [some_model(seed) for seed in range(10)]
    shown = in_java([(model.to_code("java"), rows) for model, rows in models], tmp_path)
    expected = [value for model, rows in models for value in model.predict(rows).tolist()]
    for found, value in zip(shown, expected, strict=True):
        if isinstance(value, float):
            assert float(found) == value
        else:
            assert found == (str(value).lower() if isinstance(value, bool) else str(value))


@pytest.fixture(scope="module")
def deep():
    x = np.arange(400.0)
    return TreeRegressor(cv=None).fit(pa.table({"x": x}), 2.0**x), pa.table({"x": x})


@needs("gcc")
def test_a_deep_tree_in_c(deep, tmp_path):
    model, rows = deep
    assert in_c(model.to_code("c"), rows, tmp_path / "c") == model.predict(rows).tolist()


@needs("node")
def test_a_deep_tree_in_javascript(deep, tmp_path):
    model, rows = deep
    assert in_javascript(model.to_code("javascript"), rows, tmp_path / "js") == model.predict(rows).tolist()


@needs("javac")
def test_a_deep_and_a_wide_tree_in_java(deep, tmp_path):
    random = np.random.default_rng(0)
    rows = pa.table({f"x{k}": random.random(2000) for k in range(3)})
    wide = TreeRegressor(cv=None).fit(rows, random.random(2000))
    assert wide.get_n_leaves() > 1000
    shown = in_java([(wide.to_code("java"), rows[:50]), (deep[0].to_code("java"), deep[1][-50:])], tmp_path)
    assert [float(value) for value in shown] == [*wide.predict(rows[:50]), *deep[0].predict(deep[1][-50:])]


def test_categories_that_are_numbers_are_compared_as_text():
    import pandas as pd

    X = pd.DataFrame({"size": pd.Categorical([1, 2, 3, 1, 2, 3])})
    model = TreeClassifier(cv=None).fit(X, ["a", "b", "b", "a", "b", "b"])
    assert '["1"].includes(v[0])' in model.to_code("javascript") or '["2", "3"].includes' in model.to_code(
        "javascript"
    )


def test_names_become_identifiers():
    X = pa.table(
        {"a b": [0.0, 1, 2, 3], "A-b": [0.0, 0, 1, 1], "int": [1.0, 0, 1, 0], "*/ x": [0.0, 3, 1, 2]}
    )
    model = TreeRegressor(cv=None).fit(X, [1.0, 5, 2, 9])
    source = TreeRegressor(cv=None).fit(X.select(["*/ x"]), [1.0, 5, 2, 9]).to_code("c")
    assert 'double c____x; /* "* / x" */' in source
    assert "to_code" not in model.to_code("c")
    with pytest.raises(ValueError, match="language must be one of python, c, java, javascript, not 'rust'"):
        model.to_code("rust")
    with pytest.raises(ValueError, match="NUL character, which C cannot compare"):
        TreeClassifier(cv=None).fit([[0], [1]], ["a", "b\0c"]).to_code("c")


def test_a_row_of_the_frame_is_a_node():
    X, y = split_target(datasets.churn(), "churned")
    model = TreeClassifier(prune="best", random_state=0).fit(X, y)
    frame = model.to_frame()
    tree = model.tree_
    assert len(frame) == len(tree)
    assert frame["rows"].tolist() == tree.n_rows.tolist()
    assert frame.loc[frame["column"].isna(), "rows"].sum() == 800
    assert (frame["= no"] + frame["= yes"]).to_numpy() == pytest.approx(1)
    leaves = frame[frame["column"].isna()]
    assert sorted(leaves.index) == sorted(set(model.apply(X).tolist()))
    assert frame["prediction"][model.apply(X)].tolist() == model.predict(X).tolist()
    for node in range(1, len(frame)):
        assert node in tree.children_of(int(frame["parent"][node]))
