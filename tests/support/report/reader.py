"""Reads a report page as a browser does, and the document within it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from math import isclose, nan
from typing import Any

HEADS = {"Relative gap": "relative_gap", "Residual": "worst_residual", "Solve": "seconds"}
VALUES = {"P": "objective", "D": "dual_objective"}


def document_of(text: str) -> Any:
    """The JSON document of a page, in which NaN and Infinity are refused."""
    found = re.search(r'id="data"[^>]*>([^<]*)<', text)
    assert found
    plain = gzip.decompress(base64.b64decode(found[1])).decode()
    return json.loads(plain, parse_constant=lambda name: 1 / 0)


def number(text: str) -> float:
    """What a cell says: a dash is nan."""
    text = text.strip().replace("−", "-").replace("∞", "inf")
    return nan if text == "–" else float(text)


@dataclass
class Page:
    """What stands on it."""

    loaded: list[str] = field(default_factory=list)
    runs: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    failing: list[tuple[str, str]] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=dict)

    def equals(self, rows: list[dict[str, Any]]) -> None:
        """Every number of the tables of runs is the one of the document, to the digits shown."""
        shown = [run for runs in self.runs.values() for run in runs]
        assert len(shown) == len(rows)
        for run, row in zip(shown, rows, strict=True):
            if row["claimed"] is None:
                continue
            for head, name in (HEADS | VALUES).items():
                exact = row[name]
                found = number(run[head])
                where = (row["problem"], row["solver"], head, run[head], exact)
                if exact is None:  # infinite, or not known: a dash
                    exact = float(row["infinite"].get(name, "nan"))
                    assert str(found) == str(exact), where
                    continue
                digits = 0.06 if head in HEADS else 2e-6
                small = 1e-9 if head in VALUES else 0.0
                assert isclose(found, exact, rel_tol=digits, abs_tol=small), where
            assert run["Steps"] == ("–" if row["iterations"] is None else str(row["iterations"]))
            assert run["Claimed"] == row["claimed"]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.section = self.problem = ""
        self.heads: list[str] = []
        self.cells: list[str] = []
        self.open: list[str] = []
        self.count = self.kind = ""
        self.in_runs = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: str(value) for name, value in attrs}
        self.page.loaded += [
            str(v) for k, v in attrs if k in ("src", "href") and not str(v).startswith("#")
        ]
        if tag == "section":
            self.section = known.get("id", "")
        if tag == "article":
            self.problem = known["data-name"]
            self.page.runs[self.problem] = []
        if tag == "table":
            self.in_runs = "runs" in known.get("class", "").split()
        if tag == "tr":
            self.cells = []
        if tag in ("td", "th"):
            self.cells.append("")
        if tag == "b" and not self.section:
            self.count = ""
        if tag == "span" and not self.section and "data-kind" in known:
            self.page.counts[known["data-kind"]] = int(self.count.replace(",", ""))
        if tag not in ("meta", "input", "wbr"):
            self.open.append(tag)

    def handle_data(self, data: str) -> None:
        if self.cells and {"td", "th"} & set(self.open[-4:]):
            self.cells[-1] += data
        elif self.open and self.open[-1] == "b" and not self.section:
            self.count += data

    def handle_endtag(self, tag: str) -> None:
        if self.open:
            self.open.pop()
        if tag != "tr":
            return
        cells = [" ".join(cell.split()) for cell in self.cells]
        if self.in_runs and cells and cells[0] == "Solver":
            self.heads = cells
        elif self.in_runs and len(cells) > 1:
            run = dict(zip(self.heads, cells, strict=False))
            self.page.runs[self.problem].append(run | {"solver": cells[0]})
        elif self.section == "disagreements" and cells[0] != "Problem":
            self.page.failing.append((cells[0], cells[1]))


def read(text: str) -> Page:
    """The page of an HTML text."""
    reader = _Reader()
    reader.feed(text)
    return reader.page


class Nest(HTMLParser):
    """Checks that tags nest, and collects what would be loaded and what is readable."""

    VOID = frozenset({"meta", "line", "path", "link", "img", "br", "input", "mspace", "wbr"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self.targets: set[str] = set()
        self.ids: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

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
        assert tag == "mspace" or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text += data
