"""A picture of times of which there is almost one only: its axis has a length."""

from __future__ import annotations

import io

import numpy as np
import pytest

from convexml.comparison.ranking.standings import Standing, _missed
from convexml.report.page.charts import draw_times

pytest.importorskip("matplotlib")


def test_a_miss_is_no_better_than_an_answer_that_posing_made_late() -> None:
    tables = {"slow": {("a", 1e-6): 2.0}, "none": {("a", 1e-6): np.inf}}
    assert _missed(("a", 1e-6), 0.3, tables) == 2.0
    assert _missed(("a", 1e-6), 5.0, tables) == 5.0
    assert np.isnan(_missed(("a", 1e-6), None, tables))


@pytest.mark.parametrize("steps", range(-3, 4))
@pytest.mark.parametrize("seconds", [0.00042, 0.001, 0.0123])
def test_times_that_differ_by_rounding(seconds: float, steps: int) -> None:
    mean = seconds + steps * np.spacing(seconds)
    alone = Standing("newton", 1, {"confirmed": 1}, mean, 0.0, seconds, {})
    for narrow in (False, True):
        figure = draw_times([alone], narrow)
        figure.savefig(io.BytesIO(), format="svg")
        low, high = figure.axes[0].get_xlim()
        assert low < seconds < high
        assert high / low > 2.0
