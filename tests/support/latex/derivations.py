"""The walk from primal to dual, evaluated at the solution: a line that is false or out of place."""

from __future__ import annotations

from convexml.typesetting.documents import rows
from support.latex.page import FAILURES, GIVEN, KEPT, WORDS, Page, shared
from support.latex.reader import statements

SAME = ("primal", "Lagrangian", "dual", "eliminated", "canonical", "where")
"""Lines of ``latex()``, which the page has evaluated."""
ENDS = ("recovery", "P = D")
KINDS = ("stationarity", "primal feasibility", "dual feasibility", "complementary slackness")
ORDER = "primal Lagrangian minimise substitute dual eliminated".split()
ORDER += [*KINDS, *ENDS, "canonical", "where"]


def derivation_faults(page: Page, text: str) -> list[str]:
    """Every line that does not hold at the numbers of the page, and every condition left out."""
    found, lines = [], rows(text)
    labels = [label for label, _ in lines]
    if sorted(labels, key=ORDER.index) != labels or not {*ORDER[:5], *ENDS} <= {*labels}:
        found.append(f"order: {labels}")
    for label in SAME:
        if [row for name, row in lines if name == label] != [
            row.strip() for row in page.lines.get(label, [])
        ]:
            found.append(f"{label} is not that of latex()")
    kept = [row for label, row in lines if label in KINDS]
    split = [
        each.removeprefix("\\ ").strip()
        for row in page.lines["KKT"]
        for each in statements(row.replace(r",\quad", r",\ "))
    ]
    if sorted(kept) != sorted(split):
        found.append(f"conditions: {sorted({*kept} ^ {*split})}")
    for label, row in lines:
        if label in ("minimise", "substitute", "recovery"):  # the conditions: as in the page
            line = row.partition(r"\text{:}\quad ")[2] if label == "minimise" else row
            found += [f"{label}: {each}" for each in statements(line) if not _holds(page, each)]
        if label == "substitute":  # its first side is the Lagrangian, not what equals it here
            goals = page.goals()
            found += [row] * (
                not row.startswith(f"{goals['Lagrangian']} = {goals['dual'].strip()}")
            )
    return found + _out_of_place(page, lines)


def _holds(page: Page, statement: str) -> bool:
    statement = statement.removeprefix("\\ ").strip()
    if r"\text{:" in statement or statement in WORDS or KEPT.fullmatch(statement):
        return True
    try:
        return all(page.holds(each) for each in shared(statement))
    except FAILURES:
        return False


def _out_of_place(page: Page, lines: tuple[tuple[str, str], ...]) -> list[str]:
    """Feasibility of the primal names no multiplier alone; stationarity is no inequality."""
    given = page.lines["primal"][0].partition(GIVEN)[2]
    return [
        f"{label}: {row} is out of place"
        for label, row in lines
        if (label == "primal feasibility") != (label in KINDS and row in given)
        or (label == "complementary slackness" and "= 0" not in row and r"\partial" not in row)
        or (label == "stationarity" and any(sign in row for sign in (r"\ge ", r"\le ")))
    ]
