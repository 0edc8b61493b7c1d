"""Fixtures of scikit-learn's suite, and what of it does not apply."""

import pytest
from sklearn.conftest import hide_available_pandas, pyplot  # noqa: F401

from .not_applicable import NOT_APPLICABLE


@pytest.fixture
def global_random_seed():
    return 42


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
