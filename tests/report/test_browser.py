"""The report in a real browser; skipped where there is none."""

import base64
import os
import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from crosscut import TreeClassifier, TreeRegressor, datasets
from crosscut.data.files import split_target
from crosscut.forest.predict import apply
from crosscut.forest.tree import decisions
from crosscut.report.stability import aligned

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
SMALLEST = """
return Math.min(...[...document.querySelectorAll('body *')].filter((e) => e.checkVisibility()
  && !['TITLE', 'SCRIPT', 'STYLE', 'title'].includes(e.tagName)
  && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())).map((e) => {
    const scale = e.ownerSVGElement ? Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b) : 1;
    return parseFloat(getComputedStyle(e).fontSize) * scale;
  }))"""
AUDIT = Path(__file__).with_name("audit.js").read_text()
EACH = [
    "classes",
    "numbers",
    "large",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("twenty", "wide")),
]


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


def tables():
    """Return two classes, numbers, twenty classes, a large tree, and two hundred columns with long names."""
    random = np.random.default_rng(0)
    churn = split_target(datasets.churn(), "churned")
    x = random.normal(size=(800, 4))
    code = np.argsort(np.argsort(x[:, 0])) * 20 // 800
    names = np.array([f"kind {chr(65 + k)} of animals" for k in range(20)])
    wide = random.normal(size=(300, 200))
    named = {f"measurement {k} of a sensor with a long name": wide[:, k] for k in range(200)}
    return {
        "classes": (TreeClassifier(prune="best", random_state=0), *churn),
        "numbers": (
            TreeRegressor(prune="best", max_depth=4),
            x,
            x[:, 0] * 100 + 20 * random.normal(size=800),
        ),
        "twenty": (TreeClassifier(cv=5, prune="1se"), x, names[code]),
        "large": (TreeClassifier(cv=5, min_samples_leaf=2), x, long_names(x, random)),
        "wide": (TreeClassifier(cv=5, max_depth=4), pa.table(named), wide[:, 7] + wide[:, 190] > 0.3),
    }


def long_names(x, random):
    """Return three classes with long names, of which some noise makes a tree of about 200 leaves."""
    names = np.array(["at most 30,000 dollars", "between 30,000 and 50,000", "more than 50,000 dollars"])
    return names[np.digitize(x[:, 0] + x[:, 1] ** 2 + 0.9 * random.normal(size=len(x)), [0.5, 1.5])]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return a function that gives the model, the table and the page of a name, made when first wanted."""
    folder, given = tmp_path_factory.mktemp("report"), tables()

    @cache
    def made(name):
        model, X, y = given[name]
        model.fit(X, y).report(folder / f"{name}.html", X=X, target=name)
        return model, X, folder / f"{name}.html"

    return made


def visit(browser, path, width=1280, scheme="light"):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("browser")
    browser.get(path.as_uri())


def keep_picture(browser, name):
    """Keep what the browser shows if a folder is named; set CROSSCUT_SCREENSHOTS to look at it."""
    folder = os.environ.get("CROSSCUT_SCREENSHOTS")
    if folder:
        shown = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        Path(folder, f"{name}.png").write_bytes(base64.b64decode(shown["data"]))


@pytest.mark.parametrize("name", EACH)
def test_nothing_overflows_collides_or_is_hard_to_read(browser, pages, name):
    for width, scheme in ((1280, "light"), (390, "light"), (1280, "dark")):
        visit(browser, pages(name)[2], width, scheme)
        browser.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert browser.execute_script(AUDIT) == [], (width, scheme)
        keep_picture(browser, f"{name}-{width}-{scheme}")
        said = [entry for entry in browser.get_log("browser") if entry["level"] in {"SEVERE", "WARNING"}]
        assert said == []


def test_the_first_screen_has_the_answer_and_the_tree(browser, pages):
    model, _, path = pages("classes")
    visit(browser, path)
    seen = "return arguments[0].getBoundingClientRect().top < innerHeight"
    for selector in ("h1", ".figure", ".lead", ".gauge", ".trust", "#drawing .node"):
        assert browser.execute_script(seen, browser.find_element("css selector", selector)), selector
    assert f"{100 * model.cv_score_:.0f} of 100" in browser.find_element("css selector", ".lead").text


@pytest.mark.parametrize("name", EACH)
def test_a_few_sheets_of_paper_are_enough(browser, pages, name):
    visit(browser, pages(name)[2])
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    pdf = base64.b64decode(printed["data"])
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= (18 if name == "large" else 9)
    folder = os.environ.get("CROSSCUT_SCREENSHOTS")
    if folder:
        Path(folder, f"{name}.pdf").write_bytes(pdf)
    media = "Emulation.setEmulatedMedia"
    browser.execute_cdp_cmd(media, {"media": "print"})
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 690, "height": 980, "deviceScaleFactor": 1, "mobile": False},
    )
    wrong, smallest = browser.execute_script(AUDIT), browser.execute_script(SMALLEST)
    browser.execute_cdp_cmd(media, {"media": ""})
    assert [each for each in wrong if not each.startswith("wider")] == []
    assert smallest >= 11.9, "12 pixels are 9 points"


def test_a_selected_node_shows_its_path_and_its_folds(browser, pages):
    from selenium.webdriver.common.keys import Keys

    visit(browser, pages("classes")[2])
    root, *others = browser.find_elements("css selector", "#drawing .node")
    root.click()
    told = browser.find_element("id", "detail").text
    assert "800 rows" in told
    assert "10" in told
    browser.execute_script("arguments[0].focus()", others[0])
    others[0].send_keys(Keys.ENTER)
    told = browser.find_element("id", "detail").text
    assert "Path to this node" in told
    assert others[0].get_attribute("aria-label").split(",")[0] in told


def test_the_size_changes_tree_error_and_confusion(browser, pages):
    from selenium.webdriver.common.keys import Keys

    model, _, path = pages("classes")
    visit(browser, path)
    slider = browser.find_element("id", "leaves")
    leaves = {model.get_n_leaves()}
    for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.END):
        slider.send_keys(key)
        said = browser.find_element("id", "size-result").text
        size = int(said.split()[0])
        row = int(np.flatnonzero(model.pruning_table_.n_leaves == size)[0])
        accuracy = model.fit_.validation.selection.before.pruned(model.pruning_table_, row).score
        assert f"correct for {100 * accuracy:.1f} of 100" in said
        cells = browser.find_elements("css selector", "#outcome td.right")
        right = sum(int(cell.text.replace(",", "")) for cell in cells)
        assert right / 800 == pytest.approx(accuracy)
        browser.execute_script("document.getElementById('expand').click()")
        drawn = browser.find_elements("css selector", "#drawing .node.leaf")
        assert len(drawn) == size
        leaves.add(size)
    assert len(leaves) >= 3
    browser.execute_script("document.getElementById('reset').click()")
    assert "(chosen)" in browser.find_element("id", "size-result").text


def click(browser, selector):
    browser.execute_script("arguments[0].click()", browser.find_element("css selector", selector))


def test_a_large_tree_opens_in_parts_that_can_be_read(browser, pages):
    from selenium.webdriver.common.keys import Keys

    model, _, path = pages("large")
    assert model.get_n_leaves() >= 150
    for width in (1280, 390):
        visit(browser, path, width)
        boxes = browser.find_elements("css selector", "#drawing .node")
        assert 5 <= len(boxes) <= 31
        text = "const t = document.querySelector('#drawing .condition'); return 12 * t.getScreenCTM().a"
        assert browser.execute_script(text) >= 9.5
        across = "const d = document.getElementById('drawing'); return d.scrollWidth - d.clientWidth"
        assert browser.execute_script(across) <= 1
        more = browser.find_element("css selector", "#drawing .node.more")
        assert more.get_attribute("aria-expanded") == "false"
        browser.execute_script("arguments[0].focus()", more)
        more.send_keys(Keys.ARROW_RIGHT)
        assert len(browser.find_elements("css selector", "#drawing .node")) == len(boxes) + 2
        browser.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
        assert len(browser.find_elements("css selector", "#drawing .node")) == len(boxes)
        click(browser, "#expand")
        leaves = browser.find_elements("css selector", "#drawing .node.leaf")
        assert len(leaves) == min(model.get_n_leaves(), 200)
        wide, high = (
            browser.find_element("css selector", "#drawing svg").size[name] for name in ("width", "height")
        )
        click(browser, "#zoom-in")
        assert browser.find_element("css selector", "#drawing svg").size["width"] > wide
        click(browser, "#fit")
        assert browser.find_element("css selector", "#drawing svg").size["height"] < high
        click(browser, "#collapse")
        assert len(browser.find_elements("css selector", "#drawing .node")) == len(boxes)


def test_two_fingers_zoom_and_one_tap_opens(browser, pages):
    visit(browser, pages("large")[2], 390)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5})
    try:
        drawing = browser.find_element("css selector", "#drawing")
        browser.execute_script("arguments[0].scrollIntoView({behavior: 'instant'})", drawing)
        wide = browser.find_element("css selector", "#drawing svg").size["width"]
        x, y = (drawing.rect["width"] / 2 + drawing.rect["x"], 200)

        def touch(kind, half=None):
            points = (
                [] if half is None else [{"x": x - half, "y": y, "id": 0}, {"x": x + half, "y": y, "id": 1}]
            )
            browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", 30)
        for half in (45, 60, 75, 90):
            touch("touchMove", half)
        touch("touchEnd")
        zoomed = browser.find_element("css selector", "#drawing svg").size["width"]
        assert zoomed > 1.5 * wide
        more = browser.find_element("css selector", "#drawing .node.more .toggle")
        before = len(browser.find_elements("css selector", "#drawing .node"))
        box = browser.execute_script(
            "arguments[0].scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});"
            "const r = arguments[0].getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]",
            more,
        )
        at = [{"x": box[0], "y": box[1], "id": 0}]
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": at})
        touch("touchEnd")
        assert len(browser.find_elements("css selector", "#drawing .node")) != before
    finally:
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_the_overview_shows_the_part_that_is_seen_and_moves_it(browser, pages):
    visit(browser, pages("large")[2])
    assert not browser.find_element("id", "map").is_displayed()
    click(browser, "#expand")
    assert browser.find_element("id", "map").is_displayed()
    seen = "return Number(document.getElementById('seen').getAttribute('y'))"
    assert browser.execute_script(seen) == 0
    browser.execute_script(
        "const m = document.getElementById('map'), r = m.getBoundingClientRect();"
        "m.setPointerCapture = () => {};"
        "m.dispatchEvent(new PointerEvent('pointerdown', {clientX: r.left, clientY: r.bottom}))"
    )
    assert browser.execute_script("return document.getElementById('drawing').scrollTop") > 1000


def test_crumbs_lead_back_along_the_path(browser, pages):
    visit(browser, pages("large")[2])
    click(browser, "#expand")
    browser.execute_script(
        "[...document.querySelectorAll('#drawing .node.leaf')].at(-1)"
        ".dispatchEvent(new MouseEvent('click', { bubbles: true }))"
    )
    crumbs = browser.find_elements("css selector", "#crumbs button")
    assert crumbs[0].text.endswith("All rows")
    assert len(crumbs) >= 2
    browser.execute_script("arguments[0].click()", crumbs[1])
    assert len(browser.find_elements("css selector", "#crumbs button")) == 2


@pytest.mark.parametrize("name", ["classes", "numbers"])
def test_cutting_a_node_shows_the_held_out_error_of_the_cut_tree(browser, pages, name):
    """Trees of all folds are cut in the same place and evaluated on the rows that they hold out."""
    model, X, path = pages(name)
    visit(browser, path)
    click(browser, "#expand")
    tree, cv = model.tree_, model.fit_.validation
    for node in (0, *tree.children_of(0)):
        if tree.feature[node] < 0:
            continue
        loss = 0.0
        places = aligned(model.forest_.trees)[node]
        for task in range(1, len(model.forest_)):
            rows = cv.rows[cv.row_start[task] : cv.row_start[task + 1]]
            fold = model.forest_[task]
            leaf = apply(fold, model.fit_.schema.matrix(X)[rows])
            if task in places:
                size = subtree(fold, places[task])
                leaf = np.where((leaf > places[task]) & (leaf < places[task] + size), places[task], leaf)
            predicted = decisions(fold.value, None)[leaf] if name == "classes" else fold.value[leaf, 0]
            loss += (
                (predicted != cv.y[rows]).sum() if name == "classes" else np.abs(predicted - cv.y[rows]).sum()
            )
        select(browser, node)
        shown = browser.find_element("css selector", ".what-if").text
        mean = loss / len(cv.rows)
        figure = (
            f"correct for {100 * (1 - mean) + 1e-9:.1f} of 100"  # JavaScript rounds halves up
            if name == "classes"
            else f"mean absolute error {mean:.4g}"
        )
        assert f"Without its subtree: {figure}" in shown
        folds = len(model.forest_) - 1
        assert (
            "All" if len(places) == folds else f"{len(places)} of {folds} fold trees have this node"
        ) in shown
        click(browser, "#detail button")
        assert (
            f"Cut at 1 node: {tree.n_leaves - leaves_below(tree, node) + 1} lea"
            in browser.find_element("id", "cut-result").text
        )
        assert figure in browser.find_element("id", "cut-result").text
        assert f" {tree.n_leaves - leaves_below(tree, node) + 1} rules, {figure}" in downloaded(browser)
        click(browser, "#undo")


def select(browser, node):
    """Select a node by its number in the final tree."""
    browser.execute_script(
        "const { tree } = JSON.parse(document.getElementById('page-data').textContent);"
        "const number = tree.nodes.findIndex((node) => node.final_node === arguments[0]);"
        "document.querySelector(`#drawing [data-node='${number}']`)"
        ".dispatchEvent(new MouseEvent('click', { bubbles: true }))",
        node,
    )


def downloaded(browser):
    """Return the rules that the link of the page downloads."""
    made = "const text = []; const own = Blob; window.Blob = class extends own {"
    made += " constructor(parts, type) { super(parts, type); window.lastBlob = parts.join(''); } };"
    browser.execute_script(f"if (!window.lastBlob) {{ {made} }}")
    click(browser, "#collapse")  # draws the tree and the rules again
    return browser.execute_script("return window.lastBlob")


def subtree(tree, node):
    """Return the number of nodes of a subtree."""
    return 1 + sum(subtree(tree, child) for child in tree.children_of(node))


def leaves_below(tree, node):
    return sum(leaves_below(tree, child) for child in tree.children_of(node)) or 1


def fill(browser, X, row):
    """Fill a row of a table into the form."""
    frame = X if hasattr(X, "column_names") else pa.table({f"x{f}": X[:, f] for f in range(X.shape[1])})
    for label in browser.find_elements("css selector", "#row label"):
        name = browser.execute_script("return arguments[0].firstChild.textContent", label)
        value = frame[name][row].as_py()
        field = label.find_element("css selector", "input, select")
        if field.tag_name == "select":
            shown = "" if value is None else {True: "true", False: "false"}.get(value, value)
            script = "const [f, t] = arguments; f.selectedIndex = [...f.options].findIndex(o => o.text === t)"
        else:
            shown = "" if value is None else repr(value)
            script = "arguments[0].value = arguments[1]"
        browser.execute_script(
            script + "; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", field, shown
        )


@pytest.mark.parametrize("name", ["classes", pytest.param("twenty", marks=pytest.mark.slow)])
def test_a_tried_row_gets_the_prediction_and_set_of_the_model(browser, pages, name):
    model, X, path = pages(name)
    visit(browser, path)
    for row in np.random.default_rng(1).choice(800, 8, replace=False).tolist():
        fill(browser, X, row)
        one = X.slice(row, 1) if hasattr(X, "slice") else X[[row]]
        assert browser.find_element("css selector", "#verdict .big").text == str(model.predict(one)[0])
        classes = model.classes_[model.predict_set(one)[0]]
        told = browser.find_element("css selector", "#verdict .set").text.split(": ")[1]
        assert told == ", ".join(str(c) for c in classes)
        lit = browser.find_elements("css selector", "#drawing .node.path")
        assert len(lit) == model.decision_path(one).nnz


def test_a_tried_row_gets_the_interval_of_the_model(browser, pages):
    model, X, path = pages("numbers")
    visit(browser, path)
    for row in range(8):
        fill(browser, X, row)
        told = browser.find_element("css selector", "#verdict .set")
        found = [float(told.get_attribute(f"data-{end}")) for end in ("low", "high")]
        assert found == pytest.approx(model.predict_interval(X[[row]], method="minmax")[0].tolist())


def test_words_are_explained_on_hover_and_focus(browser, pages):
    visit(browser, pages("classes")[2])
    term = browser.find_element("css selector", ".term")
    tip = term.find_element("css selector", ".tip")
    assert not tip.is_displayed()
    browser.execute_script("arguments[0].focus()", term)
    assert tip.is_displayed()


@pytest.mark.slow
def test_the_pages_of_rules_and_relational_trees_pass_too(browser, tmp_path):
    relational = pytest.importorskip("crosscut_relational")
    database, bias = pytest.importorskip("paper.data").bongard("complex", n=100, noise=0.1)
    relational.RelationalRuleClassifier(bias, cv=4).fit(database).report(tmp_path / "rules.html")
    relational.RelationalTreeClassifier(bias, cv=4).fit(database).report(tmp_path / "relational.html")
    for name in ("rules", "relational"):
        for width in (1280, 390):
            visit(browser, tmp_path / f"{name}.html", width)
            browser.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert browser.execute_script(AUDIT) == [], (name, width)
            keep_picture(browser, f"{name}-{width}")
