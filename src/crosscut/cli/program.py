"""The program `crosscut`: its commands, and what happens to errors."""

from __future__ import annotations

import os
import sys

import click

import crosscut
from crosscut.cli.compare import compare
from crosscut.cli.cv import cv
from crosscut.cli.failure import Failure
from crosscut.cli.open import open_command
from crosscut.cli.predict import predict
from crosscut.cli.relational import relational
from crosscut.cli.reproduce import reproduce
from crosscut.cli.rules import rules
from crosscut.cli.show import show

EPILOG = """
Exit codes: 0 done, 1 an error of crosscut itself, 2 a wrong option, 3 a file that cannot be read, 4 data no
tree can be grown on, 5 a damaged model file, 6 a result that cannot be written.
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "show_default": True}, epilog=EPILOG)
@click.version_option(crosscut.__version__, package_name="crosscut", message="crosscut %(version)s")
def program() -> None:
    """Cross-validated decision trees for the price of one."""


for command in (cv, compare, rules, relational, show, open_command, predict, reproduce):
    program.add_command(command)


def main() -> None:
    """Run the program; errors the user can fix are one line, others say how to see more."""
    try:
        program(prog_name="crosscut")
    except Exception as error:
        if os.environ.get("CROSSCUT_TRACEBACK"):
            raise
        kind = type(error).__name__
        Failure(
            f"unexpected {kind}: {error}; please report this (CROSSCUT_TRACEBACK=1 shows where it happened)",
            1,
        ).show()
        sys.exit(1)
