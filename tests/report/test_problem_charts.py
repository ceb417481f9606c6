"""The charts of one problem: its multipliers and support vectors, and the gap of its runs."""

from __future__ import annotations

from dataclasses import replace
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
    assert first.name == "alpha"
    assert first.held.endswith("Z")
    assert "31" in [text for _, text in first.ends]
    assert first.words.startswith("samples")
    assert shown["support"] == list(range(31))
    assert [(row.name, row.entries, row.active) for row in shown["rows"]] == [
        ("u", 100, 31),
        ("alpha", 100, 31),
    ]


def test_few_multipliers_have_a_bar_each_whose_height_is_the_value() -> None:
    shown = multipliers(solved(lambda_ub=[0.5, 0.0, -1.0], nu=[], t=[3.0]))
    (panel,) = shown["panels"]  # one number is in the table alone
    bars = [bar.split("V") for bar in panel.path[1:].split("M")]
    heights = [panel.zero - int(top) for _, top in bars]
    assert len(bars) == 2 <= BARS
    assert heights[1] == pytest.approx(-2 * heights[0], abs=2)
    assert [row.name for row in shown["rows"]] == ["lambda_ub", "t"]
    assert shown["rows"][0].values == "0.5, 0, −1"


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


def test_no_gap_is_shown_below_what_rounding_hides() -> None:
    """A look under way found 1e-17, where the certificate allows for a rounding of 1e-9 / 1e3."""
    row = record("lasso", "fista", gap=1e-5, relative_gap=1e-8, rounding=1e-9)
    assert row.floor == pytest.approx(1e-12)
    row = replace(row, passes=9.0, course=((1.0, 1e-4, 0.5), (8.0, 1e-3, 1e-17)))
    shown = gaps([row], None)
    assert shown["takeaway"] == (
        "fista comes closest first: a verified gap of 1.0e-12 in 0.0010 s; "
        "the floor, what rounding alone can hide, is 1.0e-12."
    )
    picture = shown["picture"]
    drawn = [y for panel in picture.panels for line in panel.lines for _, y in line.places]
    assert max(drawn) <= picture.floor + 1e-9  # downwards
    assert gaps([record("lasso", "clarabel")], None) == {}  # nothing was seen under way


def test_the_charts_of_a_problem_stand_in_its_section() -> None:
    row = replace(solved(alpha=[1.0, 0.0]), support=(0,), course=((1.0, 0.1, 0.5), (2.0, 0.2, 0.1)))
    html = render_html(Comparison((row,), ENVIRONMENT))
    section = html[html.index("<article") : html.index("</article>")]
    assert "1 of 2 samples are support vectors of smo" in section
    assert 'class="floor"' not in section  # no rounding is known of this row
    assert ">smo</li>" in section
    assert section.count("The numbers of this chart") == 2
