"""Make the pictures of docs/gallery: run the code of each page, and save the figure that it draws last."""

import doctest
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot as plt

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"


def main(names: list[str]) -> None:
    """Make the pictures of these pages, by default of all."""
    for page in sorted(GALLERY.glob("*.md")):
        if page.stem == "index" or (names and page.stem not in names):
            continue
        space: dict[str, object] = {}
        code = "".join(example.source for example in doctest.DocTestParser().get_examples(page.read_text()))
        exec(compile(code, page.name, "exec"), space)  # noqa: S102, our own pages
        figure = space["ax"].figure
        figure.savefig(GALLERY / f"{page.stem}.svg", metadata={"Date": None})
        plt.close("all")
        print(page.stem)


if __name__ == "__main__":
    mpl.rcParams |= {"svg.hashsalt": "crosscut", "svg.fonttype": "none"}
    main(sys.argv[1:])
