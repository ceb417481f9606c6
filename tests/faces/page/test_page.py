"""The report page in Chromium: nothing is fetched, cut, overprinted or out of the keyboard's reach.

Skipped visibly where there is no Chromium; ``pytest tests/faces/page --browser`` fails instead.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.browser import measure

import convexml as cml
from convexml.models.explanation import of_answer


@pytest.mark.parametrize("width", measure.WIDTHS)
def test_nothing_is_fetched_cut_or_overprinted(browser: Any, address: str, width: int) -> None:
    for scheme in measure.SCHEMES:
        with measure.opened(browser, address, width, scheme) as (page, wrong):
            page.evaluate(measure.UNFOLD)
            assert page.evaluate(measure.OUTSIDE) == []
            assert page.evaluate(measure.OVERPRINTED) == []
            assert page.evaluate(measure.HIDDEN) == []
            assert page.evaluate(measure.CUT) == []
            assert wrong == []  # markup in titles is text: no dialog, no request


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_axe_finds_nothing(browser: Any, address: str, width: int, scheme: str) -> None:
    with measure.opened(browser, address, width, scheme) as (page, _):
        page.evaluate(measure.UNFOLD)
        assert measure.violations(page) == []


def test_the_measurements_find_what_is_planted(browser: Any, address: str) -> None:
    with measure.opened(browser, address, 390, "light") as (page, wrong):
        page.evaluate("document.querySelector('h1').style.width = '20px'")
        assert any(text.startswith("within H1") for text in page.evaluate(measure.OUTSIDE))
        page.evaluate("document.querySelector('.eyebrow').style.marginLeft = '380px'")
        assert "the page scrolls sideways" in page.evaluate(measure.OUTSIDE)
        page.evaluate("document.querySelector('.cards td').style.margin = '0 0 -99px 0'")
        page.evaluate(measure.UNFOLD)
        page.evaluate("document.querySelectorAll('.runs td')[2].style.transform = 'scale(9)'")
        assert page.evaluate(measure.OVERPRINTED) != []
        page.evaluate("document.querySelector('.narrow text').setAttribute('x', '-40')")
        assert len(page.evaluate(measure.CUT)) == 1
        page.evaluate("new Image().src = 'elsewhere.png'; setTimeout(() => { throw 1; })")
        page.wait_for_timeout(50)
        assert wrong != []


def test_the_keyboard_filters_sorts_follows_links_and_folds(browser: Any, address: str) -> None:
    with measure.opened(browser, address, 1440, "light") as (page, wrong):
        names = "() => [...document.querySelectorAll('.matrix tbody tr:not([hidden])')]"
        names += ".map((row) => row.dataset.name)"
        everything = page.evaluate(names)
        page.focus("#by-problem")
        page.keyboard.type("lass")
        assert page.evaluate(names) == ["lasso"]
        assert page.inner_text("#shown") == "1 of 5 problems"
        assert page.locator("article:visible").count() == 1
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.keyboard.press("Tab")  # the solvers
        page.keyboard.type("ecos")
        assert page.evaluate(names) == ["svm"]
        page.keyboard.press("Tab")
        page.keyboard.type("refuted")
        assert page.evaluate(names) == []
        assert not page.locator(".matrix").is_visible()  # one sentence, no empty table
        assert page.locator("text=No problem fits these filters").is_visible()
        for _ in range(2):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # show all
        page.wait_for_selector(".matrix")
        assert page.evaluate(names) == everything
        page.focus("#by-order")
        page.keyboard.type("by")
        assert page.evaluate(names) == sorted(everything)
        page.focus(".matrix tbody th a")
        name = page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Enter")
        page.wait_for_timeout(50)
        fold = "() => document.activeElement.parentElement"
        assert page.evaluate(f"({fold})().open")
        assert page.evaluate(f"({fold})().parentElement.dataset.name") == name
        page.keyboard.press("Enter")
        assert not page.evaluate(f"({fold})().open")
        assert wrong == []


def test_without_scripts_all_is_there_and_nothing_that_needs_them(
    browser: Any, address: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert not page.locator("#filter").is_visible()
    assert page.locator(".matrix tbody tr").count() == 5
    page.locator("article summary").first.click()
    assert page.locator("article .runs").first.is_visible()
    context.close()


def test_on_paper_a_takeaway_and_its_picture_fit_on_one_sheet(browser: Any, address: str) -> None:
    with measure.opened(browser, address, measure.PAPER[0], "light") as (page, _):
        page.emulate_media(media="print")
        assert page.locator(".kept").count() > 4
        assert page.evaluate(measure.PARTED, measure.PAPER[1]) == []
        page.add_style_tag(content=".chart svg { max-height: none !important; width: 100%; }")
        page.evaluate("document.querySelector('.chart svg').style.minHeight = '900px'")
        assert page.evaluate(measure.PARTED, measure.PAPER[1]) != []


def test_on_paper_no_heading_is_at_the_foot_of_a_sheet(browser: Any, address: str) -> None:
    with measure.opened(browser, address, measure.PAPER[0], "light") as (page, _):
        page.emulate_media(media="print")
        assert measure.stranded(page)[1] == []
        page.add_style_tag(content="#contents ol { break-before: page; }")
        page.add_style_tag(content="#contents { break-before: page; padding-top: 160mm; }")
        headings, wrong = measure.stranded(page)
        assert len(headings) == page.locator("h1, h2, h3").count()  # the outline is whole
        assert wrong == ["(Contents)"]


def test_on_paper_headings_stay_with_what_follows_and_nothing_is_folded(
    browser: Any, address: str
) -> None:
    with measure.opened(browser, address, 1000, "light") as (page, _):
        page.emulate_media(media="print")
        rule = "(all) => all.every((each) => getComputedStyle(each).breakAfter === 'avoid')"
        assert page.eval_on_selector_all("h2, article summary, .takeaway, .meta", rule)
        shown = "(all) => all.every((each) => each.getBoundingClientRect().height > 0)"
        assert page.eval_on_selector_all("article .runs", shown)
        assert not page.locator("#filter").is_visible()


HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.mark.slow
@pytest.mark.parametrize("width", measure.WIDTHS)
def test_a_page_of_formulas_and_residuals(browser: Any, tmp_path: Path, width: int) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 2)), columns=[HOSTILE, "other"])
    problem = cml.SVR(X, rng.normal(size=30), 1.0, 0.1)
    shown = of_answer(repr(problem), problem.latex(), problem.solve())
    path = tmp_path / "page.html"
    path.write_text(shown.page(HOSTILE, HOSTILE), encoding="utf-8")
    for scheme in ("light", "dark") if width == measure.WIDTHS[0] else ("light",):
        with measure.opened(browser, path.as_uri(), width, scheme) as (page, wrong):
            assert page.evaluate(measure.OUTSIDE) == []
            assert page.evaluate(measure.OVERPRINTED) == []
            assert measure.violations(page) == []
            assert wrong == []
            assert page.inner_text("h1") == HOSTILE
