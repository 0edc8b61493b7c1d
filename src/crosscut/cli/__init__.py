"""The command line: one module per command."""

from crosscut.cli.program import main

__all__ = ["main"]
