"""A problem in its formulas, with the numbers of an answer beside the conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...certificates import Certificate
from ...certificates.showing import as_html, condition_lines, entries, named, verdict_lines
from ...typesetting import html
from ...typesetting.aligned import rows
from ...typesetting.lines import broken, paragraph
from ...typesetting.names import plain_name
from ...typesetting.plain import plain

INDENT = " " * 14
"""Where the formulas begin."""
LONGEST = 11
"""Characters of a label beside its formula."""
GIVEN = "s.t. "


def formula_lines(latex: str, columns: int) -> list[str]:
    """The formulas in Unicode, constraints on lines of their own.

    Parameters
    ----------
    latex : str
        What ``latex()`` of a problem or a dual returns.
    columns : int
        The width; lines are broken at + and =, and nothing is cut off.
    """
    lines: list[str] = []
    before = ""
    for label, formula in rows(latex):
        goal, _, given = plain(formula).partition(f" {GIVEN}")
        head = f"  {label if label != before else '':<12}"
        if label in ("s.t.", ""):  # a row of its own, of cvxpy problems
            goal, given, head = "", goal, INDENT + ("" if label else " " * len(GIVEN))
        if len(label) > LONGEST:  # a line of its own
            lines += [f"  {label}"] * (label != before)
            head = INDENT
        if goal:
            lines += broken(goal, columns, head, INDENT + "  ")
        if given:
            first = head if not label else INDENT + GIVEN
            lines += broken(given, columns, first, INDENT + " " * len(GIVEN))
        before = label
    return lines


@dataclass(frozen=True)
class Explanation:
    """What there is to show.

    Attributes
    ----------
    heading : str
        The problem with its sizes and constants.
    latex : str
        Its formulas; "" where they are not known.
    tables : mapping of str to mappings of str to arrays
        Point, multipliers, evidence.
    certificate : Certificate or None
        What is known of the point; None before there is one.
    source : str
        The text of a statement that has no formulas.
    """

    heading: str
    latex: str
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    certificate: Certificate | None = None
    source: str = ""

    def text(self, columns: int) -> str:
        """For a terminal of so many columns."""
        lines = [*paragraph(self.heading, columns), *formula_lines(self.latex, columns)]
        lines += [f"  {line}" for line in self.source.splitlines()]
        for heading, table in self.tables.items():
            lines += ["", heading, *named(table, columns)]
        if self.certificate is not None:
            found = condition_lines(self.certificate, columns)
            lines += ["", "Optimality conditions", *found, "", "Verdict"]
            lines += verdict_lines(self.certificate, columns)
        return "\n".join(lines)

    def html(self) -> str:
        """For a notebook or a page, with the formulas in MathML."""
        parts = [html.paragraph(self.heading)]
        parts += [html.formulas(self.latex)] if self.latex else []
        parts += [html.paragraph(self.source, "pre")] if self.source else []
        for heading, table in self.tables.items():
            found = [(plain_name(name), entries(value)) for name, value in table.items()]
            parts += [html.paragraph(heading, "strong"), html.table(found)]
        return "".join([*parts, "" if self.certificate is None else as_html(self.certificate)])

    def page(self, title: str, description: str = "") -> str:
        """The same as an offline page of its own."""
        told = html.paragraph(description) if description else ""
        return html.document(title, told + self.html())


def of_answer(heading: str, latex: str, answer: Any) -> Explanation:
    """Formulas with the point, the multipliers and the certificate of an answer.

    Parameters
    ----------
    heading, latex : str
        As of ``Explanation``.
    answer : Solution, Certificate or None
        Of a certificate alone the multipliers are those of its bound.
    """
    if answer is None:
        return Explanation(heading, latex)
    certificate = getattr(answer, "certificate", answer)
    tables = {
        "Point": getattr(answer, "primal", {}),
        "Multipliers": _told(answer.dual, latex),
        "Evidence": _told(answer.evidence, latex),
    }
    return Explanation(heading, latex, numeric(tables), certificate)


def _told(table: Mapping[str, Any], latex: str) -> dict[str, Any]:
    """A table without multipliers of constraints that are not there, and an endless radius."""
    formulas = plain(latex) if latex else ""

    def idle(name: str, value: Any) -> bool:
        if name.startswith("lambda_"):
            return bool(formulas) and plain_name(name) not in formulas and not np.any(value)
        return name == "radius" and bool(np.isinf(value))

    return {name: value for name, value in table.items() if not idle(name, value)}


def numeric(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The arrays of numbers in the tables; no table without any.

    Parameters
    ----------
    tables : mapping of str to mappings
        As of ``Explanation``.
    """
    kept = {
        heading: {name: value for name, value in table.items() if _is_numeric(value)}
        for heading, table in tables.items()
    }
    return {heading: table for heading, table in kept.items() if table}


def _is_numeric(value: Any) -> bool:
    try:
        return np.asarray(value, dtype=float).size > 0
    except (TypeError, ValueError):  # partitions of points, words
        return False
