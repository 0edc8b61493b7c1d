"""`crosscut cv`: grow a tree on a file, cross-validate it and print both."""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter as clock
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from crosscut.cli import options
from crosscut.cli.csv_output import write_out_of_fold
from crosscut.cli.failure import UNSUITABLE, Failure, as_options, failing_with
from crosscut.cli.source import Source, read_rows, read_source, rows_for
from crosscut.cli.splitting import splitter
from crosscut.cli.terminal import (
    command_line,
    page_path,
    print_json,
    show_page,
    stdout,
    waiting,
    write_results,
)
from crosscut.data.files import split_target
from crosscut.forest.export.text import counted
from crosscut.statistics.intervals import LossSums, error_of, interval_of, score_of
from crosscut.statistics.sentences import LEVEL

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from crosscut.data.text.dialect import TextOptions
    from crosscut.typing import ColumnLike, CrossValidation


def evaluate_on(model: BaseEstimator, file: str, target: str, options: TextOptions) -> dict[str, Any]:
    """Return the error rate or root mean squared error on another file, and the score with its interval."""
    frame = read_rows(file, None, options)
    with failing_with(UNSUITABLE, f"{file}: "):
        X, y = split_target(frame, target)
        predictions = model.predict(rows_for(model, X))
    classes = model.fit_.classes
    if classes is None:
        if y.dtype.kind not in "fiub":
            raise Failure(f"{file}: {target!r} is not numeric, but the model predicts numbers", UNSUITABLE)
        y = y.astype(np.float64)
        loss, centred = (y - predictions) ** 2, y - y.mean()
    else:
        # this file may write the classes 1, 2 as 1.0, 2.0
        y = y.astype(classes.dtype) if classes.dtype.kind in "iu" and y.dtype.kind == "f" else y
        unknown = sorted(set(map(str, np.unique(y).tolist())) - set(map(str, classes.tolist())))
        if unknown:
            raise Failure(
                f"{file}: {target!r} has labels that are not among the classes of the training rows: "
                f"{', '.join(unknown[:10])}; the classes are {', '.join(map(str, classes[:10]))}",
                UNSUITABLE,
            )
        loss, centred = np.asarray(predictions != y, dtype=np.float64), None
    sums = LossSums.of(loss, centred, None, np.zeros(len(y), np.int64), 1)
    error, score = error_of(sums), score_of(sums)[0]
    low, high = interval_of(sums, sums, LEVEL, "rows")
    error = error.root if classes is None else error
    result = {"file": Path(file).name, "rows": len(y), "score": score, "low": low, "high": high}
    return result | {"error": error.value, "standard_error": error.standard_error}


@click.command(short_help="Grow and cross-validate a decision tree.")
@click.argument("file", type=click.Path(), is_eager=True)
@options.columns
@options.reading
@options.kind
@options.folds
@options.splitting
@options.growing
@options.scores
@click.option("--test", metavar="FILE", help="Another file, to evaluate the final tree on.")
@options.jobs
@options.oof
@options.results
def cv(
    *,
    file: str,
    target: str,
    test: str | None,
    oof: Path | None,
    report: Path | None,
    save: Path | None,
    as_json: bool,
    opened: bool,
    **arguments: Any,
) -> None:
    """Grow a decision tree on FILE and cross-validate it.

    FILE is CSV, TSV, Excel, JSON, Parquet, Arrow, ARFF, DuckDB or SQLite, or - for standard input.
    shop.duckdb::customers names a table, book.xlsx::2024 a sheet.
    """
    # the reported time does not include loading scikit-learn
    import crosscut.estimators  # noqa: F401

    source_options = options.source_options(arguments)
    begin = clock()
    with waiting(f"reading {Path(file).name}"):
        source = read_source(file, target, **source_options)
    read = clock()
    models, settings = fit_settings(source, arguments)
    model = max(models, key=lambda each: each.cv_score_)  # the first, if several are equal
    grown = clock()
    from crosscut.model_file import save_model
    from crosscut.report import summarize, write_report

    summary = summarize(model, target=target)
    summary["file"] = Path(file).name
    summary["notes"] = source.notes
    summary["code"] = _with_data(summary["code"], source, Path(file).name, target)
    summary["seconds"] = {"read": read - begin, "fit": grown - read}
    summary["tried"] = [
        setting
        | {
            "score": each.cv_score_,
            "standard_error": each.cv_standard_error_,
            "leaves": each.get_n_leaves(),
            "chosen": each is model,
        }
        for each, setting in zip(models, settings, strict=True)
    ]
    summary["test"] = None if test is None else evaluate_on(model, test, target, source_options["options"])
    if as_json:
        print_json(summary)
    else:
        from crosscut.cli.result import print_result

        print_result(stdout(), model, summary)
    page = page_path(report, opened, file)
    summary["command"] = command_line()
    shown = {"X": source.X, "summary": summary, "row_numbers": source.rows}
    write_results(
        (save, "Model", lambda path: save_model(model, path, target=target)),
        (oof, "Out-of-fold predictions", lambda path: write_out_of_fold(path, model, target, source.rows)),
        (page, "Report", lambda path: write_report(model, path, **shown)),
    )
    if opened and page is not None:
        show_page(page)


def _with_data(code: str, source: Source, file: str, target: str) -> str:
    """Return the code that fits the model, after the lines that read its data."""
    data = f"X, y = split_target(read_file({file!r}), {target!r})"
    if source.left_out:
        data += f"\nX = X.select({source.X.column_names})"
    return code.replace("\n\n", f", read_file, split_target\n\n{data}\n", 1)


def fit_settings(source: Source, arguments: dict[str, Any]) -> tuple[list[Any], list[dict[str, Any]]]:
    """Fit a model for every combination of settings; return also the settings that differ, by model.

    The options about folds become the ``cv`` of the models.
    """
    arguments["cv"] = splitter(
        source,
        cv="time" if source.time is not None else arguments["cv"],
        folds=arguments.pop("folds"),
        repeats=arguments.pop("repeats"),
        gap=arguments.pop("gap"),
        seed=None if arguments["in_order"] else arguments["seed"],
    )
    candidates = options.candidates(arguments)
    with waiting(f"growing trees for {counted(len(candidates), 'setting')}"):
        models = [estimator(source, **candidate) for candidate in candidates]
        fit_with_notes(models, source)
    varied = [name for name in options.SETTINGS if len(arguments[name] or ()) > 1]
    return models, [{name: candidate[name] for name in varied} for candidate in candidates]


def estimator(
    source: Source, *, cv: CrossValidation, seed: int, in_order: bool, jobs: int | None, **growing: Any
) -> BaseEstimator:
    """Return the unfitted estimator that the options describe."""
    from crosscut.estimators import TreeClassifier, TreeRegressor

    classify = source.kind == "classification"
    for option in ("criterion", "prune_by", "loss", "class_weight"):
        if growing[option] and not classify:
            value = growing[option] if isinstance(growing[option], str) else " ".join(growing[option])
            raise Failure(
                f"--{option.replace('_', '-')} {value} is for classes, but the target is numeric", UNSUITABLE
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
        cv=cv,
        scoring=growing["scoring"],
        random_state=None if in_order else seed,
        n_jobs=jobs,
    )
    if growing["criterion"] is not None:
        model.set_params(criterion=growing["criterion"])
    if growing["class_weight"]:
        weights = growing["class_weight"]
        if weights != ("balanced",):
            weights = (_by_class("--class-weight", weights, source.y),)
        model.set_params(class_weight=weights[0])
    if growing["loss"]:
        model.set_params(prune_by="loss", loss=_by_class("--loss", growing["loss"], source.y))
    elif growing["prune_by"] is not None:
        model.set_params(prune_by=growing["prune_by"])
    return model


def _by_class(option: str, items: tuple[str, ...], y: ColumnLike) -> dict[Any, float]:
    """Parse ``CLASS=NUMBER`` items into a number per class."""
    classes = {str(name): name for name in np.unique(np.asarray(y)).tolist()}
    numbers: dict[Any, float] = {}
    for item in items:
        name, _, value = item.rpartition("=")
        try:
            numbers[classes[name]] = float(value)
        except (KeyError, ValueError):
            known = ", ".join(list(classes)[:10])
            raise Failure(
                f"{option} {item}: write CLASS=NUMBER; the classes are {known}", UNSUITABLE
            ) from None
    return numbers


def fit_with_notes(models: list[Any], source: Source) -> None:
    """Fit all models in one pass. Warnings become notes; too few rows for the folds are a failure."""
    from crosscut.training.train import train_together

    with failing_with(UNSUITABLE), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if len(models) == 1:
            models[0].fit(source.X, source.y, sample_weight=source.weights, groups=source.groups)
        else:
            train_together(models, source.X, source.y, source.weights, source.groups)
    source.notes += list(dict.fromkeys(_note_of(warning) for warning in caught))
    if not hasattr(models[0], "cv_score_"):
        raise Failure("there are too few rows for a cross-validation", UNSUITABLE)


def _note_of(warning: warnings.WarningMessage) -> str:
    """Return a warning as a note; warnings that name scikit-learn's parameters are reworded."""
    from sklearn.exceptions import UndefinedMetricWarning

    text = as_options(str(warning.message))
    if issubclass(warning.category, UndefinedMetricWarning):
        return "--scoring is undefined in folds in which a class is absent or never predicted"
    if "sklearn" in Path(warning.filename).parts and "n_splits" in text:
        return "a class has fewer rows than there are folds, so some folds lack it"
    return text
