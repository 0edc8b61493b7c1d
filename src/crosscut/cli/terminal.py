"""Where output goes: results to the standard stream, everything else to the error stream."""

from __future__ import annotations

import sys

from rich.console import Console

PIPE_WIDTH = 120  # where there is no terminal to ask


def stdout() -> Console:
    """Return the console of results; plain text when it is not a terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def messages() -> Console:
    """Return the console of progress and remarks."""
    return Console(stderr=True, highlight=False)
