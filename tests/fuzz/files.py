"""Attacks by data files, by Arrow memory that lies, by checkpoints and by hostile names and text."""

import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from crosscut import RuleClassifier, Stream, TreeClassifier, TreeRegressor, cross_val_score, read_file
from crosscut.data.array_file import read_arrays, write_arrays

from . import mutations

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # files there are quick
REFUSALS = (ValueError, MemoryError, TimeoutError)
LETTERS = ["'", '"', "\\", "\n", "\r", "\t", "%", "$", ";", "--", "/*", "{", "}", "\x1b", "\u2028", "\u202e"]
LETTERS += ["a", "B", " ", "  ", "ß", "😀", "\x0b", "\x7f", "NULL", "''", '""', "||", "?", ":x", "@y", "E'"]


def _table(n=40):
    random = np.random.default_rng(0)
    text = random.choice(["alpha", "beta", "a longer value", ""], n)
    columns = {"x": random.normal(size=n), "n": np.arange(n), "text": text, "y": random.choice(["u", "v"], n)}
    table = pa.table(columns | {"d": pa.array(np.arange(n), pa.int32()).cast(pa.date32())})
    table = table.append_column("codes", table["text"].dictionary_encode())
    return table.append_column("view", table["text"].cast(pa.string_view()))


class Tables:
    """Arrow, Parquet, SQLite and DuckDB files with changed bytes: read, or refused."""

    patience = 8  # seconds

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        folder, table = Path(self.folder.name), _table()
        with pa.OSFile(f"{folder}/a.arrow", "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=15)
        plain = table.drop_columns(["view"])
        parquet.write_table(plain, folder / "a.parquet", row_group_size=15)
        parquet.write_table(plain, folder / "b.parquet", compression="none", use_dictionary=False)
        frame = plain.to_pandas().astype({"codes": str, "d": str})
        with closing(sqlite3.connect(folder / "a.db")) as lite:
            lite.execute("PRAGMA page_size = 512")
            frame.to_sql("t", lite, index=False)
        with duckdb.connect(str(folder / "a.duckdb")) as duck:
            duck.execute("CREATE TABLE t AS SELECT * FROM frame")
        self.seeds = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.names = ["a.arrow", "a.arrow", "a.parquet", "b.parquet", "a.db", "a.db", "a.duckdb"]

    def attack(self, random):
        name = self.names[random.integers(0, len(self.names))]
        path = Path(self.folder.name, name)
        yield name
        raw = bytearray(self.seeds[name])
        if random.random() < 0.3:
            raw = raw[: random.integers(0, len(raw))] + bytes(random.integers(0, 40) % 3)
        for _ in range(random.integers(0, 4)):
            at = int(random.integers(0, max(1, len(raw) - 8)))
            odd = mutations.NUMBERS[random.integers(0, len(mutations.NUMBERS))]
            width = int(random.choice([1, 4, 8]))
            raw[at : at + width] = (odd % 2 ** (8 * width)).to_bytes(width, "little")
        path.write_bytes(raw)
        with suppress(*REFUSALS, TypeError):  # a column that mixes types, or has another one
            table = read_file(path, timeout=5)
            y = np.arange(table.num_rows) % 2
            if table.num_rows > 3:
                TreeClassifier(cv=2, max_depth=2).fit(table, y).predict(table)
        if name.endswith(("arrow", "parquet")) and random.random() < 0.3:
            with suppress(*REFUSALS, TypeError):
                TreeClassifier(cv=2, max_depth=2).fit(Stream(path), "y")


class Lies:
    """Arrow data in memory whose offsets, codes, lengths and validity are not true."""

    patience = 8

    def attack(self, random):
        n = int(random.integers(1, 9))
        try:
            data, good = self._column(random, n), pa.array(np.arange(float(n)))
        except pa.ArrowInvalid:  # Arrow itself sees some of the lies
            return
        in_pandas = random.random() < 0.3 and data.type != pa.string_view()  # which pandas does not know
        if in_pandas:
            data = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([data])))
        frame = (pd.DataFrame if in_pandas else pa.table)({"a": data})
        codes, model = np.arange(n) % 2, [TreeClassifier, RuleClassifier][random.integers(0, 2)](cv=None)
        entrances = {
            "fit": lambda: model.fit(frame, codes),
            "target": lambda: model.fit(good.to_numpy().reshape(-1, 1), data),
            "numbers": lambda: TreeRegressor(cv=None).fit(good.to_numpy().reshape(-1, 1), data),
            "weights": lambda: model.fit(good.to_numpy().reshape(-1, 1), codes, sample_weight=data),
            "predict": lambda: model.fit(pa.table({"a": pa.array(list("ab") * n)}), [0, 1] * n).predict(
                frame
            ),
            "cross_val_score": lambda: cross_val_score(TreeClassifier(cv=None), frame, codes, cv=2),
        }
        name = list(entrances)[random.integers(0, len(entrances))]
        yield name
        with suppress(*REFUSALS, TypeError):
            entrances[name]()

    @staticmethod
    def _column(random, n):
        def buffer(values, dtype):
            values = np.array(values, dtype)
            for _ in range(random.integers(0, 3)):
                odd = mutations.NUMBERS[random.integers(0, len(mutations.NUMBERS))]
                values[random.integers(0, len(values))] = np.array([odd]).astype(dtype)[0]
            return pa.py_buffer(values.tobytes())

        valid = pa.py_buffer(bytes(2)) if random.random() < 0.2 else None
        text, kind = pa.py_buffer(b"abcdefgh" * 4), random.integers(0, 5)
        if kind == 0:
            return pa.Array.from_buffers(pa.string(), n, [valid, buffer(range(n + 1), "i4"), text])
        if kind == 1:
            return pa.Array.from_buffers(pa.large_string(), n, [valid, buffer(range(n + 1), "i8"), text])
        if kind == 2:
            views = buffer(np.array([[20, 0x64636261, 0, i] for i in range(n)]).ravel(), "i4")
            return pa.Array.from_buffers(pa.string_view(), n, [valid, views, text])
        codes = pa.Array.from_buffers(pa.int32(), n, [valid, buffer(np.arange(n) % 2, "i4")])
        if kind == 3:
            return pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]), safe=False)
        words = pa.Array.from_buffers(pa.string(), 2, [None, buffer([0, 1, 2], "i4"), text])
        return pa.DictionaryArray.from_arrays(codes, words, safe=False)


class Sql:
    """Labels, categories and names with hostile characters: databases predict what `predict` does."""

    patience = 20

    def attack(self, random):
        def word():
            return "".join(LETTERS[i] for i in random.integers(0, len(LETTERS), random.integers(0, 5)))

        labels = list({word() for _ in range(4)} | {"u", "v"})
        values = list({word() for _ in range(5)} | {"p", "q"})
        name, n = word() + "c", 60
        column, x = random.choice(values, n), random.normal(size=n).round(2)
        y = np.array(
            [labels[(values.index(v) + (q > 0)) % len(labels)] for v, q in zip(column, x, strict=True)]
        )
        table = pa.table({name: column.tolist(), "x": x})
        rules = random.random() < 0.3
        model = (RuleClassifier(cv=None, min_coverage=1) if rules else TreeClassifier(cv=None)).fit(table, y)
        expected = model.predict(table).tolist()
        quoted = '"' + name.replace('"', '""') + '"'
        yield "duckdb"
        with duckdb.connect() as duck:
            duck.register("t", table)
            found = duck.execute(f"SELECT {model.to_sql()} FROM t").fetchall()
        assert [row[0] for row in found] == expected, (labels, values, name)
        yield "sqlite"
        with closing(sqlite3.connect(":memory:")) as lite:
            lite.execute(f"CREATE TABLE t ({quoted} TEXT, x REAL)")
            lite.executemany("INSERT INTO t VALUES (?, ?)", zip(column.tolist(), x.tolist(), strict=True))
            found = lite.execute(f"SELECT {model.to_sql('sqlite')} FROM t ORDER BY rowid").fetchall()
        assert [row[0] for row in found] == expected, (labels, values, name)


class Names:
    """File names that a database could read as a URI: the named file is read, and none is created."""

    patience = 8
    parts = ("#", "?", "%23", "&", "mode=rwc", "mode=memory", "=", "file:", ":memory:")
    parts += ("'", "a", "b", "%00", ";")

    def attack(self, random):
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            ending = [".db", ".duckdb", ".sqlite"][random.integers(0, 3)]
            stem = "".join(self.parts[i] for i in random.integers(0, len(self.parts), random.integers(1, 5)))
            path, other = Path(folder, stem + ending), Path(folder, f"good{ending}")
            yield ending
            for number, each in enumerate((other, path)):
                if each == path and random.random() < 0.5:
                    continue  # only the other one exists
                if ending == ".duckdb":
                    made = Path(folder, "new")
                    with duckdb.connect(str(made)) as duck:
                        duck.execute(f"CREATE TABLE t AS SELECT {number} AS a")
                    made.rename(each)
                else:
                    made = Path(folder, "new")
                    with closing(sqlite3.connect(made)) as lite:
                        lite.execute(f"CREATE TABLE t AS SELECT {number} AS a")
                        lite.commit()
                    made.rename(each)
            before = sorted(Path(folder).iterdir())
            try:
                assert read_file(path)["a"].to_pylist() == [1], path
            except FileNotFoundError:
                assert path not in before, path
            except ValueError as error:  # DuckDB reads the rest as options
                if "rename the file" not in str(error):
                    raise
            assert sorted(Path(folder).iterdir()) == before, path


class _StopError(Exception):
    pass


class Checkpoints:
    """Checkpoints with other contents and a matching checksum, with and without the key of the run."""

    patience = 20

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        folder = Path(self.folder.name)
        table = _table(600).select(["x", "n", "codes", "y"])
        self.data, self.file = folder / "a.parquet", folder / "a.checkpoint"
        parquet.write_table(table, self.data)
        self.model = TreeClassifier(cv=3, max_depth=4)
        self.expected = self._fit(checkpoint=None)

        def stop(progress):
            if progress.name == "level 2":
                raise _StopError

        with suppress(_StopError):
            self._fit(checkpoint=self.file, progress=stop)
        self.header, self.arrays = read_arrays(self.file)

    def _fit(self, **stored):
        stream = Stream(self.data, memory_limit="50KB", **stored)
        return self.model.fit(stream, "y").forest_.packed

    def attack(self, random):
        from crosscut.engines.stream.checkpoint import Checkpoint

        header, arrays = self.header, self.arrays
        for _ in range(random.integers(1, 3)):
            if random.random() < 0.2:
                header = mutations.of_value(random, header)
            else:
                arrays = mutations.of_value(random, arrays)
        known = random.random() < 0.7  # the attacker has the data, and so the key
        yield "with the key" if known else "without"
        seal = Checkpoint._seal
        try:
            write_arrays(self.file, header, arrays)
        except Exception:  # noqa: BLE001, what cannot be written is no attack
            return
        try:
            if known:
                stored = header.get("seal") if isinstance(header, dict) else None
                Checkpoint._seal = lambda self, state, arrays: stored
            with suppress(ValueError, MemoryError):
                grown = self._fit(checkpoint=self.file)
                same = all(
                    np.array_equal(getattr(grown, f), getattr(self.expected, f)) for f in ("feature", "value")
                )
                assert known or same, "another forest"
        finally:
            Checkpoint._seal = seal
            self.file.unlink(missing_ok=True)


TARGETS = {"tables": Tables, "lies": Lies, "sql": Sql, "names": Names, "checkpoints": Checkpoints}
