"""Arrow data from elsewhere may point outside of its memory: it is refused, in memory and in files."""

import numpy as np
import pyarrow as pa
import pytest

from crosscut import TreeClassifier, TreeRegressor, read_file


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
