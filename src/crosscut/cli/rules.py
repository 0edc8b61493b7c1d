"""`crosscut rules`: learn rules from a file, cross-validate them, and show both."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

from crosscut.cli.failure import UNSUITABLE, UNWRITABLE, Failure, failing_with
from crosscut.cli.source import read_source
from crosscut.cli.terminal import stdout


@click.command()
@click.argument("file")
@click.option("--target", "-t", required=True, metavar="COLUMN", help="The column to predict.")
@click.option("--table", help="The table of a DuckDB or SQLite file.")
@click.option(
    "--strategy",
    type=click.Choice(["cn2", "ripper"]),
    default="cn2",
    show_default=True,
    help="Covering with a beam, or growing and pruning.",
)
@click.option("--unordered", is_flag=True, help="CN2: rules per class that vote, not a decision list.")
@click.option(
    "--measure",
    type=click.Choice(["laplace", "m_estimate", "wracc", "entropy"]),
    default="laplace",
    show_default=True,
    help="CN2: what makes a rule good.",
)
@click.option("--beam", type=click.IntRange(min=1), default=5, show_default=True, help="CN2: rules kept.")
@click.option("--max-length", type=click.IntRange(min=1), help="Most conditions of a rule.")
@click.option(
    "--min-coverage",
    type=click.FloatRange(min=0, min_open=True),
    default=2,
    show_default=True,
    help="Least rows that a rule covers.",
)
@click.option("--significance", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="CN2: level.")
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Folds of the cross-validation.",
)
@click.option("--weights", metavar="COLUMN", help="Weights of the rows.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; may be repeated.")
@click.option(
    "--nominal", multiple=True, metavar="COLUMN", help="A column to take as categories; may be repeated."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Shuffles the rows into folds.")
@click.option("--sql", type=click.Path(path_type=Path), help="Write the rules as an SQL expression.")
@click.option("--save", type=click.Path(path_type=Path), help="Write a model file, for predict and show.")
@click.option("--report", type=click.Path(path_type=Path), help="Write the HTML report.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def rules(
    *,
    file: str,
    target: str,
    table: str | None,
    weights: str | None,
    drop: tuple[str, ...],
    nominal: tuple[str, ...],
    sql: Path | None,
    save: Path | None,
    report: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn rules from FILE and cross-validate them.

    FILE is CSV, TSV, Parquet, Arrow, ARFF, DuckDB or SQLite; shop.duckdb::customers names a table.
    """
    from crosscut.rules import RuleClassifier

    source = read_source(
        file,
        target,
        table=table,
        task="classification",
        groups=None,
        weights=weights,
        drop=drop,
        nominal=nominal,
    )
    model = RuleClassifier(
        strategy=options["strategy"],
        ordered=not options["unordered"],
        measure=options["measure"],
        beam_width=options["beam"],
        max_length=options["max_length"],
        min_coverage=options["min_coverage"],
        significance=options["significance"],
        cv=options["folds"],
        random_state=options["seed"],
    )
    with failing_with(UNSUITABLE), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        model.fit(source.X, source.y, sample_weight=source.weights)
    notes = [*source.notes, *dict.fromkeys(str(warning.message) for warning in said)]
    if not hasattr(model, "cv_score_"):
        raise Failure("there are too few rows for a cross-validation", UNSUITABLE)
    with failing_with(UNWRITABLE):
        if sql is not None:
            sql.write_text(model.to_sql() + "\n", encoding="utf-8")
        if save is not None:
            model.save(save, target=target)
        if report is not None:
            model.report(report, target=target)
    if as_json:
        summary = {"file": Path(file).name, "target": target, "notes": notes, **rule_data(model)}
        click.echo(json.dumps(summary, ensure_ascii=False))
        return
    for note in notes:
        stdout().print(f"note: {note}", markup=False, highlight=False)
    print_rules(model)


def print_rules(model: Any) -> None:
    """Print fitted rules, and how they do on held-out rows if that is known."""
    text = f"{len(model.rules_)} rules, {model.rules_.n_conditions} conditions"
    if hasattr(model, "cv_score_"):
        text += (
            f"; accuracy {model.cv_score_:.3f} ± {model.cv_standard_error_:.3f} "
            f"({len(model.cv_rules_)} folds)"
        )
    stdout().print(text, markup=False, highlight=False)
    stdout().print(model.to_text(), markup=False, highlight=False, soft_wrap=True)


def rule_data(model: Any) -> dict[str, Any]:
    """Return fitted rules, and how they do on held-out rows if that is known, as plain data."""
    texts = model.to_text().splitlines()
    rules = (*model.rules_.rules, model.rules_.default)
    validated = hasattr(model, "cv_score_")
    data: dict[str, Any] = {
        "rules": [
            {"text": text.split("  [", 1)[0], "covers": rule.coverage, "precision": rule.precision}
            for text, rule in zip(texts, rules, strict=True)
        ]
    }
    if validated:
        for rule, (weight, share) in zip(data["rules"], model.rule_precision_, strict=True):
            rule |= {"held_out": weight, "out_of_fold_precision": share if weight else None}
        data |= {
            "score": model.cv_score_,
            "standard_error": model.cv_standard_error_,
            "scores": model.cv_scores_.tolist(),
        }
    return data
