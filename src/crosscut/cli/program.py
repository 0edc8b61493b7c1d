"""The program `crosscut`: its commands and its handling of errors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

import crosscut
from crosscut.cli.compare import compare
from crosscut.cli.cv import cv
from crosscut.cli.failure import WRONG_OPTION, Failure
from crosscut.cli.predict import predict
from crosscut.cli.rules import rules
from crosscut.cli.saved_models import read_model_file
from crosscut.cli.show import show, write_model_report
from crosscut.cli.terminal import page_path, show_page
from crosscut.extensions import COMMANDS, extensions, hint


@click.command("open", short_help="Open a report or a saved model in a browser.")
@click.argument("file", type=click.Path(path_type=Path))
def open_command(file: Path) -> None:
    """Open FILE in a browser: an HTML report, or a model file, whose report is written to a new folder.

    The page needs no server: select a node, change the size of the tree, enter a row.
    """
    if file.suffix.lower() in {".html", ".htm"}:
        if not file.is_file():
            raise click.BadParameter(f"{str(file)!r} is not a file", param_hint="FILE")
        show_page(file)
        return
    fitted, target = read_model_file(file)
    path = page_path(None, True, file.name)
    assert path is not None
    write_model_report(file, fitted, target, path)
    show_page(path)


EPILOG = """
Exit codes: 0 success, 1 internal error, 2 wrong option, 3 unreadable file, 4 unsuitable data, 5 damaged model
file, 6 result that cannot be written.
"""


class Program(click.Group):
    """The commands of crosscut and of installed extensions, which are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *extensions(COMMANDS)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name."""
        if cmd_name not in extensions(COMMANDS):
            return super().get_command(ctx, cmd_name)
        try:
            command: click.Command = extensions(COMMANDS)[cmd_name].load()
        except ImportError as error:
            return _unavailable(cmd_name, str(error))
        return command


def _unavailable(name: str, reason: str) -> click.Command:
    """Return a command in place of one that cannot be imported, so that the others still work."""

    def fail(**_: object) -> None:
        raise Failure(f"crosscut {name} cannot be loaded: {reason}; install its package again", 1)

    arguments: list[click.Parameter] = [click.Argument(["arguments"], nargs=-1)]
    return click.Command(
        name,
        callback=fail,
        params=arguments,
        short_help="Cannot be loaded.",
        context_settings={"ignore_unknown_options": True},
    )


@click.group(
    cls=Program, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}, epilog=EPILOG
)
@click.version_option(crosscut.__version__, package_name="crosscut", message="crosscut %(version)s")
def program() -> None:
    """Cross-validated decision trees for the price of one."""


@click.command(
    short_help="Learn from linked tables: pip install crosscut-relational.",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("arguments", nargs=-1)
def relational(**_: object) -> None:
    """Explain how to install `crosscut relational`."""
    raise Failure(hint("crosscut relational"), WRONG_OPTION)


for command in (cv, compare, rules, relational, show, open_command, predict):
    program.add_command(command)


def main() -> None:
    """Run the program; an unexpected exception becomes one line that says how to see its traceback."""
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
