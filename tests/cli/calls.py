"""The program called as a user would, without a process of its own."""

from click.testing import CliRunner

from crosscut.cli.program import program


def call(*arguments):
    return CliRunner().invoke(program, [str(a) for a in arguments], prog_name="crosscut")


def refused(result, code):
    """The one line on the error stream of a call that failed as it should."""
    assert result.exit_code == code, result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("crosscut: ")
    assert "Traceback" not in result.output
    assert not result.stdout
    return lines[0]
