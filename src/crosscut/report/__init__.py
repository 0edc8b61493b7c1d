"""Reports on a fit: ``summarize`` makes a plain dict, and ``write_report`` an HTML page of it."""

from crosscut.report.summary import summarize
from crosscut.report.tree_page import notebook_html, write_report

__all__ = ["notebook_html", "summarize", "write_report"]
