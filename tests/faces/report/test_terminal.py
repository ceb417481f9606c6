"""The terminal's table, its summary, and the digits that it shows."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from math import inf, nan
from typing import Any

import pytest
from rich.console import Console
from support.report.reader import read
from support.report.records import page_of, record

from convexml.show.comparison import Outcome
from convexml.show.views import Comparison, print_comparison


def test_an_optimal_status_without_a_certificate_is_not_shown_as_certified() -> None:
    for status in ("optimal", "infeasible", "unattained"):
        impostor = record("lasso", "liar", verdict="undecided", status=status)
        assert re.search(
            r"^  liar +optimal +undecided  ", Comparison((impostor,), {}).table(), re.M
        )
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
    runs = read(page_of(Comparison(tuple(rows), {}))).runs
    for row in rows:
        (run,) = (each for each in runs[row.problem] if each["solver"] == row.solver)
        words = run["Verdict"].partition(" ")[2]  # after its mark
        assert re.search(rf"^  {row.solver} +{row.claimed or '–'} +{words}  ", table, re.M)
    assert words == "not optimal"
    assert "undecided, optimal elsewhere" in table
    assert "λ |wⱼ| ≤ 0" in table


def test_a_notebook_shows_each_problem_with_its_own_digits() -> None:
    small = record("a", "one", objective=0.748057926536875, dual_objective=0.748057926536875)
    large = record("b", "one", objective=123456.789, dual_objective=123456.789)
    shown = Comparison((small, large), {})._repr_html_()
    assert "<td>0.748057927</td>" in shown
    assert "<td>123456.789</td>" in shown


def test_plain_text_has_no_escapes(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
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
    counts = read(page_of(comparison)).counts
    counted = re.findall(r"^ +([\d,]+) ([^:\n]+): ", comparison.table(), re.MULTILINE)
    assert sorted(int(number) for number, _ in counted) == sorted(counts.values())
    assert len({word for _, word in counted}) == len(counts)
    assert sum(counts.values()) == len(comparison) == 6
    assert "= 6 rows." in comparison.table()


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


def columns(*rows: Outcome) -> list[list[str]]:
    """Solver, claim, verdict, P, D, relative gap, ... of every row of one problem."""
    lines = Comparison(rows, {}).table().splitlines()
    found = [re.split(r" {2,}", line.strip()) for line in lines[1:] if re.match(r"  \S", line)]
    return [list(each) for each in zip(*found[: len(rows)], strict=False)]


def test_columns_of_numbers_have_equal_decimals() -> None:
    good = record("p", "newton", facts=(), worst_condition="", message="")
    for values, shown in (
        ([1620.5997, 3.25, nan, inf, -inf], ["1620.59970", "3.25000", "–", "∞", "-∞"]),
        ([0.0, -0.0], ["0.00000000"] * 2),
        ([1e-7, 2.5e-9], ["1.00000000e-07", "2.50000000e-09"]),
        # what is not 0 is not shown as 0
        ([0.0405406442, 1.13285e-14], ["0.040540644", "1.13285000e-14"]),
    ):
        assert columns(*(replace(good, objective=each) for each in values))[3] == shown
    gaps = [replace(good, relative_gap=each) for each in (0.0, 3.14e-9, inf)]
    assert columns(*gaps)[5] == ["0", "3.1e-09", "∞"]
    times = [replace(good, seconds=each) for each in (0.0, 4e-5, 0.01234, 12.345)]
    assert columns(*times)[-1] == ["0", "4.0e-05", "0.0123", "12.35"]


def test_a_bad_answer_takes_no_digits() -> None:
    """The digits are those of certified answers: 0.748057927 beside D, whatever one run has."""
    good = record("p", "good", objective=0.748057926536875, dual_objective=0.748057926536875)
    good = replace(good, facts=())
    bad = replace(good, objective=1285.2040816324798, verdict="undecided", verified=False)
    lost = replace(bad, objective=3.5e11)
    _, _, _, primal, dual, *_ = columns(good, bad, lost)
    assert primal == ["0.748057927", "1285.204081632", "3.50000000e+11"]
    assert dual == ["0.748057927"] * 3
    primal = columns(bad, lost)[3]  # without a certified one: as of the largest number
    assert primal == ["1.28520408e+03", "3.50000000e+11"]


@pytest.mark.parametrize(("value", "expected", "shown"), [
    (1.0, 2.0, "1"), (12.3456781, 12.3456780, "12.3456781"), ([1.0, 2.0], [1.0, 3.0], "[1, 2]"),
    ([0.0] * 5 + [1.0], [0.0] * 5 + [2.0], "1 at 5 where 2 was expected"), (None, 1.0, "–"),
])  # fmt: skip
def test_what_misses_a_fact_has_digits_that_tell(value: Any, expected: Any, shown: str) -> None:
    fact = {"name": "x", "expected": expected, "value": value, "ok": False, "source": "by hand"}
    table = Comparison((record("p", "newton", facts=(fact,)),), {}).table()
    assert f"; newton has {shown}\n" in table
    if value == 1.0:
        fact |= {"expected": [1.0, 2.0, 3.0, 4.0, 5.0]}
        table = Comparison((record("p", "newton", facts=(fact,)),), {}).table()
        assert "known: x = [1, 2, 3, 4, …]" in table
