"""From primal to dual line by line: the four statements of a problem, in the order of a lecture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from ..tex import listed
from ..typesetting.aligned import rows
from .latex import Latex

GIVEN = r"\quad\text{s.t.}\quad"
VARIABLES = re.compile(r"\\(?:min|max)_(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|(\\?\w+))\\ ?")
SPLIT = re.compile(r",\\(?:quad| )\s*")
KINDS = ("stationarity", "primal feasibility", "dual feasibility", "complementary slackness")
CURVED = re.compile(r"\\\|.*(_2|\^2)|\\[sp]\w*eq(?![a-z])")
"""In an inequality that is not linear: a norm but that of 1 or infinity, a square, a cone."""
BRACKETS = re.compile(r"\{[^{}]*\}|\([^()]*\)|\[[^][]*\]|\|[^|]*\||\\langle.*?\\rangle")


def derived(formulas: Latex, slater: str = "") -> str:
    r"""The walk from primal to dual, in rows of the same form.

    Parameters
    ----------
    formulas : Latex
        With ``steps`` and ``recovery``, or the variables of the conditions in ``over``.
    slater : str
        A strictly feasible point, where a constraint is curved.

    Returns
    -------
    str
        Primal, Lagrangian, what minimises it, what is left, dual, the conditions by kind, why
        P = D, and what the names are.
    """
    lines = (rf"\text{{{label}}}\quad & {row}" for label, row in _walk(formulas, slater))
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def _walk(formulas: Latex, slater: str) -> Iterator[tuple[str, str]]:
    found = rows(str(formulas))
    told = {label: row for label, row in found if label != "KKT"}
    goal, _, given = told["primal"].partition(GIVEN)
    gain, _, limits = told["dual"].partition(GIVEN)
    lagrangian, _, inside = told["Lagrangian"].partition(r",\quad ")
    named = VARIABLES.match(goal)
    over = (named[1] or named[2]) if named else ""
    conditions = [row for label, row in found if label == "KKT"]
    kinds = sorted_conditions(conditions, given, limits, over, inside)
    slopes = list(zip_longest(formulas.over, kinds["stationarity"], fillvalue=over))
    kinds["stationarity"] = [row for name, row in slopes if name]
    kinds["complementary slackness"] += [row for name, row in slopes if not name]
    yield "primal", told["primal"]
    yield "Lagrangian", told["Lagrangian"]
    steps = formulas.steps or [(rf"\text{{over }} {name}", row) for name, row in slopes if name]
    yield from (("minimise", rf"{words}\text{{:}}\quad {row}") for words, row in steps)
    left = f"{lagrangian} = {VARIABLES.sub('', gain)}"
    yield "substitute", left + (rf",\ {inside}" if inside else "")
    yield "dual", told["dual"]
    if "eliminated" in told:
        yield "eliminated", told["eliminated"]
    for kind in KINDS:
        yield from ((kind, row) for row in kinds[kind])
    yield "recovery", formulas.recovery or recovered(kinds["stationarity"], over.split(", "))
    yield "P = D", reason(given, slater)
    yield from (("canonical", row) for row in formulas.canonical)
    if "where" in told:
        yield "where", told["where"]


def recovered(slopes: Sequence[str], names: Sequence[str]) -> str:
    """The variables by the multipliers: those that a condition is solved for, then the rest.

    Parameters
    ----------
    slopes : sequence of str
        The conditions of stationarity.
    names : sequence of str
        The variables of the primal.
    """
    solved = {
        name: row
        for row in slopes
        for name in names
        if re.match(rf"K?{re.escape(name)}(_i)? = ", row)
    }
    rest = ", ".join(name for name in names if name not in solved)
    words = rf"{rest}\text{{: from these conditions, multipliers given}}"
    words = rf"\text{{then }} {words}" if solved else words
    return listed(*solved.values(), words if rest else "")


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
    if not given:
        return r"\text{there are no constraints: a point inside the domain suffices}"
    kind = "polyhedral" if r"\|" in given else "linear"
    return rf"\text{{the constraints are {kind}: a feasible point suffices}}"


def is_curved(statement: str) -> bool:
    """Whether it is an inequality that is not linear; equations define, or are linear."""
    return "=" not in statement and CURVED.search(statement) is not None


def sorted_conditions(
    conditions: Sequence[str], given: str, limits: str, over: str, inside: str = ""
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
    inside : str
        What limits the variables of the Lagrangian itself.
    """
    sides = (given, limits, inside)
    primal, dual, own = ({each.strip() for each in SPLIT.split(text)} for text in sides)
    kinds: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for statement in (each for row in conditions for each in SPLIT.split(row)):
        kink = statement.partition(r"\partial")[2]
        letters = {*re.sub(r"\\[A-Za-z]+", "", kink)}
        of_multipliers = kink and not letters & {*over.split(", ")}
        kind = KINDS[3] if of_multipliers else _kind(statement, primal, dual)
        kinds[KINDS[2] if statement in dual & own else kind].append(statement)
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
