"""The charts of the page: gaps and multipliers of one problem, times and profiles of all."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import pairwise
from math import inf, log10, nan
from typing import Any

import numpy as np
import pytest
from support.report.records import ENVIRONMENT, page_of, record

from convexml.show.comparison import Course, Outcome, Point
from convexml.show.report.courses import Convergence
from convexml.show.views import Comparison, render_html
from convexml.solvers import names

Place = tuple[float, float]


def made(gaps: dict[str, list[float]], reference: bool = False) -> tuple[Course, ...]:
    """Courses with a point each second, two passes apart."""
    return tuple(
        Course(
            name,
            reference,
            tuple(
                Point(name, k, nan if reference else 2.0 * k, 1.0 + k, 1.0, gap, gap)
                for k, gap in enumerate(numbers)
            ),
        )
        for name, numbers in gaps.items()
    )


def section_of(rows: list[Outcome], courses: tuple[Course, ...] = ()) -> str:
    """What the page says of the one problem of these rows."""
    races = [Convergence(rows[0].problem, "", courses, (1e-2,), {})] if courses else []
    html = page_of(Comparison(tuple(rows), ENVIRONMENT), *races)
    return html[html.index("<article") : html.index("</article>")]


class Race:
    """The picture of gaps: texts by place, lines and dots of each panel, and the legend."""

    def __init__(self, courses: tuple[Course, ...], rounding: float = 0.0) -> None:
        rows = [record("lasso", "fista", rounding=rounding, gap=1.0, relative_gap=1.0)]
        found = re.search(r'<figure class="race">.*?</figure>', section_of(rows, courses), re.S)
        self.html = found[0] if found else ""
        self.keys = re.findall(r'<li class="[^"]*?c(\d+)[^"]*">([^<]*)</li>', self.html)
        self.panels = re.findall(r"<svg.*?</svg>", self.html, re.S)

    def texts(self, panel: int) -> dict[str, Place]:
        found = re.findall(
            r'<text x="([\d.-]+)" y="([\d.-]+)" class="\w">([^<]*)<', self.panels[panel]
        )
        return {text: (float(x), float(y)) for x, y, text in found}

    def curves(self, panel: int) -> list[tuple[str, str]]:
        """The hue of each curve, and what is drawn of it."""
        drawn = r'<g class="curve[^"]*?c(\d+)[^"]*">(.*?)</g>'
        return re.findall(drawn, self.panels[panel], re.S)

    def lines(self, panel: int) -> dict[int, list[Place]]:
        path = re.compile(r'<path d="M([^"]*)"')
        paths = {int(hue): path.search(drawn) for hue, drawn in self.curves(panel)}
        return {
            hue: [tuple(map(float, pair.split())) for pair in found[1].split("L")]
            for hue, found in paths.items()
            if found
        }

    def dots(self, panel: int) -> dict[int, int]:
        return {int(hue): drawn.count("<circle") for hue, drawn in self.curves(panel)}


def test_the_picture_shows_gaps_where_they_are() -> None:
    race = Race(made({"s": [1.0, 1e-2, 1e-4, inf, 0.0]}))
    at, (places,) = race.texts(1), race.lines(1).values()
    level = {text: y - 4.0 for text, (_, y) in at.items()}  # the base of the letters
    assert places[0] == pytest.approx((at["1"][0], level["10⁰"]), abs=1.01)
    assert places[1][1] == pytest.approx(level["10⁻²"], abs=1.01)
    across = at["1"][0] + (at["10"][0] - at["1"][0]) * log10(5.0)
    # gap 0, at 5 s, is drawn as the smallest
    assert places[3] == pytest.approx((across, level["10⁻¹⁶"]), abs=1.01)
    assert len(places) == 4  # the infinite bound is left out,
    assert len(race.lines(0)[0]) == 3  # and so is pass 0, on a logarithmic axis


def test_the_picture_shows_as_many_solvers_as_it_has_hues_the_closest_ones() -> None:
    race = Race(made({f"solver {k}": [1.0, 10.0**-k] for k in range(18)}), rounding=1e-20)
    assert [name for _, name in race.keys] == [f"solver {k}" for k in range(8, 18)]
    assert len({hue for hue, _ in race.keys}) == len(race.keys) == 10
    floor = re.search(r'class="floor"[^>]*?d="M[\d.]+ ([\d.]+)', race.html)
    assert floor
    assert float(floor[1]) == pytest.approx(race.texts(0)["10⁻¹⁶"][1] - 4.0, abs=1.01)
    assert 'class="floor"' not in Race(made({"s": [1.0, 1e-3]})).html
    for panel in (0, 1):
        assert all(0.0 <= x <= 420.0 for x, _ in race.texts(panel).values())


def test_reference_solvers_are_dots_against_seconds_only() -> None:
    race = Race(made({"ours": [1.0, 1e-9]}) + made({"theirs": [1e-3, 1e-8]}, reference=True))
    hues = {name: int(hue) for hue, name in race.keys}
    assert [*race.dots(0)] == [hues["ours"]]
    assert race.dots(1) == {hues["ours"]: 0, hues["theirs"]: 2}


def test_a_course_too_short_for_a_line_is_a_dot() -> None:
    """The last look and the end lie at almost the same time and gap."""
    points = (Point("s", 1, 9.0, 1.0, 1.0, 1e-7, 1e-7), Point("s", 1, 9.0, 1.02, 1.0, 1e-7, 1e-7))
    race = Race((Course("s", False, points), *made({"long": [1.0, 1.0, 1e-9]})))
    hues = {name: int(hue) for hue, name in race.keys}
    for panel in (0, 1):
        assert race.dots(panel) == {hues["long"]: 0, hues["s"]: 1}


def test_the_fastest_of_the_accurate_comes_first() -> None:
    courses = made({"slow": [1.0, 1.0, 1e-9], "rough": [1e-3], "fast": [1.0, 1e-12], "no": [inf]})
    assert [name for _, name in Race(courses).keys] == ["fast", "slow", "rough"]


# -- of one problem ------------------------------------------------------------------------------


def solved(**point: Any) -> Outcome:
    arrays = {name: np.asarray(value, dtype=float) for name, value in point.items()}
    return replace(record("svm", "smo"), point=arrays, duals=tuple(arrays), support=None)


def rows_of(section: str) -> dict[str, list[str]]:
    """The table of multipliers."""
    table = section.partition('<table class="numbers">')[2].partition("</table>")[0]
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', table)
    return {name: re.findall(r"<td>(.*?)</td>", cells) for name, cells in rows}


def test_support_vectors_are_in_colour_and_named() -> None:
    alpha = np.concatenate([np.full(30, 2.0), [1.0], np.zeros(69)])
    row = replace(solved(u=-alpha, alpha=alpha), support=tuple(range(31)))
    section = section_of([row])
    assert "31 of 100 samples are support vectors of smo; 30 of them have the largest" in section
    assert "multiplier, 2." in section
    first = section.partition("<svg")[2].partition("</svg>")[0]
    assert re.search(r'class="held" d="M[^"]*Z"', first)
    assert ">α</text>" in first
    assert ">31</text>" in first
    assert ">samples" in first
    assert f"by sample from 0: {', '.join(map(str, range(31)))}<" in section
    assert {name: cells[:2] for name, cells in rows_of(section).items()} == {
        "u": ["100", "31"],
        "α": ["100", "31"],
    }


def test_few_multipliers_have_a_bar_each_whose_height_is_the_value() -> None:
    section = section_of([solved(lambda_ub=[0.5, 0.0, -1.0], nu=[], t=[3.0])])
    (path,) = re.findall(r'class="bars" d="M([^"]*)"', section)  # one number is in the table alone
    heights = [int(x) - int(y) for x, y in re.findall(r"\d+ (\d+)V(\d+)", path)]
    assert len(heights) == 2
    assert heights[1] == pytest.approx(-2 * heights[0], abs=2)
    assert [*rows_of(section)] == ["λ_ub", "t"]
    assert "λ_ub = 0.5, 0, −1<" in section
    nearly = section_of([solved(margin=[1.0, 3e-12, 2.0])])  # a solver's dust is not 0
    told = "2 of 3 multipliers margin are above 1.0e−07 of the largest in size, 2 at 2."
    assert told in nearly


@pytest.mark.parametrize("point", [{}, {"u": []}, {"u": [nan, 1.0]}, {"u": [0.0, 0.0]}])
def test_without_multipliers_there_is_no_chart(point: dict[str, Any]) -> None:
    """Where they are 0 there is a table."""
    section = section_of([solved(**point)])
    assert "<svg" not in section
    assert {name: cells[1] for name, cells in rows_of(section).items()} == (
        {"u": "0"} if point.get("u") == [0.0, 0.0] else {}
    )


def test_the_answer_shown_is_confirmed_and_has_the_smallest_gap() -> None:
    one = solved(u=[1.0, 2.0])
    rows = [replace(one, solver=name, relative_gap=g) for name, g in (("a", 1e-7), ("b", 1e-9))]
    liar = replace(one, solver="liar", relative_gap=1e-12, verdict="refuted", verified=False)
    assert "At the point of b," in section_of([*rows, liar])
    assert "At the point of liar," in section_of([liar])


def test_no_gap_is_shown_below_that_of_the_certificate() -> None:
    """A look under way found 1e-17, which leaves out what the certificate counts as rounding."""
    row = record("lasso", "fista", gap=2.7e-11, relative_gap=2.7e-14, rounding=2e-11)
    assert row.floor == pytest.approx(2e-14)
    row = replace(row, passes=9.0, course=((1.0, 1e-4, 0.5), (8.0, 1e-3, 1e-17)))
    section = section_of([row])
    assert (
        "fista is the first to a verified gap of 1e−08 or less: 2.7e−14 after 0.0010 s; "
        "the floor, what rounding alone can hide, is 2.0e−14."
    ) in section
    assert section.partition("<pre")[2].partition("</pre>")[0].split()[-1] == "2.7e-14"
    unbounded = replace(row, gap=inf, relative_gap=inf)
    assert "<svg" not in section_of([unbounded])  # looks of a run whose certificate has no gap
    (floor, *_) = map(float, re.findall(r'class="floor"[^>]*?d="M[\d.]+ ([\d.]+)', section))
    curves = "".join(re.findall(r'<g class="curve.*?</g>', section, re.S))
    assert max(float(y) for y in re.findall(r"[ML]\d+ (\d+)", curves)) <= floor  # downwards
    assert "<svg" not in section_of([record("lasso", "clarabel")])  # nothing was seen under way


def test_who_is_first_is_told_as_such_and_gaps_of_0_have_no_axes() -> None:
    """Both get to 1e-8; the quicker one is not the closest."""
    quick = replace(record("lasso", "quick", relative_gap=3e-9), course=((1.0, 1e-4, 0.5),))
    close = replace(record("lasso", "close", relative_gap=1e-13, seconds=1.0), course=quick.course)
    told = "quick is the first to a verified gap of 1e−08 or less: 3.0e−09 after 0.0168 s."
    assert told in section_of([close, quick])
    told = "No solver gets to a verified gap of 0.1 or less; quick gets to 5.0e−01."
    assert told in section_of([replace(quick, relative_gap=0.5)])
    exact = replace(quick, gap=0.0, relative_gap=0.0, course=((1.0, 1e-4, 0.0), (2.0, 1e-3, 0.0)))
    assert "<svg" not in section_of([exact])


def test_the_charts_of_a_problem_stand_in_its_section() -> None:
    row = replace(solved(alpha=[1.0, 0.0]), support=(0,), course=((1.0, 0.1, 0.5), (2.0, 0.2, 0.1)))
    section = section_of([row])
    assert "1 of 2 samples are support vectors of smo" in section
    assert 'class="floor"' not in section  # no rounding is known of this row
    assert ">smo</li>" in section
    assert section.count("The numbers of this chart") == 2


# -- of all solvers ------------------------------------------------------------------------------


@pytest.fixture
def drawn(saved: list[Any]) -> Any:
    """The figures by matplotlib on the page of some rows whose axis has such a label."""
    pytest.importorskip("matplotlib")

    def drawn(label: str, *rows: Outcome) -> list[Any]:
        saved.clear()
        render_html(Comparison(rows, ENVIRONMENT))
        return [each for each in saved if label in each.axes[0].get_xlabel()]

    return drawn


def test_a_miss_is_no_better_than_an_answer_that_posing_made_late() -> None:
    for limit, worth in ((0.3, 2.0), (5.0, 5.0), (None, nan)):
        late = record("a", "slow", seconds=0.2, compile_seconds=1.8, max_seconds=limit)
        missed = replace(late, solver="none", verdict="undecided", verified=False)
        (found,) = (e for e in Comparison((late, missed), {}).standings() if e.solver == "none")
        assert found.mean_seconds == pytest.approx(worth, nan_ok=True)


def test_a_tick_is_seen_where_it_is_on_a_dot(drawn: Any) -> None:
    """Drawn after the dot of the same time, and higher than it."""
    for figure in drawn("seconds", record("p", "newton", seconds=0.1, compile_seconds=0.1)):
        *dots, tick = figure.axes[0].collections
        assert tick.get_label().startswith("compile")
        assert all(tick.get_zorder() >= dot.get_zorder() for dot in dots)
        assert all(tick.get_sizes()[0] > 2.0 * dot.get_sizes()[0] for dot in dots)


def test_times_that_differ_by_rounding(drawn: Any) -> None:
    for seconds, steps in ((0.00042, -2), (0.0123, 0)):
        rows = [record(name, "newton", seconds=seconds, compile_seconds=0.0) for name in "ab"]
        rows[1] = replace(rows[1], seconds=seconds + steps * np.spacing(seconds))
        figures = drawn("seconds", *rows)
        assert len(figures) == 2
        for figure in figures:
            low, high = figure.axes[0].get_xlim()
            assert low < seconds < high
            assert high / low > 2.0
            assert list(figure.axes[0].get_ylim()) == [0.5, -0.5]  # room for half a marker


def box(artist: Any, renderer: Any) -> tuple[float, float, float, float]:
    found = artist.get_window_extent(renderer)
    return found.x0, found.x1, found.y0, found.y1


def test_six_solvers_that_tie_have_labels_that_nothing_crosses_or_cuts(drawn: Any) -> None:
    """Leaders end where letters begin; ticks and labels are within the picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    longest = sorted(names(), key=len)[-6:]
    profiles = drawn("multiple of the best", *(record("p", name) for name in longest))
    assert len(profiles) == 2
    for figure in profiles:
        figure.savefig(io.BytesIO(), format="svg")
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        (axes,) = figure.axes
        narrow = not axes.texts
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
    assert sorted(len(each.axes[0].texts) for each in profiles) == [0, 6]


def test_what_is_not_there_is_not_spoken_of() -> None:
    rows = tuple(record("p", name, facts=()) for name in ("a", "b"))
    comparison = Comparison(rows, ENVIRONMENT)
    html = render_html(comparison)
    for text in (html, comparison.table()):
        assert "facts met" not in text
    assert "Grey:" not in html  # no solver without a label
    many = (*rows, *(record("p", name, seconds=1.0) for name in "cdefg"))
    assert "Grey:" in render_html(Comparison(many, ENVIRONMENT))
    assert "each within 5 s of solving" in html  # what the time limit leaves out
    assert "5 s for each run; posing for CVXPY and compiling loops are not in it" in html
    assert "nor of the time limit" in html
