"""Every change of docs/from-scikit-learn.md gives the same numbers before and after."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

PAGE = Path(__file__).parents[1] / "docs" / "from-scikit-learn.md"
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def changes():
    """Return the preparation, and for every change the code before and after it."""
    preparation, *blocks = BLOCK.findall(PAGE.read_text())
    assert preparation[0] == "python"
    found, lines = [], {"-": [], "+": []}
    for kind, text in blocks:
        if kind == "diff":
            for line in text.splitlines():
                lines[line[0]].append(line[2:])
        else:
            lines["-"].append(text)
            lines["+"].append(text)
        if "result = " in text:
            found.append(("\n".join(lines["-"]), "\n".join(lines["+"])))
            lines = {"-": [], "+": []}
    assert lines == {"-": [], "+": []}
    return preparation[1], found


PREPARATION, CHANGES = changes()


@pytest.mark.parametrize("tree", [DecisionTreeClassifier(), DecisionTreeRegressor()])
def test_every_parameter_is_in_the_table(tree):
    _, _, table = PAGE.read_text().partition("## Every parameter")
    first_cells = [
        line.split("|")[1] for line in table.partition("And what else")[0].splitlines() if "|" in line
    ]
    for name in tree.get_params():
        assert any(re.search(rf"`{name}\b", cell) for cell in first_cells), name


def run(code):
    names = {}
    exec(PREPARATION + code, names)
    return names["result"]


def numbers(result):
    if isinstance(result, dict):
        kept = {key: value for key, value in result.items() if not key.endswith("_time")}
        return {key: value for key, value in kept.items() if np.asarray(value).dtype.kind in "fi"}
    return {"result": result}


def test_the_page_has_every_drop_in():
    after = "\n".join(code for _, code in CHANGES)
    names = ("cross_validate", "cross_val_score", "cross_val_predict", "GridSearchCV", "RandomizedSearchCV")
    names += ("learning_curve", "permutation_test_score", "RFECV")
    for name in (*names, "validation_curve", "nested_cross_validate", "TreeRegressor"):
        assert f"from crosscut import {name}\n" in after


@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_same_numbers(before, after):
    assert "sklearn" in before
    assert "crosscut" in after
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours, theirs = numbers(run(after)), numbers(run(before))
    assert list(ours) == list(theirs)
    for key, expected in theirs.items():
        if key.startswith("rank_"):  # see "Ranks of equal candidates"
            continue
        np.testing.assert_allclose(ours[key], expected, rtol=1e-12, atol=1e-12, err_msg=key)
