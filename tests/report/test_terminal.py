"""The terminal's table, its summary, and the digits that it shows."""

from __future__ import annotations

import io
import re
from math import inf, nan

import pytest
from rich.console import Console
from support.report.records import record

from convexml.report import Comparison, print_comparison
from convexml.report.formats import brief, scientific, seconds, unlike, values
from convexml.report.summary import summarize, verdict_of


def test_summary_counts_claims_and_certificates(comparison: Comparison) -> None:
    summary = summarize(comparison)
    assert (summary.claimed, summary.confirmed) == (3, 1)  # statements are not counted
    kinds = [verdict_of(row) for row in comparison.records]
    counts = [kinds.count(kind) for kind in ("certified", "refuted", "failed", "did not run")]
    assert counts == [2, 1, 1, 1]
    assert summary.uncertifiable == 1
    assert [item.solver for item in summary.disagreements] == ["liar", "scs"]
    assert summary.unverified == ("svm",)
    assert (summary.facts_met, summary.facts) == (1, 2)


def test_an_optimal_status_without_a_certificate_is_not_shown_as_certified() -> None:
    for status in ("optimal", "infeasible", "unattained"):
        impostor = record("lasso", "liar", verdict="undecided", status=status)
        assert verdict_of(impostor) == "undecided"
        assert impostor.disagrees


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
    assert row.split()[:4] == ["clarabel", "optimal", "optimal", "certified"]
    assert "known: nonzeros = 5; clarabel has 7" in text
    assert "    a feasible point is better by 79.4 <b>bold</b>" in text
    assert "Claimed but not verified: 2 runs." in text
    assert "Verified by no solver: svm." in text


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


def test_what_misses_a_fact_is_shown_with_digits_that_tell() -> None:
    assert unlike(1.0, 2.0) == "1"
    assert unlike(12.3456781, 12.3456780) == "12.3456781"
    assert unlike([1.0, 2.0], [1.0, 3.0]) == "[1, 2]"
    assert unlike([0.0] * 5 + [1.0], [0.0] * 5 + [2.0]) == "1 at 5 where 2 was expected"
    assert unlike(None, 1.0) == "–"
