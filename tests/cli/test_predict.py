import csv
import io

import pytest

from crosscut import TreeClassifier, TreeRegressor, datasets, read_file, save_model
from crosscut.cli.failure import NOT_A_MODEL, UNSUITABLE
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
    assert "'region'" in refused(call("predict", model, path), UNSUITABLE)


def test_what_is_no_model_is_refused(model, tmp_path):
    assert "is not a crosscut file" in refused(call("predict", CHURN, CHURN), NOT_A_MODEL)
    assert "No such file" in refused(call("predict", tmp_path / "absent", CHURN), NOT_A_MODEL)
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


def test_how_a_file_is_read_is_said(tmp_path):
    path, saved = tmp_path / "rows.csv", tmp_path / "m"
    path.write_text(
        "\n".join(["size;kind", *(f"{i % 7},5;{'yes' if i % 7 > 3 else 'no'}" for i in range(60)), ""])
    )
    assert call("cv", path, "-t", "kind", "--save", saved).exit_code == 0
    predicted = call("predict", saved, path)
    assert f"crosscut: note: {path} read as: ';' separated, decimal comma" in predicted.stderr
    assert len(predicted.stdout.splitlines()) == 61
