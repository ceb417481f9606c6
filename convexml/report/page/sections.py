"""One problem of the page: its runs, its conditions, and how to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...solvers.registry import ALGORITHMS
from .. import formats
from ..facts import known_facts
from ..summary import objectives
from .duals import best_of, multipliers
from .words import LOOKS

if TYPE_CHECKING:
    from ...comparison import Outcome
    from ...comparison.cards import Card


def section(records: Sequence[Outcome], card: Card | None) -> dict[str, Any]:
    """Everything that the template shows of a problem.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    card : Card or None
        The problem as it was posed, where that is known.
    """
    first = records[0]
    primal, dual = (map(formats.typeset, column) for column in objectives(records))
    kinds = [record.kind for record in records]
    return {
        "name": first.problem,
        "title": first.title or first.problem,
        "model": first.model,
        "expected": first.expected_status,
        "hash": first.data_hash,
        "certifiable": first.certifiable,
        "rows": list(zip(records, primal, dual, strict=True)),
        "tally": [(LOOKS[kind], kinds.count(kind)) for kind in LOOKS if kind in kinds],
        "facts": known_facts(records),
        "conditions": conditions(records),
        "ran": [record for record in records if record.conditions],
        "card": card,
        "check": check(records, card),
        "duals": multipliers(best_of(records), dict(card.multipliers) if card else {}),
        "kinds_of_formulas": kinds_of_formulas(card),
    }


def kinds_of_formulas(card: Card | None) -> str:
    """What the formulas of a problem are: "primal, Lagrangian, dual, optimality conditions".

    Parameters
    ----------
    card : Card or None
    """
    labels = dict.fromkeys(label for label, _ in card.formulas if label) if card else {}
    words = {"KKT": "optimality conditions", "s.t.": ""}
    return ", ".join(filter(None, (words.get(label, label) for label in labels)))


def conditions(records: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Every optimality condition, with the relative residual at each solver's point.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of one problem.
    """
    judged = [record for record in records if record.conditions]
    tables = [{row["name"]: row for row in record.conditions} for record in judged]
    longest = sorted(tables, key=len, reverse=True)
    return [
        _condition(name, [table.get(name) for table in tables], judged)
        for name in dict.fromkeys(name for table in longest for name in table)
    ]


def _condition(
    name: str, rows: Sequence[dict[str, Any] | None], judged: Sequence[Outcome]
) -> dict[str, Any]:
    """One condition at every point; where it is 0 at each, that is said once."""
    cells = [_cell(row, record) for row, record in zip(rows, judged, strict=True)]
    return {
        "name": name,
        "kind": next(row["kind"] for row in rows if row is not None).replace("_", " "),
        "cells": cells,
        "is_zero": all(text == "0" for text, _, _ in cells),
    }


def _cell(row: dict[str, Any] | None, record: Outcome) -> tuple[str, bool, str]:
    """The relative residual, whether it is what an answer fails by, and where it sits."""
    if row is None:
        return "", False, ""
    beyond = not row["relative"] <= record.tol and record.verdict != "certified"
    return formats.scientific(row["relative"]), beyond, row["where"]


def check(records: Sequence[Outcome], card: Card | None) -> dict[str, str]:
    """How to run the best of the runs again: three lines of Python, and a command.

    Parameters
    ----------
    records : sequence of Outcome
    card : Card or None
        Without the path of a file there is nothing to load.
    """
    if card is None or not card.file:
        return {}
    best = best_of(records)
    statement = bool(card.statement)
    solve = (
        f"print(cml.solve(problem, tol={best.tol:g}))"
        if statement
        else f"print(problem.solve({best.solver!r}, tol={best.tol:g}, polish=False).certificate)"
    )
    return {
        "python": f"import convexml as cml\nproblem = cml.load({card.file!r})\n{solve}",
        "command": f"convexml compare {card.file} --tols {best.tol:g}",
    }


def repetitions(cards: Sequence[Card]) -> dict[str, str]:
    """The problems whose formulas stand with an earlier one already, and which that is.

    Parameters
    ----------
    cards : sequence of Card
        In the order of the page.
    """
    first: dict[Any, str] = {}
    owners = {
        each.problem: first.setdefault(each.formulas, each.problem)
        for each in cards
        if each.formulas
    }
    return {name: owner for name, owner in owners.items() if name != owner}


def preparation(record: Outcome) -> tuple[float, float]:
    """Seconds for compiling with CVXPY, and for compiling loops once on a machine."""
    if record.solver in ALGORITHMS:
        return 0.0, record.compile_seconds
    return record.compile_seconds, 0.0
