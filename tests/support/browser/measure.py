"""What a page shows in a real browser: errors, requests, text outside its box."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WIDTHS = (1440, 390)
SCHEMES = ("light", "dark")

OUTSIDE = """() => {
  const found = [];
  const texts = "td, th, p, li, dt, dd, summary, h1, h2, h3, figcaption, label, button, .badge";
  for (const each of document.querySelectorAll(texts)) {
    if (!each.getClientRects().length || each.closest(".formulas")) continue;
    const name = each.tagName + " " + each.textContent.trim().slice(0, 40);
    const inline = getComputedStyle(each).display === "inline";
    if (!inline && each.scrollWidth > each.clientWidth + 1) found.push("within " + name);
    const right = each.getBoundingClientRect().right;
    if (!each.closest(".scroll, .code") && right > innerWidth + 1) found.push("page " + name);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page scrolls sideways");
  return found;
}"""
"""Text that is wider than its own box, or than the page where nothing scrolls."""

OVERPRINTED = """() => {
  const found = [];
  for (const row of document.querySelectorAll("tbody tr")) {
    if (!row.getClientRects().length) continue;
    const boxes = [...row.querySelectorAll("td, th")].filter((c) => c.textContent.trim())
      .map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getBoundingClientRect();
      }).filter((box) => box.width > 0);
    for (const [k, a] of boxes.entries()) for (const b of boxes.slice(k + 1)) {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 1 && down > 1) found.push(row.textContent.trim().slice(0, 60));
    }
  }
  for (const chart of document.querySelectorAll("svg")) {
    const texts = [...chart.querySelectorAll("text")].filter((t) => t.getClientRects().length)
      .map((t) => [t.textContent, t.getBoundingClientRect()]);
    for (const [k, [one, a]] of texts.entries()) for (const [other, b] of texts.slice(k + 1)) {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 2 && down > 3) found.push(`${one} on ${other}`);
    }
  }
  return found;
}"""
"""Rows in which the text of one cell lies on that of another, and texts of a chart that do."""

CUT = """() => {
  const found = [];
  for (const chart of document.querySelectorAll("svg")) {
    const edge = chart.getBoundingClientRect();
    for (const text of chart.querySelectorAll("text")) {
      const box = text.getBoundingClientRect();
      if (!box.width) continue;
      if (box.left < edge.left - 1 || box.right > edge.right + 1) found.push(text.textContent);
      else if (box.top < edge.top - 1 || box.bottom > edge.bottom + 1) found.push(text.textContent);
    }
  }
  return found;
}"""
"""Texts of charts that do not fit into their pictures."""

HIDDEN = """() => [...document.querySelectorAll("figure details > :not(summary)")]
  .filter((each) => each.getBoundingClientRect().height === 0).map((each) => each.outerHTML)"""
"""Numbers of charts that are not shown although they are unfolded."""

PAPER = (1032, 703)
"""Pixels of a sheet of A4 across, 297 mm by 210 mm, without margins of 12 mm: 96 to an inch."""
PARTED = """(height) => [...document.querySelectorAll(".kept")].filter((each) =>
    getComputedStyle(each).breakInside !== "avoid" || each.getBoundingClientRect().height > height)
  .map((each) => each.textContent.trim().slice(0, 60))"""
"""Takeaways that a sheet of this height parts from their pictures."""

OUTLINE = re.compile(rb"/Title ([^\n]*)\n/Dest \[\d+ 0 R /XYZ \S+ (\S+) 0\]")
"""Headings in the outline of a PDF of Chromium, with their height above the foot of the sheet."""
FOOT, FOLLOWED = 34.0, 45.0
"""Points: the margin of 12 mm, and a heading with a line below it."""

UNFOLD = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


def stranded(page: Any) -> tuple[list[str], list[str]]:
    """All headings of the printed page, and those at the foot of a sheet without what follows."""
    pdf = page.pdf(prefer_css_page_size=True, outline=True, tagged=True)
    found = [(title.decode("latin-1"), float(y)) for title, y in OUTLINE.findall(pdf)]
    return [each for each, _ in found], [each for each, y in found if y < FOOT + FOLLOWED]


@contextmanager
def opened(
    browser: Any, address: str, width: int, scheme: str, home: str = ""
) -> Iterator[tuple[Any, list[str]]]:
    """The page at an address, and what went wrong on it: errors, and requests beside its own.

    Below ``home``, where it is given, lies what the page is made of.
    """
    own = (lambda url: url.startswith(home)) if home else (lambda url: url == address)
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    wrong: list[str] = []
    page = context.new_page()
    page.on("console", lambda said: wrong.append(f"console: {said.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (wrong.append("dialog"), dialog.dismiss()))
    page.on("request", lambda sent: own(sent.url.split("#")[0]) or wrong.append(sent.url))
    page.goto(address)
    try:
        yield page, wrong
    finally:
        context.close()


def violations(page: Any, impacts: tuple[str, ...] = ()) -> list[str]:
    """What axe-core finds on a page, of these impacts if any are named: rule and first place."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:120]}"
        for each in found
        if not impacts or each["impact"] in impacts
    ]
