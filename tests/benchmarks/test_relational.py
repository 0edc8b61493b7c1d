"""The paper's experiment in small: every procedure gives the same trees, and counts what it did."""

from functools import partial

import pytest

relational, data = (pytest.importorskip(f"paper.{name}") for name in ("relational", "data"))


@pytest.fixture(scope="module")
def pictures():
    return relational.Problem("pictures", partial(data.bongard, "complex", 120, 0.1), "CB")


def test_procedures_agree_and_share_more_and_more(pictures):
    found = relational.measure(pictures, n_folds=5, seconds=0.0)
    assert found.same_trees
    assert found.evaluations["serial"] > found.evaluations["paper"] > found.evaluations["crosscut"]
    assert found.evaluations["serial"] > found.evaluations["apart"] > found.evaluations["crosscut"]
    assert found.f[0] == 1.0
    assert max(found.f) <= 6.0


def test_work_of_stable_levels_is_done_once():
    stable = relational.Problem("stable", partial(data.bongard, "simple"))
    assert relational.measure(stable, n_folds=10, seconds=0.0).f == [1.0] * 3


def test_levels_reach_the_requested_depth(pictures):
    found = relational.levels(pictures, n_folds=3, deepest=2, seconds=0.0)
    assert len(found.f) == 2
    assert all(len(seconds) == 2 for seconds in found.seconds.values())
    assert 1.0 <= found.predicted <= 4.0


def test_ace_files_are_found(tmp_path):
    (tmp_path / "machines").mkdir()
    prefix = tmp_path / "machines" / "mach"
    prefix.with_suffix(".s").write_text("predict(machine(+m,-a)). rmode(worn(+M,+-P)).")
    prefix.with_suffix(".kb").write_text(
        "machine(1,ok). machine(2,fix). worn(2,gear). machine(3,ok). machine(4,ok)."
    )
    (tmp_path / "other.s").write_text("")
    (problem,) = relational.problems_in(tmp_path)
    assert problem.name == "machines/mach"
    assert problem.row == "Mach"
    assert relational.measure(problem, seconds=0.0).n_examples == 4
