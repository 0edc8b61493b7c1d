"""Errors that the user can fix: one line on the error stream, and an exit code for each kind."""

from __future__ import annotations

import contextlib
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
        problems = getattr(error, "problems", ())  # a logic program may have several
        raise Failure(
            prefix + (text.partition("\n")[0] if problems else text), exit_code, problems
        ) from error
