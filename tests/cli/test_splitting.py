import csv
import json

import numpy as np
import pytest

from crosscut import TreeClassifier
from crosscut.cli.failure import UNSUITABLE
from crosscut.cli.splitting import Splits

from .calls import call, refused


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """120 visits, the latest first, of 30 patients in 4 clinics."""
    random = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("data") / "visits.csv"
    lines = ["day,patient,clinic,value,ill"]
    for k in range(120):
        value = random.normal()
        ill = "yes" if value + 0.5 * random.normal() > 0 else "no"
        lines.append(f"2024-{5 - k // 30:02}-{28 - k % 28:02},p{k % 30},c{k % 4},{value:.3f},{ill}")
    path.write_text("\n".join(lines) + "\n")
    return path


def held_out(path, *options, tmp_path):
    """Fold of every row by its number, and the result."""
    oof = tmp_path / "oof.csv"
    result = call("cv", path, "-t", "ill", "--oof", oof, "--json", *options)
    assert result.exit_code == 0, result.output
    with oof.open() as file:
        return {int(line["row"]): int(line["fold"]) for line in csv.DictReader(file)}, json.loads(
            result.stdout
        )


def test_a_column_names_the_folds(visits, tmp_path):
    folds, told = held_out(visits, "--folds-column", "clinic", tmp_path=tmp_path)
    assert folds == {row: 1 + (row - 1) % 4 for row in range(1, 121)}
    assert "clinic" not in [column["name"] for column in told["data"]["columns"]]
    assert "cv=PredefinedSplit(folds)" in told["code"]


def test_time_holds_out_what_comes_later(visits, tmp_path):
    folds, told = held_out(visits, "--cv", "time", "--folds", "5", tmp_path=tmp_path)
    assert folds == {
        row: (row - 1) // 20 for row in range(21, 121)
    }  # 20 rows of 6 parts; the first only trains
    assert told["cv"]["rows_by_fold"] == [20] * 5
    by_day, told = held_out(visits, "--time", "day", "--folds", "5", tmp_path=tmp_path)
    days = [line.split(",")[0] for line in visits.read_text().splitlines()[1:]]
    latest = sorted(range(120), key=lambda row: days[row])
    assert by_day == {row + 1: place // 20 for place, row in enumerate(latest) if place >= 20}
    assert "day" in [
        column["name"] for column in told["data"]["columns"]
    ]  # a tree may ask when something was


def test_the_trees_are_those_of_the_same_folds_in_python(visits, tmp_path):
    from crosscut import read_file, split_target

    X, y = split_target(read_file(visits), "ill")
    marks = np.arange(120) % 4
    splits = [(np.flatnonzero(marks != k), np.flatnonzero(marks == k)) for k in range(4)]
    model = TreeClassifier(cv=splits, prune="1se").fit(X.drop_columns(["clinic"]), y)
    _, told = held_out(visits, "--folds-column", "clinic", tmp_path=tmp_path)
    assert told["cv"]["score"] == pytest.approx(model.cv_score_)


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (("--folds-column", "ill"), "it is the target", UNSUITABLE),
        (("--folds-column", "value"), "distinct values", UNSUITABLE),
        (("--folds-column", "clinic", "--folds", "3"), "cannot be combined with --folds-column", 2),
        (("--cv", "time", "--groups", "patient"), "cannot be combined with --cv time", 2),
        (("--cv", "time", "--folds", "200"), "too many for 120 rows", UNSUITABLE),
        (("--time", "nowhere"), "nowhere", UNSUITABLE),
    ],
)
def test_what_does_not_go_together(visits, options, message, code):
    result = call("cv", visits, "-t", "ill", *options)
    assert result.exit_code == code
    assert message in result.stderr
    if code == UNSUITABLE:
        refused(result, code)


def test_splits_are_a_splitter():
    rows = (np.array([0, 1]), np.array([2]))
    splits = Splits("made by hand", [rows])
    assert list(splits.split()) == [rows]
    assert splits.get_n_splits() == 1
    assert repr(splits) == "made by hand"
