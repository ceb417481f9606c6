"""From primal to dual line by line: the four statements of a problem, in the order of a lecture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..typesetting.aligned import rows

GIVEN = r"\quad\text{s.t.}\quad"
VARIABLES = re.compile(r"\\(?:min|max)_(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|(\\?\w+))\\ ?")
SPLIT = re.compile(r",\\(?:quad| )\s*")
KINDS = ("stationarity", "primal feasibility", "dual feasibility", "complementary slackness")
CURVED = re.compile(r"\\\|.*(_2|\^2)|\\[sp]\w*eq(?![a-z])")
"""In an inequality that is not linear: a norm but that of 1 or infinity, a square, a cone."""
BRACKETS = re.compile(r"\{[^{}]*\}|\([^()]*\)|\[[^][]*\]|\|[^|]*\||\\langle.*?\\rangle")


def derived(
    latex: str, steps: Sequence[tuple[str, str]] = (), slater: str = "", recovery: str = ""
) -> str:
    r"""The walk from primal to dual, in rows of the same form.

    Parameters
    ----------
    latex : str
        What ``latex()`` of a model returns.
    steps : sequence of (str, str)
        Words and line: what eliminates a variable; the conditions of stationarity if empty.
    slater : str
        A strictly feasible point, where a constraint is curved.
    recovery : str
        The variables by the multipliers; in words if empty.

    Returns
    -------
    str
        Primal, Lagrangian, what minimises it, what is left, dual, the conditions by kind, why
        P = D, and what the names are.
    """
    lines = (
        rf"\text{{{label}}}\quad & {row}" for label, row in _walk(latex, steps, slater, recovery)
    )
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _walk(
    latex: str, steps: Sequence[tuple[str, str]], slater: str, recovery: str
) -> Iterator[tuple[str, str]]:
    found = rows(latex)
    told = {label: row for label, row in found if label != "KKT"}
    goal, _, given = told["primal"].partition(GIVEN)
    gain, _, limits = told["dual"].partition(GIVEN)
    lagrangian, _, inside = told["Lagrangian"].partition(r",\quad ")
    named = VARIABLES.match(goal)
    over = (named[1] or named[2]) if named else ""
    conditions = [row for label, row in found if label == "KKT"]
    kinds = sorted_conditions(conditions, given, limits, over)
    yield "primal", told["primal"]
    yield "Lagrangian", told["Lagrangian"]
    slopes = [(rf"\text{{over }} {over}", row) for row in kinds["stationarity"]]
    yield from (("minimise", rf"{words}:\quad {row}") for words, row in steps or slopes)
    left = f"{lagrangian} = {VARIABLES.sub('', gain)}"
    yield "substitute", left + (rf",\ {inside}" if inside else "")
    yield "dual", told["dual"]
    for kind in KINDS:
        yield from ((kind, row) for row in kinds[kind])
    solved = rf"{over} \text{{: the solutions of these conditions, multipliers given}}"
    yield "recovery", recovery or solved
    yield "P = D", reason(given, slater)
    if "where" in told:
        yield "where", told["where"]


def reason(given: str, slater: str) -> str:
    """Why there is no gap between primal and dual.

    Parameters
    ----------
    given : str
        The constraints of the primal.
    slater : str
        A strictly feasible point.
    """
    if any(map(is_curved, SPLIT.split(given))):
        return rf"\text{{by Slater's condition, strictly feasible is }} {slater}"
    return r"\text{the constraints are linear: a feasible point suffices}"


def is_curved(statement: str) -> bool:
    """Whether it is an inequality that is not linear; equations define, or are linear."""
    return "=" not in statement and CURVED.search(statement) is not None


def sorted_conditions(
    conditions: Sequence[str], given: str, limits: str, over: str
) -> dict[str, list[str]]:
    """Every statement of the conditions under its kind.

    Parameters
    ----------
    conditions : sequence of str
        The rows of KKT.
    given, limits : str
        The constraints of the primal, and of the dual.
    over : str
        The variables of the primal.
    """
    primal, dual = ({each.strip() for each in SPLIT.split(text)} for text in (given, limits))
    kinds: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for statement in (each for row in conditions for each in SPLIT.split(row)):
        kink = statement.partition(r"\partial")[2]
        of_multipliers = kink and not any(name in kink for name in over.split(", "))
        kind = KINDS[3] if of_multipliers else _kind(statement, primal, dual)
        kinds[kind].append(statement)
    return kinds


def _kind(statement: str, primal: set[str], dual: set[str]) -> str:
    """A constraint of the primal, a sign or limit of multipliers, a product that is 0, a slope."""
    if statement in primal:
        return "primal feasibility"
    if re.search(r"\\(ge|le|succeq|preceq)(?![a-z])", statement):
        return "dual feasibility"
    outside = statement.removesuffix("= 0").replace(r"\left", "").replace(r"\right", "")
    while (shorter := BRACKETS.sub("", outside)) != outside:
        outside = shorter
    is_product = statement.endswith("= 0") and not re.search(r"[+-]", outside)
    if is_product and statement not in dual:
        return "complementary slackness"
    return "stationarity"
