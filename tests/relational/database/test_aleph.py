import pytest

from crosscut.relational.database.database import Database
from crosscut.relational.language.bias import Bias
from crosscut.relational.language.prolog import PrologError
from crosscut.relational.queries.resolve import resolve

FILES = {
    "app.b": """
        :- modeh(1, active(+mol)).
        :- modeb(*, atm(+mol,-id,#element,-charge)).
        :- modeb(1, lteq(+charge,#charge)).
        :- determination(active/1, atm/4).
        :- set(noise, 5).
        atm(d1,a1,c,0.5). atm(d2,a1,n,-0.5).
        lteq(X,Y) :- X =< Y.
    """,
    "app.f": "active(d1).",
    "app.n": "active(d2). active(d3).",
}


@pytest.fixture
def write(tmp_path):
    def write(**changes):
        for name, text in (FILES | {key.replace("_", "."): text for key, text in changes.items()}).items():
            (tmp_path / name).write_text(text)
        return tmp_path / "app"

    return write


def test_examples_and_modes(write):
    database, bias = Database.from_aleph(write()), Bias.from_aleph(write())
    assert database.examples == ["d1", "d2", "d3"]
    assert database.classes == ("pos", "neg")
    assert database.target.tolist() == [0, 1, 1]
    assert database.key_types == ("mol",)
    assert database.relations["atm", 4].keyed
    assert [str(mode) for mode in resolve(bias, database).modes] == [
        "atm(+V1,-V2,c,-V4)",
        "atm(+V1,-V2,n,-V4)",
        "lteq(+V1,0.5)",
        "lteq(+V1,-0.5)",
    ]


def test_an_example_of_another_predicate_is_named(write):
    with pytest.raises(
        PrologError, match=r"app\.n, line 1: 'mutagenic\(d2\)\.' is not an example of active/1"
    ):
        Database.from_aleph(write(app_n="mutagenic(d2)."))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file app\.b"):
        Database.from_aleph(tmp_path / "app")
