"""`crosscut relational`: learn a first-order tree or rules from linked data, and cross-validate them."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from crosscut.cli import options
from crosscut.cli.csv_output import write_out_of_fold
from crosscut.cli.failure import UNSUITABLE, UNWRITABLE, Failure, failing_with
from crosscut.cli.result import print_notes
from crosscut.cli.rules import rule_data
from crosscut.cli.splitting import splitter
from crosscut.cli.terminal import page_path, print_json, show_page, stdout, waiting
from crosscut.data.array_file import replace_text
from crosscut.forest.export.text import counted
from crosscut_relational.cli.database import place_of, read_database
from crosscut_relational.cli.viewer import print_model

if TYPE_CHECKING:
    from crosscut.training.fit import Fit
    from crosscut.typing import CrossValidation


@click.command(short_help="Learn a tree or rules from linked tables, or ACE files.")
@click.argument("data", type=click.Path(), is_eager=True)
@click.option("--target", "-t", metavar="TABLE.COLUMN", help="What to predict, for linked tables.")
@options.kind
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Number of folds; by default those marked in the data, else 10.",
)
@options.splitting
@click.option("--weights", metavar="COLUMN", help="How much each example counts; a whole number for trees.")
@click.option(
    "--fold-files",
    type=click.Path(path_type=Path),
    help="A folder with test0.txt, test1.txt, … that list folds.",
)
@click.option(
    "--step-limit",
    type=click.IntRange(min=1),
    help="Maximum number of facts examined per query and example.",
)
@click.option(
    "--key", multiple=True, metavar="TABLE.COLUMN", help="A table's key, if its name does not tell."
)
@click.option(
    "--link",
    multiple=True,
    metavar="TABLE.COLUMN=TABLE.COLUMN",
    help="A column that names rows of another table.",
)
@click.option(
    "--depth-of-links",
    type=click.IntRange(min=0),
    help="Links to one row each whose values are the example's own, for linked tables; by default 2.",
)
@click.option(
    "--max-aggregates",
    type=click.IntRange(min=0),
    help="Summaries of linked rows, at most; by default 100.",
)
@click.option(
    "--as-of",
    metavar="COLUMN",
    help="A date of the target's table: of linked rows with dates only those before it are seen.",
)
@click.option("--heuristic", type=click.Choice(["gain", "gainratio", "gini"]), help="Quality of a test.")
@click.option("--minimal-cases", type=click.IntRange(min=1), help="Minimum number of examples per branch.")
@click.option("--max-depth", type=click.IntRange(min=0), help="Maximum number of tests on a path.")
@options.jobs
@click.option("--rules", is_flag=True, help="Learn rules instead of a tree; the next options are for them.")
@options.covering("ripper")
@click.option("--prolog", type=options.Output(), help="Write the result as Prolog clauses.")
@click.option(
    "--sql", type=options.Output(), help="Write the result about linked tables as a query for DuckDB."
)
@options.oof
@options.results
def relational(
    *,
    data: str,
    target: str | None,
    kind: str | None,
    folds: int | None,
    fold_files: Path | None,
    step_limit: int | None,
    key: tuple[str, ...],
    link: tuple[str, ...],
    rules: bool,
    jobs: int | None,
    prolog: Path | None,
    sql: Path | None,
    oof: Path | None,
    report: Path | None,
    save: Path | None,
    as_json: bool,
    opened: bool,
    **given: Any,
) -> None:
    """Learn a relational tree, or rules, from DATA and cross-validate them.

    DATA is a folder of CSV and Parquet files, one per table, a DuckDB or SQLite file, or a PostgreSQL
    database such as postgresql://host/shop: name what to predict with --target, and tables are linked by
    their keys. Or it is an ACE settings file such as app.s, beside app.kb and app.bg, or a file of Aleph such
    as app.b.
    """
    if rules:
        options.refuse(("jobs",), "is for trees, not for --rules")
    else:
        options.refuse(options.COVERING, "is about rules; use it with --rules")
    # loading scikit-learn is no part of the time taken
    from crosscut.model_file import save_model
    from crosscut_relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
    from crosscut_relational.rules.estimator import RelationalRuleClassifier

    place = place_of(data)
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        database, bias, source = read_database(
            place,
            target=target,
            kind=kind,
            fold_files=fold_files,
            keys=key,
            links=link,
            roles={name: given.pop(name) for name in ("groups", "folds_column", "time", "weights")},
            schema={name: given.pop(name) for name in ("depth_of_links", "max_aggregates", "as_of")},
            settings={name: given.pop(name) for name in ("heuristic", "minimal_cases", "max_depth")},
        )
        read = time.perf_counter()
        if sql is not None and not (database.columns and not given["unordered"]):
            what = "linked tables" if not database.columns else "trees and ordered rules"
            raise Failure(f"--sql is for {what}; --prolog writes the others", UNSUITABLE)
        _check_folds(folds, database.n_examples, place.name)
        number_of_folds = folds or min(bias.settings.n_folds or 10, database.n_examples)
        order = "time" if source.time is not None else given["cv"]
        cv: CrossValidation = splitter(source, cv=order, folds=number_of_folds, repeats=1, seed=None)
        if folds is None and database.folds is not None and cv == number_of_folds:
            cv = "marks"
        known = {"sample_weight": source.weights, "groups": source.groups}
        fitting = {name: value for name, value in known.items() if value is not None}
        limit = {} if step_limit is None else {"step_limit": step_limit}
        with failing_with(UNSUITABLE, f"{place}: "), waiting("learning"):
            maker = RelationalTreeClassifier if database.classes else RelationalTreeRegressor
            if rules and not database.classes:
                raise ValueError("--rules is for classes, but the target is a number")
            model: Any = (
                RelationalRuleClassifier(bias, **options.rule_parameters(given))
                if rules
                else maker(bias, n_jobs=jobs)
            )
            model.set_params(cv=cv, **limit).fit(database, **fitting)
    grown = time.perf_counter()
    summary = {
        "file": place.name,
        "kind": "classification" if database.classes else "regression",
        "examples": database.n_examples,
        "classes": [str(c) for c in database.classes],
        "notes": list(dict.fromkeys(str(warning.message) for warning in said)),
        **(rule_data(model) if rules else {"tree": model.tree_.to_dict()}),
        **_validation_data(model.fit_),
        "seconds": {"read": read - begin, "fit": grown - read},
    }
    report = page_path(report, opened, place.name)
    with failing_with(UNWRITABLE):
        if prolog is not None:
            replace_text(prolog, model.to_prolog())
        if sql is not None:
            replace_text(sql, model.to_sql())
        if oof is not None:
            write_out_of_fold(oof, model, model.fit_.target, np.array(database.examples, dtype=object))
        if save is not None:
            save_model(model, save)
        if report is not None:
            model.report(report)
            if opened:
                show_page(report)
    if as_json:
        print_json(summary)
        return
    console = stdout()
    print_notes(console, [*summary["notes"], f"{summary['examples']:,} examples; {summary['kind']}"])
    print_model(model)
    what = "rule sets learnt" if rules else "trees grown"
    seconds = summary["seconds"]
    console.print(f"read in {seconds['read']:.2f} s, {summary['folds'] + 1} {what} in {seconds['fit']:.2f} s")


def _validation_data(fit: Fit) -> dict[str, Any]:
    cv = fit.validation
    if cv is None:
        return {"folds": 0, "scores": [], "score": None, "standard_error": None}
    scores = cv.scores.tolist()
    return {"folds": len(scores), "scores": scores, "score": cv.score, "standard_error": cv.standard_error}


def _check_folds(folds: int | None, n_examples: int, data: str) -> None:
    needed = folds or 2
    if n_examples < needed:
        what = f"--folds {folds}" if folds else "a cross-validation"
        has = counted(n_examples, "example")
        raise Failure(f"{data} has {has}, but {what} needs {needed} or more", UNSUITABLE)
