"""`crosscut show`: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from crosscut.cli.failure import UNSUITABLE, UNWRITABLE, Failure, failing_with
from crosscut.cli.predict import read_model_file
from crosscut.cli.relational import is_relational, show_relational
from crosscut.cli.result import print_evidence, print_tree
from crosscut.cli.rules import print_rules, rule_data
from crosscut.cli.terminal import print_json, stdout


@click.command(short_help="Show a saved model.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the tree or the rules as JSON.")
@click.option(
    "--rules", is_flag=True, help="Print the tree as rules, one per leaf; relational models as Prolog."
)
@click.option("--lines", type=click.IntRange(min=1), default=60, help="Most lines of the tree.")
@click.option("--report", type=click.Path(path_type=Path), help="Write the HTML report.")
def show(model: Path, as_json: bool, rules: bool, lines: int, report: Path | None) -> None:
    """Show the tree or the rules in MODEL, and their cross-validation.

    MODEL is a file saved by `crosscut cv`, `rules` or `relational` with `--save`.
    """
    fitted, target = read_model_file(model)
    if report is not None:
        _write_report(fitted, target, model, report)
    if is_relational(fitted):
        show_relational(fitted, as_json=as_json, as_rules=rules, lines=lines)
        return
    if hasattr(fitted, "rules_"):
        if as_json:
            print_json({"target": target, **rule_data(fitted)})
        else:
            print_rules(fitted)
        return
    if as_json:
        click.echo(fitted.to_json())
        return
    if rules:
        click.echo(str(fitted.to_rules()))
        return
    console = stdout()
    print_tree(console, fitted.fit_, target=target, most=lines)
    if fitted.fit_.validation is not None:
        from crosscut.report.summary import summarize

        print_evidence(console, summarize(fitted, target=target))


def _write_report(fitted: Any, target: str, model: Path, report: Path) -> None:
    relational = is_relational(fitted)
    if hasattr(fitted, "fit_") and fitted.fit_.validation is None:
        raise Failure(f"{model} was saved without held-out rows, which a report needs", UNSUITABLE)
    with failing_with(UNWRITABLE):
        fitted.report(report, **({} if relational else {"target": target}))
