"""A page of headings, paragraphs, tables and figures, written as Markdown and as one HTML file."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_STYLE = """
body { font: 15px/1.5 sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
figure { margin: 1rem 0; display: inline-block; } svg { max-width: 100%; height: auto; }
"""


@dataclass
class Page:
    """A page that is written part by part.

    Examples
    --------
    >>> page = Page("Title")
    >>> page.paragraph("Some **figures**.")
    >>> page.table(["data", "S"], [["SB", "9.2"]])
    >>> print(page.markdown())
    # Title
    <BLANKLINE>
    Some **figures**.
    <BLANKLINE>
    | data | S |
    | --- | --- |
    | SB | 9.2 |
    <BLANKLINE>
    """

    title: str
    _markdown: list[str] = field(default_factory=list)
    _html: list[str] = field(default_factory=list)
    _figures: dict[str, str] = field(default_factory=dict)

    def heading(self, text: str) -> None:
        """Start a section."""
        self._markdown.append(f"## {text}\n")
        self._html.append(f"<h2>{_inline(text)}</h2>")

    def paragraph(self, text: str) -> None:
        """Add a paragraph, with **bold** and `code`."""
        self._markdown.append(f"{text}\n")
        self._html.append(f"<p>{_inline(text)}</p>")

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table of texts."""
        lines = [columns, ["---"] * len(columns), *rows]
        self._markdown.append("".join(f"| {' | '.join(line)} |\n" for line in lines))
        head = "".join(f"<th>{_inline(cell)}</th>" for cell in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        self._html.append(f"<table><tr>{head}</tr>{body}</table>")

    def figure(self, name: str, svg: str, caption: str) -> None:
        """Add a figure; Markdown refers to it as a file beside the page."""
        self._figures[name] = svg
        self._markdown.append(f"![{caption}]({name}.svg)\n")
        self._html.append(f'<figure role="img" aria-label="{html.escape(caption)}">{svg}</figure>')

    def markdown(self) -> str:
        """Return the page as Markdown."""
        return f"# {self.title}\n\n" + "\n".join(self._markdown)

    def html(self) -> str:
        """Return the page as HTML, including its figures."""
        title = html.escape(self.title)
        body = "\n".join(self._html)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{title}</title><style>{_STYLE}</style></head>\n<body><h1>{title}</h1>\n{body}\n</body></html>\n"
        )

    def write(self, folder: Path, name: str) -> Path:
        """Write name.md, name.html and the figures; return the HTML file."""
        folder.mkdir(parents=True, exist_ok=True)
        for figure, svg in self._figures.items():
            (folder / f"{figure}.svg").write_text(svg, encoding="utf-8")
        (folder / f"{name}.md").write_text(self.markdown(), encoding="utf-8")
        file = folder / f"{name}.html"
        file.write_text(self.html(), encoding="utf-8")
        return file


def _inline(text: str) -> str:
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(text))
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)
