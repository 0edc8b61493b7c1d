import json

import numpy as np
import pytest

from crosscut import TreeRegressor, load_model, read_file, split_target
from crosscut.cli.failure import UNREADABLE, UNSUITABLE

from .calls import call, refused
from .test_cv import CHURN


def test_classes_of_a_second_file(tmp_path):
    rows = CHURN.read_text().splitlines()
    train, test, saved = tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "m"
    train.write_text("\n".join(rows[:600]) + "\n")
    test.write_text("\n".join([rows[0], *rows[600:]]) + "\n")
    options = ("-t", "churned", "--test", test, "--save", saved)
    told = json.loads(call("cv", train, *options, "--json").stdout)["test"]
    X, y = split_target(read_file(test), "churned")
    right = load_model(saved).predict(X) == y
    assert told["rows"] == len(y)
    assert told["error"] == pytest.approx(1 - right.mean())
    assert told["low"] < told["score"] < told["high"]
    assert told["standard_error"] == pytest.approx(np.std(right) / np.sqrt(len(y)))
    assert "not used for training" in " ".join(call("cv", train, *options).stdout.split())


def test_numbers_of_a_second_file(tmp_path):
    random = np.random.default_rng(0)
    for name in ("a", "b"):
        x = random.normal(size=200)
        lines = [f"{value:.4f},{3 * value + random.normal():.4f}" for value in x]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,price", *lines, ""]))
    told = call(
        "cv", tmp_path / "a.csv", "-t", "price", "--test", tmp_path / "b.csv", "--json", "--prune", "none"
    )
    told = json.loads(told.stdout)["test"]
    (X, y), (new, truth) = (split_target(read_file(tmp_path / f"{name}.csv"), "price") for name in "ab")
    model = TreeRegressor(cv=None).fit(X, y)
    assert told["error"] == pytest.approx(np.sqrt(np.mean((model.predict(new) - truth) ** 2)))
    assert told["score"] == pytest.approx(model.score(new, truth))


def test_a_second_file_with_other_columns(tmp_path):
    test = tmp_path / "b.csv"
    assert "b.csv" in refused(call("cv", CHURN, "-t", "churned", "--test", test), UNREADABLE)
    test.write_text("churned,age\nyes,3\nno,4\n")
    assert "uses the columns" in refused(call("cv", CHURN, "-t", "churned", "--test", test), UNSUITABLE)


def test_labels_that_training_rows_lack_are_refused(tmp_path):
    test = tmp_path / "b.csv"
    test.write_text(CHURN.read_text().replace(",yes", ",maybe").replace(",no", ",never"))
    message = refused(call("cv", CHURN, "-t", "churned", "--test", test), UNSUITABLE)
    for part in ("b.csv", "'churned'", "maybe, never", "the classes are no, yes"):
        assert part in " ".join(message.split())
