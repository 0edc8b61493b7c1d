import webbrowser

import pytest

from .calls import call
from .test_cv import CHURN


@pytest.fixture
def opened(monkeypatch):
    """Addresses that a browser is asked to open."""
    found = []
    monkeypatch.setattr(webbrowser, "open", lambda address: found.append(address) or True)
    return found


def test_a_result_a_page_and_a_model_are_opened(opened, tmp_path):
    page, model = tmp_path / "r.html", tmp_path / "m.crosscut"
    options = ("-t", "churned", "--folds", "3", "--max-depth", "2")
    assert call("cv", CHURN, *options, "--report", page, "--save", model, "--open").exit_code == 0
    assert call("open", page).exit_code == 0
    assert opened == [page.as_uri()] * 2
    result = call("open", model)
    assert result.exit_code == 0, result.output
    assert opened[2].endswith("/m.html")
    assert opened[2].removeprefix("file://") in result.stderr
    assert call("cv", CHURN, *options, "--open").exit_code == 0  # a page of its own
    assert opened[3].endswith("/churn.html")


def test_without_a_browser_the_place_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    page = tmp_path / "r.html"
    page.write_text("<p>")
    assert f"the report is {page}" in call("open", page).stderr


def test_what_is_neither_page_nor_model(opened, tmp_path):
    (tmp_path / "x").write_text("no model")
    assert call("open", tmp_path / "x").exit_code == 5
    assert call("open", tmp_path / "absent.html").exit_code == 2
    assert opened == []
