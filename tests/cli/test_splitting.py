import csv
import json

import click
import numpy as np
import pytest

from crosscut import TreeClassifier
from crosscut.cli.failure import UNSUITABLE
from crosscut.cli.source import read_source
from crosscut.cli.splitting import Splits, splitter

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


def test_time_holds_out_later_rows(visits, tmp_path):
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
        (("--cv", "time", "--repeats", "2"), "cannot be combined with --cv time", 2),
        (("--gap", "3"), "--gap is for --cv time", 2),
        (("--cv", "time", "--gap", "500"), "--gap 500 is too many", UNSUITABLE),
        (("--cv", "time", "--groups", "clinic"), "leaves no row to train on", UNSUITABLE),
        (("--cv", "time", "--folds", "200"), "too many for 120 rows", UNSUITABLE),
        (("--time", "nowhere"), "nowhere", UNSUITABLE),
    ],
)
def test_conflicting_options(visits, options, message, code):
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


def training_rows(visits, **options):
    """Fit on the folds of these options; return the day and patient of training and held-out rows."""
    source = read_source(
        str(visits), "ill", time="day", groups="patient" if options.pop("groups", False) else None
    )
    with click.Context(click.Command("cv")):
        cv = splitter(source, cv="time", folds=5, repeats=1, seed=0, **options)
    rows = [line.split(",") for line in visits.read_text().splitlines()[1:]]
    return [([rows[i] for i in train], [rows[i] for i in test]) for train, test in cv.split()]


def test_a_gap_is_left_between_training_and_held_out_rows(visits):
    plain, with_gap = training_rows(visits), training_rows(visits, gap=7)
    assert [len(a) - len(b) for (a, _), (b, _) in zip(plain, with_gap, strict=True)] == [7] * 5
    for train, test in with_gap:
        assert max(row[0] for row in train) < min(row[0] for row in test)


def test_groups_and_time_train_on_earlier_rows_of_other_groups(visits):
    for train, test in training_rows(visits, groups=True):
        assert max(row[0] for row in train) <= min(row[0] for row in test)
        assert not {row[1] for row in train} & {row[1] for row in test}
