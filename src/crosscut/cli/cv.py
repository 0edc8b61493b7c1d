"""`crosscut cv`: grow a tree on a file, cross-validate it, and show both."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from pathlib import Path
from time import perf_counter as clock
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from crosscut.cli import options
from crosscut.cli.csv_output import write_out_of_fold
from crosscut.cli.failure import UNSUITABLE, UNWRITABLE, Failure, failing_with
from crosscut.cli.source import Source, read_rows, read_source, rows_for
from crosscut.cli.splitting import splitter
from crosscut.cli.terminal import page_path, print_json, show_page, stdout, waiting
from crosscut.data.files import split_target
from crosscut.forest.export.text import counted
from crosscut.statistics.intervals import LossSums, error_of, interval_of, score_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from crosscut.data.text.dialect import TextOptions
    from crosscut.typing import ColumnLike, CrossValidation

LEVEL = 0.9  # of the interval


def judged(model: BaseEstimator, file: str, target: str, options: TextOptions) -> dict[str, Any]:
    """Return the error on another file: a rate of wrong classes, or a root mean square; and its interval."""
    frame = read_rows(file, None, options)
    with failing_with(UNSUITABLE, f"{file}: "):
        X, y = split_target(frame, target)
        said = model.predict(rows_for(model, X))
    classes = model.fit_.classes
    if classes is None:
        if y.dtype.kind not in "fiub":
            raise Failure(f"{file}: {target!r} holds no numbers, but the model predicts them", UNSUITABLE)
        y = y.astype(np.float64)
        loss, centred = (y - said) ** 2, y - y.mean()
    else:
        # whole numbers may be read with or without a decimal point
        y = y.astype(classes.dtype) if classes.dtype.kind in "iu" and y.dtype.kind == "f" else y
        loss, centred = np.asarray(said != y, dtype=np.float64), None
    sums = LossSums.of(loss, centred, None, np.zeros(len(y), np.int64), 1)
    error, score = error_of(sums), score_of(sums)[0]
    low, high = interval_of(sums, sums, LEVEL, "rows")
    measured = {"error": error.value, "standard_error": error.standard_error}
    if classes is None and error.value > 0:
        root = float(np.sqrt(error.value))
        measured = {"error": root, "standard_error": error.standard_error / (2 * root)}
    return {"file": Path(file).name, "rows": len(y), "score": score, "low": low, "high": high, **measured}


@click.command(short_help="Grow and cross-validate a decision tree.")
@click.argument("file", type=click.Path(), is_eager=True)
@options.columns
@options.reading
@options.kind
@options.folds
@click.option(
    "--repeats", type=click.IntRange(min=1), default=1, help="Repeat the cross-validation with other folds."
)
@options.splitting
@click.option("--in-order", is_flag=True, help="Do not shuffle the rows: folds follow the order of the file.")
@options.growing
@click.option(
    "--class-weight",
    multiple=True,
    metavar="CLASS=WEIGHT",
    help='Weight of the rows of a class; may be repeated. Or "balanced": all classes count alike.',
)
@click.option("--scoring", metavar="NAME", help="What to measure and choose by, such as f1 or roc_auc.")
@click.option("--test", metavar="FILE", help="Another file, to judge the final tree by.")
@options.jobs
@options.oof
@options.results
def cv(
    *,
    file: str,
    target: str,
    kind: str | None,
    groups: str | None,
    folds_column: str | None,
    time: str | None,
    test: str | None,
    oof: Path | None,
    report: Path | None,
    save: Path | None,
    as_json: bool,
    opened: bool,
    **given: Any,
) -> None:
    """Grow a decision tree on FILE and cross-validate it.

    FILE is CSV, TSV, Parquet, Arrow, ARFF, DuckDB or SQLite; shop.duckdb::customers names a table.
    """
    # loading scikit-learn is no part of the time taken
    import sklearn.model_selection  # noqa: F401

    import crosscut.estimators  # noqa: F401

    text = options.text_options(given)
    begin = clock()
    with waiting(f"reading {Path(file).name}"):
        source = read_source(
            file,
            target,
            kind=kind,
            groups=groups,
            folds=folds_column,
            time=time,
            options=text,
            **options.column_options(given),
        )
    read = clock()
    given["cv"] = splitter(
        source,
        cv="time" if time is not None else given["cv"],
        folds=given.pop("folds"),
        repeats=given.pop("repeats"),
        seed=None if given["in_order"] else given["seed"],
    )
    tried = options.candidates(given)
    with waiting(f"growing trees of {counted(len(tried), 'setting')}"):
        models = [estimator(source, **candidate) for candidate in tried]
        fit_noting(models, source)
    model = max(models, key=lambda each: each.cv_score_)  # the first, if several are equal
    grown = clock()
    from crosscut.model_file import save_model
    from crosscut.report import summarize, write_report

    summary = summarize(model, target=target)
    summary["file"] = Path(file).name
    summary["notes"] = source.notes
    summary["seconds"] = {"read": read - begin, "fit": grown - read}
    summary["tried"] = [
        _told(each, given, setting, model) for each, setting in zip(models, tried, strict=True)
    ]
    summary["test"] = None if test is None else judged(model, test, target, text)
    report = page_path(report, opened, file)
    with failing_with(UNWRITABLE):
        if save is not None:
            save_model(model, save, target=target)
        if oof is not None:
            write_out_of_fold(oof, model, target, source.rows)
        if report is not None:
            write_report(model, report, X=source.X, summary=summary, row_numbers=source.rows)
            if opened:
                show_page(report)
    if as_json:
        print_json(summary)
        return
    from crosscut.cli.result import print_result

    print_result(stdout(), model, summary)


def _told(
    model: BaseEstimator, given: dict[str, Any], setting: dict[str, Any], chosen: Any
) -> dict[str, Any]:
    """Return what is said of one setting of several: its own values, its score, and whether it was chosen."""
    own = {name: setting[name] for name in options.SETTINGS if len(given[name] or ()) > 1}
    return own | {
        "score": model.cv_score_,
        "standard_error": model.cv_standard_error_,
        "leaves": model.get_n_leaves(),
        "chosen": model is chosen,
    }


def estimator(
    source: Source, *, cv: CrossValidation, seed: int, in_order: bool, jobs: int | None, **growing: Any
) -> BaseEstimator:
    """Return the unfitted estimator that the options describe."""
    from crosscut.estimators import TreeClassifier, TreeRegressor

    classify = source.kind == "classification"
    for option in ("criterion", "prune_by", "loss", "class_weight"):
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
        cv=cv,
        scoring=_scoring(growing["scoring"]),
        random_state=None if in_order else seed,
        n_jobs=jobs,
    )
    if growing["criterion"] is not None:
        model.set_params(criterion=growing["criterion"])
    if growing["class_weight"]:
        weights = growing["class_weight"]
        known = "balanced" if weights == ("balanced",) else _by_class("--class-weight", weights, source.y)
        model.set_params(class_weight=known)
    if growing["loss"]:
        model.set_params(prune_by="loss", loss=_by_class("--loss", growing["loss"], source.y))
    elif growing["prune_by"] is not None:
        model.set_params(prune_by=growing["prune_by"])
    return model


def _by_class(option: str, given: tuple[str, ...], y: ColumnLike) -> dict[Any, float]:
    """Return the number of each class that ``CLASS=NUMBER`` names."""
    names = {str(name): name for name in np.unique(np.asarray(y)).tolist()}
    found: dict[Any, float] = {}
    for one in given:
        name, _, value = one.rpartition("=")
        try:
            found[names[name]] = float(value)
        except (KeyError, ValueError):
            known = ", ".join(list(names)[:10])
            raise Failure(f"{option} {one}: give CLASS=NUMBER with a class of {known}", UNSUITABLE) from None
    return found


def fit_noting(models: list[Any], source: Source) -> None:
    """Fit models to a file, several at once; warnings become notes, and too few rows for folds a failure."""
    from crosscut.training.train import train_together

    with failing_with(UNSUITABLE), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if len(models) == 1:
            models[0].fit(source.X, source.y, sample_weight=source.weights, groups=source.groups)
        else:
            train_together(models, source.X, source.y, source.weights, source.groups)
    source.notes += list(dict.fromkeys(_in_our_words(warning) for warning in caught))
    if not hasattr(models[0], "cv_score_"):
        raise Failure("there are too few rows for a cross-validation", UNSUITABLE)


def _in_our_words(warning: warnings.WarningMessage) -> str:
    """Return a warning; what scikit-learn says of its parameters is no help on the command line."""
    from sklearn.exceptions import UndefinedMetricWarning

    text = str(warning.message)
    if issubclass(warning.category, UndefinedMetricWarning):
        return "the --scoring is undefined in some folds, where a class is absent or never predicted"
    if "sklearn" in Path(warning.filename).parts and "n_splits" in text:
        return "a class has fewer rows than there are folds: some folds lack it"
    return text


def _scoring(name: str | None) -> str | None:
    from sklearn.metrics import get_scorer_names

    if name is not None and name not in get_scorer_names():
        near = get_close_matches(name, get_scorer_names(), 3) or ["accuracy", "f1", "r2"]
        why = f"{name!r} is no score of scikit-learn; try {', '.join(near)}"
        raise click.BadParameter(why, param_hint="--scoring")
    return name
