"""Saved relational models for `crosscut show` and `crosscut predict`: a `Viewer` of crosscut.cli."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crosscut.cli.failure import UNSUITABLE, failing_with
from crosscut.cli.rules import print_rules, rule_data
from crosscut.cli.terminal import echo, plain, print_json, stdout
from crosscut.forest.export.text import counted, number
from crosscut.statistics.sentences import performance
from crosscut_relational.cli.database import place_of, read_examples

if TYPE_CHECKING:
    from crosscut.training.fit import Fit
    from crosscut_relational.database.database import Database


def show(model: Any, *, as_json: bool, as_rules: bool, lines: int) -> None:
    """Print a model: as JSON, as Prolog clauses, or a tree of at most ``lines`` lines and its score."""
    if as_rules:
        with failing_with(UNSUITABLE, "--rules: "):
            clauses = model.to_prolog()
        echo(clauses)
    elif not as_json:
        print_model(model, lines)
    elif hasattr(model, "rules_"):
        print_json({"target": model.fit_.target, **rule_data(model)})
    else:
        from crosscut_relational.report import summarize

        print_json(summarize(model.fit_))


def print_model(model: Any, most: int | None = None) -> None:
    """Print a tree (at most ``most`` lines) or rules, and the score."""
    if hasattr(model, "rules_"):
        print_rules(model)
        return
    console = stdout()
    lines = str(model).splitlines()
    console.print(plain("\n".join(lines[:most])), soft_wrap=True)
    if most is not None and len(lines) > most:
        console.print(f"[dim]… {counted(len(lines) - most, 'more line')}[/]")
    fit: Fit = model.fit_
    cv = fit.validation
    if cv is not None:
        measure = "R²" if fit.classes is None else "accuracy"
        console.print(
            f"\n[bold]{measure} {number(cv.score)} ± {number(cv.standard_error, 2)}[/] "
            f"(all examples of {len(cv.scores)} folds ± standard error)\n"
            f"[dim]{plain(performance(cv, 'example')['comparison'])}[/]"
        )


def rows(model: Any, file: str) -> tuple[dict[str, list[str]], Database, str]:
    """Return the names of a database's examples, the database, and the name of the target."""
    database = read_examples(place_of(file), model)
    used = {(goal.name, len(goal.args)) for goal in model.goals() if not goal.is_comparison}
    absent = sorted(used - {*database.relations, *database.rules})
    if absent:
        missing = ", ".join(f"{name}/{arity}" for name, arity in absent)
        click.echo(f"crosscut: note: {file} has no facts of {missing}; tests of them are false", err=True)
    named = {"example": [database.example_text(e) for e in range(database.n_examples)]}
    schema = model.fit_.schema
    return named, database, schema.target_column or schema.target_name
