import numpy as np
import pandas as pd
import pytest

from crosscut import RuleClassifier

duckdb = pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def frame():
    draw = np.random.default_rng(0)
    n = 300
    made = pd.DataFrame(
        {
            "a": draw.normal(size=n).round(3),
            'it\'s "b"': draw.choice(["x", "y'z", "w"], n),
            "c": draw.integers(0, 9, n).astype(float),
        }
    )
    made.loc[draw.random(n) < 0.1, "a"] = np.nan
    return made


@pytest.mark.parametrize("choice", [{}, {"ordered": False}, {"strategy": "ripper"}])
def test_sql_gives_what_predict_gives(frame, choice):
    y = np.where(
        (frame["a"] > 0.2) & (frame.iloc[:, 1] == "y'z"), "up", np.where(frame["c"] > 5, "o'n", "down")
    )
    flip = np.random.default_rng(1).random(len(y)) < 0.1
    y = np.where(flip, "up", y)
    model = RuleClassifier(cv=None, **choice).fit(frame, y)
    nulls = frame.astype(object).where(frame.notna(), None)
    table = duckdb.sql(
        f"select {model.to_sql()} as said from nulls"  # the expression is the thing under test
    )
    assert [row[0] for row in table.fetchall()] == model.predict(nulls.infer_objects()).tolist()


def test_text_has_coverage_and_out_of_fold_precision(frame):
    y = (frame["c"] > 4).astype(int)
    lines = RuleClassifier().fit(frame, y).to_text().splitlines()
    n = int((frame["c"] <= 4).sum())
    assert f"if c <= 4.5 then 0  [covers {n}, precision 1.000, out of fold 1.000 of {n}]" in lines
    assert lines[-1].startswith("else then 1")
