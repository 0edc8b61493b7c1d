"""Arrow data from elsewhere may point outside of its memory: it is refused, in memory and in files."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.model_selection import GroupKFold
from sklearn.tree import DecisionTreeClassifier

from crosscut import (
    BaggedTrees,
    GridSearchCV,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    cross_val_score,
    nested_cross_validate,
    read_file,
    split_target,
)


def damaged_text(n=6, offset=2**30):
    offsets = np.arange(n + 1, dtype=np.int32)
    offsets[3] = offset
    return pa.Array.from_buffers(pa.string(), n, [None, pa.py_buffer(offsets), pa.py_buffer(b"abcabc")])


def damaged_codes(n=6):
    codes = pa.array(np.full(n, 2**20, np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]), safe=False)


@pytest.mark.parametrize("damaged", [damaged_text, damaged_codes])
@pytest.mark.parametrize("kind", [pa.table, pa.RecordBatch.from_pydict])
def test_columns(damaged, kind):
    numbers, y = pa.array(np.arange(6.0)), [0, 1] * 3
    frame = kind({"x": numbers, "text": damaged()})
    with pytest.raises(ValueError, match="X is damaged Arrow data"):
        TreeClassifier(cv=None).fit(frame, y)
    model = TreeClassifier(cv=None).fit(kind({"x": numbers, "text": pa.array(list("abcabc"))}), y)
    with pytest.raises(ValueError, match="X is damaged Arrow data"):
        model.predict(frame)


@pytest.mark.parametrize("damaged", [damaged_text, damaged_codes])
def test_targets(damaged):
    X = np.arange(6.0).reshape(-1, 1)
    for kind in (TreeClassifier, TreeRegressor):
        with pytest.raises(ValueError, match="y is damaged Arrow data"):
            kind(cv=None).fit(X, damaged())


def in_pandas(values):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([values])))


X, Y = np.arange(6.0).reshape(-1, 1), [0, 1] * 3
TREE, FORESTED = TreeClassifier(cv=None), DecisionTreeClassifier(max_features=1)
ENTRANCES = {  # how a table or a column gets in
    "fit": lambda table, column: TREE.fit(table, Y),
    "rules": lambda table, column: RuleClassifier(cv=None).fit(table, Y),
    "bagged": lambda table, column: BaggedTrees(n_trees=2).fit(table, Y),
    "score": lambda table, column: BaggedTrees(n_trees=2).fit(X, Y).score(X, column),
    "score of a tree": lambda table, column: TreeClassifier(cv=None).fit(X, Y).score(X, column),
    "score of rules": lambda table, column: RuleClassifier(cv=None).fit(X, Y).score(X, column),
    "groups": lambda table, column: TreeClassifier(cv=GroupKFold(2)).fit(X, Y, groups=column),
    "weights": lambda table, column: TREE.fit(X, Y, sample_weight=column),
    "cross_val_score": lambda table, column: cross_val_score(TREE, table, Y, cv=2),
    "its target": lambda table, column: cross_val_score(TREE, X, column, cv=2),
    "delegated": lambda table, column: cross_val_score(FORESTED, X, column, cv=2),
    "weights of folds": lambda table, column: cross_val_score(
        TREE, X, Y, cv=2, params={"sample_weight": column}
    ),
    "nested": lambda table, column: nested_cross_validate(TREE, {"max_depth": [1, 2]}, table, Y, cv=3),
    "grid": lambda table, column: GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=2).fit(X, column),
    "target": lambda table, column: split_target(table, "a"),
}


@pytest.mark.parametrize("library", ["arrow", "pandas"])
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_entrances(library, entrance):
    column = damaged_text() if library == "arrow" else in_pandas(damaged_text())
    table = (pa.table if library == "arrow" else pd.DataFrame)({"a": column})
    with pytest.raises(ValueError, match="is damaged Arrow data"):
        ENTRANCES[entrance](table, column)


def test_streams_of_batches_are_tables():
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0], "b": list("xyxy")})
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert TREE.fit(reader, [0, 0, 1, 1]).predict(table).tolist() == [0, 0, 1, 1]


def test_files(tmp_path):
    good = pa.table({"text": pa.array([f"value {i}" for i in range(50)]), "x": np.arange(50.0)})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_file(sink, good.schema) as writer:
        writer.write_table(good)
    raw = bytearray((tmp_path / "a.arrow").read_bytes())
    offsets = raw.find(np.array([0, 7, 14, 21], np.int32).tobytes())
    raw[offsets + 8 : offsets + 12] = np.int32(2**30).tobytes()
    (tmp_path / "a.arrow").write_bytes(raw)
    with pytest.raises(ValueError, match=r"a\.arrow' cannot be read"):
        read_file(tmp_path / "a.arrow")
