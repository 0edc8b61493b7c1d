"""Photograph the report in Chromium: `python examples/make_report_pictures.py [FOLDER]`."""

import base64
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from selenium import webdriver

from crosscut import TreeClassifier, read_file, split_target

HERE = Path(__file__).resolve().parent
CLICK = "document.querySelectorAll('.node')[1].dispatchEvent(new Event('click', {bubbles: true}))"
# name, width and height of the window, element to scroll to, and script to run first
PICTURES = (
    ("report-first", 1200, 760, "body", ""),
    ("report-node", 1200, 660, "#tree", CLICK),
    ("report-errors", 1200, 800, "#errors", ""),
    ("report-phone", 390, 800, "body", ""),
)


def photograph(page: Path, folder: Path) -> None:
    """Write one PNG file per picture."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for switch in ("headless", "no-sandbox", "hide-scrollbars"):
        options.add_argument(f"--{switch}")
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    for name, width, height, where, first in PICTURES:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(page.as_uri())
        browser.execute_script(f"{first}; document.documentElement.style.scrollBehavior = 'auto'")
        browser.execute_script("document.querySelector(arguments[0]).scrollIntoView()", where)
        shown = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        (folder / f"{name}.png").write_bytes(base64.b64decode(shown["data"]))
    browser.quit()


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "images"
    X, y = split_target(read_file(HERE / "churn.csv"), "churned")
    model = TreeClassifier(prune="1se", random_state=0).fit(X, y)
    with TemporaryDirectory() as made:
        model.report(Path(made, "churn.html"), X=X, target="churned")
        photograph(Path(made, "churn.html"), folder)
