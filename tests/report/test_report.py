"""The report: one offline page in which nothing is omitted, and the terminal's table."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser
from itertools import pairwise
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from convexml.comparison import Outcome, performance_profile
from convexml.report import Comparison, print_comparison, render_html
from convexml.report.curves import LABEL_HEIGHT, draw
from convexml.report.formats import brief, scientific, seconds, unlike, values
from convexml.report.summary import summarize, verdict_of

ENVIRONMENT = {
    "cpu": "A <fast> & honest CPU",
    "cores": 2,
    "os": "Linux",
    "python": "3.11.7",
    "versions": {"numpy": "2.4.6", "ecos": None},
    "date": "2026-11-20T09:00:00+00:00",
    "tolerances": [1e-6],
    "max_seconds": 5.0,
    "repeats": 1,
    "seed": 0,
}
FACTS = (
    {"name": "nonzeros", "expected": 5.0, "value": 7.0, "ok": False, "source": "<Efron> 2004"},
    {"name": "w", "expected": [1.0, -2.0], "value": [1.0, -2.0], "ok": True, "source": "by hand"},
)


def record(problem: str, solver: str, **others: Any) -> Outcome:
    known: dict[str, Any] = {
        "title": f"The title of {problem}",
        "claimed": "optimal",
        "verdict": "certified",
        "status": "optimal",
        "verified": True,
        "objective": 1620.599712,
        "dual_objective": 1620.599711,
        "gap": 1e-6,
        "relative_gap": 6.2e-10,
        "worst_condition": "1'u = 0",
        "worst_residual": 1e-12,
        "seconds": 0.0123,
        "compile_seconds": 0.0045,
        "iterations": 17,
        "expected_status": "optimal",
        "facts": FACTS,
    }
    return Outcome(problem, solver, 1e-6, **(known | others))


LIE = record(
    "lasso",
    "liar",
    verdict="refuted",
    status="inaccurate",
    verified=False,
    objective=1700.0,
    gap=79.4,
    relative_gap=0.047,
    message="a feasible point is better by 79.4 <b>bold</b>",
)
ABSENT = Outcome("lasso", "piqp", 1e-6, message="not installed: pip install piqp")
CRASH = Outcome("svm", "ecos", 1e-6, claimed="error", message="PanicException: index 4")
UNATTAINED = record(
    "logistic",
    "scs",
    claim="unattained",
    status="unattained",
    objective=1e-9,
    dual_objective=0.0,
    gap=inf,
    relative_gap=inf,
    facts=(),
    expected_status="unattained",
)
STATEMENT = record(
    "statement", "scs", verdict="undecided", status="inaccurate", verified=False, certifiable=False
)
RECORDS = (record("lasso", "clarabel"), LIE, ABSENT, CRASH, UNATTAINED, STATEMENT)


@pytest.fixture
def comparison() -> Comparison:
    return Comparison(RECORDS, ENVIRONMENT)


class Page(HTMLParser):
    """Checks that tags nest, and collects what would be loaded and what is readable."""

    VOID = frozenset({"meta", "col", "line", "path", "link", "img", "br"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self.targets: set[str] = set()
        self.ids: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data", "action", "poster"):
                if str(value).startswith("#"):
                    self.targets.add(str(value)[1:])
                else:
                    self.loaded.append(f"{tag} {name}={value}")
            if name == "id":
                self.ids.add(str(value))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


@pytest.fixture
def page(comparison: Comparison) -> Page:
    page = Page()
    page.feed(render_html(comparison))
    page.close()
    return page


def test_the_page_nests_and_needs_no_network(comparison: Comparison, page: Page) -> None:
    assert page.open == []
    assert page.loaded == []
    assert not {"script", "link", "img", "iframe", "object"} & set(page.tags)
    assert not re.search(r"https?://|@import|url\(", render_html(comparison))


def test_every_link_of_the_page_has_a_target(page: Page) -> None:
    assert page.targets
    assert page.targets <= page.ids


def test_every_row_is_on_the_page(page: Page) -> None:
    for text in (
        "not installed: pip install piqp",
        "PanicException: index 4",
        "a feasible point is better by 79.4",
        "The title of lasso",
        "The title of logistic",
        "1620.599712",
        "6.2e−10",
        "unattained",
        "certified",
        "refuted",
        "undecided",
        "A <fast> & honest CPU",
        "numpy 2.4.6",
        "Not installed",
        "5 s for each run",
        "2026-11-20 09:00:00 UTC",
        "<Efron> 2004",
        "met by 0 of 1; clarabel has 7",
        "[1, −2]",
    ):
        assert text in page.text, text


def test_text_is_escaped(comparison: Comparison) -> None:
    html = render_html(comparison)
    assert "<b>bold</b>" not in html
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<fast>" not in html


def test_disagreements_are_highlighted(comparison: Comparison) -> None:
    html = render_html(comparison)
    section = html.split('id="disagreements"')[1].split("</section>")[0]
    assert (
        section.count('<tr class="disagrees">') == 2
    )  # the lie, and "optimal" without a minimiser
    assert "liar" in section
    honest = Comparison((record("lasso", "clarabel"),), ENVIRONMENT)
    assert "Nowhere: every conclusion that was claimed is certified" in render_html(honest)


def test_dark_mode_phone_and_print_are_provided_for(comparison: Comparison) -> None:
    html = render_html(comparison)
    for rule in ("prefers-color-scheme: dark", "@media print", "max-width: 700px", "viewport"):
        assert rule in html


def test_the_page_is_written_and_empty_comparisons_have_one(tmp_path: Path) -> None:
    Comparison((), ENVIRONMENT, interrupted=True).to_html(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "interrupted" in html


def test_summary_counts_claims_and_certificates(comparison: Comparison) -> None:
    summary = summarize(comparison)
    assert (summary.claimed, summary.confirmed) == (3, 1)  # statements are not counted
    assert (summary.certified, summary.refuted, summary.failed, summary.absent) == (2, 1, 1, 1)
    assert summary.uncertifiable == 1
    assert [item.solver for item in summary.disagreements] == ["liar", "scs"]
    assert summary.unverified == ("svm",)
    assert (summary.facts_met, summary.facts) == (1, 2)


def test_an_optimal_status_without_a_certificate_is_not_shown_as_certified() -> None:
    for status in ("optimal", "infeasible", "unattained"):
        impostor = record("lasso", "liar", verdict="undecided", status=status)
        assert verdict_of(impostor) == "undecided"
        assert impostor.disagrees


def test_plain_text_has_every_column_and_no_escape_codes(comparison: Comparison) -> None:
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
    assert (seconds(0.0), seconds(0.01234), seconds(12.345)) == ("0", "0.0123", "12.35")
    assert brief([1.0, 2.0, 3.0, 4.0, 5.0]) == "[1, 2, 3, 4, …]"
    assert brief(None) == "–"


def test_labels_of_the_profile_never_overlap() -> None:
    records = [
        record(f"p{k}", f"solver {name}", seconds=1.0 + name + 0.1 * k)
        for k in range(3)
        for name in range(10)
    ]
    figure = draw(performance_profile(records))
    places = sorted(curve.label for curve in figure.curves)
    assert len(places) == 10
    assert all(below - above >= LABEL_HEIGHT - 1e-9 for above, below in pairwise(places))
    assert figure.top - LABEL_HEIGHT <= places[0]
    assert places[-1] <= figure.bottom


def test_what_misses_a_fact_is_shown_with_digits_that_tell() -> None:
    assert unlike(1.0, 2.0) == "1"
    assert unlike(12.3456781, 12.3456780) == "12.3456781"
    assert unlike([1.0, 2.0], [1.0, 3.0]) == "[1, 2]"
    assert unlike([0.0] * 5 + [1.0], [0.0] * 5 + [2.0]) == "1 at 5 where 2 was expected"
    assert unlike(None, 1.0) == "–"
