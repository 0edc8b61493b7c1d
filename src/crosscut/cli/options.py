"""Options that several commands have, and what they mean to an estimator."""

from __future__ import annotations

import os
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from crosscut.data.text.dialect import TextOptions
from crosscut.tasks.growth import CLASS_CRITERIA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Output(click.Path):
    """A file to write: neither one that is read, nor one that another option writes."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Compare the path with those of the other parameters; arguments, being eager, are known."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        assert ctx is not None
        read = {argument.name for argument in ctx.command.params if isinstance(argument, click.Argument)}
        for name, other in ctx.params.items():
            if (name in read or isinstance(other, Path)) and _same(path, str(other).partition("::")[0]):
                self.fail(f"{str(path)!r} would be overwritten: it is also given as {name}", param, ctx)
        return path


def _same(path: Path, other: str) -> bool:
    try:
        return path.samefile(other)
    except OSError:  # one of them is not there yet
        return path.resolve() == Path(other).resolve()


def together(*options: Decorator) -> Decorator:
    """Return one decorator for several options, which the help lists in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


class Several(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """One value or several, separated by commas; each setting is tried.

    Parameters
    ----------
    kind : click type
        Of one value.
    unlimited : bool
        Whether "none" is one.
    """

    def __init__(self, kind: click.ParamType[Any], *, unlimited: bool = False) -> None:
        self.kind, self.unlimited = kind, unlimited
        self.name = "value[,value...]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a tuple of values."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        return tuple(
            None if self.unlimited and part == "none" else self.kind.convert(part, param, ctx)
            for part in parts
        )


def candidates(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the options of every combination of settings."""
    several = {
        name: values for name, values in given.items() if isinstance(values, tuple) and name in SETTINGS
    }
    return [given | dict(zip(several, chosen, strict=True)) for chosen in product(*several.values())]


SETTINGS = ("criterion", "max_depth", "min_leaf", "min_split", "min_decrease")

table = click.option("--table", help="The table of a DuckDB or SQLite file.")

kind = click.option(
    "--kind",
    type=click.Choice(["classification", "regression"]),
    help="Whether to predict classes or numbers; inferred by default.",
)

reading = together(
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line has column names.",
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


def column_options(given: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `columns` out of those given, but for the target."""
    names = ("table", "weights", "drop", "drop_missing_target", "keep", "nominal")
    return {name: given.pop(name) for name in names}


def text_options(given: dict[str, Any]) -> TextOptions:
    """Take the options of `reading` out of those given."""
    try:
        return TextOptions(**{field.name: given.pop(field.name) for field in fields(TextOptions)})
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
        help="A column to test although it looks like an identifier; may be repeated.",
    ),
    click.option(
        "--nominal", multiple=True, metavar="COLUMN", help="A column to treat as categories; may be repeated."
    ),
)

columns = together(
    click.option("--target", "-t", required=True, metavar="COLUMN", help="The column to predict."), roles
)

folds = together(
    click.option("--folds", type=click.IntRange(min=2), default=10, help="Number of folds."),
    click.option(
        "--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Seed for shuffling the rows into folds."
    ),
)

splitting = together(
    click.option("--groups", metavar="COLUMN", help="Keep rows with the same value in one fold."),
    click.option(
        "--folds-column",
        metavar="COLUMN",
        help="Folds of your own: rows with one value are held out together.",
    ),
    click.option(
        "--cv",
        type=click.Choice(["folds", "time"]),
        default="folds",
        help="Hold out folds, or what comes later in the file: trees then train on earlier rows only.",
    ),
    click.option("--time", metavar="COLUMN", help="The column that orders rows in time; implies --cv time."),
)

jobs = click.option("--jobs", type=click.IntRange(min=1), help="Number of threads; by default all cores.")
oof = click.option("--oof", type=Output(), help="Write out-of-fold predictions as CSV.")


def _html(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in {"", ".html", ".htm"}:
        why = f"a report is HTML, but {path.name!r} is not; try {path.with_suffix('.html').name}"
        raise click.BadParameter(why, context, option)
    return path


report = click.option(
    "--report",
    type=Output(),
    callback=_html,
    help="Write an HTML page about the result; a browser prints it as PDF.",
)

results = together(
    report,
    click.option("--save", type=Output(), help="Write a model file for `crosscut predict`."),
    click.option("--json", "as_json", is_flag=True, help="Print only the result, as JSON."),
    click.option("--open", "opened", is_flag=True, help="Open the page about the result in a browser."),
)

growing = together(
    click.option(
        "--criterion",
        type=Several(click.Choice(CLASS_CRITERIA)),
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
        type=Several(click.IntRange(min=1), unlimited=True),
        help="Maximum depth of the tree; 3,5,none tries three.",
    ),
    click.option(
        "--min-leaf", type=Several(click.IntRange(min=1)), default="1", help="Minimum rows per leaf."
    ),
    click.option(
        "--min-split", type=Several(click.IntRange(min=2)), default="2", help="Minimum rows to split a node."
    ),
    click.option(
        "--min-decrease",
        type=Several(click.FloatRange(min=0)),
        default="0.0",
        help="Minimum decrease of impurity by a split.",
    ),
    click.option(
        "--max-bins",
        type=click.IntRange(2, 255),
        help="Try only quantiles as thresholds: faster, approximate.",
    ),
    click.option(
        "--prune",
        type=click.Choice(["none", "best", "1se", "pessimistic"]),
        default="1se",
        help="Prune by lowest cross-validated error, one standard error, or C4.5's estimate.",
    ),
    click.option(
        "--prune-by",
        type=click.Choice(["impurity", "error"]),
        help="Weigh impurity against the number of leaves, as scikit-learn does, or errors, as rpart does.",
    ),
    click.option(
        "--loss",
        multiple=True,
        metavar="CLASS=COST",
        help="What it costs to miss a class, 1 for others; may be repeated. Prunes by cost.",
    ),
)


def covering(strategy: str) -> Decorator:
    """Return the options that say how rules are learnt, with the default strategy."""
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
        click.option("--beam", type=click.IntRange(min=1), default=5, help="CN2: beam width."),
        click.option("--max-length", type=click.IntRange(min=1), help="Maximum conditions per rule."),
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
    """Refuse options of the running command that have no meaning together with others."""
    context = click.get_current_context()
    for name in names:
        source = context.get_parameter_source(name)  # None: not an option here
        if source not in {None, ParameterSource.DEFAULT}:
            raise click.UsageError(f"--{name.replace('_', '-')} {why}", context)


COVERING = ("strategy", "unordered", "measure", "beam", "max_length", "min_coverage", "significance")


def rule_parameters(given: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a rule estimator that `covering` asks for."""
    if given["strategy"] == "ripper":
        refuse(("unordered", "measure", "beam", "significance"), "is for --strategy cn2")
    return {
        "strategy": given["strategy"],
        "ordered": not given["unordered"],
        "measure": given["measure"],
        "beam_width": given["beam"],
        "max_length": given["max_length"],
        "min_coverage": given["min_coverage"],
        "significance": given["significance"],
    }
