"""The report in a real browser; skipped where there is none."""

import base64
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from crosscut import RelationalRuleClassifier, RelationalTreeClassifier, TreeClassifier, datasets
from crosscut.data.files import split_target

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no browser: chromium and chromedriver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="no browser: selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "no-first-run",
        "disable-dev-shm-usage",
        "window-size=1200,1400",
        f"user-data-dir={tmp_path_factory.mktemp('profile')}",
    ):
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # without the sanitizer of `make sanitize`
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER, env=environment))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    X, y = split_target(datasets.churn(), "churned")
    path = tmp_path_factory.mktemp("report") / "churn.html"
    TreeClassifier(random_state=0).fit(X, y).report(path, target="churned")
    return path


@pytest.fixture
def opened(browser, page):
    browser.get_log("browser")
    browser.get(page.as_uri())
    yield browser
    said = [entry for entry in browser.get_log("browser") if entry["level"] in {"SEVERE", "WARNING"}]
    assert said == []


def rows(browser, selector=".row"):
    return [
        row for row in browser.find_elements("css selector", f"#forest-tree {selector}") if row.is_displayed()
    ]


def test_a_fork_opens_and_closes(opened):
    opened.find_element("id", "collapse").click()
    (root,) = rows(opened)
    assert root.get_attribute("aria-expanded") == "false"
    assert "fork" in root.get_attribute("class")
    root.click()
    below = rows(opened)[1:]
    assert len(below) >= 2
    assert all("?" in row.text for row in below)
    root.click()
    assert len(rows(opened)) == 1


def test_one_fold_is_highlighted(opened):
    from selenium.webdriver.support.select import Select

    Select(opened.find_element("id", "highlight")).select_by_visible_text("fold 3")
    lit, dim = rows(opened, ".row.lit"), rows(opened, ".row.dim")
    assert lit
    assert dim
    assert all("3" in row.get_attribute("data-tasks").split() for row in lit)
    assert not any("3" in row.get_attribute("data-tasks").split() for row in dim)
    Select(opened.find_element("id", "highlight")).select_by_index(0)
    assert not rows(opened, ".row.lit")


def test_the_keyboard_is_enough(opened):
    from selenium.webdriver.common.keys import Keys

    opened.find_element("id", "collapse").click()
    root = rows(opened)[0]
    opened.execute_script("arguments[0].focus()", root)
    root.send_keys(Keys.ARROW_RIGHT)
    assert len(rows(opened)) > 1
    opened.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert opened.switch_to.active_element == rows(opened)[1]
    opened.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    opened.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
    assert len(rows(opened)) == 1


def test_pointing_at_a_node_shows_its_rows_in_each_fold(opened):
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(opened).move_to_element(rows(opened)[0]).perform()
    told = opened.find_element("id", "detail").text
    assert "final tree" in told
    assert "fold 10" in told
    assert "800" in told


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_colour_schemes(opened, scheme, tmp_path):
    opened.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    colour = opened.execute_script("return getComputedStyle(document.body).backgroundColor")
    brightness = np.mean([int(part) for part in colour.strip("rgb()").split(",")])
    assert (brightness > 128) == (scheme == "light")
    folder = Path(os.environ.get("CROSSCUT_SCREENSHOTS", tmp_path))  # set it to look at them
    assert opened.save_screenshot(str(folder / f"report-{scheme}.png"))


def test_nothing_is_wider_than_the_page(opened):
    for width in (1200, 420):
        opened.set_window_size(width, 1400)
        inner = opened.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
        assert inner[0] <= inner[1]
    opened.set_window_size(1200, 1400)


def test_other_pages_fit_the_window_too(browser, tmp_path):
    database, bias = datasets.bongard("complex", n=100, noise=0.1)
    RelationalRuleClassifier(bias, cv=4).fit(database).report(tmp_path / "rules.html")
    RelationalTreeClassifier(bias, cv=4).fit(database).report(tmp_path / "tree.html")
    for name in ("rules", "tree"):
        browser.get((tmp_path / f"{name}.html").as_uri())
        browser.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
        for width in (1200, 420):
            browser.set_window_size(width, 1400)
            inner = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
            assert inner[0] <= inner[1]
    browser.set_window_size(1200, 1400)


def test_a_few_sheets_of_paper_are_enough(opened):
    printed = opened.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    pdf = base64.b64decode(printed["data"])
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 6


def test_the_highlighted_tree_speaks_for_itself(opened):
    from selenium.webdriver.support.select import Select

    opened.find_element("id", "expand").click()
    said = {}
    for task in ("", "1"):
        Select(opened.find_element("id", "highlight")).select_by_value(task)
        said[task] = [row.text for row in rows(opened, ".row.leaf")]
    Select(opened.find_element("id", "highlight")).select_by_index(0)
    assert len(said[""]) == len(said["1"])
    assert said[""] != said["1"]
