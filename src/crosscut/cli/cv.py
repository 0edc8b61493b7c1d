"""`crosscut cv`: grow a tree on a file, cross-validate it, and show both."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import click
import numpy as np

from crosscut.cli import options
from crosscut.cli.failure import UNSUITABLE, UNWRITABLE, Failure, failing_with
from crosscut.cli.out_of_fold import write_out_of_fold
from crosscut.cli.source import Source, read_source
from crosscut.cli.terminal import print_json, stdout, waiting
from crosscut.engines.progress import watching


@click.command(short_help="Grow and cross-validate a decision tree.")
@click.argument("file", type=click.Path(), is_eager=True)
@options.columns
@options.reading
@options.kind
@options.folds
@click.option(
    "--repeats", type=click.IntRange(min=1), default=1, help="Repeat the cross-validation with other folds."
)
@click.option("--groups", metavar="COLUMN", help="Keep rows with the same value in one fold.")
@click.option("--in-order", is_flag=True, help="Do not shuffle the rows: folds follow the order of the file.")
@options.growing
@click.option("--jobs", type=click.IntRange(min=1), help="Number of threads; by default all cores.")
@click.option("--oof", type=options.Output(), help="Write out-of-fold predictions as CSV.")
@options.results
def cv(
    *,
    file: str,
    target: str,
    kind: str | None,
    table: str | None,
    groups: str | None,
    weights: str | None,
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    nominal: tuple[str, ...],
    drop_missing_target: bool,
    oof: Path | None,
    report: Path | None,
    save: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Grow a decision tree on FILE and cross-validate it.

    FILE is CSV, TSV, Parquet, Arrow, ARFF, DuckDB or SQLite; shop.duckdb::customers names a table.
    """
    # loading scikit-learn is no part of the time taken
    import sklearn.model_selection  # noqa: F401

    import crosscut.estimators  # noqa: F401

    text = options.text_options(given)
    begin = time.perf_counter()
    with waiting(f"reading {Path(file).name}"):
        source = read_source(
            file,
            target,
            table=table,
            kind=kind,
            groups=groups,
            weights=weights,
            drop=drop,
            nominal=nominal,
            keep=keep,
            drop_missing_target=drop_missing_target,
            options=text,
        )
    read = time.perf_counter()
    with waiting(f"growing {given['folds'] * given['repeats'] + 1} trees") as tell, watching(tell):
        model = fit(source, **given)
    grown = time.perf_counter()
    from crosscut.model_file import save_model
    from crosscut.report import summarize, write_report

    summary = summarize(model, target=target)
    summary["file"] = Path(file).name
    summary["notes"] = source.notes
    summary["seconds"] = {"read": read - begin, "fit": grown - read}
    with failing_with(UNWRITABLE):
        if save is not None:
            save_model(model, save, target=target)
        if oof is not None:
            write_out_of_fold(oof, model, target, source.rows)
        if report is not None:
            write_report(model, report, X=source.X, summary=summary, row_numbers=source.rows)
    if as_json:
        print_json(summary)
        return
    from crosscut.cli.result import print_result

    print_result(stdout(), model, summary)


def fit(
    source: Source, *, folds: int, repeats: int, seed: int, in_order: bool, jobs: int | None, **growing: Any
) -> Any:
    """Fit the estimator that the options describe."""
    from crosscut.estimators import TreeClassifier, TreeRegressor

    classify = source.kind == "classification"
    for option in ("criterion", "prune_by", "loss"):
        if growing[option] and not classify:
            given = growing[option] if isinstance(growing[option], str) else " ".join(growing[option])
            raise Failure(
                f"--{option.replace('_', '-')} {given} is for classes, but the target is numeric", UNSUITABLE
            )
    if growing["loss"]:
        options.refuse(("prune_by",), "cannot be combined with --loss, which prunes by cost")
    if growing["prune"] == "pessimistic" and not classify:
        raise Failure("--prune pessimistic is for classes; use best or 1se", UNSUITABLE)
    model = (TreeClassifier if classify else TreeRegressor)(
        splits=growing["splits"],
        max_depth=growing["max_depth"],
        min_samples_leaf=growing["min_leaf"],
        min_samples_split=growing["min_split"],
        min_impurity_decrease=growing["min_decrease"],
        max_bins=growing["max_bins"],
        prune=None if growing["prune"] == "none" else growing["prune"],
        cv=_splitter(source, folds, repeats, None if in_order else seed),
        random_state=None if in_order else seed,
        n_jobs=jobs,
    )
    if growing["criterion"] is not None:
        model.set_params(criterion=growing["criterion"])
    if growing["loss"]:
        model.set_params(prune_by="loss", loss=_losses(growing["loss"], source.y))
    elif growing["prune_by"] is not None:
        model.set_params(prune_by=growing["prune_by"])
    fit_noting(model, source)
    return model


def _losses(given: tuple[str, ...], y: Any) -> dict[Any, float]:
    """Return the cost of each class that ``CLASS=COST`` names."""
    names = {str(name): name for name in np.unique(np.asarray(y)).tolist()}
    costs: dict[Any, float] = {}
    for one in given:
        name, _, cost = one.rpartition("=")
        try:
            costs[names[name]] = float(cost)
        except (KeyError, ValueError):
            raise Failure(
                f"--loss {one}: give CLASS=COST with a class of {', '.join(names)}", UNSUITABLE
            ) from None
    return costs


def fit_noting(model: Any, source: Source) -> None:
    """Fit a model to a file; what is remarkable becomes a note, and too few rows for folds a failure."""
    with failing_with(UNSUITABLE), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        model.fit(source.X, source.y, sample_weight=source.weights, groups=source.groups)
    source.notes += list(dict.fromkeys(str(warning.message) for warning in said))
    if not hasattr(model, "cv_score_"):
        raise Failure("there are too few rows for a cross-validation", UNSUITABLE)


def _splitter(source: Source, folds: int, repeats: int, seed: int | None) -> Any:
    classify = source.kind == "classification"
    if source.groups is None and repeats == 1:
        return folds
    if repeats > 1 and seed is None:
        raise Failure(
            "--in-order and --repeats cannot be combined: in order all repeats are alike", UNSUITABLE
        )
    from sklearn import model_selection as ms

    if source.groups is not None:
        if repeats > 1:
            raise Failure("--groups and --repeats cannot be combined", UNSUITABLE)
        n_groups = len(set(source.groups.tolist()))
        if n_groups < folds:
            raise Failure(f"--groups has {n_groups} different values, fewer than --folds {folds}", UNSUITABLE)
        kind = ms.StratifiedGroupKFold if classify else ms.GroupKFold
        return kind(folds, shuffle=seed is not None, random_state=seed)
    kind = ms.RepeatedStratifiedKFold if classify else ms.RepeatedKFold
    return kind(n_splits=folds, n_repeats=repeats, random_state=seed)
