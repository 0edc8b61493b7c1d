"""A fitted tree explained: ``summarize`` makes a plain dict of it, ``html`` a page of that."""

from crosscut.report.html import write_report
from crosscut.report.notebook import notebook_html
from crosscut.report.summary import summarize

__all__ = ["notebook_html", "summarize", "write_report"]
