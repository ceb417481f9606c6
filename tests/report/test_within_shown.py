"""A bound that holds only within a radius says so wherever the answer is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convexml.certificates.certificate import Verdict
from convexml.certificates.judge import bounded, judge
from convexml.comparison.measure import said_of
from convexml.comparison.record import Outcome
from convexml.comparison.results import Results
from convexml.conditions import worst
from convexml.report import Comparison
from convexml.report.terminal import plain_table


def local(reason: str = "") -> object:
    """A gap of 0 over the points within 2.5 of the point."""
    rows = [worst("a", "stationarity", 3e-9, 2.0)]
    return judge(bounded(1.0, 1.0, rows, 1e-6, scale=1.0, rounding=1e-9, within=2.5, reason=reason))


def test_the_certificate_says_so() -> None:
    found = local()
    assert found.verdict is Verdict.UNDECIDED
    assert not found.holds(1.0)
    text = str(found)
    assert "holds only within 2.5 of this point" in text
    assert "of which rounding 1e-09" in text
    assert text.splitlines()[-2].split() == ["a", "3e-09", "1.5e-09", "worst", "at", "0"]


@pytest.mark.parametrize("reason", ["", "No multiplier.", "It holds within 2.5 only."])
def test_the_reason_says_so_once(reason: str) -> None:
    assert said_of(local(reason)).count("within 2.5") == 1


def test_reports_say_so(tmp_path: Path) -> None:
    record = Outcome("p", "scs", 1e-6, claimed="optimal", within=2.5, message=said_of(local("No.")))
    results = Comparison((record,), {}, False, ())
    assert "within 2.5" in plain_table(results)
    results.to_html(tmp_path / "page.html")
    assert "within 2.5" in (tmp_path / "page.html").read_text(encoding="utf-8")
    document = json.loads(Results((record,), {}, False).to_json())
    assert document["records"][0]["within"] == 2.5
