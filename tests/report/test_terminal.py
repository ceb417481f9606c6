"""The terminal's table, its summary, and the digits that it shows."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from math import inf, nan

import pytest
from rich.console import Console
from support.report.reader import read
from support.report.records import record

from convexml.report import Comparison, print_comparison
from convexml.report.formats import brief, scientific, seconds, unlike, values
from convexml.report.page import render_html
from convexml.report.page.opening import sentences
from convexml.report.page.words import LOOKS, badge_words
from convexml.report.summary import objectives, summarize
from convexml.report.terminal import closing, notebook_table


def test_summary_counts_claims_and_certificates(comparison: Comparison) -> None:
    summary = summarize(comparison)
    assert [item.solver for item in summary.disagreements] == ["liar", "scs"]
    assert summary.unverified == ("svm",)
    assert (summary.facts_met, summary.facts) == (1, 2)


def test_an_optimal_status_without_a_certificate_is_not_shown_as_certified() -> None:
    for status in ("optimal", "infeasible", "unattained"):
        impostor = record("lasso", "liar", verdict="undecided", status=status)
        assert badge_words(impostor) == "undecided"
        assert impostor.disagrees


def test_a_row_says_what_the_badge_of_the_page_says(comparison: Comparison) -> None:
    """A claim beside another certified one, a point of who gave up, a name in its letters."""
    lost = {"verdict": "refuted", "status": "inaccurate", "verified": False}
    rows = [
        *comparison.records,
        record("lp", "ecos", claimed="infeasible", **lost | {"verdict": "undecided"}),
        record("lp", "highs", claimed="user_limit", worst_condition="lam |w_j| <= 0", **lost),
    ]
    rows[-2] = replace(rows[-2], elsewhere="optimal")
    table = Comparison(tuple(rows), {}).table()
    page = render_html(Comparison(tuple(rows), {}))
    for row in rows:
        words = badge_words(row)
        assert f"\N{NO-BREAK SPACE}{words}<" in page.replace("&nbsp;", "\N{NO-BREAK SPACE}")
        assert re.search(rf"^  {row.solver} +{row.claimed or '–'} +{words}  ", table, re.M)
    assert badge_words(rows[-2]) == "undecided, optimal elsewhere"
    assert badge_words(rows[-1]) == "not optimal"
    assert "λ |wⱼ| ≤ 0" in table


def test_a_notebook_shows_each_problem_with_its_own_digits() -> None:
    small = record("a", "one", objective=0.748057926536875, dual_objective=0.748057926536875)
    large = record("b", "one", objective=123456.789, dual_objective=123456.789)
    shown = notebook_table(Comparison((small, large), {}))
    assert "<td>0.748057927</td>" in shown
    assert "<td>123456.789</td>" in shown


def test_plain_text_has_every_column_and_no_escape_codes(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    stream = io.StringIO()
    print_comparison(comparison, Console(file=stream, width=60))
    text = stream.getvalue()
    assert "\x1b" not in text
    assert text == comparison.table() + "\n"
    header, row = text.splitlines()[0], text.splitlines()[3]
    for name in ("solver", "claimed", "verified", "P", "D", "rel. gap", "compile s", "solve s"):
        assert name in header
    assert row.split()[:4] == ["clarabel", "optimal", "certified", "1620.59971"]
    assert "known: nonzeros = 5; clarabel has 7" in text
    assert "    a feasible point is better by 79.4 <b>bold</b>" in text
    assert "No solver at all verified 1 problem: svm." in text


def test_the_terminal_counts_every_run_once_and_as_the_page_does(comparison: Comparison) -> None:
    page = read(render_html(comparison))
    words = {LOOKS[kind].word: number for kind, number in page.counts.items()}
    counted = re.findall(r"^ +([\d,]+) ([^:]+): ", "\n".join(closing(comparison)), re.MULTILINE)
    assert {word: int(number) for number, word in counted} == words
    assert len(counted) == len(words)
    assert sum(words.values()) == len(comparison) == 6
    assert "= 6 rows." in comparison.table()
    for sentence in sentences(comparison, summarize(comparison)):
        assert sentence in comparison.table()


@pytest.mark.parametrize("width", [80, 120])
def test_nothing_is_wider_than_the_terminal_and_nothing_is_cut(width: int) -> None:
    rows = [
        record(
            f"a_problem_with_a_name_that_goes_on_and_on_{k}",
            "augmented_lagrangian" if k else "online_gradient_descent",
            title=f"A title of {k} that needs a line of its own and then a little more of it",
            claimed="infeasible_inaccurate",
            status="infeasible",
            worst_condition="c + A_ub' lambda_ub + A_eq' nu - lambda_lower + lambda_upper = 0",
            objective=-1.23456789e-12 * 10.0 ** (9 * k),
            message="why " * 40,
            verified=False,
        )
        for k in range(3)
    ]
    table = Comparison(tuple(rows), {})
    stream = io.StringIO()
    print_comparison(table, Console(file=stream, force_terminal=True, width=width))
    text = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert max(map(len, text.splitlines())) <= width
    wide, narrow = (set(each.split()) for each in (table.table(), text))
    for row in rows:
        kept = f"{row.problem} {row.title} {row.solver} {row.claimed} {row.message}"
        assert set(kept.split()) <= narrow
    assert narrow <= wide
    runs = [line for line in text.splitlines() if re.match(r"  (aug|online)", line)]
    verdicts = [line.index("certified infeasible") for line in runs]
    assert len(set(verdicts)) == 1  # in one column
    assert all(line[verdicts[0] - 2 : verdicts[0]] == "  " for line in runs)


def test_a_narrow_terminal_drops_columns_and_keeps_the_verdict(comparison: Comparison) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=72, color_system="standard")
    print_comparison(comparison, console)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert plain != stream.getvalue()
    header = plain.splitlines()[0]
    assert "compile s" not in header
    assert "verified" in header
    assert max(len(line.rstrip()) for line in plain.splitlines()[:4]) <= 72


def test_columns_of_numbers_have_equal_decimals() -> None:
    assert values([1620.5997, 3.25, nan, inf, -inf]) == ["1620.599700", "3.250000", "–", "∞", "-∞"]
    assert values([0.0, -0.0]) == ["0.000000000", "0.000000000"]
    assert values([1e-7, 2.5e-9]) == ["1.000000000e-07", "2.500000000e-09"]
    assert values([]) == []
    assert (scientific(0.0), scientific(3.14e-9), scientific(inf)) == ("0", "3.1e-09", "∞")
    assert [seconds(x) for x in (0.0, 4e-5, 0.01234, 12.345)] == ["0", "4.0e-05", "0.0123", "12.35"]
    assert brief([1.0, 2.0, 3.0, 4.0, 5.0]) == "[1, 2, 3, 4, …]"
    assert brief(None) == "–"


def test_a_bad_answer_takes_no_digits_and_what_is_not_0_is_not_shown_as_0() -> None:
    """The digits are those of certified answers: 0.7480579265 beside D, whatever one run has."""
    good = record("p", "good", objective=0.748057926536875, dual_objective=0.748057926536875)
    bad = replace(good, objective=1285.2040816324798, verdict="undecided", verified=False)
    lost = replace(bad, objective=3.5e11)
    primal, dual = objectives([good, bad, lost])
    assert primal == ["0.7480579265", "1285.2040816325", "3.500000000e+11"]
    assert dual == ["0.7480579265"] * 3
    primal, _ = objectives([bad, lost])  # without a certified one as before: the largest number
    assert primal == ["1.285204082e+03", "3.500000000e+11"]
    primal, dual = objectives(
        [replace(good, objective=x, dual_objective=0.0) for x in (0.0405406442, 1.13285e-14)]
    )
    assert primal == ["0.0405406442", "1.132850000e-14"]
    assert dual == ["0.000000000"] * 2


def test_what_misses_a_fact_is_shown_with_digits_that_tell() -> None:
    assert unlike(1.0, 2.0) == "1"
    assert unlike(12.3456781, 12.3456780) == "12.3456781"
    assert unlike([1.0, 2.0], [1.0, 3.0]) == "[1, 2]"
    assert unlike([0.0] * 5 + [1.0], [0.0] * 5 + [2.0]) == "1 at 5 where 2 was expected"
    assert unlike(None, 1.0) == "–"
