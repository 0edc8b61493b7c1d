import re

import numpy as np
import pytest

from crosscut.engines.progress import watching
from crosscut_relational.database.ace import read_folds
from crosscut_relational.database.database import Database
from crosscut_relational.database.target import TargetError
from crosscut_relational.language.bias import Bias
from crosscut_relational.language.prolog import PrologError
from crosscut_relational.queries.resolve import resolve
from tests.machines import FORMS, write_machines

KEYS = {
    "app.kb": """
        machine(1,sendback). worn(1,gear). worn(1,engine). worn(1,gear).
        machine(2,ok).
        machine(3,fix). worn(3,gear).
        testid(3,1).
    """,
    "app.bg": "replaceable(gear). lost(M) :- worn(M,P), \\+ replaceable(P).",
    "app.s": """
        predict(machine(+machine,-action)). rmode(worn(+M,+-X)). rmode(replaceable(+X)). rmode(lost(+M)).
    """,
}
MODELS = {
    "app.kb": """
        begin(model(1)). testnr(4). sendback. worn(gear). worn(engine). end(model(1)).
        begin(model(2)). ok. end(model(2)).
        begin(model(m3)). testnr(5). fix. worn(gear). end(model(m3)).
    """,
    "app.bg": "replaceable(gear). lost :- worn(P), \\+ replaceable(P). any(P) :- replaceable(P).",
    "app.s": """
        load(models). classes([fix,sendback,ok]).
        rmode(worn(+-X)). rmode(replaceable(+X)). rmode(lost).
    """,
}


@pytest.fixture
def write(tmp_path):
    def write(files, **changes):
        for name, text in (files | {key.replace("_", "."): value for key, value in changes.items()}).items():
            (tmp_path / name).write_text(text)
        return tmp_path / "app"

    return write


def facts(database, name, arity):
    return [
        tuple(database.constants.terms[each] for each in row)
        for row in database.relations[name, arity].columns.T
    ]


def test_keys(write):
    database = Database.from_ace(write(KEYS))
    assert database.examples == [1, 2, 3]
    assert [database.classes[code] for code in database.target] == ["sendback", "ok", "fix"]
    assert database.classes == ("sendback", "ok", "fix")  # as first seen
    assert facts(database, "worn", 2) == [(1, "gear"), (1, "engine"), (3, "gear")]
    assert facts(database, "lost", 1) == [(1,)]
    assert database.relations["worn", 2].keyed
    assert not database.relations["replaceable", 1].keyed
    assert database.folds.tolist() == [-1, -1, 1]
    assert ("machine", 2) not in database.relations
    assert ("testid", 2) not in database.relations


def test_models_get_their_key_in_front(write):
    prefix = write(MODELS)
    database = Database.from_ace(prefix)
    assert database.implicit_key
    assert database.examples == [1, 2, "m3"]
    assert database.classes == ("fix", "sendback", "ok")
    assert database.target.tolist() == [1, 2, 0]
    assert facts(database, "worn", 2) == [(1, "gear"), (1, "engine"), ("m3", "gear")]
    assert facts(database, "lost", 1) == [(1,)]
    assert ("any", 1) not in database.relations  # no mode uses it
    assert database.folds.tolist() == [4, -1, 5]
    language = resolve(Bias.from_ace(prefix), database)
    assert [str(mode) for mode in language.modes] == ["worn(Key,+-X)", "replaceable(+X)", "lost(Key)"]


def test_a_predicate_of_models_and_of_the_background_holds_in_every_model(write):
    database = Database.from_ace(write(MODELS, app_bg="worn(belt). old(P) :- worn(P). old(axle)."))
    assert set(facts(database, "worn", 2)) == {
        *[(key, "belt") for key in (1, 2, "m3")],
        (1, "gear"),
        (1, "engine"),
        ("m3", "gear"),
    }
    assert (2, "axle") in facts(database, "old", 2)


def test_examples_without_facts_are_examples(write):
    database = Database.from_ace(write(KEYS, app_kb="machine(1,ok). machine(2,fix). worn(2,gear)."))
    assert database.n_examples == 2
    assert not np.isin(database.keys[0, 0], database.relations["worn", 2].columns[0])


def test_a_derived_target_keeps_the_order_of_the_file(write):
    database = Database.from_ace(
        write(
            KEYS,
            app_kb="level(c,1). level(a,-2). level(b,3).",
            app_bg="t(K,pos) :- level(K,L), L > 0. t(K,neg) :- level(K,L), L =< 0.",
            app_s="predict(t(+k,-c)).",
        )
    )
    assert database.examples == ["c", "a", "b"]
    assert [database.classes[code] for code in database.target] == ["pos", "neg", "pos"]


def test_several_keys(write):
    facts = "adv(a,b,pos). adv(b,a,neg). testid(a,b,2)."
    prefix = write(KEYS, app_kb=facts, app_s="predict(adv(+p,+p,-c)).", app_bg="")
    database = Database.from_ace(prefix)
    assert database.examples == [("a", "b"), ("b", "a")]
    assert database.keys.shape == (2, 2)
    assert database.key_types == ("p", "p")
    assert database.folds.tolist() == [2, -1]


@pytest.mark.parametrize("fold", ["1.5", "3000000000", "-1.0e300"])
def test_fold_marks_that_number_no_fold(write, fold):
    with pytest.raises(ValueError, match="testid and testnr name folds by whole numbers"):
        Database.from_ace(write(KEYS, app_kb=KEYS["app.kb"].replace("testid(3,1)", f"testid(3,{fold})")))


def test_regression(write):
    files = KEYS | {"app.kb": "act(a,1.5). act(b,-2).", "app.bg": ""}
    database = Database.from_ace(write(files, app_s="tilde_mode(regression). predict(act(+m,-num))."))
    assert database.target.tolist() == [1.5, -2.0]
    assert database.classes == ()
    models = "begin(model(1)). qsa(3.5). end(model(1))."
    settings = "tilde_mode(regression). load(models). euclid(qsa(X),X)."
    database = Database.from_ace(write(files, app_kb=models, app_s=settings))
    assert database.target.tolist() == [3.5]
    assert Bias.from_ace(write(files, app_s=settings)).settings.heuristic == "variance"


def test_models_without_any_class_can_be_predicted(write):
    database = Database.from_ace(write(MODELS, app_kb="begin(model(1)). worn(gear). end(model(1))."))
    assert database.target is None
    assert database.n_examples == 1


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (
            {"app_kb": "begin(model(1)). worn(gear). end(model(1)). begin(model(2)). ok. end(model(2))."},
            TargetError,
            "1 of 2 examples have no class (the first: 1); state one of [fix,sendback,ok]",
        ),
        (
            {"app_kb": "begin(model(1)). ok. fix. end(model(1))."},
            TargetError,
            "model 1 states two classes, fix and ok",
        ),
        (
            {"app_kb": "begin(model(1)). ok. end(model(1)). begin(model(1)). ok. end(model(1))."},
            PrologError,
            "model 1 occurs twice",
        ),
        ({"app_kb": "begin(model(1)). ok."}, PrologError, "model 1 is not ended"),
        ({"app_kb": "begin(model(A)). ok. end(model(1))."}, PrologError, "model A needs a name without"),
        (
            {"app_kb": "begin(model(1)). end(model(1)). end(model(1))."},
            PrologError,
            "begin and end of models",
        ),
        ({"app_kb": "begin(model(1)). a :- b. end(model(1))."}, PrologError, "models hold facts only"),
        ({"app_s": "load(models)."}, TargetError, "name the classes in the settings"),
    ],
)
def test_models_that_are_wrong(write, changes, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Database.from_ace(write(MODELS, **changes))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"app_kb": "worn(1,gear)."}, TargetError, "no fact or clause gives machine/2"),
        ({"app_s": "heuristic(gain)."}, PrologError, "the settings have no predict"),
        (
            {"app_kb": "machine(1,ok). machine(1,fix)."},
            TargetError,
            "example 1 has two target values, ok and fix",
        ),
        (
            {"app_s": "predict(machine(+m,-a)). classes([ok,fix])."},
            TargetError,
            "example 1 has class sendback, which is not one of classes([ok,fix])",
        ),
        (
            {"app_s": "tilde_mode(regression). predict(machine(+m,-a))."},
            TargetError,
            "regression needs numbers, but example 1 has sendback",
        ),
        (
            {"app_s": "predict(machine(+m,+a))."},
            PrologError,
            "exactly one argument must be marked with '-'",
        ),
        ({"app_bg": "replaceable(X) :- worn(_,X), \\+ replaceable(X)."}, PrologError, "cannot be stratified"),
    ],
)
def test_keys_that_are_wrong(write, changes, error, message):
    with pytest.raises(error, match=re.escape(message)):
        Database.from_ace(write(KEYS, **changes))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file app"):
        Database.from_ace(tmp_path / "app")


def test_folds_from_a_folder(write, tmp_path):
    prefix = write(KEYS)
    folder = tmp_path / "folds"
    folder.mkdir()
    (folder / "test0.txt").write_text("1: +\n2: -\n.\n")
    (folder / "test1.txt").write_text("active(3).\n")
    assert Database.from_ace(prefix, folds=folder).folds.tolist() == [0, 0, 1]
    (folder / "test1.txt").write_text("9: +\n")
    with pytest.raises(ValueError, match=r"test1.txt lists '9: \+'"):
        Database.from_ace(prefix, folds=folder)


def test_fold_marks_have_to_fit_the_examples(write):
    database = Database.from_ace(write(KEYS))
    assert database.with_folds([0, 1, 0]).folds.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"folds has shape \(2,\)"):
        database.with_folds([0, 1])


@pytest.mark.filterwarnings("error")
def test_keys_and_models_files_hold_the_same_facts(tmp_path):
    loaded = {}
    for form in FORMS:
        (tmp_path / form).mkdir()
        prefix = write_machines(tmp_path / form, form)
        loaded[form] = Database.from_ace(prefix)
        assert len(resolve(Bias.from_ace(prefix), loaded[form]).modes) == 3
    keys, models = loaded["keys"], loaded["models"]
    assert np.bincount(keys.target).tolist() == [6, 3, 6]
    assert np.bincount(models.target).tolist() == [6, 6, 3]
    assert keys.examples == models.examples
    assert keys.relations.keys() == models.relations.keys()
    for predicate in keys.relations:
        assert set(facts(keys, *predicate)) == set(facts(models, *predicate))
    assert [keys.classes[code] for code in keys.target] == [models.classes[code] for code in models.target]


def test_a_root_may_bind_more_than_the_key(write):
    # as in ACE's application uwcse
    prefix = write(
        KEYS,
        app_kb="advised(k1,pos). advised(k2,neg). kmap(k1,anna,bob). kmap(k2,anna,carl). student(bob).",
        app_bg="",
        app_s="""
            predict(advised(+key,-class)). root((advised(X,Y), kmap(X,_,_))). classes([pos,neg]).
            typed_language(yes). type(student(human)). type(kmap(key,human,human)). rmode(student(+H)).
        """,
    )
    language = resolve(Bias.from_ace(prefix), Database.from_ace(prefix))
    assert [(goal.name, goal.args) for goal in language.root] == [("kmap", (0, 1, 2))]
    assert language.root_types == ("key", "human", "human")


def test_examples_outside_the_listed_folds_have_no_mark(tmp_path):
    # as in King's mutagenesis: a number to predict, and folds of some of the molecules
    database = Database.from_prolog(
        "act(d1,2.11). act(d2,-1.24). act(d3,-0.96). logp(d2,3.46).",
        predict="act(+mol,-num)",
        regression=True,
    )
    assert database.target.tolist() == [2.11, -1.24, -0.96]
    (tmp_path / "s10.pl").write_text("active(d1).\n")
    (tmp_path / "s2.pl").write_text(":- active(d3).\n")
    assert read_folds(tmp_path, database).tolist() == [1, -1, 0]


def test_examples_to_be_predicted_are_listed():
    text = "worn(7,gear). machine(7,ok)."
    database = Database.from_prolog(text, predict="machine(+m,-a)", examples=[7, 8])
    assert database.examples == [7, 8]
    assert database.target is None
    assert ("machine", 2) not in database.relations
    assert database.relations["worn", 2].keyed
    with pytest.raises(TargetError, match="each example must have 1 keys"):
        Database.from_prolog(text, predict="machine(+m,-a)", examples=[(7, 8)])


def test_reading_tells_how_far_it_is(tmp_path):
    facts = "".join(f"c({i},{'ab'[i % 2]}). p({i},q{i}). " for i in range(60_000))
    (tmp_path / "app.kb").write_text(facts)
    (tmp_path / "app.bg").write_text("r(X) :- p(X,_). s(X) :- r(X).")
    (tmp_path / "app.s").write_text("predict(c(+k,-v)). rmode(s(+X)).")
    told = []
    with watching(told.append):
        Database.from_ace(tmp_path / "app")
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert any(0 < share < 0.5 for share in told)
    assert any(0.5 < share < 1 for share in told)
