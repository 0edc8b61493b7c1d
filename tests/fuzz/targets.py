"""What is attacked. A case says what it does before each thing, None if that is not damaged."""

import ctypes
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.model_selection import LeaveOneOut

from crosscut import (
    BaggedTrees,
    RuleClassifier,
    Stream,
    TreeClassifier,
    TreeRegressor,
    _core,
    read_file,
    save_model,
)
from crosscut.data.array_file import read_arrays, write_arrays
from crosscut.model_file import ModelFileError, load_model
from crosscut.model_selection import GridSearchCV

from . import files, mutations

# of bindings; settings that are endless by themselves have to answer Ctrl-C
REFUSALS = (ValueError, TypeError, LookupError, OverflowError, MemoryError, KeyboardInterrupt)


MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # files there are quick


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


class ModelFiles:
    """Model files with damaged headers or arrays and a fitting checksum: refused when read, or they work."""

    patience = 8  # seconds
    models = staticmethod(_models)

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        self.path = Path(self.folder.name, "model")
        self.seeds = []
        for model, data in self.models():
            save_model(model, self.path)
            self.seeds.append((*read_arrays(self.path), self.path.read_bytes(), data))

    def attack(self, random):
        yield "load"
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


class Readers:
    """Data files: read, or refused by a clear error."""

    patience = 8  # seconds

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)

    def attack(self, random):
        kind = list(TEXTS)[random.integers(0, len(TEXTS))]
        path = Path(self.folder.name, kind)
        yield kind
        try:
            path.write_bytes(mutations.of_bytes(random, TEXTS[kind]))
            table = read_file(path)
            if table.num_rows > 3 and random.random() < 0.1:
                with suppress(TypeError):
                    TreeClassifier(cv=2).fit(table, np.arange(table.num_rows) % 2)
        except (ValueError, MemoryError):
            return


def _fits():
    """Between them these call every function of the core."""
    X, y = _frame()
    numbers = X["a"].to_numpy()
    table = np.column_stack([numbers, np.arange(90) % 7])
    for model, data in _models():
        yield lambda model=model, data=data: model.fit(
            data, y if hasattr(model, "classes_") else numbers
        ).predict(data)
    yield lambda: TreeClassifier(cv=3, splits="multiway", criterion="entropy", prune="best").fit(
        X, y, sample_weight=abs(numbers) + 0.1
    )
    yield lambda: TreeClassifier(cv=[(np.arange(30), np.arange(30, 90))], prune="pessimistic").fit(table, y)
    yield lambda: TreeRegressor(cv=3, max_bins=4, shrinkage=3.0).fit(X, numbers).feature_importances_
    yield lambda: TreeClassifier(cv=3).fit(np.arange(450).reshape(90, 5) % 41, y)  # looks for copied rows
    yield lambda: TreeClassifier(cv=LeaveOneOut()).fit(X, y).cv_score_  # trees that share nodes
    yield lambda: TreeClassifier(cv=LeaveOneOut()).fit(X, y).pruning_table_
    yield lambda: BaggedTrees(n_trees=3).fit(X, np.arange(90) % 3)
    yield lambda: GridSearchCV(TreeClassifier(), {"max_depth": [1, 2, 3]}, cv=2).fit(table, y)
    with tempfile.TemporaryDirectory() as folder:
        X.with_columns(y=pl.Series(y), w=abs(numbers)).write_parquet(f"{folder}/a.parquet")
        stream = Stream(f"{folder}/a.parquet", memory_limit=1)
        yield lambda: TreeClassifier(cv=3, max_depth=2).fit(stream, "y")
        yield lambda: TreeClassifier(cv=3, max_depth=2).fit(stream, "y", sample_weight="w")
        yield lambda: TreeRegressor(cv=3, max_depth=2).fit(stream, "w")


GROUPS = {  # as the folders of cpp/
    "data": "rank_columns intervals bits_of spread_of on_grid code_classes cut_folds deal_folds "
    "copied_rows mark_rows first_marked rows_by_fold masks_without",
    "grow": "Table Target exact_digits Tasks Growth grow impurity",
    "forest": "Forest SharedTrees leaves_of_few additional_errors",
    "level_wise": "pass_batch cells_to_lanes choose_tests bin_codes",
    "rules": "RuleTable",
}


UNATTACKED = {  # no arguments, or switches of the whole process
    *("simd_level", "best_simd_level", "set_simd_level"),
    *("criteria", "accelerations", "switch_acceleration"),
}


class Bindings:
    """Fits as crosscut makes them, call by call of the core, with damaged calls of a group in between."""

    patience = 2  # seconds
    core, groups, fits = _core, GROUPS, staticmethod(_fits)

    def __init__(self, group=""):
        self.attacked = set((self.groups[group] if group else " ".join(self.groups.values())).split())
        self.calls, self.sessions = [], []
        owners = [*(each for each in vars(self.core).values() if isinstance(each, type)), self.core]
        restore = [self._record(owner, name) for owner in owners for name in dir(owner) if name[0] != "_"]
        for fit in self.fits():
            self.calls.clear()
            fit()
            attacked = [place for place, call in enumerate(self.calls, 1) if self._is_attacked(call)]
            if attacked:
                self.sessions.append(tuple(self.calls[: attacked[-1]]))
        for owner, name, original in filter(None, restore):
            setattr(owner, name, original)

    def _record(self, owner, name):
        original = getattr(owner, name)
        if not callable(original) or name in UNATTACKED:
            return None

        full = name if owner is self.core else f"{owner.__name__}.{name}"

        def recorded(*arguments, **named):
            given = _own((list(arguments), named))  # as it was before the call
            result = original(*arguments, **named)
            self.calls.append((full, original, *given, result))
            return result

        made = type(name, (), {"__new__": lambda cls, *a, **k: recorded(*a, **k)})
        setattr(owner, name, made if isinstance(original, type) else recorded)
        return owner, name, original

    def _is_attacked(self, call):
        return call[0].partition(".")[0] in self.attacked

    def attack(self, random):
        session = self.sessions[random.integers(0, len(self.sessions))]
        calls = Counter(name for name, *_ in session)  # one that is made often is damaged as often as others
        now = {}  # the objects of this run, by those of the recorded one
        for call in session:
            name, function, *given, result = call
            arguments, named = _own(given, now)
            often = self._is_attacked(call) * min(8, 1 + 40 // calls[name])
            for _ in range(random.integers(0, 1 + often)):
                damaged = _damaged(random, *_own((arguments, named)))
                yield name
                with suppress(*REFUSALS):
                    function(*damaged[0], **damaged[1])
            yield None  # not damaged, but perhaps endless after what was damaged before
            with suppress(*REFUSALS):
                now[id(result)] = function(*arguments, **named)


def _damaged(random, arguments, named):
    places = [*range(len(arguments)), *named]
    for _ in range(random.integers(1, 4) if places else 0):
        at = places[random.integers(0, len(places))]
        held = arguments if isinstance(at, int) else named
        held[at] = mutations.of_value(random, held[at])
    return arguments, named


def _own(value, now=None):
    """Copy arrays, so that what the core writes into them stays there; replace what is in `now`."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(_own(each, now) for each in value)
    if isinstance(value, dict):
        return {key: _own(each, now) for key, each in value.items()}
    return now.get(id(value), value) if now else value


class Allocations(Bindings):
    """The same calls, undamaged, with one failing allocation each: they raise MemoryError or finish."""

    preload = "allocations.cpp"
    many = 1 << 40

    def __init__(self, group=""):
        super().__init__(group)
        # nanobind's table of all objects must not run out of memory; it never shrinks, so it grows here
        [_core.Growth("gini", False, 4096, True, True) for _ in range(4096)]

    def attack(self, random):
        new = ctypes.CDLL(None)
        new.allocations_left.restype, new.fail_after.argtypes = ctypes.c_long, [ctypes.c_long]
        now = {}
        for name, function, *given, result in self.sessions[random.integers(0, len(self.sessions))]:
            arguments, named = _own(given, now)
            new.fail_after(self.many)
            with suppress(*REFUSALS):  # numbers in an object may differ after a call that failed
                now[id(result)] = function(*arguments, **named)
            used = self.many - new.allocations_left()
            new.fail_after(-1)
            for failing in random.integers(0, used, min(used, 3)).tolist():
                arguments, named = _own(given, now)
                yield name
                new.fail_after(failing)
                with suppress(*REFUSALS):  # objects with a state refuse a second call
                    function(*arguments, **named)
                new.fail_after(-1)
            yield None


TARGETS = {
    "models": ModelFiles,
    "readers": Readers,
    "bindings": Bindings,
    "allocations": Allocations,
    **files.TARGETS,
}
