"""What is attacked: each target does one damaged thing, and says which errors are fine."""

import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl

from crosscut import (
    BaggedTrees,
    RelationalTreeClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    _core,
    datasets,
    read_file,
    save_model,
)
from crosscut.data.array_file import read_arrays, write_arrays
from crosscut.model_file import ModelFileError, load_model
from crosscut.relational.database.database import Database

from . import mutations

REFUSALS = (ValueError, TypeError, LookupError, OverflowError, MemoryError)  # of bindings


def _frame():
    random = np.random.default_rng(0)
    frame = pl.DataFrame({"a": random.normal(size=90), "plan": random.choice(["x", "y", "z"], 90)})
    return frame, np.where(frame["plan"] == "x", "yes", np.where(frame["a"] > 0, "no", "perhaps"))


def _models():
    X, y = _frame()
    yield TreeClassifier(cv=3).fit(X, y), X
    yield TreeRegressor(cv=3, prune="1se").fit(X, X["a"].to_numpy() ** 2), X
    yield RuleClassifier(cv=3).fit(X, y), X
    yield RuleClassifier(cv=3, strategy="ripper").fit(X, y), X
    database, bias = datasets.bongard("simple", 40)
    yield RelationalTreeClassifier(bias, cv=3).fit(database), database


class ModelFiles:
    """Model files with damaged headers or arrays and a fitting checksum: refused when read, or they work."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, "model")
        self.seeds = []
        for model, data in _models():
            save_model(model, self.path)
            self.seeds.append((*read_arrays(self.path), self.path.read_bytes(), data))

    def attack(self, random):
        header, arrays, raw, data = self.seeds[random.integers(0, len(self.seeds))]
        if random.random() < 0.1:
            self.path.write_bytes(mutations.of_bytes(random, raw))
        else:
            for _ in range(random.integers(1, 3)):
                if random.random() < 0.5:
                    header = mutations.of_value(random, header)
                else:
                    arrays = mutations.of_value(random, arrays)
            try:
                write_arrays(self.path, header, arrays)
            except Exception:  # noqa: BLE001, what cannot be written is no attack
                return
        try:
            model = load_model(self.path)
        except ModelFileError:
            return
        if isinstance(data, pl.DataFrame) and model.fit_.schema.named:  # the file may name them as it likes
            data = data.rename(dict(zip(data.columns, model.fit_.schema.names, strict=True)))
        model.predict(data)
        str(model.fit_)


TEXTS = {
    "a.csv": b"x;when;y\n1,5;31.12.2024;a\n?;1.2.2023;b\n-2,25;3.4.2022;a\n" * 4,
    "b.csv": b'"name", size ,y\n"O""Hara", $1,234.50 ,no\nAnn, 12% ,yes\n' * 4,
    "c.tsv": "ä\tb\ty\n1\t2\tu\n3\t\tv\n".encode("cp1252") * 4,
    "d.csv": "x,y\n1,2\n3,4\n".encode("utf-16"),
    "e.arff": b"@relation r\n@attribute x numeric % c\n@attribute 'a b' {u,'v w'}\n"
    b"@attribute d date yyyy-MM-dd\n@data\n"
    b"1,u,2020-01-01\n?,'v w',?\n{0 3, 1 'v w'}\n",
}
PROGRAM = """
% molecules
class(m1,pos). class(m2,neg). class(m3,pos). class(m4,neg).
atom(m1,a1,c,1.5). atom(m1,a2,o,-2.0e3). atom(m2,a3,c,0). atom(m3,a4,o,1). atom(m4,a5,'Cl x',2).
bond(m1,a1,a2). /* a comment */
near(A,B) :- bond(M,A,B), \\+ A = B, X is 1 + 2, X > 2.
near(A,B) :- near(B,A).
list([1,2|T], "text", 0'a).
"""


class Readers:
    """Text files and Prolog programs: read, or refused by an error that names what is wrong."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()

    def attack(self, random):
        kind = int(random.integers(0, len(TEXTS) + 2))
        if kind >= len(TEXTS):
            text = mutations.of_bytes(random, PROGRAM.encode()).decode("utf-8", "replace")
            with suppress(ValueError):
                Database.from_prolog(text, predict="class(+mol,-class)")
            return
        name = list(TEXTS)[kind]
        path = Path(self.folder.name, name)
        path.write_bytes(mutations.of_bytes(random, TEXTS[name]))
        try:
            table = read_file(path)
        except (ValueError, MemoryError):
            return
        if table.num_rows > 3 and random.random() < 0.1:
            with suppress(ValueError, TypeError):
                TreeClassifier(cv=2).fit(table, np.arange(table.num_rows) % 2)


class Bindings:
    """Calls of the core as crosscut makes them, recorded, with damaged arguments."""

    def __init__(self):
        self.calls = []
        kinds = [_core.Forest, _core.FactStore, _core.QueryStore, _core.QueryForest, _core.RuleTable]
        restore = [
            self._record(owner, name) for owner in (*kinds, _core) for name in dir(owner) if name[0] != "_"
        ]
        X, y = _frame()
        numbers = X["a"].to_numpy()
        for model, data in _models():
            model.predict(data)
        TreeClassifier(cv=3, splits="multiway", criterion="entropy", prune="best").fit(
            X, y, sample_weight=abs(numbers) + 0.1
        )
        TreeRegressor(cv=3, max_bins=4).fit(X, numbers)
        BaggedTrees(n_trees=3).fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            X.with_columns(y=pl.Series(y)).write_parquet(f"{folder}/a.parquet")
            TreeClassifier(cv=3, max_depth=2).fit(f"{folder}/a.parquet", "y")
        for owner, name, original in filter(None, restore):
            setattr(owner, name, original)
        by_name = {}
        for call in self.calls:
            by_name.setdefault(call[0], []).append(call)
        self.calls = by_name

    def _record(self, owner, name):
        original = getattr(owner, name)
        if not callable(original) or name in {"set_simd_level", "simd_level", "best_simd_level"}:
            return None

        def recorded(*arguments, **named):
            if len(self.calls) < 20_000:
                self.calls.append((f"{getattr(owner, '__name__', '')}.{name}", original, arguments, named))
            return original(*arguments, **named)

        if isinstance(original, type):
            setattr(owner, name, type(name, (), {"__new__": lambda cls, *a, **k: recorded(*a, **k)}))
        else:
            setattr(owner, name, recorded)
        return owner, name, original

    def attack(self, random):
        names = list(self.calls)
        some = self.calls[names[random.integers(0, len(names))]]
        name, function, arguments, named = some[random.integers(0, len(some))]
        arguments, named = [_own(a) for a in arguments], {name: _own(value) for name, value in named.items()}
        sys.stderr.write(f"called {name}\n")  # shown if it does not come back
        for _ in range(random.integers(1, 4)):
            places = [*range(len(arguments)), *named]
            if not places:
                break
            at = places[random.integers(0, len(places))]
            held = arguments if isinstance(at, int) else named
            held[at] = mutations.of_value(random, held[at])
        with suppress(*REFUSALS):
            function(*arguments, **named)


def _own(value):
    """Copy arrays, so that what the core writes into them does not change later calls."""
    return value.copy() if isinstance(value, np.ndarray) else value


TARGETS = {"models": ModelFiles, "readers": Readers, "bindings": Bindings}
