"""The page that the README's report command wrote: whole, honest, readable without a network.

``pytest -m page --page=report.html``; .ci/run calls it after the report command.
"""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from convexml.solvers.registry import names

pytestmark = pytest.mark.page
REPOSITORY = Path(__file__).resolve().parents[2]
VERDICTS = ("certified", "refuted", "undecided", "not certifiable", "failed", "not installed")


class Reader(HTMLParser):
    """The rows of every problem's table, the figures of the headline, what would be loaded."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.problem = ""
        self.rows: dict[str, list[list[str]]] = {}
        self.figures: dict[str, int] = {}
        self.loaded: list[str] = []
        self.disagreements = 0
        self._section = self._name = self._within = ""
        self._cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.loaded += [str(v) for k, v in attrs if k in ("src", "href") and str(v)[:1] != "#"]
        self._section = known.get("id") or "" if tag == "section" else self._section
        if tag == "article":
            self.problem = str(known["id"])
            self.rows[self.problem] = []
        if tag == "tr":
            self._cells = []
        if tag in ("td", "th"):
            self._cells.append("")
        self._within = tag if tag in ("td", "th", "dt", "dd") else self._within
        self._name = "" if tag == "dt" else self._name

    def handle_data(self, data: str) -> None:
        if self._within in ("td", "th") and self._cells:
            self._cells[-1] += data
        if not self._section and self._within == "dt":
            self._name += data
        elif not self._section and self._within == "dd" and data.strip().isdigit():
            self.figures.setdefault(self._name.strip(), int(data))

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr" and self._section == "problems" and len(self._cells) == 11:
            self.rows[self.problem].append([" ".join(cell.split()) for cell in self._cells])
        if tag == "tr" and self._section == "disagreements":
            self.disagreements += 1
        self._within = "" if tag == self._within else self._within


@pytest.fixture(scope="module")
def text(pytestconfig: pytest.Config) -> str:
    path = pytestconfig.getoption("page")
    assert path, "say which page: --page=report.html"
    return Path(path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    for name, rows in reader.rows.items():
        reader.rows[name] = [row for row in rows if row[0] != "Solver"]
    return reader


def verdict(row: list[str]) -> str:
    return next(word for word in VERDICTS if word in row[2])


def test_it_needs_no_network(text: str, page: Reader) -> None:
    assert page.loaded == []
    assert not re.search(r"https?://|@import|url\(", text)


def test_every_problem_of_the_library_is_on_it(page: Reader) -> None:
    files = {path.stem for path in (REPOSITORY / "problems").rglob("*.toml")}
    assert len(files) > 30
    listed = {name.replace("-", "_") for name in page.rows}
    assert {name for name in files if name.replace("-", "_") not in listed} == set()


def test_every_solver_ran(page: Reader) -> None:
    ran = {row[0] for rows in page.rows.values() for row in rows}
    assert {name for name in names() if name != "auto"} <= ran


def test_no_certifiable_problem_is_left_unverified(page: Reader) -> None:
    assert page.figures["problems nobody verified"] == 0
    for name, rows in page.rows.items():
        verdicts = {verdict(row) for row in rows}
        assert "certified" in verdicts or verdicts <= {"not certifiable", "failed"}, name


def test_the_headline_counts_the_rows(page: Reader) -> None:
    counts: Counter[str] = Counter()
    for rows in page.rows.values():
        for row in rows:
            judged = verdict(row) not in ("not certifiable", "not installed")
            counts["claimed"] += judged and row[1] == "optimal"
            counts["confirmed"] += judged and row[1] == "optimal" and row[2].endswith("certified")
    assert counts["claimed"] == page.figures["claimed optimal"] > 500
    assert counts["confirmed"] == page.figures["of these certified"] > 500


def test_what_is_claimed_and_not_verified_is_listed(page: Reader) -> None:
    assert page.disagreements - 1 == page.figures["claimed, not verified"]


def test_a_certified_gap_is_within_the_tolerance(page: Reader) -> None:
    for name, rows in page.rows.items():
        for row in rows:
            if verdict(row) == "certified" and row[2].endswith("certified"):
                gap = float(row[5].replace("−", "-").replace("∞", "inf"))
                assert 0 <= gap <= 1e-6, (name, row)
