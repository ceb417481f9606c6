"""The documentation as it was built: whole, offline, readable on a phone and with a keyboard.

``pytest -m page tests/faces/page/test_site.py --browser --site=site``; .ci/run calls it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sphinx.util.inventory import InventoryFile
from support.browser.measure import SCHEMES, WIDTHS, opened, violations

import convexml
from convexml import models

pytestmark = pytest.mark.page
PAGES = (
    "index", "tutorial", "models", "solvers", "model/SoftmaxRegression", "model/LinearProgram",
    "model/Lasso", "certificates", "reference/theorems", "reference/compare",
)  # fmt: skip
PROMISED = {
    "Lasso": "solve certify path cross_validate lam_max latex objective dual_objective primal dual",
    "Solution": "predict score coef_ intercept_ margin to_frame plot to_json from_json rate_audit",
    "Comparison": "table to_html to_json to_csv profile",
    "SpanningTree": "clusters",
    "KMeansBound": "judge",
}
"""Names that classes have from others, too."""
FOLLOWED = {"lam", "C", "radius", "nu"}
"""Hyperparameters that a path follows."""
SEEN_BY_AXE = ("index", "tutorial", "models", "model/SoftmaxRegression", "reference/theorems")
OVERFLOWING = """() => {
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
  const texts = "p, li, dt, dd, h1, h2, h3, td, th, pre, .math, img";
  for (const each of document.querySelectorAll("main :is(" + texts + ")")) {
    if (!each.getClientRects().length) continue;
    let box = each;
    while (box && !["auto", "scroll"].includes(getComputedStyle(box).overflowX)) {
      box = box.parentElement;
    }
    if (box) continue;
    const name = each.tagName + " " + each.textContent.trim().slice(0, 40);
    const right = each.getBoundingClientRect().right;
    if (right > innerWidth + 1) found.push("page " + name);
    const inline = getComputedStyle(each).display === "inline";
    if (!inline && each.scrollWidth > each.clientWidth + 1) found.push("within " + name);
  }
  return found;
}"""
"""Text that is cut, or wider than the page, where nothing scrolls."""


@pytest.fixture(scope="module")
def site(pytestconfig: pytest.Config) -> Path:
    path = pytestconfig.getoption("site")
    assert path, "say which site: --site=site"
    return Path(path).resolve()


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors.update(given[name] for name in ("id", "name") if name in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("script", "img", "iframe", "source", "link"):
            self.loads.extend(given[name] for name in ("src", "href") if name in given)


@pytest.fixture(scope="module")
def read(site: Path) -> dict[Path, Page]:
    return {
        path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }


def public_names(module: ModuleType = convexml) -> Iterator[str]:
    """Every name that a module exports, and those of the modules among them."""
    for name in getattr(module, "__all__", ()):
        found = getattr(module, name)
        yield f"{module.__name__}.{name}"
        if isinstance(found, ModuleType):
            yield from public_names(importlib.import_module(found.__name__))


def test_every_public_name_has_its_place(site: Path) -> None:
    with (site / "objects.inv").open("rb") as stream:
        inventory = InventoryFile.load(stream, "", lambda base, path: path)
    places = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    assert set(public_names()) - places == set()
    for owner, names in PROMISED.items():
        assert {f"convexml.{owner}.{name}" for name in names.split()} - places == set()


def test_every_model_has_a_page_with_formulas_numbers_and_a_picture(site: Path) -> None:
    for name in models.__all__:
        text = (site / "model" / f"{name}.html").read_text(encoding="utf-8")
        wanted = ["<math", "CERTIFIED at tol", f"{name}.svg", f'id="convexml.{name}"']
        if FOLLOWED & set(inspect.signature(getattr(models, name).__init__).parameters):
            wanted.append(f"{name}_path.svg")
        assert [each for each in wanted if each not in text] == [], name


def test_nothing_is_loaded_from_elsewhere(read: dict[Path, Page]) -> None:
    assert len(read) > len(models.__all__) + 20
    for path, page in read.items():
        assert [each for each in page.loads if "//" in each and "data:" not in each] == [], path


def test_every_link_leads_somewhere(site: Path, read: dict[Path, Page]) -> None:
    broken = []
    for path, page in read.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            if ":" in target:
                continue
            there = (path.parent / target).resolve() if target else path
            known = read.get(there)
            if not there.exists() or (known and anchor not in known.anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def errors(wrong: list[str]) -> list[str]:
    """What went wrong, without what the theme has to tell."""
    return [each for each in wrong if not each.startswith("console: [PST]")]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_fetched_cut_or_wrong(browser: Any, site: Path, name: str) -> None:
    address, home = (site / f"{name}.html").as_uri(), site.as_uri()
    for width in WIDTHS:
        for scheme in SCHEMES:
            with opened(browser, address, width, scheme, home) as (page, wrong):
                assert page.evaluate(OVERFLOWING) == []
                assert errors(wrong) == []


@pytest.mark.parametrize("name", SEEN_BY_AXE)
def test_axe_finds_nothing_serious(browser: Any, site: Path, name: str) -> None:
    address, home = (site / f"{name}.html").as_uri(), site.as_uri()
    for width, scheme in ((1440, "light"), (390, "dark")):
        with opened(browser, address, width, scheme, home) as (page, _):
            assert violations(page, ("serious", "critical")) == [], (width, scheme)


def test_the_search_answers_offline(browser: Any, site: Path) -> None:
    address, home = (site / "search.html").as_uri(), site.as_uri()
    with opened(browser, f"{address}?q=lam_max", 1440, "light", home) as (page, wrong):
        page.wait_for_selector("#search-results a[href*='model/Lasso.html']")
        assert errors(wrong) == []
