"""`crosscut rules`: learn rules from a file, cross-validate them and print both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crosscut.cli import options
from crosscut.cli.cv import fit_with_notes
from crosscut.cli.failure import UNREADABLE, Failure
from crosscut.cli.result import print_notes
from crosscut.cli.source import read_source
from crosscut.cli.terminal import page_path, print_json, show_page, stdout, waiting, write_results
from crosscut.data.array_file import replace_text
from crosscut.forest.export.text import counted

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# files of Aleph and ACE, which crosscut-relational reads
_LINKED = {".b", ".f", ".n", ".pl", ".s", ".kb", ".bg"}


@click.command(short_help="Learn and cross-validate rules.")
@click.argument("file", is_eager=True)
@options.columns
@options.reading
@options.folds
@options.covering("cn2")
@click.option("--sql", type=options.Output(), help="Write the rules as an SQL expression.")
@options.results
def rules(
    *,
    file: str,
    target: str,
    folds: int,
    seed: int,
    sql: Path | None,
    save: Path | None,
    report: Path | None,
    as_json: bool,
    opened: bool,
    **arguments: Any,
) -> None:
    """Learn rules from FILE and cross-validate them.

    FILE is what `crosscut cv` reads, such as CSV, Excel or Parquet.
    For rules about linked tables, use `crosscut relational --rules`.
    """
    from crosscut.model_file import save_model
    from crosscut.rules import RuleClassifier

    if Path(file).suffix in _LINKED or Path(file).is_dir():
        raise Failure(f"{file}: use crosscut relational --rules to learn rules about linked data", UNREADABLE)
    with waiting(f"reading {Path(file).name}"):
        source = read_source(
            file,
            target,
            kind="classification",
            for_numbers="use crosscut cv to predict numbers",
            **options.source_options(arguments),
        )
    model = RuleClassifier(cv=folds, random_state=seed, **options.rule_parameters(arguments))
    with waiting(f"learning {folds + 1} rule sets"):
        fit_with_notes([model], source)
    if as_json:
        summary = {"file": Path(file).name, "target": target, "notes": source.notes, **rule_data(model)}
        print_json(summary)
    else:
        print_notes(stdout(), source.notes)
        print_rules(model)
    page = page_path(report, opened, file)
    write_results(
        (sql, "SQL", lambda path: replace_text(path, model.to_sql() + "\n")),
        (save, "Model", lambda path: save_model(model, path, target=target)),
        (page, "Report", lambda path: model.report(path, target=target)),
    )
    if opened and page is not None:
        show_page(page)


def print_rules(model: BaseEstimator) -> None:
    """Print fitted rules, and their cross-validated accuracy if there is one."""
    text = f"{counted(len(model.rules_), 'rule')}, {counted(model.rules_.n_conditions, 'condition')}"
    if hasattr(model, "cv_score_"):
        text += (
            f"; accuracy {model.cv_score_:.3f} ± {model.cv_standard_error_:.3f} "
            f"({len(model.cv_rules_)} folds)"
        )
    stdout().print(text, markup=False, highlight=False)
    stdout().print(model.to_text(), markup=False, highlight=False, soft_wrap=True)


def rule_data(model: BaseEstimator) -> dict[str, Any]:
    """Return fitted rules, and their results on held-out rows if there are any, as plain data."""
    data: dict[str, Any] = {
        "rules": [
            {
                "text": model.wording_.sentence(rule),
                "conditions": model.wording_.conditions(rule),
                "class": model.wording_.label(rule),
                "covers": rule.coverage,
                "precision": rule.precision,
            }
            for rule in model.rules_.with_default
        ]
    }
    if hasattr(model, "cv_score_"):
        for rule, (weight, precision) in zip(data["rules"], model.rule_precision_, strict=True):
            rule |= {"held_out": weight, "out_of_fold_precision": precision if weight else None}
        data |= {
            "score": model.cv_score_,
            "standard_error": model.cv_standard_error_,
            "scores": model.cv_scores_.tolist(),
        }
    return data
