"""The matrix of problems and solvers: what ended how, to be filtered and sorted."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import solvers as registry
from ..formats import DASH, scientific
from .words import Look, badge_words, look

if TYPE_CHECKING:
    from ...comparison import Outcome


class Cell(NamedTuple):
    """One solver on one problem, at the tightest tolerance."""

    solver: str
    kind: str
    look: Look
    words: str


def solvers_of(records: Sequence[Outcome]) -> list[str]:
    """Every solver of a comparison, in the order of the registry."""
    order = {name: place for place, name in enumerate(registry.names())}
    return sorted({record.solver for record in records}, key=lambda s: order.get(s, -1))


def matrix_row(records: Sequence[Outcome], solvers: Sequence[str]) -> dict[str, Any]:
    """A problem's line: each solver's run at the tightest tolerance, and what it is sorted by.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    solvers : sequence of str
        The columns.
    """
    tightest = min(record.tol for record in records)
    cells = {record.solver: record for record in records if record.tol == tightest}
    ran = [record for record in cells.values() if record.ran]
    return {
        "name": records[0].problem,
        "title": records[0].title,
        "cells": [_cell(cells[name]) if name in cells else None for name in solvers],
        "failing": sum(record.disagrees for record in ran),
        "confirmed": sum(record.kind == "confirmed" for record in ran),
        "seconds": min((r.seconds for r in ran if r.kind == "confirmed"), default=inf),
    }


def _cell(record: Outcome) -> Cell:
    gap = f", gap {scientific(record.relative_gap)}" if record.ran else ""
    words = f"{record.claimed or DASH}: {badge_words(record)}{gap}"
    return Cell(record.solver, record.kind.replace(" ", "-"), look(record), words)
