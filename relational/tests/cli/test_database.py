import csv
import json
import sqlite3
from pathlib import Path

import pytest
from cli.calls import call, refused

from crosscut.cli.failure import UNREADABLE, UNSUITABLE

SHOP = Path(__file__).parents[3] / "examples" / "shop"


def rows_of(name):
    with (SHOP / f"{name}.csv").open() as file:
        return list(csv.reader(file))


@pytest.fixture
def shop_file(tmp_path):
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        for name in ("customer", "purchase"):
            heading, *rows = rows_of(name)
            connection.execute(f"CREATE TABLE {name} ({', '.join(heading)})")
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(heading))})", rows)
    return path


@pytest.mark.parametrize("rules", [(), ("--rules",)])
def test_linked_files_need_nothing_but_a_target(tmp_path, rules):
    saved = tmp_path / "m"
    learnt = call("relational", SHOP, "-t", "customer.churned", "--folds", 3, "--save", saved, *rules)
    assert learnt.exit_code == 0, learnt.output
    assert "300 examples; classification" in learnt.stdout
    assert "purchases with category = " in learnt.stdout
    assert json.loads(call("show", saved, "--json").stdout)["target"] == "customer.churned"
    assert "purchases with category = " in call("show", saved).stdout
    # new rows have no column to be predicted, and the old one has no say
    for name, columns in (("customer", 3), ("purchase", 5)):
        lines = [",".join(row[:columns]) for row in rows_of(name)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    predicted = call("predict", saved, tmp_path, "--probabilities")
    assert predicted.exit_code == 0, predicted.output
    assert predicted.stdout == call("predict", saved, SHOP, "--probabilities").stdout
    lines = predicted.stdout.splitlines()
    assert lines[0] == "example,churned,churned = no,churned = yes"
    right = [
        line.split(",")[1] == row[3] for line, row in zip(lines[1:], rows_of("customer")[1:], strict=True)
    ]
    assert sum(right) > 0.8 * len(right)


def test_tables_of_a_database_file(shop_file, tmp_path):
    saved = tmp_path / "m"
    result = call("relational", shop_file, "-t", "customer.churned", "--folds", 3, "--save", saved)
    assert result.exit_code == 0, result.output
    assert "purchases with category = " in result.stdout
    lines = call("predict", saved, shop_file).stdout.splitlines()
    assert len(lines) == 301


def test_numbers_are_predicted_if_that_is_the_task():
    target = ("relational", SHOP, "-t", "purchase.customer_id")
    missing = refused(call(*target, "--kind", "classification"), UNSUITABLE)
    assert "too many for classes; use --kind regression" in missing
    note = "target 'purchase.customer_id': numbers with 293 distinct values, so regression (--kind"
    assert note in call(*target, "--folds", 2).stdout
    result = call("relational", SHOP, "-t", "purchase.amount", "--folds", 2)
    assert "R²" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((SHOP,), UNSUITABLE, "use --target TABLE.COLUMN, for example customer.churned"),
        ((SHOP, "-t", "customer.nope"), UNSUITABLE, "customer.member"),
        ((SHOP, "-t", "churned"), UNSUITABLE, "use 'table.column' with one of"),
        (
            (SHOP, "-t", "customer.churned", "--fold-files", "x"),
            UNSUITABLE,
            "--fold-files needs files of ACE",
        ),
        ((SHOP.parent / "churn.csv",), UNREADABLE, "is not a database; use a folder of tables"),
        (("examples/none",), UNREADABLE, "no such file or folder: 'examples/none'"),
        ((Path(__file__).parent, "-t", "a.b"), UNREADABLE, "without tables such as .csv and .parquet files"),
    ],
)
def test_what_is_wrong_is_said(arguments, code, message):
    assert message in refused(call("relational", *arguments), code)


def test_files_that_hold_no_tables(tmp_path):
    (tmp_path / "x.duckdb").write_text("no database")
    assert "x.duckdb" in refused(call("relational", tmp_path / "x.duckdb", "-t", "a.b"), UNREADABLE)
    (tmp_path / "x.s").write_text("classes([a,b]).")
    message = refused(call("relational", tmp_path / "x.s", "-t", "a.b"), UNSUITABLE)
    assert "--target is for linked tables" in message


def test_tables_that_are_too_small_or_damaged(tmp_path):
    file = tmp_path / "t.csv"

    def refusal(text, *options, code):
        file.write_bytes(text)
        return refused(call("relational", tmp_path, "-t", "t.c", *options), code)

    assert "has 1 example, but a cross-validation needs at least 2" in refusal(
        b"id,c\n1,a\n", code=UNSUITABLE
    )
    few = b"id,c\n1,a\n2,b\n"
    assert "has 2 examples, but --folds 3 needs at least 3" in refusal(few, "--folds", 3, code=UNSUITABLE)
    assert "line 3 has 3 values, expected 2" in refusal(b"id,c\n1,a\n2,b,3\n", code=UNREADABLE)
    assert "not text" in refusal(b"id,c\n1,\xe9\x00\n2,b\n", code=UNREADABLE)


def test_scores_that_are_no_numbers_are_null_in_json(tmp_path):
    (tmp_path / "t.csv").write_text("id,c\n1,1.5\n2,2.5\n3,0.5\n")
    result = call("relational", tmp_path, "-t", "t.c", "--json")  # one example has no variance
    assert json.loads(result.stdout, parse_constant=pytest.fail)["scores"] == [None] * 3


def test_a_model_of_other_data_is_refused_or_noted(tmp_path, shop_file):
    saved = tmp_path / "m"
    call("relational", SHOP, "-t", "customer.churned", "--folds", 2, "--save", saved)
    (tmp_path / "visit.csv").write_text("visit_id,customer_id\n1,1\n")
    assert "there is no table 'customer'" in refused(call("predict", saved, tmp_path), UNSUITABLE)
    (tmp_path / "customer.csv").write_text("customer_id,region,member\n1,east,no\n")
    told = call("predict", saved, tmp_path)
    assert told.exit_code == 0
    assert "has no facts of purchase/5" in told.stderr
    assert told.stdout.startswith("example,churned\n1,")


@pytest.mark.parametrize("rules", [(), ("--rules", "--strategy", "cn2")])
def test_files_of_aleph(tmp_path, rules):
    facts = "".join(f"atm(d{i},{'n' if i % 2 else 'c'}). " for i in range(20))
    (tmp_path / "app.b").write_text(f":- modeh(1, active(+mol)).\n:- modeb(*, atm(+mol,#element)).\n{facts}")
    (tmp_path / "app.f").write_text("".join(f"active(d{i}). " for i in range(0, 20, 2)))
    (tmp_path / "app.n").write_text("".join(f"active(d{i}). " for i in range(1, 20, 2)))
    saved = tmp_path / "m"
    result = call("relational", tmp_path / "app.b", *rules, "--folds", 5, "--save", saved)
    assert result.exit_code == 0, result.output
    assert "accuracy 1" in result.stdout
    assert call("predict", saved, tmp_path / "app.b").stdout.splitlines()[:3] == [
        "example,active",
        "d0,pos",
        "d2,pos",
    ]


def test_the_depth_of_links(tmp_path):
    (tmp_path / "loan.csv").write_text(
        "loan_id,account_id,y\n" + "".join(f"{i},{i % 9},{'ab'[i % 9 % 2]}\n" for i in range(60))
    )
    (tmp_path / "account.csv").write_text(
        "account_id,district_id\n" + "".join(f"{i},{i % 4}\n" for i in range(9))
    )
    (tmp_path / "district.csv").write_text("district_id,kind\n0,x\n1,z\n2,x\n3,z\n")
    options = ("relational", tmp_path, "-t", "loan.y", "--folds", 3, "--json")
    assert json.loads(call(*options).stdout)["score"] == 1.0
    assert json.loads(call(*options, "--depth-of-links", 0).stdout)["score"] < 1.0


@pytest.mark.parametrize(("rules", "result"), [((), "tree"), (("--rules",), "rules")])
def test_the_json_has_the_keys_that_its_page_lists(rules, result):
    found = json.loads(
        call("relational", SHOP, "-t", "customer.churned", "--folds", 3, "--json", *rules).stdout
    )
    keys = {
        "file",
        "kind",
        "examples",
        "classes",
        "notes",
        "folds",
        "scores",
        "score",
        "standard_error",
        "baseline",
        "seconds",
    }
    assert set(found) == keys | {result}
    page = (SHOP.parents[1] / "docs" / "command-line.md").read_text()
    inner = found[result] if result == "tree" else found[result][0]
    for key in keys | set(inner):
        assert f"`{key}`" in page, key


def test_how_linked_files_are_read_is_said(tmp_path):
    folder, saved = tmp_path / "shop", tmp_path / "m"
    folder.mkdir()
    (folder / "customer.csv").write_text(
        "customer_id;left\n" + "".join(f"{i};{'yn'[i % 2]}\n" for i in range(30))
    )
    (folder / "visit.csv").write_text(
        "visit_id;customer_id;paid\n" + "".join(f"{i};{i};{i % 2},5\n" for i in range(30))
    )
    learnt = call("relational", folder, "-t", "customer.left", "--folds", "3", "--save", saved)
    assert "visit is read as: ';' separated, decimal comma" in " ".join(learnt.stdout.split())
    assert "visit is read as: ';' separated, decimal comma" in call("predict", saved, folder).stderr


def test_folds_of_an_ordered_table_are_shuffled(tmp_path):
    """The class and the only other value follow the order of the rows."""
    rows = "".join(f"{i},{'ab'[i >= 100]},{i // 25}\n" for i in range(200))
    (tmp_path / "t.csv").write_text("id,y,quarter\n" + rows)
    options = ("relational", tmp_path, "-t", "t.y", "--folds", 4, "--json")

    def result(*more):
        return json.loads(call(*options, *more).stdout)

    assert result()["scores"] == result("--seed", 0)["scores"]
    assert result("--seed", 1)["baseline"] == 0.5
    saved = {}
    for name, more in {"seed": ("--seed", 3), "again": ("--seed", 3), "order": ("--in-order",)}.items():
        call(*options, *more, "--oof", tmp_path.parent / f"{name}.oof")
        saved[name] = [
            line.split(",")[1] for line in (tmp_path.parent / f"{name}.oof").read_text().splitlines()
        ]
    assert saved["seed"] == saved["again"] != saved["order"]
    assert saved["order"][1:26] == ["1"] * 25


def test_the_baseline_is_printed():
    printed = call("relational", SHOP, "-t", "customer.churned", "--folds", 3).stdout
    assert "Always predicting “no” would be correct for 69." in printed
