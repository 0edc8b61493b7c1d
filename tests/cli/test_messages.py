"""Mistakes of the first ten minutes: each message names the argument, its value, and what would work."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold
from sklearn.tree import DecisionTreeClassifier

from crosscut import (
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    compare,
    datasets,
    load_model,
    read_file,
    save_model,
    split_target,
)

from .calls import call

X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=list("abcd"))
NAMES = np.array(["setosa", "versicolor", "virginica"], dtype=object)[Y]


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A folder with churn.csv, a model of it, and damaged and unusual files; the tests run in it."""
    folder = tmp_path_factory.mktemp("first")
    pd.DataFrame(datasets.churn().to_pandas()).to_csv(folder / "churn.csv", index=False)
    X, y = split_target(datasets.churn(), "churned")
    save_model(TreeClassifier(prune="1se", random_state=0).fit(X, y), folder / "m.crosscut", target="churned")
    (folder / "empty.csv").write_text("")
    (folder / "ragged.csv").write_text("a,b,y\n1,2,x\n1,2,3,x\n3,4,y\n")
    (folder / "page.crosscut").write_text("<!DOCTYPE html><html><body>Not found</body></html>")
    (folder / "few.csv").write_text("age,region\n30,south\n")
    rows = "".join(f"{'ns'[k % 2]},{k // 2},{'pq'[k % 3 > 0]}\n" for k in range(60))
    (folder / "rows.csv").write_text("Region,order id,y\n" + rows)
    (folder / "notes.docx").write_text("a,b\n1,2\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


CHURN = "churn.csv -t churned"


@pytest.mark.parametrize(
    ("line", "code", "parts"),
    [
        # the table of the issue
        (f"cv {CHURN} --scoring f1", 4, ["--scoring f1", "positive", "'no', 'yes'", "f1_macro"]),
        ("predict m.crosscut few.csv", 4, ["'contract', 'tenure_months', 'support_calls'", "few.csv", "age"]),
        ("cv empty.csv -t y", 3, ["'empty.csv' is empty"]),
        ("cv ragged.csv -t y", 3, ["'ragged.csv'", "line 3 has 4 values, expected 3", "--separator"]),
        ("predict page.crosscut churn.csv", 5, ["'page.crosscut' is not a crosscut model file"]),
        ("predict absent.crosscut churn.csv", 3, ["there is no file 'absent.crosscut'"]),
        (f"cv {CHURN} --report no/x.html", 6, ["--report no/x.html", "does not exist", "create it"]),
        (f"cv {CHURN} --max-depth abc", 2, ["--max-depth", "'abc'", "whole number >= 1 or none"]),
        ("fit churn.csv", 2, ["'fit'", "did you mean cv?"]),
        ("cv rows.csv -t y --weights Region", 4, ["--weights 'Region'", "must be numeric"]),
        (f"cv {CHURN} --report x.pdf", 2, ["--report", "x.pdf", "x.html"]),
        # found by trying mistakes
        ("churn.csv", 2, ["'churn.csv'", "crosscut cv churn.csv --target COLUMN"]),
        ("predikt m.crosscut churn.csv", 2, ["'predikt'", "did you mean predict?"]),
        ("predict churn.csv m.crosscut", 5, ["churn.csv is a table", "crosscut predict MODEL FILE"]),
        ("cv churn.csv -t churn", 4, ["'churn'", "did you mean 'churned'?"]),
        ("cv churn.csv", 2, ["--target"]),
        ("cv https://example.org/a.csv -t y", 3, ["https://example.org/a.csv", "download the file first"]),
        ("cv notes.docx -t b", 3, ["'notes.docx'", ".csv"]),
        ("cv . -t y", 3, [". is a folder", "name a file in it"]),
        (f"cv {CHURN} --folds 1", 2, ["--folds", "'1'", "whole number >= 2"]),
        (f"cv {CHURN} --min-leaf none", 2, ["--min-leaf", "'none'", "whole number >= 1"]),
        (f"cv {CHURN} --max-bins 1000", 2, ["--max-bins", "'1000'", "from 2 to 255"]),
        (f"cv {CHURN} --criterion gin", 2, ["--criterion", "'gin'", "'gini'"]),
        (f"cv {CHURN} --fold 5", 2, ["--fold", "--folds"]),
        (f"cv {CHURN} --scoring acuracy", 2, ["--scoring acuracy", "accuracy"]),
        (f"cv {CHURN} --loss no", 4, ["--loss no", "CLASS=NUMBER", "no, yes"]),
        (f"cv {CHURN} --drop regin", 4, ["--drop 'regin'", "region"]),
        (f"cv {CHURN} --groups region", 4, ["--groups", "4 distinct values", "--folds 10"]),
        (f"cv {CHURN} --save .", 6, ["--save .", "is a folder", "name a file in it"]),
        (f"cv {CHURN} --save churn.csv", 2, ["--save", "'churn.csv' would be overwritten"]),
        (f"cv {CHURN} --table x", 3, ["--table x", "not a database", "leave it out"]),
        ("cv churn.csv -t plan --kind regression", 4, ["'plan' holds text", "--kind classification"]),
        (f"cv {CHURN} --cv time --gap 5000", 4, ["--gap 5000", "too many for 800 rows", "fewer folds"]),
        ("compare m.crosscut", 4, ["at least two models"]),
        ("predict m.crosscut churn.csv --keep id", 4, ["--keep 'id'", "choose one of age"]),
    ],
)
def test_command_line(line, code, parts):
    result = call(*line.split())
    assert result.exit_code == code, result.output
    shown = " ".join(result.stderr.split())
    assert [part for part in parts if part not in shown] == [], shown


def fitted():
    return TreeClassifier().fit(FRAME, Y)


NA_BOOLEAN = pd.array([None, *(Y[1:] == 1)], dtype="boolean")


@pytest.mark.parametrize(
    ("mistake", "error", "parts"),
    [
        # the table of the issue
        (
            lambda: TreeRegressor().fit(X, NAMES),
            ValueError,
            ["y holds text such as 'setosa'", "TreeClassifier"],
        ),
        (
            lambda: TreeClassifier().fit(X, [None, *NAMES[1:]]),
            ValueError,
            ["y is None", "row 0", "remove rows"],
        ),
        (lambda: TreeClassifier().fit(X, NA_BOOLEAN), ValueError, ["y is <NA>", "row 0", "remove rows"]),
        (lambda: fitted().predict(FRAME.iloc[0]), ValueError, ["X is a Series", "df.iloc[[0]]"]),
        (lambda: fitted().predict(X[0]), ValueError, ["X is a ndarray of length 4", "X.reshape(1, -1)"]),
        (
            lambda: TreeClassifier().fit(FRAME.set_axis(list("aabc"), axis=1), Y),
            ValueError,
            ["X has more than one column named 'a'", "rename"],
        ),
        (
            lambda: compare(fitted(), DecisionTreeClassifier().fit(X, Y)),
            TypeError,
            ["second is a DecisionTreeClassifier", "TreeClassifier"],
        ),
        (lambda: fitted().report("x.pdf"), ValueError, ["'x.pdf'", "x.html"]),
        # found by trying mistakes
        (
            lambda: TreeClassifier().fit(X, X[:, 0] + 0.25),
            ValueError,
            ["y holds numbers such as 5.35", "TreeRegressor"],
        ),
        (lambda: RuleClassifier().fit(X, X[:, 0] + 0.25), ValueError, ["y holds numbers", "TreeRegressor"]),
        (
            lambda: TreeRegressor().fit(X, np.r_[np.nan, Y[1:]]),
            ValueError,
            ["y is nan", "row 0", "remove rows"],
        ),
        (lambda: TreeClassifier().fit(FRAME, "d"), TypeError, ["y", "'d'", "X['d']"]),
        (
            lambda: TreeClassifier().fit({"a": [1, 2]}, [0, 1]),
            TypeError,
            ["X is a dict", "pandas.DataFrame(X)"],
        ),
        (lambda: TreeClassifier().fit(None, Y), TypeError, ["X is None", "two-dimensional"]),
        (lambda: TreeClassifier().fit(X.astype(complex), Y), ValueError, ["X is complex128", "X.real"]),
        (lambda: TreeClassifier(n_jobs="all").fit(X, Y), TypeError, ["n_jobs", "'all'", "-1 for all cores"]),
        (
            lambda: TreeClassifier(random_state="a").fit(X, Y),
            TypeError,
            ["random_state", "'a'", "whole number"],
        ),
        (lambda: TreeClassifier(scoring="acc").fit(X, Y), ValueError, ["scoring='acc'", "accuracy"]),
        (lambda: TreeClassifier(scoring="f1").fit(X, NAMES), ValueError, ["scoring='f1'", "f1_macro"]),
        (
            lambda: TreeClassifier(class_weight="bal").fit(X, Y),
            ValueError,
            ["class_weight", "'bal'", "'balanced'"],
        ),
        (
            lambda: TreeClassifier(class_weight={7: 2}).fit(X, Y),
            ValueError,
            ["class_weight", "7", "[0, 1, 2]"],
        ),
        (
            lambda: TreeClassifier(class_weight={1: -2}).fit(X, Y),
            ValueError,
            ["class_weight", "-2 for 1", "negative"],
        ),
        (lambda: TreeClassifier(criterion="mse").fit(X, Y), ValueError, ["criterion", "'mse'", "'gini'"]),
        (lambda: TreeClassifier(prune="1SE").fit(X, Y), ValueError, ["prune", "'1SE'", "'1se'"]),
        (
            lambda: TreeClassifier().fit(X, Y, sample_weight=np.ones(9)),
            ValueError,
            ["sample_weight", "9", "150"],
        ),
        (
            lambda: TreeClassifier(cv=GroupKFold(3)).fit(X, Y),
            ValueError,
            ["groups", "GroupKFold", "groups=..."],
        ),
        (lambda: TreeClassifier(cv=1).fit(X, Y), ValueError, ["cv", "1", "at least 2"]),
        (lambda: TreeClassifier(max_depth="3").fit(X, Y), ValueError, ["max_depth", "'3'", "integer >= 1"]),
        (lambda: load_model("page.crosscut"), ValueError, ["'page.crosscut' is not a crosscut model file"]),
        (
            lambda: read_file("https://example.org/a.csv"),
            ValueError,
            ["https://example.org/a.csv", "download"],
        ),
        (lambda: split_target(FRAME, "z"), ValueError, ["'z'", "'a', 'b', 'c', 'd'"]),
        (
            lambda: fitted().report("x.html", X=FRAME[:9]),
            ValueError,
            ["X must hold the 150 training rows", "9 rows"],
        ),
    ],
)
def test_python(mistake, error, parts):
    with pytest.raises(error) as caught:
        mistake()
    shown = str(caught.value)
    assert [part for part in parts if part not in shown] == [], shown
    assert len(shown) < 500


def test_too_many_folds_are_reduced_and_noted():
    shown = " ".join(call("cv", "rows.csv", "-t", "y", "--folds", "50").stdout.split())
    assert "--folds 50 exceeds the 40 rows of the largest class; using 40 folds" in shown


def test_a_pattern_of_dates_that_fits_no_column_is_noted():
    assert "no column matches --dates mdy" in " ".join(
        call("cv", "churn.csv", "-t", "churned", "--dates", "mdy").stdout.split()
    )


def test_the_result_is_printed_although_it_cannot_be_written(folder, monkeypatch):
    import crosscut.report

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(crosscut.report, "write_report", full)
    result = call("cv", "churn.csv", "-t", "churned", "--report", "full.html")
    assert result.exit_code == 6
    assert "error rate" in result.stdout
    assert "No space left" in result.stderr


def test_names_in_commands_are_quoted(folder):
    (folder / "ids.csv").write_text("order id,a,y\n" + "".join(f"X{k},{k % 7},{k % 2}\n" for k in range(400)))
    result = call("cv", "ids.csv", "-t", "y")
    assert "--keep 'order id'" in " ".join(result.stdout.split())


def test_many_columns_without_values_are_one_note(folder):
    empty = {f"e{k}": pa.nulls(60) for k in range(95)} | {f"same{k}": [1] * 60 for k in range(180)}
    table = pa.table({"a": list(range(60)), "y": ["p", "q"] * 30} | empty)
    table.to_pandas().to_csv(folder / "wide.csv", index=False)
    shown = " ".join(call("cv", "wide.csv", "-t", "y").stdout.split())
    assert shown.count("empty and cannot be used") == 1
    assert "'e0', 'e1', 'e2', 'e3', 'e4' and 90 more are empty" in shown
    assert shown.count("have one value in every row: it cannot be split") == 1


def test_a_frame_of_one_column_is_a_target():
    assert TreeClassifier(cv=None).fit(FRAME, pd.DataFrame({"y": Y})).get_n_leaves() == 9
    assert TreeRegressor(cv=None).fit(FRAME, pd.DataFrame({"y": Y})).get_n_leaves() > 1


def test_log_loss_is_another_name_of_entropy():
    one, other = (TreeClassifier(criterion=name).fit(X, Y) for name in ("entropy", "log_loss"))
    assert one.to_text() == other.to_text()
    assert one.cv_score_ == other.cv_score_
    assert other.to_sklearn().criterion == "log_loss"
