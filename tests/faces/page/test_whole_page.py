"""The page that the README's report command wrote: whole, honest, offline, quick to show.

``pytest -m page tests/faces/page --browser --page=report.html``; .ci/run calls it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.browser import measure
from support.report.reader import Page, document_of, read

from convexml.solvers.registry import names

pytestmark = pytest.mark.page


REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def text(pytestconfig: pytest.Config) -> str:
    path = pytestconfig.getoption("page")
    assert path, "say which page: --page=report.html"
    return Path(path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return read(text)


@pytest.fixture(scope="module")
def rows(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document_of(text)["records"]
    return found


def test_it_needs_no_network_and_is_no_larger_than_promised(text: str, page: Page) -> None:
    assert page.loaded == []
    assert not re.search(r"https?://|@import|url\((?!#)", text)
    assert len(text.encode()) < 3_000_000


def test_every_problem_of_the_library_is_on_it(page: Page) -> None:
    files = {path.stem for path in (REPOSITORY / "problems").rglob("*.toml")}
    assert len(files) > 30
    assert files <= set(page.runs)


def test_every_solver_ran(rows: list[dict[str, Any]]) -> None:
    assert {name for name in names() if name != "auto"} <= {row["solver"] for row in rows}


def test_no_certifiable_problem_is_left_unverified(rows: list[dict[str, Any]]) -> None:
    certifiable = {row["problem"] for row in rows if row["certifiable"]}
    assert certifiable == {row["problem"] for row in rows if row["verified"]}
    assert len(certifiable) > 30


def test_every_row_is_on_it_with_its_numbers(page: Page, rows: list[dict[str, Any]]) -> None:
    shown = [(problem, run["solver"]) for problem, runs in page.runs.items() for run in runs]
    assert shown == [(row["problem"], row["solver"]) for row in rows]
    page.equals(rows)


def test_the_headline_counts_every_row_once(page: Page, rows: list[dict[str, Any]]) -> None:
    kinds = [row["kind"] for row in rows]
    assert page.counts == {kind: kinds.count(kind) for kind in set(kinds)}
    assert page.counts["confirmed"] > 500


def test_what_is_claimed_and_not_confirmed_is_listed(
    page: Page, rows: list[dict[str, Any]]
) -> None:
    failing = [row for row in rows if row["kind"] in ("refuted", "otherwise", "unproved")]
    assert page.failing == [(row["problem"], row["solver"]) for row in failing]


def test_a_confirmed_optimum_has_its_gap_within_the_tolerance(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if row["verdict"] == "certified" and row["status"] == "optimal":
            assert 0 <= row["relative_gap"] <= row["tol"], (row["problem"], row["solver"])


FEW = """() => {
  const wide = [...document.querySelectorAll("article")]
    .sort((a, b) => b.textContent.length - a.textContent.length).slice(0, 2);
  for (const each of wide) for (const fold of each.querySelectorAll("details")) fold.open = true;
}"""
"""Unfold the two fullest problems: axe takes its time."""


PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


@pytest.fixture(scope="module")
def whole(pytestconfig: pytest.Config) -> str:
    path = pytestconfig.getoption("page")
    assert path, "say which page: --page=report.html"
    return Path(path).resolve().as_uri()


def test_it_is_shown_within_two_seconds(browser: Any, whole: str) -> None:
    with measure.opened(browser, whole, 1440, "light") as (page, wrong):
        assert page.evaluate(PAINTED) < 2000.0
        assert wrong == []


@pytest.mark.parametrize("width", measure.WIDTHS)
def test_no_text_is_outside_its_box_or_on_another(browser: Any, whole: str, width: int) -> None:
    with measure.opened(browser, whole, width, "light") as (page, wrong):
        page.evaluate(FEW)
        assert page.evaluate(measure.OVERPRINTED) == []
        page.evaluate(measure.UNFOLD)
        assert page.evaluate(measure.OUTSIDE) == []
        assert page.evaluate(measure.CUT) == []
        assert wrong == []


def test_on_paper_nothing_is_parted_from_what_follows(browser: Any, whole: str) -> None:
    with measure.opened(browser, whole, measure.PAPER[0], "light") as (page, _):
        page.emulate_media(media="print")
        assert page.evaluate(measure.PARTED, measure.PAPER[1]) == []
        headings, wrong = measure.stranded(page)
        assert len(headings) > 100
        assert wrong == []


@pytest.mark.parametrize("width", measure.WIDTHS)
@pytest.mark.parametrize("scheme", measure.SCHEMES)
def test_axe_finds_nothing_on_it(browser: Any, whole: str, width: int, scheme: str) -> None:
    with measure.opened(browser, whole, width, scheme) as (page, _):
        page.evaluate(FEW)
        assert measure.violations(page) == []


def test_every_link_leads_somewhere(browser: Any, whole: str) -> None:
    with measure.opened(browser, whole, 1440, "light") as (page, _):
        broken = "(all) => all.filter((a) => !document.getElementById(a.hash.slice(1))).length"
        assert page.eval_on_selector_all("a", broken) == 0
        assert page.locator("a").count() > 1000
