"""`crosscut relational`: learn and cross-validate a tree or rules from linked tables or logic programs."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from crosscut.cli import options
from crosscut.cli.csv_output import write_out_of_fold
from crosscut.cli.failure import UNSUITABLE, Failure, failing_with
from crosscut.cli.result import print_notes
from crosscut.cli.rules import rule_data
from crosscut.cli.splitting import splitter
from crosscut.cli.terminal import page_path, print_json, show_page, stdout, waiting, write_results
from crosscut.data.array_file import replace_text
from crosscut.forest.export.text import counted
from crosscut.statistics.sentences import performance
from crosscut_relational.cli.database import place_of, read_database
from crosscut_relational.cli.viewer import print_model

if TYPE_CHECKING:
    from crosscut.training.fit import Fit
    from crosscut.typing import CrossValidation


_GROWTH = ("heuristic", "minimal_cases", "max_depth", "exhaustive_lookahead")


@click.command(short_help="Learn a tree or rules from linked tables, or ACE files.")
@click.argument("data", type=click.Path(), is_eager=True)
@click.option("--target", "-t", metavar="TABLE.COLUMN", help="Column to predict, for linked tables.")
@options.kind
@click.option(
    "--drop-missing-target", is_flag=True, help="Leave out examples without a target, for linked tables."
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    help="Number of folds. Default: the folds marked in the data, otherwise 10.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Seed for shuffling examples into folds."
)
@options.splitting
@click.option("--weights", metavar="COLUMN", help="Weight of each example; whole numbers for trees.")
@click.option(
    "--fold-files",
    type=click.Path(path_type=Path),
    help="Folder with test0.txt, test1.txt, ... that list the folds.",
)
@click.option(
    "--step-limit",
    type=click.IntRange(min=1),
    help="Maximum number of facts examined per query and example.",
)
@click.option(
    "--key", multiple=True, metavar="TABLE.COLUMN", help="Key of a table, if it is not found by name."
)
@click.option(
    "--link",
    multiple=True,
    metavar="TABLE.COLUMN=TABLE.COLUMN",
    help="Column that refers to rows of another table.",
)
@click.option(
    "--depth-of-links",
    type=click.IntRange(min=0),
    help="Number of links to a single row to follow for an example's own values. Default: 2.",
)
@click.option(
    "--max-aggregates",
    type=click.IntRange(min=0),
    help="Maximum number of summaries of linked rows. Default: 100.",
)
@click.option(
    "--as-of",
    metavar="COLUMN",
    help="Date column of the target's table; only linked rows dated before it are used.",
)
@click.option("--heuristic", type=click.Choice(["gain", "gainratio", "gini"]), help="Split criterion.")
@click.option("--minimal-cases", type=click.IntRange(min=1), help="Minimum number of examples per branch.")
@click.option("--max-depth", type=click.IntRange(min=0), help="Maximum number of tests on a path.")
@click.option(
    "--lookahead",
    "exhaustive_lookahead",
    type=click.IntRange(min=0),
    help="Number of further tests of linked rows that may follow in the same test. Default: 0.",
)
@click.option(
    "--prune",
    type=click.Choice(["none", "best", "1se", "c45"]),
    help="Prune to the lowest cross-validated error, by one standard error, or by C4.5's estimate.",
)
@options.jobs
@click.option("--rules", is_flag=True, help="Learn rules instead of a tree; the next options apply to rules.")
@options.covering("ripper")
@click.option("--prolog", type=options.Output(), help="Write the model as Prolog clauses.")
@click.option("--sql", type=options.Output(), help="Write a model of linked tables as a DuckDB query.")
@options.oof
@options.results
def relational(
    *,
    data: str,
    target: str | None,
    kind: str | None,
    folds: int | None,
    seed: int,
    in_order: bool,
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
    **arguments: Any,
) -> None:
    """Learn a relational tree, or rules, from DATA and cross-validate them.

    DATA is a folder of CSV and Parquet files (one per table), a DuckDB or SQLite file, or a PostgreSQL
    database such as postgresql://host/shop. Name the column to predict with --target; tables are linked by
    their keys. DATA can also be an ACE settings file such as app.s, next to app.kb and app.bg, or an Aleph
    file such as app.b.
    """
    if rules:
        options.refuse(("jobs",), "applies to trees, not to --rules")
    else:
        options.refuse(options.COVERING, "applies to rules; use it with --rules")
    # imported here so that loading scikit-learn is not part of the measured time
    from crosscut.model_file import save_model
    from crosscut_relational.estimators import RelationalTreeClassifier, RelationalTreeRegressor
    from crosscut_relational.rules.estimator import RelationalRuleClassifier

    place = place_of(data)
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        database, bias, source = read_database(
            place,
            target=target,
            kind=kind,
            fold_files=fold_files,
            keys=key,
            links=link,
            drop_missing_target=arguments.pop("drop_missing_target"),
            roles={name: arguments.pop(name) for name in ("groups", "folds_column", "time", "weights")},
            schema={name: arguments.pop(name) for name in ("depth_of_links", "max_aggregates", "as_of")},
            settings={
                "pruning": arguments.pop("prune"),
                **{name: arguments.pop(name) for name in _GROWTH},
            },
        )
        read = time.perf_counter()
        if sql is not None and not (database.columns and not arguments["unordered"]):
            what = "linked tables" if not database.columns else "trees and ordered rules"
            raise Failure(f"--sql supports {what} only; use --prolog instead", UNSUITABLE)
        if prolog is not None and bias.attributes:
            raise Failure(
                "--prolog cannot write values and summaries of linked tables; use --sql instead", UNSUITABLE
            )
        _check_folds(folds, database.n_examples, place.name)
        number_of_folds = folds or min(bias.settings.n_folds or 10, database.n_examples)
        order = "time" if source.time is not None else arguments["cv"]
        random_state = None if in_order else seed
        cv: CrossValidation = splitter(
            source,
            cv=order,
            folds=number_of_folds,
            repeats=arguments["repeats"],
            gap=arguments["gap"],
            seed=random_state,
        )
        if folds is None and database.folds is not None and cv == number_of_folds:
            cv = "marks"
        optional = {"sample_weight": source.weights, "groups": source.groups}
        fitting = {name: value for name, value in optional.items() if value is not None}
        limit = {} if step_limit is None else {"step_limit": step_limit}
        with failing_with(UNSUITABLE, f"{place}: "), waiting("learning"):
            maker = RelationalTreeClassifier if database.classes else RelationalTreeRegressor
            if rules and not database.classes:
                raise ValueError("--rules needs a target with classes; this one is numeric")
            model: Any = (
                RelationalRuleClassifier(bias, **options.rule_parameters(arguments))
                if rules
                else maker(bias, n_jobs=jobs)
            )
            model.set_params(cv=cv, random_state=random_state, **limit).fit(database, **fitting)
    grown = time.perf_counter()
    summary = {
        "file": place.name,
        "kind": "classification" if database.classes else "regression",
        "examples": database.n_examples,
        "classes": [str(c) for c in database.classes],
        "notes": list(dict.fromkeys(str(warning.message) for warning in caught)),
        **(rule_data(model) if rules else {"tree": model.tree_.to_dict()}),
        **_validation_data(model.fit_),
        "seconds": {"read": read - begin, "fit": grown - read},
    }
    if as_json:
        print_json(summary)
    else:
        console = stdout()
        print_notes(console, [*summary["notes"], f"{summary['examples']:,} examples; {summary['kind']}"])
        print_model(model)
        what = "rule sets learnt" if rules else "trees grown"
        seconds = summary["seconds"]
        console.print(
            f"Read in {seconds['read']:.2f} s, {summary['folds'] + 1} {what} in {seconds['fit']:.2f} s"
        )
    page = page_path(report, opened, place.name)
    names = np.array(database.examples, dtype=object)
    write_results(
        (prolog, "Prolog", lambda path: replace_text(path, model.to_prolog())),
        (sql, "SQL", lambda path: replace_text(path, model.to_sql())),
        (
            oof,
            "Out-of-fold predictions",
            lambda path: write_out_of_fold(path, model, model.fit_.target, names),
        ),
        (save, "Model", lambda path: save_model(model, path)),
        (page, "Report", model.report),
    )
    if opened and page is not None:
        show_page(page)


def _validation_data(fit: Fit) -> dict[str, Any]:
    cv = fit.validation
    if cv is None:
        return {"folds": 0, "scores": [], "score": None, "standard_error": None, "baseline": None}
    scores = cv.scores.tolist()
    return {
        "folds": len(scores),
        "scores": scores,
        "score": cv.score,
        "standard_error": cv.standard_error,
        "baseline": performance(cv, "example")["baseline"],
    }


def _check_folds(folds: int | None, n_examples: int, data: str) -> None:
    needed = folds or 2
    if n_examples < needed:
        what = f"--folds {folds}" if folds else "a cross-validation"
        has = counted(n_examples, "example")
        raise Failure(f"{data} has {has}, but {what} needs at least {needed}", UNSUITABLE)
