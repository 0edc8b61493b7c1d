import json

from crosscut import compare, load_model

from .calls import call, refused
from .test_cv import CHURN


def test_settings_are_compared_with_the_best_on_the_same_folds():
    done = call("compare", CHURN, "-t", "churned", "--max-depth", "1,2,none", "--prune", "none")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert any(line.startswith("\u25ba") for line in lines)
    assert sum("--max-depth 1" in line for line in lines) >= 2
    assert "the 90% interval of the difference is" in " ".join(done.stdout.split())


def test_saved_models_are_compared(tmp_path):
    for depth in (1, 3):
        call(
            "cv",
            CHURN,
            "-t",
            "churned",
            "--max-depth",
            depth,
            "--prune",
            "none",
            "--save",
            tmp_path / f"{depth}",
        )
    found = json.loads(call("compare", tmp_path / "1", tmp_path / "3", "--json").stdout)
    expected = compare(load_model(tmp_path / "1"), load_model(tmp_path / "3"))
    best, other = found["best"], next(one for one in found["models"] if one["name"] != found["best"])
    assert best == str(tmp_path / ("1" if expected.difference <= 0 else "3"))
    assert other["difference"] == abs(expected.difference)
    assert other["distinguishable"] == (expected.better is not None)
    for method, (low, high) in other["interval"].items():
        assert {abs(low), abs(high)} == {abs(end) for end in expected.interval(0.9, method)}


def test_refusals(tmp_path):
    call("cv", CHURN, "-t", "churned", "--save", tmp_path / "a")
    call("cv", CHURN, "-t", "churned", "--folds", "5", "--save", tmp_path / "b")
    assert "same folds" in refused(call("compare", tmp_path / "a", tmp_path / "b"), 4)
    assert "nothing to compare" in refused(call("compare", tmp_path / "a"), 4)
    assert "nothing to compare" in refused(call("compare", CHURN, "-t", "churned"), 4)
    assert "but 2 were given" in refused(call("compare", CHURN, CHURN, "-t", "churned"), 4)
    assert "--max-depth" in call("compare", tmp_path / "a", tmp_path / "b", "--max-depth", "3").stderr
    spaced = refused(call("compare", CHURN, "-t", "churned", "--max-depth", "3", "5"), 4)
    assert "separate settings by commas" in spaced


def test_models_that_err_alike_are_called_the_same():
    done = call("compare", CHURN, "-t", "churned", "--max-depth", "6,7", "--prune", "1se")
    assert "have the same error rate" in done.stdout
    assert "same on every row" in done.stdout
