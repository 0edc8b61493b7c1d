import csv
import io

import pyarrow.csv as pa_csv
import pytest

from crosscut import TreeClassifier, TreeRegressor, datasets, read_file, save_model
from crosscut.cli.failure import NOT_A_MODEL, UNREADABLE, UNSUITABLE
from crosscut.data.files import split_target

from .calls import call, refused
from .test_cv import CHURN


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "churn.crosscut"
    assert call("cv", CHURN, "-t", "churned", "--save", path).exit_code == 0
    return path


def test_predictions_are_the_estimators(model):
    printed = list(csv.reader(io.StringIO(call("predict", model, CHURN, "--probabilities").stdout)))
    X, y = split_target(datasets.churn(), "churned")
    fitted = TreeClassifier(prune="1se", random_state=0).fit(X, y)
    assert printed[0] == ["churned", "churned = no", "churned = yes"]
    frame = read_file(CHURN)
    assert [row[0] for row in printed[1:]] == fitted.predict(frame.drop_columns("churned")).tolist()


def test_a_column_that_is_absent_is_named(model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("age\n30\n")
    shown = refused(call("predict", model, path), UNSUITABLE)
    assert "the columns 'contract', 'tenure_months', 'support_calls'" in shown  # the tree uses no others
    assert "region" not in shown


def test_columns_that_the_tree_does_not_use_may_be_absent(model, tmp_path):
    columns = read_file(CHURN).select(["contract", "tenure_months", "support_calls"])
    pa_csv.write_csv(columns, tmp_path / "few.csv")
    few, all_columns = (call("predict", model, path).stdout for path in (tmp_path / "few.csv", CHURN))
    assert few == all_columns


def test_columns_are_copied_to_the_predictions(model, tmp_path):
    result = call("predict", model, CHURN, "--keep", "age", "--keep", "churned", "--out", tmp_path / "p.csv")
    assert result.stderr == f"800 predictions written to {tmp_path / 'p.csv'}\n"
    printed = list(csv.DictReader((tmp_path / "p.csv").open()))
    frame = read_file(CHURN)
    assert [row["age"] for row in printed] == ["" if v is None else str(v) for v in frame["age"].to_pylist()]
    assert [row["actual churned"] for row in printed] == frame["churned"].to_pylist()
    assert (
        len(next(csv.reader([call("predict", model, CHURN, "--keep", "*").stdout.partition("\n")[0]]))) == 15
    )


def test_files_that_are_not_models_are_refused(model, tmp_path):
    assert "write crosscut predict MODEL FILE" in refused(call("predict", CHURN, CHURN), NOT_A_MODEL)
    assert "there is no file" in refused(call("predict", tmp_path / "absent", CHURN), UNREADABLE)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(model.read_bytes()[:-9])
    assert "incomplete" in refused(call("show", damaged), NOT_A_MODEL)


def test_numbers_have_no_probabilities(tmp_path):
    save_model(TreeRegressor(cv=2).fit([[0.0], [1.0]] * 4, [0.0, 1.5] * 4), tmp_path / "m")
    new = tmp_path / "new.csv"
    new.write_text("x0\n0.2\n0.9\n")
    assert call("predict", tmp_path / "m", new).stdout == "target\n0.0\n1.5\n"
    assert "classes" in refused(call("predict", tmp_path / "m", new, "--probabilities"), UNSUITABLE)


def test_predictions_can_go_to_a_file(model, tmp_path):
    out = tmp_path / "out.csv"
    assert call("predict", model, CHURN, "--out", out).stdout == ""
    assert len(out.read_text().splitlines()) == 801


def test_the_reading_of_a_file_is_reported(tmp_path):
    path, saved = tmp_path / "rows.csv", tmp_path / "m"
    path.write_text(
        "\n".join(["size;kind", *(f"{i % 7},5;{'yes' if i % 7 > 3 else 'no'}" for i in range(60)), ""])
    )
    assert call("cv", path, "-t", "kind", "--save", saved).exit_code == 0
    predicted = call("predict", saved, path)
    assert f"crosscut: note: {path} read as: ';' separated, decimal comma" in predicted.stderr
    assert len(predicted.stdout.splitlines()) == 61
