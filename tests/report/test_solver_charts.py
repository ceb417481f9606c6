"""Charts over all solvers: no label is cut or crossed, no axis without a length."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.report.records import ENVIRONMENT, record

from convexml.comparison.ranking.standings import Standing, _missed
from convexml.report import Comparison, render_html
from convexml.report.page.charts import draw_profile, draw_times
from convexml.solvers.registry import names

pytest.importorskip("matplotlib")


def test_a_miss_is_no_better_than_an_answer_that_posing_made_late() -> None:
    tables = {"slow": {("a", 1e-6): 2.0}, "none": {("a", 1e-6): np.inf}}
    assert _missed(("a", 1e-6), 0.3, tables) == 2.0
    assert _missed(("a", 1e-6), 5.0, tables) == 5.0
    assert np.isnan(_missed(("a", 1e-6), None, tables))


def test_a_tick_is_seen_where_it_is_on_a_dot() -> None:
    """Drawn after the dot of the same time, and higher than it."""
    figure = draw_times([Standing("newton", 1, {"confirmed": 1}, 0.1, 0.1, 0.1, {})], False)
    *dots, tick = figure.axes[0].collections
    assert tick.get_label().startswith("compile")
    assert all(tick.get_zorder() >= dot.get_zorder() for dot in dots)
    assert all(tick.get_sizes()[0] > 2.0 * dot.get_sizes()[0] for dot in dots)


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
        assert list(figure.axes[0].get_ylim()) == [0.5, -0.5]  # room for half a marker


def box(artist: Any, renderer: Any) -> tuple[float, float, float, float]:
    found = artist.get_window_extent(renderer)
    return found.x0, found.x1, found.y0, found.y1


@pytest.mark.parametrize("narrow", [False, True])
def test_six_solvers_that_tie_have_labels_that_nothing_crosses_or_cuts(narrow: bool) -> None:
    """Leaders end where letters begin; ticks and labels are within the picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    longest = sorted(names(), key=len)[-6:]
    profile = Comparison(tuple(record("p", name) for name in longest), ENVIRONMENT).profile()
    figure = draw_profile(profile, longest, narrow)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    (axes,) = figure.axes
    labels = [box(text, renderer) for text in axes.texts]
    leaders = [box(line, renderer) for line in axes.lines if not line.get_clip_on()]
    for x0, _, y0, y1 in labels:
        crossing = [e for e in leaders if e[1] > x0 and e[2] < y1 and e[3] > y0]
        assert crossing == []
    ticks = [box(label, renderer) for label in axes.get_xticklabels()]
    legends = [box(each, renderer) for each in figure.legends]
    assert max(x1 for _, x1, _, _ in (*labels, *ticks, *legends)) < figure.bbox.width
    assert len(labels) == len(leaders) == (0 if narrow else 6)
    rows = sorted((y0, y1) for *_, y0, y1 in labels)
    assert all(above[0] > below[1] for below, above in pairwise(rows))


def test_what_is_not_there_is_not_spoken_of() -> None:
    rows = tuple(record("p", name, facts=()) for name in ("a", "b"))
    comparison = Comparison(rows, ENVIRONMENT)
    html = render_html(comparison)
    for text in (html, comparison.table()):
        assert "facts met" not in text
    assert "Grey:" not in html  # no solver without a label
    many = (*rows, *(record("p", name, seconds=1.0) for name in "cdefg"))
    assert "Grey:" in render_html(Comparison(many, ENVIRONMENT))


def test_what_the_time_limit_leaves_out_is_said() -> None:
    html = render_html(Comparison((record("p", "a"),), ENVIRONMENT))
    assert "each within 5 s of solving" in html
    assert "5 s for each run; posing for CVXPY and compiling loops are not in it" in html
    assert "nor of the time limit" in html
