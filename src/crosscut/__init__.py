"""Cross-validated decision trees for the price of one."""

__version__ = "0.1.0"
