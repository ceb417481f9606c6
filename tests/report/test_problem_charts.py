"""The charts of one problem: its multipliers and support vectors, and the gap of its runs."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest
from support.report.records import ENVIRONMENT, record

from convexml.comparison import Outcome
from convexml.report import Comparison, render_html
from convexml.report.page.duals import BARS, active, best_of, multipliers
from convexml.report.page.gaps import gaps


def solved(**point: Any) -> Outcome:
    arrays = {name: np.asarray(value, dtype=float) for name, value in point.items()}
    return replace(record("svm", "smo"), point=arrays, duals=tuple(arrays), support=None)


def test_support_vectors_are_in_colour_and_named() -> None:
    alpha = np.concatenate([np.full(30, 2.0), [1.0], np.zeros(69)])
    shown = multipliers(replace(solved(u=-alpha, alpha=alpha), support=tuple(range(31))))
    assert shown["takeaway"] == (
        "31 of 100 samples are support vectors of smo; 30 of them have the largest multiplier, 2."
    )
    first = shown["panels"][0]
    assert first.name == "α"
    assert first.held.endswith("Z")
    assert "31" in [text for _, text in first.ends]
    assert first.words.startswith("samples")
    assert shown["support"] == list(range(31))
    assert [(row.name, row.entries, row.active) for row in shown["rows"]] == [
        ("u", 100, 31),
        ("α", 100, 31),
    ]


def test_few_multipliers_have_a_bar_each_whose_height_is_the_value() -> None:
    shown = multipliers(solved(lambda_ub=[0.5, 0.0, -1.0], nu=[], t=[3.0]))
    (panel,) = shown["panels"]  # one number is in the table alone
    bars = [bar.split("V") for bar in panel.path[1:].split("M")]
    heights = [panel.zero - int(top) for _, top in bars]
    assert len(bars) == 2 <= BARS
    assert heights[1] == pytest.approx(-2 * heights[0], abs=2)
    assert [row.name for row in shown["rows"]] == ["λ_ub", "t"]
    assert shown["rows"][0].values == "0.5, 0, −1"
    nearly = multipliers(solved(margin=[1.0, 3e-12, 2.0]))  # a solver's dust is not 0
    assert (
        "2 of 3 multipliers margin are above 1.0e-07 of the largest in size, 2 at 2."
        in (nearly["takeaway"])
    )


@pytest.mark.parametrize("point", [{}, {"u": []}, {"u": [np.nan, 1.0]}])
def test_without_multipliers_there_is_no_chart(point: dict[str, Any]) -> None:
    assert multipliers(solved(**point)) == {}


def test_multipliers_that_are_0_have_a_table_only() -> None:
    shown = multipliers(solved(u=[0.0, 0.0]))
    assert (shown["panels"], shown["rows"][0].active) == ([], 0)
    assert not active(np.zeros(3)).any()


def test_the_answer_shown_is_confirmed_and_has_the_smallest_gap() -> None:
    rows = [record("svm", name, relative_gap=gap) for name, gap in (("a", 1e-7), ("b", 1e-9))]
    liar = record("svm", "liar", relative_gap=1e-12, verdict="refuted", verified=False)
    assert best_of([*rows, liar]).solver == "b"
    assert best_of([liar]).solver == "liar"


def test_no_gap_is_shown_below_that_of_the_certificate() -> None:
    """A look under way found 1e-17, which leaves out what the certificate counts as rounding."""
    row = record("lasso", "fista", gap=2.7e-11, relative_gap=2.7e-14, rounding=2e-11)
    assert row.floor == pytest.approx(2e-14)
    row = replace(row, passes=9.0, course=((1.0, 1e-4, 0.5), (8.0, 1e-3, 1e-17)))
    shown = gaps([row], None)
    assert shown["takeaway"] == (
        "fista is the first to a verified gap of 1e-08 or less: 2.7e-14 after 0.0010 s; "
        "the floor, what rounding alone can hide, is 2.0e-14."
    )
    assert shown["table"].splitlines()[-1].split()[-1] == "2.7e-14"
    unbounded = replace(row, gap=inf, relative_gap=inf)
    assert gaps([unbounded], None) == {}  # looks of a run whose certificate has no gap
    picture = shown["picture"]
    drawn = [y for panel in picture.panels for line in panel.lines for _, y in line.places]
    assert max(drawn) < picture.floor  # downwards
    assert gaps([record("lasso", "clarabel")], None) == {}  # nothing was seen under way


def test_who_is_first_is_told_as_such_and_gaps_of_0_have_no_axes() -> None:
    """Both get to 1e-8; the quicker one is not the closest."""
    quick = replace(record("lasso", "quick", relative_gap=3e-9), course=((1.0, 1e-4, 0.5),))
    close = replace(record("lasso", "close", relative_gap=1e-13, seconds=1.0), course=quick.course)
    told = gaps([close, quick], None)["takeaway"]
    assert told == "quick is the first to a verified gap of 1e-08 or less: 3.0e-09 after 0.0168 s."
    far = replace(quick, relative_gap=0.5)
    told = gaps([far], None)["takeaway"]
    assert told == "No solver gets to a verified gap of 0.1 or less; quick gets to 5.0e-01."
    exact = replace(quick, gap=0.0, relative_gap=0.0, course=((1.0, 1e-4, 0.0), (2.0, 1e-3, 0.0)))
    assert gaps([exact], None) == {}


def test_the_charts_of_a_problem_stand_in_its_section() -> None:
    row = replace(solved(alpha=[1.0, 0.0]), support=(0,), course=((1.0, 0.1, 0.5), (2.0, 0.2, 0.1)))
    html = render_html(Comparison((row,), ENVIRONMENT))
    section = html[html.index("<article") : html.index("</article>")]
    assert "1 of 2 samples are support vectors of smo" in section
    assert 'class="floor"' not in section  # no rounding is known of this row
    assert ">smo</li>" in section
    assert section.count("The numbers of this chart") == 2
