"""Pages say the same in Markdown and HTML."""

from paper.page import Page


def test_page(tmp_path):
    page = Page("A & B")
    page.heading("Part")
    page.paragraph("x < y in **bold** and `code`")
    page.table(["a", "b"], [["1", "2"]])
    page.figure("drawing", "<svg></svg>", "a drawing")
    file = page.write(tmp_path / "new", "page")
    html = file.read_text()
    assert "<h1>A &amp; B</h1>" in html
    assert "x &lt; y in <b>bold</b> and <code>code</code>" in html
    assert "<td>1</td><td>2</td>" in html
    assert "<svg></svg>" in html
    assert (tmp_path / "new" / "drawing.svg").read_text() == "<svg></svg>"
    assert "![a drawing](drawing.svg)" in (tmp_path / "new" / "page.md").read_text()
