import json
from pathlib import Path

import numpy as np
import pytest

from crosscut import TreeClassifier, datasets, load_model
from crosscut.cli.failure import UNREADABLE, UNSUITABLE, UNWRITABLE
from crosscut.data.files import split_target
from crosscut.forest.export.text import number
from crosscut.report import summarize

from .calls import call, refused

CHURN = Path(__file__).parents[2] / "examples" / "churn.csv"


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    random = np.random.default_rng(0)
    x, shop = random.normal(size=300), random.integers(0, 12, 300)
    lines = [
        f"{a:.4f},{s},{3 * (a > 0) + random.normal():.3f},{1 + s % 2}" for a, s in zip(x, shop, strict=True)
    ]
    path = tmp_path_factory.mktemp("data") / "prices.tsv"
    path.write_text("size,shop,price,weight\n".replace(",", "\t") + "\n".join(lines).replace(",", "\t"))
    return path


def test_classification_prints_everything():
    result = call("cv", CHURN, "--target", "churned")
    assert result.exit_code == 0
    for part in (
        "classification",
        "support_calls",
        "error rate 0.",
        "±",
        "Pruning",
        "chosen",
        "recall",
        "Stability",
        "f(i)",
        "trees were grown together",
    ):
        assert part in result.stdout
    assert "\x1b" not in result.stdout  # no colours where no terminal reads them


def test_json_is_the_only_output_and_agrees_with_the_estimator():
    summary = json.loads(
        call("cv", CHURN, "--target", "churned", "--prune", "best", "--folds", "5", "--json").stdout
    )
    X, y = split_target(datasets.churn(), "churned")
    model = TreeClassifier(cv=5, prune="best", random_state=0).fit(X, y)
    assert summary["cv"]["error"] == pytest.approx(1 - model.cv_score_)
    assert summary["tree"]["leaves"] == model.get_n_leaves()


@pytest.mark.parametrize("weights", [[], ["--weights", "monthly_charge"]])
@pytest.mark.parametrize("repeats", [[], ["--repeats", "3"]])
def test_headline_table_page_and_json_show_the_same_digits(tmp_path, weights, repeats):
    given = ["cv", CHURN, "-t", "churned", "--prune", "best", "--folds", "4", *weights, *repeats]
    told = json.loads(call(*given, "--json").stdout)
    cv, pruning = told["cv"], told["pruning"]
    chosen = pruning["chosen"]
    assert cv["error"] == pytest.approx(1 - told["answer"]["score"], rel=1e-12)
    text = call(*given, "--report", tmp_path / "r.html").stdout
    error, spread = number(cv["error"]), number(cv["standard_error"], 2)
    assert f"error rate {error} ± {spread} " in text
    row = next(line.split() for line in text.splitlines() if line.startswith("►"))
    shown = [
        number(pruning[name][chosen]) for name in ("shrinkage", "train_error", "cv_error", "standard_error")
    ]
    assert row[3:7] == shown
    assert "Pruning (Brier score)" in text
    page = (tmp_path / "r.html").read_text()
    assert f": {error} ± {spread} (" in page
    assert f"<td>{shown[2]}</td><td>{shown[3]}</td><td>best" in page


def test_a_fit_is_summarized_once(tmp_path, monkeypatch):
    calls = []

    def counting(*arguments, **options):
        calls.append(arguments)
        return summarize(*arguments, **options)

    for module in ("crosscut.report", "crosscut.report.tree_page"):
        monkeypatch.setattr(f"{module}.summarize", counting)
    saved, page = tmp_path / "m.crosscut", tmp_path / "r.html"
    assert call("cv", CHURN, "--target", "churned", "--report", page, "--save", saved).exit_code == 0
    assert len(calls) == 1
    assert call("show", saved, "--report", page).exit_code == 0
    assert len(calls) == 2


def test_regression_with_groups_weights_and_limits(prices):
    result = call(
        "cv", prices, "-t", "price", "--groups", "shop", "--weights", "weight", "--folds", "4",
        "--max-depth", "3", "--min-leaf", "5", "--prune", "none", "--json",
    )  # fmt: skip
    summary = json.loads(result.stdout)
    assert summary["kind"] == "regression"
    assert summary["cv"]["folds"] == 4
    assert summary["tree"]["depth"] <= 3
    assert [column["name"] for column in summary["data"]["columns"]] == ["size"]
    assert "Residuals of held-out rows" in call("cv", prices, "-t", "price").stdout


def test_whole_numbers_with_few_values_are_classes_by_default(prices):
    assert json.loads(call("cv", prices, "-t", "weight", "--json").stdout)["kind"] == "classification"
    told = json.loads(call("cv", prices, "-t", "weight", "--kind", "regression", "--json").stdout)
    assert told["kind"] == "regression"


def test_pruning_by_errors_and_costs(prices):
    by_error = json.loads(call("cv", CHURN, "-t", "churned", "--prune-by", "error", "--json").stdout)
    assert by_error["pruning"]["by"] == by_error["settings"]["prune_by"] == "error"
    result = call("cv", CHURN, "-t", "churned", "--loss", "yes=10")
    assert "Pruning (mean cost)" in result.stdout
    costly = json.loads(call("cv", CHURN, "-t", "churned", "--loss", "yes=10", "--json").stdout)
    assert costly["confusion"]["recall"][1] > by_error["confusion"]["recall"][1]
    assert "loss={'yes': 10.0}" in costly["code"]
    wrong = call("cv", CHURN, "-t", "churned", "--loss", "maybe=2")
    assert "--loss maybe=2: write CLASS=NUMBER; the classes are no, yes" in refused(wrong, UNSUITABLE)
    numeric = call("cv", prices, "-t", "price", "--loss", "1=2")
    assert "--loss 1=2 is for classes" in refused(numeric, UNSUITABLE)


def test_the_model_and_the_report_are_written(tmp_path):
    model, page = tmp_path / "m.crosscut", tmp_path / "r.html"
    result = call("cv", CHURN, "-t", "churned", "--save", model, "--report", page)
    assert result.exit_code == 0
    assert result.stderr == f"Model written to {model}\nReport written to {page}\n"
    assert load_model(model).get_n_leaves() == 5
    assert "churned" in page.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--groups", "nowhere"], "nowhere"),
        (["--groups", "paperless"], "fewer than --folds"),
        (["--weights", "region"], "must be numeric, but it holds text"),
        (["--weights", "churned"], "target"),
        (["--drop", "nowhere"], "nowhere"),
        (["--nominal", "nowhere"], "nowhere"),
        (["--kind", "regression"], "classification"),
    ],
)
def test_columns_that_do_not_fit(options, message):
    assert message in refused(call("cv", CHURN, "-t", "churned", *options), UNSUITABLE)


@pytest.mark.parametrize("option", ["--save", "--report"])
def test_an_unwritable_path(tmp_path, option):
    assert "absent" in refused(
        call("cv", CHURN, "-t", "churned", option, tmp_path / "absent" / "x"), UNWRITABLE
    )


def test_wrong_options_exit_with_two():
    assert call("cv", CHURN).exit_code == 2
    assert call("cv", CHURN, "-t", "churned", "--folds", "1").exit_code == 2


def test_the_reading_of_a_file_is_reported_and_can_be_changed(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(
        "".join(f"{i % 7},5;{i % 12 + 1:02}/04/2024;{'no' if i % 7 > 3 else 'yes'}\n" for i in range(40))
    )
    line = refused(call("cv", path, "-t", "c3"), UNREADABLE)
    assert "'01/04/2024' is 1 April 2024 or 4 January 2024; choose with --dates dmy or --dates mdy" in line
    result = call("cv", path, "-t", "c3", "--dates", "dmy")
    assert result.exit_code == 0, result.output
    told = " ".join(result.stdout.split())
    assert (
        "read as: ';' separated, decimal comma, no header (columns c1 to c3), 'c2': dates (day, month" in told
    )
    assert "--dates must be" not in told
    assert "--dates must be" in call("cv", path, "-t", "c3", "--dates", "american").stderr
    saved = tmp_path / "m"
    call("cv", path, "-t", "c3", "--dates", "dmy", "--save", saved)
    assert len(call("predict", saved, path, "--dates", "dmy").stdout.splitlines()) == 41


def test_identifiers_are_left_out_and_dates_stay_dates(tmp_path):
    path = tmp_path / "rows.csv"
    days = [f"{1 + i % 28:02}.{1 + i % 12:02}.20{20 + i % 5}" for i in range(200)]
    rows = [f"k{i},{day},{'yes' if day[-4:] > '2022' or i % 9 == 0 else 'no'}" for i, day in enumerate(days)]
    path.write_text("\n".join(["customer,signup,paid", *rows, ""]))
    shown = call("cv", path, "-t", "paid").stdout
    assert "left out: 'customer' has 200 different values in 200 rows (--keep customer includes it)" in shown
    assert "columns: 1 date" in shown
    assert "signup ≤ 2022-12-" in shown
    assert "columns: 1 date, 1 nominal" in call("cv", path, "-t", "paid", "--keep", "customer").stdout
    assert "nowhere" in refused(call("cv", path, "-t", "paid", "--keep", "nowhere"), UNSUITABLE)


def test_rows_without_a_target_and_out_of_fold_predictions(tmp_path):
    path, oof = tmp_path / "rows.csv", tmp_path / "oof.csv"
    answers = ["", *("yes" if i % 3 == 0 else "no" for i in range(1, 60))]
    path.write_text("\n".join(["x,y", *(f"{i % 3},{answer}" for i, answer in enumerate(answers)), ""]))
    assert "--drop-missing-target" in refused(call("cv", path, "-t", "y"), UNSUITABLE)
    result = call("cv", path, "-t", "y", "--drop-missing-target", "--folds", "4", "--oof", oof)
    assert "1 rows without 'y' were left out" in result.stdout
    header, *lines = [line.split(",") for line in oof.read_text().splitlines()]
    assert header == ["row", "fold", "y", "predicted y", "y = no", "y = yes"]
    assert [int(line[0]) for line in lines] == list(range(2, 61))  # the first has no answer
    assert {line[1] for line in lines} == {"1", "2", "3", "4"}
    assert [line[2] for line in lines] == answers[1:]
    assert all(line[3] == line[2] and float(line[4]) + float(line[5]) == 1 for line in lines)


def test_out_of_fold_numbers(tmp_path, prices):
    oof = tmp_path / "oof.csv"
    assert call("cv", prices, "-t", "price", "--repeats", "2", "--folds", "3", "--oof", oof).exit_code == 0
    lines = oof.read_text().splitlines()
    assert lines[0] == "row,fold,price,predicted price"
    assert len(lines) == 601


def test_a_report_is_html(tmp_path):
    result = call("cv", CHURN, "-t", "churned", "--report", tmp_path / "m.pdf")
    assert result.exit_code == 2
    assert "try m.html" in result.stderr
    assert not (tmp_path / "m.pdf").exists()


def test_the_best_of_several_settings_is_chosen():
    result = call("cv", CHURN, "-t", "churned", "--max-depth", "1,2,none", "--prune", "none", "--json")
    summary = json.loads(result.stdout)
    X, y = split_target(datasets.churn(), "churned")
    scores = [TreeClassifier(max_depth=depth, random_state=0).fit(X, y).cv_score_ for depth in (1, 2, None)]
    assert [each["score"] for each in summary["tried"]] == pytest.approx(scores)
    assert [each["max_depth"] for each in summary["tried"]] == [1, 2, None]
    assert [each["chosen"] for each in summary["tried"]] == [score == max(scores) for score in scores]
    assert summary["cv"]["score"] == max(scores)
    assert summary["settings"]["max_depth"] == 2
    shown = call("cv", CHURN, "-t", "churned", "--max-depth", "1,2", "--min-leaf", "1,20").stdout
    assert "--max-depth  --min-leaf  accuracy" in shown
    assert call("cv", CHURN, "-t", "churned", "--max-depth", "1,two").exit_code == 2


def test_class_weights_and_scoring():
    told = json.loads(
        call(
            "cv", CHURN, "-t", "churned", "--class-weight", "yes=3", "--scoring", "recall_macro", "--json"
        ).stdout
    )
    X, y = split_target(datasets.churn(), "churned")
    weights = {"yes": 3.0, "no": 1.0}
    model = TreeClassifier(class_weight=weights, scoring="recall_macro", prune="1se", random_state=0).fit(
        X, y
    )
    assert told["cv"]["scoring"] == "recall_macro"
    assert told["cv"]["score"] == pytest.approx(model.cv_score_)
    assert "class_weight={'yes': 3.0}" in told["code"]
    balanced = json.loads(call("cv", CHURN, "-t", "churned", "--class-weight", "balanced", "--json").stdout)
    assert balanced["settings"]["class_weight"] == "balanced"
    assert balanced["tree"]["leaves"] > 3


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--class-weight", "maybe=2"], "the classes are no, yes", UNSUITABLE),
        (["--class-weight", "yes=much"], "write CLASS=NUMBER", UNSUITABLE),
        (["--scoring", "acuracy"], "try accuracy", 2),
    ],
)
def test_weights_and_scores_that_do_not_exist(options, message, code):
    result = call("cv", CHURN, "-t", "churned", *options)
    assert result.exit_code == code
    assert message in result.stderr


KEYS = {
    *("format", "crosscut", "date", "file", "notes", "kind", "target", "classes", "settings", "code", "data"),
    *("tree", "answer", "cv", "coverage", "confusion", "pruning", "stability", "cost", "seconds", "tried"),
    "test",
}


def test_the_json_has_the_keys_that_its_page_lists(prices):
    classes = json.loads(call("cv", CHURN, "-t", "churned", "--json").stdout)
    numbers = json.loads(call("cv", prices, "-t", "price", "--json").stdout)
    assert classes["format"] == 1
    assert set(classes) == KEYS
    assert set(numbers) == KEYS - {"confusion"} | {"residuals"}
    page = (CHURN.parents[1] / "docs" / "command-line.md").read_text()
    for key in KEYS | {"residuals"}:
        assert f"`{key}`" in page, key


def test_warnings_of_libraries_are_reworded(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["x,y", *(f"{i % 5},{'rare' if i < 3 else 'no'}" for i in range(60)), ""]))
    told = call("cv", path, "-t", "y", "--scoring", "precision_macro", "--repeats", "2", "--json")
    notes = json.loads(told.stdout)["notes"]
    assert "a class has fewer rows than there are folds, so some folds lack it" in notes
    assert "--scoring is undefined in folds in which a class is absent or never predicted" in notes
    assert not any("n_splits" in note or "zero_division" in note for note in notes)


def test_leading_zeros_are_noted(tmp_path):
    lines = [f"{i * 731 % 90000:05d},{i % 7},{'yes' if i % 3 else 'no'}" for i in range(200)]
    file = tmp_path / "a.csv"
    file.write_text("\n".join(["zip,visits,bought", *lines]))
    text = " ".join(call("cv", file, "-t", "bought").stdout.split())
    assert "'zip': numbers without their leading zeros" in text
    assert "--nominal NAME takes them as categories" in text
    file.write_text("\n".join(["visits,bought", *(line.split(",", 1)[1] for line in lines)]))
    assert "leading zeros" not in call("cv", file, "-t", "bought").stdout
