"""Errors that the user can fix: one line on the error stream, and an exit code for each kind."""

from __future__ import annotations

import contextlib
import re
from typing import IO, TYPE_CHECKING

import click

from crosscut.data.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# 1 is an internal error
WRONG_OPTION = 2  # click's code too; also for a command that is not installed
UNREADABLE = 3  # a file that is absent, empty or of another kind than its suffix
UNSUITABLE = 4  # data or columns on which no tree can be grown
NOT_A_MODEL = 5  # a damaged model file, or a file that is not a model
UNWRITABLE = 6  # a result that could not be written

MAX_CHARACTERS = 2000  # of a line of a message

# parameters that messages name, and the options that set them
_OPTIONS = {
    "cv": "folds",
    "sample_weight": "weights",
    "random_state": "seed",
    "n_jobs": "jobs",
    "min_samples_leaf": "min-leaf",
    "min_samples_split": "min-split",
    "min_impurity_decrease": "min-decrease",
}
_NAMES = (
    *("table", "separator", "decimal", "dates", "encoding", "header", "sheet"),
    *("scoring", "criterion", "prune", "class_weight", "loss", "max_bins", "max_depth", "groups", *_OPTIONS),
)
_ASSIGNED = re.compile(rf"\b({'|'.join(_NAMES)})=('[^']*'|\.\.\.|[\w.-]*\w)")
_FIRST = re.compile(rf"^({'|'.join(_NAMES)})\b(?= (?:must|is|names|has))")


def as_options(text: str) -> str:
    """Replace parameters such as ``dates='mdy'`` or ``cv=5`` in a message by options.

    >>> as_options("cv=5 exceeds the 4 rows; choose with dates='dmy' or encoding=...")
    '--folds 5 exceeds the 4 rows; choose with --dates dmy or --encoding NAME'
    """

    def option(name: str) -> str:
        return f"--{_OPTIONS.get(name, name).replace('_', '-')}"

    text = text.replace("header=False", "--no-header")
    text = _ASSIGNED.sub(lambda m: f"{option(m[1])} {m[2].strip(chr(39)).replace('...', 'NAME')}", text)
    return _FIRST.sub(lambda m: option(m[1]), text)


class Failure(click.ClickException):
    """An error the user can fix, shown as one line, and one more line for each of several problems."""

    def __init__(self, message: object, exit_code: int, problems: Sequence[str] = ()) -> None:
        lines = (str(message), *(f"  {problem}" for problem in problems))
        super().__init__("\n".join(_shown(line) for line in lines))
        self.exit_code = exit_code  # type: ignore[misc]  # click declares it for the class

    def show(self, file: IO[str] | None = None) -> None:
        """Print the message to the error stream."""
        click.echo(f"crosscut: {self.message}", err=True, file=file)


def _shown(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return indent + visible(" ".join(line.split()))[:MAX_CHARACTERS]


@contextlib.contextmanager
def failing_with(exit_code: int, prefix: str = "") -> Iterator[None]:
    """Turn the errors that libraries raise about their input into failures with this exit code."""
    try:
        yield
    except (click.ClickException, BrokenPipeError):  # the reader of the pipe has gone: click ends quietly
        raise
    except ModuleNotFoundError as error:
        hint = f"needs {error.name}: pip install 'crosscut[all]'" if error.name else str(error)
        raise Failure(prefix + hint, exit_code) from error
    except MemoryError as error:
        raise Failure(f"{prefix}not enough memory {error}", exit_code) from error
    except (ValueError, TypeError, KeyError, ImportError, OSError, ArithmeticError) as error:
        text = str(error)
        if isinstance(error, OSError) and error.strerror:
            text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        text = as_options(text)
        problems = getattr(error, "problems", ())  # a logic program may have several
        raise Failure(
            prefix + (text.partition("\n")[0] if problems else text), exit_code, problems
        ) from error
