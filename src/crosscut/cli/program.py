"""The program `crosscut`: its commands and its handling of errors."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import NoReturn

# No BLAS is used here, and its idle threads would cost more processor time than a small table.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click

import crosscut
from crosscut.cli.failure import WRONG_OPTION, Failure
from crosscut.extensions import COMMANDS, extensions, hint

# imported on demand: `crosscut --version` and misspelt commands need neither scikit-learn nor pyarrow
_MODULES = {
    "cv": "crosscut.cli.cv",
    "compare": "crosscut.cli.compare",
    "rules": "crosscut.cli.rules",
    "show": "crosscut.cli.show",
    "open": "crosscut.cli.show",
    "predict": "crosscut.cli.predict",
}
_SYNONYMS = dict.fromkeys(("fit", "train", "tree", "grow", "learn", "crossval", "cross-validate"), "cv") | {
    "report": "show",
    "export": "show",
    "print": "show",
    "apply": "predict",
    "score": "predict",
}


EPILOG = """
Exit codes: 0 success, 1 internal error, 2 wrong option, 3 unreadable file, 4 unsuitable data, 5 damaged model
file, 6 result that cannot be written.
"""


class Program(click.Group):
    """The commands of crosscut and of installed extensions, which are imported on demand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments as they were typed, for reports, and parse them."""
        ctx.meta["arguments"] = list(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *_MODULES, *extensions(COMMANDS)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by name."""
        if cmd_name in _MODULES:
            command: click.Command = getattr(
                import_module(_MODULES[cmd_name]), "open_command" if cmd_name == "open" else cmd_name
            )
            return command
        if cmd_name not in extensions(COMMANDS):
            return super().get_command(ctx, cmd_name)
        try:
            command = extensions(COMMANDS)[cmd_name].load()
        except ImportError as error:
            return _unavailable(cmd_name, str(error))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command to call; suggest another if there is none of this name."""
        name = args[0]
        if name not in self.list_commands(ctx) and not name.startswith("-"):
            _unknown(name, self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def _unknown(name: str, known: list[str]) -> NoReturn:
    if Path(name).exists() or Path(name).suffix:
        advice = f"to grow a tree on a file, use crosscut cv {name} --target COLUMN"
    else:
        near = [_SYNONYMS[name]] if name in _SYNONYMS else get_close_matches(name, known, 1)
        advice = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(known)}"
    raise Failure(f"there is no command {name!r}; {advice}", WRONG_OPTION)


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


program.add_command(relational)


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
