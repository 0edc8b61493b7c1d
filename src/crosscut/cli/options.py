"""Options shared by several commands, and their translation to estimator parameters."""

from __future__ import annotations

import os
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from crosscut.cli.failure import UNWRITABLE, Failure, as_options
from crosscut.data.text.dialect import TextOptions
from crosscut.tasks.growth import CLASS_CRITERIA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Output(click.Path):
    """A file to write. It must differ from the files that are read and from other outputs."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check the path against the other parameters. Arguments are eager, so they are known already."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        assert ctx is not None
        read = {argument.name for argument in ctx.command.params if isinstance(argument, click.Argument)}
        for name, other in ctx.params.items():
            if (name in read or isinstance(other, Path)) and _same(path, str(other).partition("::")[0]):
                self.fail(f"{str(path)!r} would be overwritten: it is also given as {name}", param, ctx)
        _check_writable(path, param)
        return path


def _check_writable(path: Path, param: click.Parameter | None) -> None:
    """Fail before anything is computed if the result could not be written."""
    option = "" if param is None else f"{param.opts[0]} "
    folder = path.resolve().parent
    if not folder.is_dir():
        why = f"{path}: the folder {str(folder)!r} does not exist; create it or choose another path"
    elif path.is_dir():
        why = f"{path} is a folder; name a file in it"
    elif not os.access(path if path.exists() and not path.is_file() else folder, os.W_OK):
        why = f"{path} cannot be written: no permission to write to {str(folder)!r}"
    else:
        return
    raise Failure(option + why, UNWRITABLE)


def _same(path: Path, other: str) -> bool:
    try:
        return path.samefile(other)
    except OSError:  # one of them does not exist yet
        return path.resolve() == Path(other).resolve()


def together(*options: Decorator) -> Decorator:
    """Combine options into one decorator; the help lists them in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


class Whole(click.IntRange):
    """A whole number in a range, with errors that say so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is not {_range(self, 'a whole number')}", param, ctx)


def _range(kind: Any, what: str) -> str:
    low, high = kind.min, kind.max
    if low is not None and high is not None:
        return f"{what} from {low} to {high}"
    return f"{what} {'>' if kind.min_open else '>='} {low}"


class ValueList(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """One or more values, separated by commas; each is tried.

    Parameters
    ----------
    kind : click type
        Type of one value.
    allow_none : bool
        Whether "none" is a value, which becomes None.
    """

    def __init__(self, kind: click.ParamType[Any], *, allow_none: bool = False) -> None:
        self.kind, self.allow_none = kind, allow_none
        self.name = "value[,value...]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, ...]:
        """Return a tuple of values."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        try:
            return tuple(
                None if self.allow_none and part == "none" else self.kind.convert(part, param, ctx)
                for part in parts
            )
        except click.BadParameter as error:
            if not self.allow_none:
                raise
            self.fail(f"{error.message} or none; separate several by commas, as in 3,5,none", param, ctx)


def candidates(arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments for every combination of settings."""
    grid = {name: values for name, values in arguments.items() if name in SETTINGS and values is not None}
    return [arguments | dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


SETTINGS = ("criterion", "max_depth", "min_leaf", "min_split", "min_decrease")

table = click.option(
    "--table", "--sheet", "table", help="The table of a DuckDB or SQLite file, or the sheet of a workbook."
)

kind = click.option(
    "--kind",
    type=click.Choice(["classification", "regression"]),
    help="Whether to predict classes or numbers; inferred by default.",
)

reading = together(
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line holds column names.",
        show_default="detected",
    ),
    click.option("--separator", metavar="MARK", help="Separator between values, or its name, such as tab."),
    click.option("--decimal", metavar="MARK", help="Decimal mark: a point or a comma."),
    click.option("--encoding", metavar="NAME", help="Text encoding, such as utf-8 or cp1252."),
    click.option(
        "--missing", multiple=True, metavar="WORD", help="A word for missing values; may be repeated."
    ),
    click.option("--dates", metavar="ORDER", help="dmy, mdy, ymd, none, or a pattern such as %Y%m%d."),
)


def source_options(arguments: dict[str, Any]) -> dict[str, Any]:
    """Remove the options about the file and its columns; return what `read_source` takes."""
    names = ("table", "weights", "drop", "drop_missing_target", "keep", "nominal", "kind", "groups", "time")
    taken = {name: arguments.pop(name) for name in names if name in arguments}
    return taken | {"folds": arguments.pop("folds_column", None), "options": text_options(arguments)}


def text_options(arguments: dict[str, Any]) -> TextOptions:
    """Remove the options of `reading` from the arguments and return them."""
    try:
        return TextOptions(**{field.name: arguments.pop(field.name) for field in fields(TextOptions)})
    except ValueError as error:
        raise click.UsageError(f"--{error}", click.get_current_context()) from error


roles = together(
    table,
    click.option("--weights", metavar="COLUMN", help="Weights of the rows."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; may be repeated."),
    click.option("--drop-missing-target", is_flag=True, help="Leave out rows without a target."),
    click.option(
        "--keep",
        multiple=True,
        metavar="COLUMN",
        help="A column to use although it looks like an identifier; may be repeated.",
    ),
    click.option(
        "--nominal", multiple=True, metavar="COLUMN", help="A column to treat as categories; may be repeated."
    ),
)

columns = together(
    click.option("--target", "-t", required=True, metavar="COLUMN", help="The column to predict."), roles
)

folds = together(
    click.option("--folds", type=Whole(min=2), default=10, help="Number of folds."),
    click.option(
        "--seed", type=Whole(0, 2**32 - 1), default=0, help="Seed for shuffling the rows into folds."
    ),
)

splitting = together(
    click.option(
        "--groups",
        metavar="COLUMN",
        help="Keep rows with the same value in one fold; with --cv time, do not train on held-out groups.",
    ),
    click.option(
        "--folds-column",
        metavar="COLUMN",
        help="A column that assigns rows to folds: rows with the same value are held out together.",
    ),
    click.option(
        "--cv",
        type=click.Choice(["folds", "time"]),
        default="folds",
        help='Hold out folds, or, with "time", later rows: trees then train on earlier rows only.',
    ),
    click.option("--time", metavar="COLUMN", help="The column that orders rows in time; implies --cv time."),
    click.option(
        "--gap",
        type=Whole(min=0),
        default=0,
        help="With --cv time: leave out this many rows between training and held-out rows.",
    ),
    click.option(
        "--repeats", type=Whole(min=1), default=1, help="Repeat the cross-validation with other folds."
    ),
    click.option(
        "--in-order", is_flag=True, help="Do not shuffle the rows: folds follow the order of the file."
    ),
)


def _score(context: click.Context, option: click.Parameter, name: str | None) -> str | None:
    if name is not None:
        from crosscut.training.parameters import check_score

        try:
            check_score(name)
        except ValueError as error:
            raise click.BadParameter(as_options(str(error)), context, option) from None
    return name


scores = together(
    click.option(
        "--class-weight",
        multiple=True,
        metavar="CLASS=WEIGHT",
        help='Weight of the rows of a class; may be repeated. "balanced" gives all classes the same total.',
    ),
    click.option(
        "--scoring",
        metavar="NAME",
        callback=_score,
        help="Score to report, such as f1_macro. It chooses among several settings; the size of the "
        "tree is chosen by its error (--prune).",
    ),
)

jobs = click.option("--jobs", type=Whole(min=1), help="Number of threads; by default all cores.")
oof = click.option("--oof", type=Output(), help="Write out-of-fold predictions as CSV.")


def _html(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None:
        from crosscut.report.page import check_ending

        try:
            check_ending(path)
        except ValueError as error:
            raise click.BadParameter(str(error), context, option) from None
    return path


report = click.option(
    "--report", type=Output(), callback=_html, help="Write an HTML report; a browser can print it as PDF."
)

results = together(
    report,
    click.option("--save", type=Output(), help="Write a model file for `crosscut predict`."),
    click.option("--json", "as_json", is_flag=True, help="Print only the result, as JSON."),
    click.option("--open", "opened", is_flag=True, help="Open the HTML report in a browser."),
)

growing = together(
    click.option(
        "--criterion",
        type=ValueList(click.Choice([*CLASS_CRITERIA, "log_loss"])),
        help="Split criterion, for classification.",
    ),
    click.option(
        "--splits",
        type=click.Choice(["binary", "multiway"]),
        default="binary",
        help="Split categories into two sets, or one branch each.",
    ),
    click.option(
        "--max-depth",
        type=ValueList(Whole(min=1), allow_none=True),
        help="Maximum depth of the tree; 3,5,none tries three values.",
    ),
    click.option("--min-leaf", type=ValueList(Whole(min=1)), default="1", help="Minimum rows per leaf."),
    click.option(
        "--min-split",
        type=ValueList(Whole(min=2)),
        default="2",
        help="Minimum rows to split a node.",
    ),
    click.option(
        "--min-decrease",
        type=ValueList(click.FloatRange(min=0)),
        default="0.0",
        help="Minimum decrease of impurity by a split.",
    ),
    click.option(
        "--max-bins",
        type=Whole(2, 255),
        help="Use at most this number of quantile bins per column: faster, approximate.",
    ),
    click.option(
        "--prune",
        type=click.Choice(["none", "best", "1se", "pessimistic"]),
        default="1se",
        help="Prune to the lowest cross-validated error, by one standard error, or by C4.5's estimate.",
    ),
    click.option(
        "--prune-by",
        type=click.Choice(["impurity", "error"]),
        help="Trade leaves against impurity, as scikit-learn does, or against errors, as rpart does.",
    ),
    click.option(
        "--loss",
        multiple=True,
        metavar="CLASS=COST",
        help="Cost of misclassifying a row of a class (default 1); may be repeated. Prunes by cost.",
    ),
)


def covering(strategy: str) -> Decorator:
    """Return the options of rule learning; ``strategy`` is the default."""
    return together(
        click.option(
            "--strategy",
            type=click.Choice(["cn2", "ripper"]),
            default=strategy,
            help="Covering with beam search, or growing and pruning.",
        ),
        click.option(
            "--unordered", is_flag=True, help="CN2: rules per class that vote, not a decision list."
        ),
        click.option(
            "--measure",
            type=click.Choice(["laplace", "m_estimate", "wracc", "entropy"]),
            default="laplace",
            help="CN2: quality of a rule.",
        ),
        click.option("--beam", type=Whole(min=1), default=5, help="CN2: beam width."),
        click.option("--max-length", type=Whole(min=1), help="Maximum conditions per rule."),
        click.option(
            "--min-coverage",
            type=click.FloatRange(min=0, min_open=True),
            default=2,
            help="Minimum rows or examples per rule.",
        ),
        click.option(
            "--significance",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            help="CN2: significance level a rule must reach, such as 0.05.",
        ),
    )


def refuse(names: Iterable[str], why: str) -> None:
    """Raise an error if one of these options was used; ``why`` follows its name."""
    context = click.get_current_context()
    for name in names:
        source = context.get_parameter_source(name)  # None: the command has no such option
        if source not in {None, ParameterSource.DEFAULT}:
            raise click.UsageError(f"--{name.replace('_', '-')} {why}", context)


COVERING = ("strategy", "unordered", "measure", "beam", "max_length", "min_coverage", "significance")


def rule_parameters(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a rule estimator from the options of `covering`."""
    if arguments["strategy"] == "ripper":
        refuse(("unordered", "measure", "beam", "significance"), "is for --strategy cn2")
    names = ("strategy", "measure", "max_length", "min_coverage", "significance")
    return {name: arguments[name] for name in names} | {
        "ordered": not arguments["unordered"],
        "beam_width": arguments["beam"],
    }
