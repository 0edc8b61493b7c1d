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
@click.option("--report", type=click.Path(path_type=Path), help="Write an HTML page about the result.")
@click.option("--save", type=click.Path(path_type=Path), help="Write a model file for `crosscut predict`.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def relational(
    *,
    settings: Path,
    folds: int | None,
    fold_files: Path | None,
    step_limit: int | None,
    prolog: Path | None,
    report: Path | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Grow a relational tree from SETTINGS, an ACE settings file such as app.s, beside app.kb and app.bg."""
    from crosscut.relational.bias import Bias
    from crosscut.relational.database import Database
    from crosscut.relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor

    begin = time.perf_counter()
    _check_exists(settings)
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
        "standard_error": model.cv_standard_error_,
        "seconds": {"read": read - begin, "fit": grown - read},
    }
    with failing_with(UNWRITABLE):
        if prolog is not None:
            prolog.write_text(model.to_prolog() + "\n", encoding="utf-8")
        if save is not None:
            model.save(save)
        if report is not None:
            model.report(report)
    if as_json:
        click.echo(json.dumps(summary, ensure_ascii=False))
        return
    _print(summary)


def _print(summary: dict[str, Any]) -> None:
    console = stdout()
    for note in summary["notes"]:
        console.print(f"[dim]{escape(note)}[/]")
    console.print(f"[dim]{summary['examples']:,} examples; {summary['task']}[/]\n")
    _print_tree(
        summary["tree"], summary["task"], summary["score"], summary["standard_error"], summary["folds"]
    )
    seconds = summary["seconds"]
    console.print(
        f"read in {seconds['read']:.2f} s, {summary['folds'] + 1} trees grown in {seconds['fit']:.2f} s"
    )


def _print_tree(tree: str, task: str, score: float, standard_error: float, folds: int) -> None:
    console = stdout()
    console.print(escape(tree), soft_wrap=True)
    if folds:
        measure = "accuracy" if task == "classification" else "R²"
        console.print(
            f"\n[bold]{measure} {number(score)} ± {number(standard_error, 2)}[/] "
            f"(mean of {folds} folds ± standard error)"
        )


def _check_exists(settings: Path) -> None:
    if not settings.exists() and not settings.with_name(settings.name + ".s").exists():
        raise Failure(f"there is no file {str(settings)!r}", UNREADABLE)


def is_relational(model: Any) -> bool:
    """Whether a model that was read from a file is a relational tree."""
    return type(model).__name__.startswith("Relational")


def show_relational(model: Any, *, as_json: bool, as_rules: bool, report: Path | None) -> None:
    """Show a relational model as `crosscut show` shows others."""
    from crosscut.relational.report import summarize

    if report is not None:
        with failing_with(UNWRITABLE):
            model.report(report)
    if as_json:
        click.echo(json.dumps(summarize(model), ensure_ascii=False))
    elif as_rules:
        click.echo(model.to_prolog())
    else:
        task = "classification" if len(model.classes_) else "regression"
        _print_tree(str(model), task, model.cv_score_, model.cv_standard_error_, len(model.cv_scores_))


def predict_relational(model: Any, file: str, *, probabilities: bool) -> tuple[list[str], list[list[Any]]]:
    """Predict the examples of an ACE application; return the headings and columns to be printed."""
    from crosscut.relational.database import Database

    settings = Path(file)
    _check_exists(settings)
    with failing_with(UNREADABLE, f"{file}: "), waiting("reading"):
        database = Database.from_ace(settings)
    target = model.target_name_
    with failing_with(UNSUITABLE, f"{file}: "):
        columns = [
            [database.example_text(e) for e in range(database.n_examples)],
            model.predict(database).tolist(),
        ]
        headings = ["example", target]
        if probabilities:
            if not len(model.classes_):
                raise ValueError("--probabilities is for classes, but the model predicts numbers")
            columns += model.predict_proba(database).T.tolist()
            headings += [f"{target} = {c}" for c in model.classes_]
    return headings, columns
