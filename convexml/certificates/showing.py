"""What a certificate says, for a terminal, a notebook and a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

import numpy as np

from ..typesetting import html
from ..typesetting.escaped import statement, text
from ..typesetting.lines import broken, paragraph
from ..typesetting.names import plain_name

NUMBER = 9
"""Characters of a residual."""
DOCUMENT = 36
"""Characters of a condition that a page has room for, and twice those of a place."""
HEADER = ("condition", "residual", "relative", "worst at")


def verdict(certificate: Any) -> str:
    """The verdict on the claim, in words."""
    found = f"{str(certificate.verdict).upper()} at tol {certificate.tol:g}"
    within = "" if certificate.within is None else f", only within {certificate.within:.3g}"
    return f"{found} (claim: {certificate.claim}{within})"


def multipliers(certificate: Any) -> str:
    """Whether those that were passed hold, and how far the worst is off; "" without any."""
    row = certificate.moved
    if row is None or certificate.multipliers == "hold":
        return "" if row is None else "the passed multipliers hold"
    at = f" at {row.where()}" if row.where() else ""
    share = f", {row.relative:.3g} relative to its size" if row.relative < np.inf else ""
    off = f"{plain_name(row.name)} is off by {row.residual:.3g}{at}{share}"
    return f"the passed multipliers do not hold: {off}"


def values(certificate: Any) -> list[tuple[str, str]]:
    """P, D and the bound on the gap by their names; the values alone of what is not optimal."""
    both = (
        ("P", f"{certificate.primal_objective + 0.0:.12g}"),
        ("D", f"{certificate.dual_objective + 0.0:.12g}   ({certificate.dual_source} dual)"),
    )
    if certificate.claim not in ("optimal", "unattained"):
        return []
    bound = f"{certificate.gap:.3g}   relative {certificate.relative_gap:.3g}"
    small = (("rounding", certificate.rounding), ("repaired by", certificate.repaired))
    return [*both, ("P − D ≤", bound), *((name, f"{value:.3g}") for name, value in small)]


def conditions(certificate: Any) -> list[tuple[str, str, str, str]]:
    """Every condition: its name in Unicode, residual, relative residual, where it is worst."""
    return [
        (plain_name(row.name), f"{row.residual:.3g}", f"{row.relative:.3g}", row.where())
        for row in certificate.conditions
    ]


def condition_lines(certificate: Any, columns: int) -> list[str]:
    """A table of the conditions for a terminal: names are broken, and nothing is cut off."""
    rows = conditions(certificate)
    if not rows:
        return ["  none could be evaluated"]
    beside = max(len(where) for *_, where in rows) <= columns // 4
    places = max(len(HEADER[3]), *(len(where) for *_, where in rows)) if beside else 0
    room = columns - 2 * (2 + NUMBER) - 2 - (2 + places)
    width = min(max(len(HEADER[0]), *(len(name) for name, *_ in rows)), room)
    lines = [_line(HEADER[0], *HEADER[1:3], HEADER[3] if beside else "", width)]
    for name, residual, relative, where in rows:
        *before, last = broken(name, width + 2, "  ", "    ")
        lines += [*before, _line(last[2:], residual, relative, where if beside else "", width)]
        lines += paragraph(f"worst at {where}", columns, "      ") if where and not beside else []
    return lines


def _line(name: str, residual: str, relative: str, where: str, width: int) -> str:
    return f"  {name:<{width}}  {residual:>{NUMBER}}  {relative:>{NUMBER}}  {where}".rstrip()


def verdict_lines(certificate: Any, columns: int) -> list[str]:
    """P, D, the gap and the verdict with its reason."""
    found = [f"  {name:<12}{value}" for name, value in values(certificate)]
    told = [verdict(certificate), multipliers(certificate), certificate.reason]
    return [*found, *(line for text in told for line in paragraph(text, columns, "  "))]


def as_html(certificate: Any) -> str:
    """Verdict, values and conditions; every text is escaped."""
    parts = [html.paragraph(verdict(certificate), "strong")]
    parts += [html.paragraph(told)] if (told := multipliers(certificate)) else []
    if found := values(certificate):
        parts.append(html.table(found))
    if rows := conditions(certificate):
        parts.append(html.table(rows, HEADER))
    parts += [html.paragraph(certificate.reason)] if certificate.reason else []
    return "".join(parts)


def as_latex(certificate: Any) -> str:
    """Verdict, values and conditions as arrays below each other, for documents."""
    tables: list[list[tuple[str, ...]]]
    tables = [[(text(verdict(certificate)),)], [(text(a), text(b)) for a, b in values(certificate)]]
    tables[0] += [(text(told),)] if (told := multipliers(certificate)) else []
    if rows := conditions(certificate):
        tables.append([tuple(map(text, HEADER)), *(line for row in rows for line in _lines(*row))])
    body = " \\\\\n".join(_array(table) for table in tables if table)
    return f"$$\n\\begin{{array}}{{l}}\n{body}\n\\end{{array}}\n$$"


def _lines(name: str, residual: str, relative: str, where: str) -> Iterator[tuple[str, ...]]:
    """A condition in as many lines of its table as a page of a document needs."""
    names, places = broken(name, DOCUMENT, rest="  "), wrap(where, DOCUMENT // 2)
    for each in zip_longest(names, [residual], [relative], places, fillvalue=""):
        yield statement(each[0]), *map(text, each[1:])


def _array(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells, without a margin."""
    body = " \\\\\n".join(" & ".join(cells) for cells in lines)
    return f"\\begin{{array}}{{@{{}}{'l' * len(lines[0])}@{{}}}}\n{body}\n\\end{{array}}"


def named(arrays: Mapping[str, Any], columns: int) -> list[str]:
    """A line for each array, two for long names: the first entries that fit, shape and zeros."""
    names = [plain_name(name) for name in arrays]
    fitting = [len(name) + 1 for name in names if len(name) < columns // 3]
    width, lines = max([12, *fitting]), []
    for name, value in zip(names, arrays.values(), strict=True):
        lines += [] if len(name) < width else [f"  {name}"]
        beside = name if len(name) < width else ""
        lines.append(f"  {beside:<{width}}{entries(value, columns - 2 - width)}")
    return lines


def entries(value: Any, room: int = 66) -> str:
    """A number, or the first entries of an array with its shape and how many are exactly 0."""
    array = np.asarray(value, dtype=float) + 0.0  # and no -0
    if array.ndim == 0:
        return f"{float(array):.8g}"
    zeros = array.size - np.count_nonzero(array)
    tail = f"   {'×'.join(map(str, array.shape))}, {zeros} exactly zero"
    first = [f"{entry:.5g}" for entry in array.ravel()[:6]]
    while True:
        dots = ", ..." if array.size > len(first) else ""
        text = f"[{', '.join(first)}{dots}]{tail}".replace("[, ", "[")
        if len(text) <= room or not first:
            return text
        first.pop()
