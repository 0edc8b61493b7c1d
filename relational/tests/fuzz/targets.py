"""What is attacked: model files, Prolog programs, applications of ACE and Aleph, and the core."""

import tempfile
from pathlib import Path

from fuzz import mutations, targets

from crosscut_relational import (
    Bias,
    Database,
    RelationalRuleClassifier,
    RelationalTreeClassifier,
    RelationalTreeRegressor,
    _core,
    datasets,
)
from paper.data import bongard
from tests.database import test_ace, test_aleph


def read_program(prefix):
    text = prefix.with_suffix(".pl").read_text(errors="replace")
    return Database.from_prolog(text, predict="class(+mol,-class)")


PROGRAM = """
% molecules
class(m1,pos). class(m2,neg). class(m3,pos). class(m4,neg).
atom(m1,a1,c,1.5). atom(m1,a2,o,-2.0e3). atom(m2,a3,c,0). atom(m3,a4,o,1). atom(m4,a5,'Cl x',2).
bond(m1,a1,a2). bond(m1,a2,a1). /* a comment */
near(A,B) :- bond(M,A,B), \\+ A = B.
near(A,C) :- near(A,B), near(B,C).
heavy(M) :- atom(M,A,c,W), X is W + 2, (X > 3 ; X < 0).
more(X,Y) :- X > Y.
"""
TERMS = (
    """list([1,2|T], "text", 0'a, {x}, - 1, f(_, X, X)) :- !, X = [], Y is -(1) mod 0x1F. :- dynamic a/1."""
)
MODES = Bias.of(
    ["atom(+M,-A,#,-W)", "bond(+M,+A,-B)", "near(+A,+B)", "heavy(+M)", "more(+W,#[0,1])"],
    auto_lookahead=[("bond(M,A,B)", ["B"])],
    minimal_cases=1,
)
APPLICATIONS = {  # files of one application, and what reads them
    "prolog": ({"app.pl": PROGRAM}, read_program),
    "terms": ({"app.pl": PROGRAM + TERMS}, read_program),
    "keys": (test_ace.KEYS, Database.from_ace),
    "models": (test_ace.MODELS, Database.from_ace),
    "aleph": (test_aleph.FILES, Database.from_aleph),
}


def models():
    database, bias = bongard("simple", 40)
    yield RelationalTreeClassifier(bias, cv=3).fit(database), database


class ModelFiles(targets.ModelFiles):
    models = staticmethod(models)


class Readers:
    """Prolog programs, ACE and Aleph applications: read, or refused by a clear error."""

    patience = 8  # seconds

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(dir=targets.MEMORY)

    def attack(self, random):
        kind = list(APPLICATIONS)[random.integers(0, len(APPLICATIONS))]
        folder = Path(self.folder.name)
        yield kind
        files, read = APPLICATIONS[kind]
        damaged = list(files)[random.integers(0, len(files))]
        for name, text in files.items():
            raw = text.encode()
            (folder / name).write_bytes(mutations.of_bytes(random, raw) if name == damaged else raw)
        try:
            database = read(folder / "app")
            if kind == "prolog" and random.random() < 0.1:
                RelationalTreeClassifier(MODES, cv=2).fit(database)
        except (ValueError, MemoryError):
            return


def fits():
    """Between them these call every function of the core."""
    database, bias = bongard("simple", 20)
    links = Database.from_prolog(PROGRAM, predict="class(+mol,-class)")
    weights = "".join(f"y({i},{i % 4 / 2}). has({i},{'ab'[i % 2]},{i % 3}).\n" for i in range(24))
    numeric = Database.from_prolog(weights, predict="y(+k,-v)", regression=True)
    numeric_bias = Bias.of(["has(+K,#,-N)", "+N > #[0.5,1.5]"]).with_settings(ftest=1.0)
    shop = Database.from_tables(datasets.shop(40), target="customer.churned")
    yield lambda: RelationalRuleClassifier(bias, cv=2).fit(database)
    yield lambda: RelationalTreeClassifier(bias, cv=3).fit(database).predict(database)
    yield lambda: RelationalTreeClassifier(MODES, cv=2).fit(links)
    yield lambda: RelationalTreeClassifier(MODES, cv=2, step_limit=1).fit(links)
    yield lambda: RelationalTreeClassifier(cv=2).fit(shop)
    yield lambda: RelationalTreeRegressor(numeric_bias, cv=2).fit(numeric)


class Bindings(targets.Bindings):
    core, groups, fits = _core, {"relational": "FactStore QueryStore QueryForest"}, staticmethod(fits)


class Allocations(targets.Allocations, Bindings):
    """With the core of Bindings."""


TARGETS = {"models": ModelFiles, "readers": Readers, "bindings": Bindings, "allocations": Allocations}
