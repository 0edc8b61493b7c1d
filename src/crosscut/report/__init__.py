"""A fit explained: ``summarize`` makes a plain dict of it, and `write_page` a page of that."""

from crosscut.report.summary import summarize
from crosscut.report.tree_page import notebook_html, write_report

__all__ = ["notebook_html", "summarize", "write_report"]
