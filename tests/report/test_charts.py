import re

import pytest

from crosscut.report.charts import bar_chart


def bars(svg):
    found = re.findall(r'<rect class="bar" x="[^"]+" y="([^"]+)" width="([^"]+)" height="([^"]+)">', svg)
    return [tuple(map(float, bar)) for bar in found]


def test_scores_below_zero_hang_from_the_zero_line():
    (top, _, height), (low, _, depth) = bars(bar_chart([0.5, -1.0], "", "fold", "R²", mean=-0.25))
    assert height > 0
    assert top + height == pytest.approx(low, abs=0.11)  # numbers are rounded
    assert depth == pytest.approx(2 * height, abs=0.21)


def test_folds_without_a_score_have_no_bar():
    assert len(bars(bar_chart([0.5, float("nan"), None], "", "fold", "R²", mean=0.5))) == 1


def test_nothing_but_zeros_can_be_drawn():
    assert [height for _, _, height in bars(bar_chart([0.0, 0.0], "Time", "level", "milliseconds"))] == [
        0.0,
        0.0,
    ]
