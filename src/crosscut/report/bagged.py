"""The report on bagged trees: out-of-bag results, importance of columns, and the number of trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crosscut.report.charts import Chart
from crosscut.report.columns import column_table
from crosscut.report.page import write_page
from crosscut.report.summary import about, held_out

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from crosscut.statistics.validation import Validation
    from crosscut.training.fit import Fit


def write_bagged_report(
    fit: Fit, out_of_bag: Mapping[int, Validation], path: str | PathLike[str], *, target: str | None = None
) -> None:
    """Write the report on bagged trees to an HTML file.

    ``out_of_bag`` holds results of the first trees by their number, which grows; the last are those of all.
    """
    numbers, final = list(out_of_bag), list(out_of_bag.values())[-1]
    fit = replace(fit, validation=final)
    summary = about(fit, target) | held_out(fit)
    measure, error = summary["cv"]["measure"], summary["cv"]["standard_error"]
    errors = [
        each.error.value if fit.classes is not None else each.error.root.value for each in out_of_bag.values()
    ]
    half = min(range(len(numbers)), key=lambda k: abs(2 * numbers[k] - numbers[-1]))
    chart = Chart(
        "Error by number of trees",
        (numbers[0], numbers[-1]),
        (0.0, max(errors)),
        x_title="trees",
        y_title=measure,
    )
    chart.line(zip(numbers, errors, strict=True))
    write_page(
        path,
        "bagged.html",
        fit,
        summary,
        columns=sorted(column_table(fit), key=lambda column: -column["importance"]),
        trees=numbers[-1],
        rows=len(final.y),
        never=len(final.y) - len(final.rows),
        more_trees=errors[half] - errors[-1] > error / 4,
        size_chart=chart.svg(),
    )
