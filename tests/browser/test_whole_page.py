"""The page of the whole library in Chromium: quick to show, nothing cut, nothing that axe finds.

``pytest -m page tests/browser --browser --page=report.html``; .ci/run calls it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.browser.measure import (
    CUT,
    OUTSIDE,
    OVERPRINTED,
    PAPER,
    PARTED,
    SCHEMES,
    UNFOLD,
    WIDTHS,
    opened,
    stranded,
    violations,
)

pytestmark = pytest.mark.page
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
    with opened(browser, whole, 1440, "light") as (page, wrong):
        assert page.evaluate(PAINTED) < 2000.0
        assert wrong == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_is_outside_its_box_or_on_another(browser: Any, whole: str, width: int) -> None:
    with opened(browser, whole, width, "light") as (page, wrong):
        page.evaluate(FEW)
        assert page.evaluate(OVERPRINTED) == []
        page.evaluate(UNFOLD)
        assert page.evaluate(OUTSIDE) == []
        assert page.evaluate(CUT) == []
        assert wrong == []


def test_on_paper_nothing_is_parted_from_what_follows(browser: Any, whole: str) -> None:
    with opened(browser, whole, PAPER[0], "light") as (page, _):
        page.emulate_media(media="print")
        assert page.evaluate(PARTED, PAPER[1]) == []
        headings, wrong = stranded(page)
        assert len(headings) > 100
        assert wrong == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_on_it(browser: Any, whole: str, width: int, scheme: str) -> None:
    with opened(browser, whole, width, scheme) as (page, _):
        page.evaluate(FEW)
        assert violations(page) == []


def test_every_link_leads_somewhere(browser: Any, whole: str) -> None:
    with opened(browser, whole, 1440, "light") as (page, _):
        broken = "(all) => all.filter((a) => !document.getElementById(a.hash.slice(1))).length"
        assert page.eval_on_selector_all("a", broken) == 0
        assert page.locator("a").count() > 1000
