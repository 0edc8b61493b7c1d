"""`crosscut show`: print the contents of a model file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crosscut.cli import options
from crosscut.cli.failure import UNSUITABLE, Failure
from crosscut.cli.result import print_evidence, print_tree
from crosscut.cli.rules import print_rules, rule_data
from crosscut.cli.saved_models import read_model_file, viewer_of
from crosscut.cli.terminal import echo, page_path, print_json, show_page, stdout, write_results

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


@click.command(short_help="Show a saved model.")
@click.argument("model", type=click.Path(path_type=Path), is_eager=True)
@click.option("--json", "as_json", is_flag=True, help="Print the tree or the rules as JSON.")
@click.option(
    "--rules", is_flag=True, help="Print the tree as rules, one per leaf; relational models as Prolog."
)
@click.option(
    "--code",
    type=click.Choice(["python", "c", "java", "javascript"]),
    help="Print a tree as a function in this language.",
)
@click.option("--lines", type=click.IntRange(min=1), default=60, help="Maximum lines of the tree.")
@options.report
def show(
    *, model: Path, as_json: bool, rules: bool, code: str | None, lines: int, report: Path | None
) -> None:
    """Show the tree or the rules in MODEL, and their cross-validation.

    MODEL is a file saved by `crosscut cv`, `rules` or `relational` with `--save`.
    """
    from crosscut.report import summarize

    fitted, target = read_model_file(model)
    fit = fitted.fit_
    is_tree = fit.learner in {"TreeClassifier", "TreeRegressor"}
    summary = summarize(fit, target=target) if is_tree else {}
    if report is not None:
        write = partial(write_model_report, model, fitted, target, summary=summary)
        write_results((report, "Report", write))
    viewer = viewer_of(fitted)
    if code is not None:
        if not is_tree:
            raise Failure(f"--code is for trees of one table, but {model} is a {fit.learner}", UNSUITABLE)
        echo(fitted.to_code(code))
    elif viewer is not None:
        viewer.show(fitted, as_json=as_json, as_rules=rules, lines=lines)
    elif not is_tree and as_json:
        print_json({"target": target, **rule_data(fitted)})
    elif not is_tree:
        print_rules(fitted)
    elif as_json:
        echo(f"{fitted.to_json()}\n")
    elif rules:
        echo(f"{fitted.to_rules()}\n")
    else:
        print_tree(stdout(), fit, target=target, max_lines=lines)
        if fit.validation is not None:
            print_evidence(stdout(), summary)


def write_model_report(
    model: Path, fitted: BaseEstimator, target: str, path: Path, summary: dict[str, Any] | None = None
) -> None:
    """Write the report on a saved model; ``summary`` is a tree's, if it was made already."""
    from crosscut.report import write_report

    fit = fitted.fit_
    if fit.validation is None:
        raise Failure(f"{model} was saved without cross-validation, which a report needs", UNSUITABLE)
    if fit.learner in {"TreeClassifier", "TreeRegressor"}:
        write_report(fit, path, target=target, summary=summary or None)
    else:
        fitted.report(path, **({"target": target} if viewer_of(fitted) is None else {}))


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
