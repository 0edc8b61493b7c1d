"""Fixtures of scikit-learn's suite, what of it does not apply, and how often each test grows our trees."""

from collections import Counter

import pytest
from sklearn.conftest import hide_available_pandas, pyplot  # noqa: F401

from crosscut import _core

from .not_applicable import NOT_APPLICABLE

GROWTHS = "growths"


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(autouse=True)
def _count_growths(record_property, monkeypatch):
    """Remember how often the test grew trees of crosscut's."""
    grow, grown = _core.grow, []

    def counted(*arguments, **options):
        forest = grow(*arguments, **options)
        grown.append(1)
        return forest

    monkeypatch.setattr(_core, "grow", counted)
    yield grown
    record_property(GROWTHS, len(grown))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that grows no tree of ours says nothing about ours, so it does not count as passed."""
    report = yield
    grown = item.funcargs.get("_count_growths") if hasattr(item, "funcargs") else None
    if report.when == "call" and report.passed and grown == []:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "Skipped: grows no tree of crosscut's")
    return report


def pytest_terminal_summary(terminalreporter):
    """Say of each file how many tests grew trees of ours, how often, and how many grew none."""
    tests, growths = Counter(), Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            name = getattr(report, "nodeid", "").partition("::")[0]
            if "sklearn_suite" not in name or not hasattr(report, "when"):
                continue
            if report.when == "call":
                tests[name, report.outcome] += 1
            if report.when == "teardown":
                growths[name] += dict(report.user_properties).get(GROWTHS, 0)
    for name in sorted({name for name, _ in tests}):
        counts = {outcome: tests[name, outcome] for outcome in ("passed", "failed", "skipped")}
        terminalreporter.write_line(f"{name}: {counts}, {growths[name]} growths")


def pytest_collection_modifyitems(items):
    for item in items:
        suite = item.path.stem
        if item.path.parent.name != "sklearn_suite" or suite not in NOT_APPLICABLE:
            continue
        item.add_marker(pytest.mark.slow)
        item.add_marker(pytest.mark.filterwarnings("ignore::crosscut.DelegationWarning"))
        listed = NOT_APPLICABLE[suite]
        reason = listed.get(item.name) or listed.get(item.name.split("[")[0])
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: scikit-learn's mark; means nothing here")
