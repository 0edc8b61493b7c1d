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
    if sql is not None:
        with failing_with(UNWRITABLE):
            sql.write_text(model.to_sql() + "\n", encoding="utf-8")
    if as_json:
        click.echo(json.dumps(_summary(model, file, target, notes), ensure_ascii=False))
        return
    out = stdout()
    for note in notes:
        out.print(f"note: {note}", markup=False, highlight=False)
    out.print(
        f"{len(model.rules_)} rules, {model.rules_.n_conditions} conditions; accuracy "
        f"{model.cv_score_:.3f} ± {model.cv_standard_error_:.3f} ({len(model.cv_rules_)} folds)",
        markup=False,
        highlight=False,
    )
    out.print(model.to_text(), markup=False, highlight=False, soft_wrap=True)


def _summary(model: Any, file: str, target: str, notes: list[str]) -> dict[str, Any]:
    texts = model.to_text().splitlines()
    return {
        "file": Path(file).name,
        "target": target,
        "notes": notes,
        "score": model.cv_score_,
        "standard_error": model.cv_standard_error_,
        "scores": model.cv_scores_.tolist(),
        "rules": [
            {
                "text": text.split("  [", 1)[0],
                "covers": rule.coverage,
                "precision": rule.precision,
                "held_out": held_out[0],
                "out_of_fold_precision": held_out[1] if held_out[0] else None,
            }
            for text, rule, held_out in zip(
                texts, (*model.rules_.rules, model.rules_.default), model.rule_precision_, strict=True
            )
        ],
    }
