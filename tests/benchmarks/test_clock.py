"""Jobs take turns; how often is decided by processor time and the given bounds."""

from clock import take_turns


def test_jobs_take_turns():
    order = []
    jobs = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    times = take_turns(jobs, seconds=0.0, min_runs=3, max_runs=5)
    assert order == ["a", "b"] * 3
    assert len(times["a"].wall) == len(times["a"].cpu) == 3
    assert times["a"].as_dict()["repetitions"] == 3
    assert times["a"].spread >= 1.0


def test_repetitions_are_bounded():
    assert len(take_turns({"a": int}, seconds=1e9, min_runs=1, max_runs=4)["a"].wall) == 4
