import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from cli.calls import call, refused
from pyarrow import csv

from crosscut import load_model, save_model
from crosscut.cli.failure import NOT_A_MODEL, UNREADABLE, UNSUITABLE, UNWRITABLE
from crosscut_relational import RelationalRuleClassifier, datasets
from paper.data import bongard

SHOP = Path(__file__).parents[3] / "examples" / "shop"


@pytest.fixture
def application(tmp_path):
    facts = []
    for i in range(30):
        action = ("ok", "fix", "sendback")[i % 3]
        facts.append(f"machine(m{i},{action}).")
        facts += [f"worn(m{i},gear)."] * (action != "ok") + [f"worn(m{i},engine)."] * (action == "sendback")
    (tmp_path / "app.kb").write_text("\n".join(facts))
    (tmp_path / "app.bg").write_text("replaceable(gear).\nlost(M) :- worn(M, P), \\+ replaceable(P).\n")
    (tmp_path / "app.s").write_text(
        "predict(machine(+machine,-action)).\nclasses([ok,fix,sendback]).\nminimal_cases(2).\n"
        "rmode(worn(+M,-P)).\nrmode(lost(+M)).\ntype(machine(machine,action)).\ntype(worn(machine,part)).\n"
        "type(lost(machine)).\n"
    )
    return tmp_path / "app.s"


def test_an_ace_application_is_learnt(application, tmp_path):
    result = call("relational", application, "--folds", "5", "--prolog", tmp_path / "tree.pl")
    assert result.exit_code == 0, result.output
    assert "lost(A) ?" in result.stdout
    assert "accuracy 1 ± 0 (all examples of 5 folds" in result.stdout
    assert "sendback" in (tmp_path / "tree.pl").read_text()
    summary = json.loads(call("relational", application, "--json").stdout)
    assert summary["folds"] == 10
    assert summary["score"] == 1.0


def test_a_saved_model_is_shown_and_predicts(application, tmp_path):
    saved, page = tmp_path / "m.crosscut", tmp_path / "page.html"
    result = call("relational", application, "--folds", "5", "--save", saved, "--report", page)
    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert "lost(A) ?" in text
    assert "<script" not in text
    shown = call("show", saved)
    assert shown.exit_code == 0, shown.output
    assert "lost(A) ?" in shown.stdout
    assert "all examples of 5 folds" in shown.stdout
    assert "sendback" in call("show", saved, "--rules").stdout
    assert "… 4 more lines" in call("show", saved, "--lines", 2).stdout
    assert "--table is for models of one table" in call("predict", saved, application, "--table", "t").stderr
    again = tmp_path / "again.html"
    assert json.loads(call("show", saved, "--json", "--report", again).stdout)["cv"]["score"] == 1.0
    assert again.read_text() == text
    lines = call("predict", saved, application, "--probabilities").stdout.splitlines()
    assert lines[0] == "example,machine,machine = ok,machine = fix,machine = sendback"
    assert lines[3].endswith(",sendback,0.0,0.0,1.0")
    assert len(lines) == 31


def test_a_model_that_cannot_be_used(application, tmp_path):
    saved = tmp_path / "m.crosscut"
    call("relational", application, "--save", saved)
    assert "no such file" in refused(call("predict", saved, tmp_path / "none.s"), UNREADABLE)
    assert "is a folder" in refused(call("relational", application, "--save", tmp_path), UNWRITABLE)
    saved.write_bytes(saved.read_bytes()[:-3])
    assert "incomplete" in refused(call("show", saved), NOT_A_MODEL)


def test_files_that_cannot_be_read(application):
    assert "no such file" in refused(call("relational", application.with_name("none.s")), UNREADABLE)
    application.write_text("predict(machine(+machine,-action)")
    assert "app.s" in refused(call("relational", application), UNREADABLE)
    application.with_suffix(".kb").unlink()
    assert "app" in refused(call("relational", application), UNREADABLE)


def test_rules_are_learnt_saved_shown_and_used(application, tmp_path):
    saved, page, program = tmp_path / "m.crosscut", tmp_path / "page.html", tmp_path / "rules.pl"
    results = ("--save", saved, "--report", page, "--prolog", program)
    how = ("--rules", "--strategy", "cn2", "--folds", 5)
    learnt = call("relational", application, *how, *results)
    assert learnt.exit_code == 0, learnt.output
    assert "if lost(A) then sendback" in learnt.stdout
    assert "accuracy 1.000 ± 0.000 (5 folds)" in learnt.stdout
    assert "6 rule sets learnt" in learnt.stdout
    assert "Rules of the folds" in page.read_text()
    shown = call("show", saved, "--report", tmp_path / "again.html")
    assert shown.stdout in learnt.stdout
    assert (tmp_path / "again.html").read_text() == page.read_text()
    assert call("show", saved, "--rules").stdout == program.read_text()
    assert "machine(A,[sendback]) :- lost(A), !.\n" in program.read_text()
    data = json.loads(call("show", saved, "--json").stdout)
    assert data["target"] == "machine"
    assert "if lost(A) then sendback" in {rule["text"] for rule in data["rules"]}
    lines = call("predict", saved, application, "--probabilities").stdout.splitlines()
    assert lines[0] == "example,machine,machine = ok,machine = fix,machine = sendback"
    assert lines[3].endswith(",sendback,0.0,0.0,1.0")


def test_rules_as_json(application):
    options = ("--rules", "--strategy", "cn2", "--unordered", "--measure", "wracc")
    summary = json.loads(call("relational", application, *options, "--json").stdout)
    assert summary["score"] == 1.0
    assert summary["folds"] == len(summary["scores"]) == 10
    assert {rule["out_of_fold_precision"] for rule in summary["rules"]} == {1.0}
    assert all(rule["text"].endswith(f"then {rule['class']}") for rule in summary["rules"])
    assert [len(rule["conditions"]) for rule in summary["rules"]][-1] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--strategy", "cn2"), "--strategy applies to rules; use it with --rules"),
        (("--max-length", 3), "--max-length applies to rules"),
        (("--rules", "--unordered"), "--unordered is for --strategy cn2"),
        (("--rules", "--beam", 3), "--beam is for --strategy cn2"),
        (("--rules", "--jobs", 2), "--jobs applies to trees, not to --rules"),
    ],
)
def test_options_that_do_not_go_together(application, options, message):
    result = call("relational", application, *options)
    assert result.exit_code == 2
    assert message in result.stderr


def test_rules_are_for_classes(application, tmp_path):
    (tmp_path / "n.kb").write_text("".join(f"w({i},{i % 3}.5). big({i}).\n" for i in range(12)))
    (tmp_path / "n.s").write_text("predict(w(+thing,-number)).\ntilde_mode(regression).\nrmode(big(+T)).\n")
    refusal = refused(call("relational", tmp_path / "n.s", "--rules"), UNSUITABLE)
    assert "--rules needs a target with classes" in refusal


def test_rules_saved_without_held_out_examples_have_no_report(tmp_path):
    database, bias = bongard("simple", n=60)
    save_model(RelationalRuleClassifier(bias, cv=3).fit(database), tmp_path / "m", held_out=False)
    assert "without cross-validation" in refused(
        call("show", tmp_path / "m", "--report", tmp_path / "r"), UNSUITABLE
    )
    assert "accuracy" not in call("show", tmp_path / "m").stdout


def test_linked_tables_with_all_options(tmp_path):
    sql, oof = tmp_path / "tree.sql", tmp_path / "oof.csv"
    options = ["--heuristic", "gain", "--minimal-cases", 5, "--max-depth", 3, "--depth-of-links", 1]
    options += ["--key", "customer.customer_id", "--link", "purchase.customer_id=customer.customer_id"]
    result = call(
        "relational",
        SHOP,
        "-t",
        "customer.churned",
        "--sql",
        sql,
        "--oof",
        oof,
        *options,
        "--json",
    )
    assert result.exit_code == 0, result.output
    tree = json.loads(result.stdout)["tree"]
    assert tree["test"].startswith("share of purchases with category = grocery <= ")
    assert set(tree["no"]) >= {"test", "query", "counts", "prediction", "yes", "no"}
    assert 'SELECT t."customer_id" AS key,' in sql.read_text()
    lines = oof.read_text().splitlines()
    assert lines[0].startswith("row,fold,customer.churned,predicted customer.churned,")
    assert len(lines) == 301
    plain = call("relational", SHOP, "-t", "customer.churned", "--max-aggregates", 0)
    assert "some purchase with category = grocery?" in plain.stdout
    assert "links: purchase.customer_id=customer.customer_id\n" in plain.stdout
    ahead = call("relational", SHOP, "-t", "customer.churned", "--max-aggregates", 0, "--lookahead", 1)
    assert "some purchase with amount > 84.07 and purchase.returned = yes?" in ahead.stdout


def test_a_long_list_of_links_is_cut(tmp_path):
    rows = "".join(f"{i},{'pq'[i % 2]}\n" for i in range(20))
    (tmp_path / "shop.csv").write_text("id,y\n" + rows)
    for number in range(14):
        (tmp_path / f"sale{number}.csv").write_text("sale,shop_id\n1,1\n2,2\n")
    result = call("relational", tmp_path, "-t", "shop.y")
    assert "links: sale0.shop_id=shop.id, " in result.stdout
    assert " and 2 more" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--link", "purchase.customer_id"], "use TABLE.COLUMN=TABLE.COLUMN"),
        (["--as-of", "region"], "as_of is 'region'; it must be a date of the table customer, which has none"),
        (
            ["--rules", "--strategy", "cn2", "--unordered", "--sql", "x.sql"],
            "--sql supports trees and ordered rules",
        ),
        (["--prolog", "x.pl"], "--prolog cannot write values and summaries of linked tables; use --sql"),
    ],
)
def test_options_of_linked_tables_that_do_not_fit(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused(call("relational", SHOP, "-t", "customer.churned", *options), UNSUITABLE)


def test_a_model_of_linked_tables_is_not_shown_as_clauses(tmp_path):
    call("relational", SHOP, "-t", "customer.churned", "--folds", 2, "--save", tmp_path / "m")
    message = "--rules: to_prolog cannot write values and summaries of linked tables"
    assert message in refused(call("show", tmp_path / "m", "--rules"), UNSUITABLE)


def test_options_of_linked_tables_are_not_for_ace(application):
    assert "--as-of is for linked tables" in refused(
        call("relational", application, "--as-of", "d"), UNSUITABLE
    )


@pytest.fixture
def marked_shop(tmp_path):
    """The shop with columns that weigh, group and date its customers."""
    folder = tmp_path / "shop"
    shutil.copytree(SHOP, folder)
    head, *lines = (folder / "customer.csv").read_text().splitlines()
    marked = [
        f"{line},{1 + i % 2},{1 + i % 2 / 2},f{i % 4},2024-{1 + i % 12:02d}-01"
        for i, line in enumerate(lines)
    ]
    (folder / "customer.csv").write_text("\n".join([f"{head},w,half,part,since", *marked]) + "\n")
    return folder


@pytest.mark.parametrize(
    ("options", "n_folds", "held_out"),
    [
        (["--groups", "region", "--folds", 3], 3, 300),
        (["--folds-column", "part", "--weights", "w"], 4, 300),
        (["--cv", "time", "--folds", 4], 4, 240),
        (["--time", "since", "--folds", 5], 5, 250),
        (["--folds", 3, "--weights", "w"], 3, 300),
    ],
)
def test_groups_time_and_weights(marked_shop, options, n_folds, held_out, tmp_path):
    saved = ["--oof", tmp_path / "oof.csv", "--save", tmp_path / "model"]
    result = call("relational", marked_shop, "-t", "customer.churned", "--json", *options, *saved)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["folds"] == n_folds
    assert len((tmp_path / "oof.csv").read_text().splitlines()) == held_out + 1
    assert load_model(tmp_path / "model").cv_score_ == found["score"]
    assert "part = " not in result.stdout


def test_rules_count_weights(marked_shop, tmp_path):
    how = (
        "--rules",
        "--strategy",
        "cn2",
        "--max-length",
        1,
        "--folds",
        3,
        "--save",
        tmp_path / "m",
        "--json",
    )
    found, weighted = (
        json.loads(call("relational", marked_shop, "-t", "customer.churned", *how, *weights).stdout)
        for weights in ([], ["--weights", "half"])
    )
    assert sum(rule["covers"] for rule in found["rules"]) == 300
    assert sum(rule["covers"] for rule in weighted["rules"]) == 375
    assert load_model(tmp_path / "m").cv_score_ == weighted["score"] != found["score"]


def test_rules_keep_groups_together(marked_shop):
    how = ("--rules", "--strategy", "cn2", "--max-length", 1, "--folds", 3, "--json")
    found, apart = (
        json.loads(call("relational", marked_shop, "-t", "customer.churned", *how, *groups).stdout)
        for groups in ([], ["--groups", "region"])
    )
    assert found["folds"] == apart["folds"] == 3
    assert found["scores"] != apart["scores"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--groups", "town"], "--groups: customer has no column 'town'; it has customer_id, region"),
        (["--weights", "region"], "--weights region contains text; weights must be numbers"),
        (["--weights", "half"], "sample_weight contains 1.5; trees need positive whole numbers"),
        (["--key", "customer"], "--key customer: use TABLE.COLUMN"),
        (
            ["--kind", "regression"],
            "customer.churned has values such as 'yes'; a regression needs a numeric target",
        ),
        (["--folds-column", "part", "--folds", 3], "cannot be combined with --folds-column"),
        (["--rules", "--weights", "region"], "--weights region contains text; weights must be numbers"),
    ],
)
def test_groups_time_and_weights_that_do_not_fit(marked_shop, options, message):
    result = call("relational", marked_shop, "-t", "customer.churned", *options)
    assert result.exit_code != 0
    assert message in " ".join(result.stderr.split())


def test_problems_of_a_program_are_listed_one_per_line(tmp_path):
    (tmp_path / "app.kb").write_text("c(1,a). c(2,b).\n")
    (tmp_path / "app.bg").write_text("p(X) :- cc(X,_).\nq(X) :- c(X,_), write(X).\nr(X) :- c(X _).\n")
    (tmp_path / "app.s").write_text("predict(c(+k,-v)). rmode(p(+X)). rmode(q(+X)). rmode(r(+X)).\n")
    result = call("relational", tmp_path / "app.s")
    first, *lines = result.stderr.splitlines()
    assert first.endswith("the background has 3 problems:")
    assert [line.startswith("  ") for line in lines] == [True] * 3


def test_predict_reports_once_how_tables_are_read(tmp_path, recwarn):
    path = tmp_path / "mixed.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE thing(thing_id INT PRIMARY KEY, size, good TEXT)")
        rows = [(i, "n/a" if i == 3 else i, "yes" if i % 2 else "no") for i in range(40)]
        connection.executemany("INSERT INTO thing VALUES (?, ?, ?)", rows)
        connection.commit()
    assert call("relational", path, "-t", "thing.good", "--save", tmp_path / "m").exit_code == 0
    result = call("predict", tmp_path / "m", path)
    assert result.stderr.count("numbers among text are text") == 1
    assert not recwarn.list


def test_the_size_of_the_tree_is_chosen_by_the_folds(tmp_path):
    for name, table in datasets.shop(300, noise=0.3).items():
        csv.write_csv(table, tmp_path / f"{name}.csv")
    tests = {}
    for prune in ("none", "1se"):
        result = call("relational", tmp_path, "--target", "customer.churned", "--prune", prune, "--json")
        assert result.exit_code == 0, result.output
        tests[prune] = json.dumps(json.loads(result.stdout)["tree"]).count('"query"')
    assert tests["1se"] < tests["none"]
