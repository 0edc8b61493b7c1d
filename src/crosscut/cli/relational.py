"""`crosscut relational`: grow and cross-validate a first-order tree from ACE's files."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from crosscut.cli.failure import UNREADABLE, UNSUITABLE, UNWRITABLE, Failure, failing_with
from crosscut.cli.terminal import stdout, waiting
from crosscut.labels import number


@click.command()
@click.argument("settings", type=click.Path(path_type=Path))
@click.option("--folds", type=click.IntRange(min=2), help="Folds; by default the data's own marks, else 10.")
@click.option(
    "--fold-files",
    type=click.Path(path_type=Path),
    help="A folder with test0.txt, test1.txt, … that list folds.",
)
@click.option(
    "--step-limit", type=click.IntRange(min=1), help="Most facts looked at for one query and example."
)
@click.option("--prolog", type=click.Path(path_type=Path), help="Write the tree as a Prolog decision list.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def relational(
    *,
    settings: Path,
    folds: int | None,
    fold_files: Path | None,
    step_limit: int | None,
    prolog: Path | None,
    as_json: bool,
) -> None:
    """Grow a relational tree from SETTINGS, an ACE settings file such as app.s, beside app.kb and app.bg."""
    from crosscut.relational.bias import Bias
    from crosscut.relational.database import Database
    from crosscut.relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor

    begin = time.perf_counter()
    if not settings.exists() and not settings.with_name(settings.name + ".s").exists():
        raise Failure(f"there is no file {str(settings)!r}", UNREADABLE)
    notes = []
    with warnings.catch_warnings(record=True) as said, waiting("reading"):
        warnings.simplefilter("always")
        with failing_with(UNREADABLE, f"{settings}: "):
            database, bias = Database.from_ace(settings, folds=fold_files), Bias.from_ace(settings)
        read = time.perf_counter()
        cv: Any = folds or ("marks" if database.folds is not None else min(10, database.n_examples))
        options: dict[str, Any] = {} if step_limit is None else {"step_limit": step_limit}
        maker = RelationalTreeClassifier if database.classes else RelationalTreeRegressor
        with failing_with(UNSUITABLE, f"{settings}: "):
            model = maker(bias, cv=cv, **options).fit(database)
    notes = list(dict.fromkeys(str(warning.message) for warning in said))
    grown = time.perf_counter()
    summary = {
        "file": settings.name,
        "task": "classification" if database.classes else "regression",
        "examples": database.n_examples,
        "classes": [str(c) for c in database.classes],
        "notes": notes,
        "tree": str(model),
        "folds": len(model.cv_scores_),
        "scores": [float(score) for score in model.cv_scores_],
        "score": model.cv_score_,
        "standard_error": float(model.cv_standard_error_),
        "seconds": {"read": read - begin, "fit": grown - read},
    }
    if prolog is not None:
        with failing_with(UNWRITABLE):
            prolog.write_text(model.to_prolog() + "\n", encoding="utf-8")
    if as_json:
        click.echo(json.dumps(summary, ensure_ascii=False))
        return
    _print(summary)


def _print(summary: dict[str, Any]) -> None:
    console = stdout()
    for note in summary["notes"]:
        console.print(f"[dim]{escape(note)}[/]")
    console.print(f"[dim]{summary['examples']:,} examples; {summary['task']}[/]\n")
    console.print(escape(summary["tree"]), soft_wrap=True)
    measure = "accuracy" if summary["task"] == "classification" else "R²"
    console.print(
        f"\n[bold]{measure} {number(summary['score'])} ± {number(summary['standard_error'], 2)}[/] "
        f"(mean of {summary['folds']} folds ± standard error)"
    )
    seconds = summary["seconds"]
    console.print(
        f"read in {seconds['read']:.2f} s, {summary['folds'] + 1} trees grown in {seconds['fit']:.2f} s"
    )
