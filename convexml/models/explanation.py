"""Problems and solutions that show themselves: in words, in a notebook, in a document."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate
from ..certificates.certificate import as_html, condition_lines, entries, named, verdict_lines
from ..errors import InputError
from ..formulas import listed, one_line
from ..typesetting import html
from ..typesetting.documents import broken, broken_rows, fitting, paragraph, rows
from ..typesetting.formulas import plain, plain_name
from ..validation import positive_integer
from .inputs import RowValues
from .latex import Latex

# A problem in its formulas, with the numbers of an answer beside the conditions.


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


# A solution in words: what ``print`` shows.


def describe(solution: Any) -> str:
    """Return the outcome, the point with its duals, and the certificate, line by line."""
    head = f"{solution.problem.name}: {solution.status}   (solver {solution.answered_by}"
    head += f", claimed {solution.claimed_status}" if solution.claimed_status else ""
    steps = "1 iteration" if solution.iterations == 1 else f"{solution.iterations} iterations"
    lines = [head + f", {steps}, {solution.seconds:.3g} s)"]
    lines += [f"  {solution.choice}"] if solution.choice else []
    news = solution.message not in ("", solution.claimed_status)
    lines += [f"  {solution.message}"] if news else []
    if solution.status == "failed":  # there is no point to certify
        return "\n".join(lines)
    for kind, table in (("primal", solution.primal), ("dual", solution.dual)):
        lines += [f"  {kind:<6} {name:<12} {_brief(value)}" for name, value in table.items()]
        if kind == "primal" and (names := solution.problem.features) and "w" in table:
            told = ", ".join(map(one_line, names[:6]))
            lines += [f"  columns of w: {told}{', ...' if names[6:] else ''}"]
    if told := solution.problem.bounds:
        lines.append(
            f"  bound of {told}: {solution.bound:.10g}; the objective is that of a point, above it"
        )
    return "\n".join([*lines, str(solution.certificate)])


def _brief(value: Any) -> str:
    if isinstance(value, RowValues):
        return f"in {len(value)} blocks of rows"
    array = np.asarray(value)
    if array.ndim == 0:
        return f"{float(array):.6g}"
    zeros = int(np.sum(array == 0.0))
    shown = np.array2string(array.ravel()[:6], precision=4, separator=", ", max_line_width=200)
    more = ", ..." if array.size > 6 else ""
    return f"{shown[:-1]}{more}]   shape {array.shape}, {zeros} zero"


# From primal to dual line by line: the four statements of a problem, in the order of a lecture.


DERIVATION_GIVEN = r"\quad\text{s.t.}\quad"
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
    goal, _, given = told["primal"].partition(DERIVATION_GIVEN)
    gain, _, limits = told["dual"].partition(DERIVATION_GIVEN)
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


NARROWEST = 60
"""Characters that a condition with its two residuals needs."""


class ExplainedProblem:
    """The part of a posed problem that says what it is."""

    bounds: ClassVar[str] = ""
    """Of what ``solution.bound`` is a lower bound, where the problem is a relaxation of that."""

    slater: ClassVar[str] = ""
    """A strictly feasible point in LaTeX, where the primal has a curved constraint."""

    @abstractmethod
    def _formulas(self) -> Latex:
        """Primal, Lagrangian, dual and KKT conditions, and the way from one to the next."""

    def latex(self) -> str:
        """Primal, Lagrangian, dual and KKT conditions in LaTeX."""
        return str(self._formulas())

    def derivation(self) -> str:
        """From primal to dual line by line, in LaTeX: as ``latex()``, in the order of a lecture.

        Returns
        -------
        str
            Primal, Lagrangian, what minimises it over each variable, what is left, the dual, the
            conditions by kind, how the variables follow, and why P = D.
        """
        return derived(self._formulas(), self.slater)

    def explain(self, answer: Any = None, *, columns: int = 80) -> str:
        """The formulas in Unicode, with the numbers of an answer beside the conditions.

        Parameters
        ----------
        answer : Solution or Certificate, optional
            Of this problem. Its point, its multipliers, every optimality condition with its
            residual, P, D, gap and verdict follow the formulas.
        columns : int
            No line is longer, unless a single word is; at least 60.

        Returns
        -------
        str
            Primal, Lagrangian, dual and KKT conditions; long formulas are broken at + and =.

        Raises
        ------
        InputError
            For fewer columns.
        """
        width = _width(columns, type(self).__name__)
        return of_answer(repr(self), self.latex(), answer).text(width)

    def _repr_html_(self) -> str:
        return of_answer(repr(self), self.latex(), None).html()

    def _repr_latex_(self) -> str:
        return f"$$\n{broken_rows(self.latex())}\n$$"


class ExplainedSolution:
    """The part of a solution that says how good it is."""

    problem: Any
    status: str
    solver: str
    polished: str
    certificate: Any

    @property
    def answered_by(self) -> str:
        """The solver, and by what its point was polished."""
        return self.solver + (f", then polished by {self.polished}" if self.polished else "")

    def explain(self, *, columns: int = 80) -> str:
        """The problem's formulas, and this point's residual beside every condition.

        Parameters
        ----------
        columns : int
            As of ``problem.explain``.

        Returns
        -------
        str
            As of ``problem.explain``; where there is no point, the formulas and why.
        """
        if self.status == "failed":  # there is no point to certify
            return f"{self.problem.explain(columns=columns)}\n\n{self}"
        return str(self.problem.explain(self, columns=columns))

    def _repr_html_(self) -> str:
        answer = None if self.status == "failed" else self
        return of_answer(str(self).splitlines()[0], "", answer).html()

    def _repr_latex_(self) -> str:
        return str(self.certificate._repr_latex_())

    def __repr__(self) -> str:
        certificate = self.certificate
        return fitting(
            "Solution",
            (
                f"{self.problem.name}: {self.status}",
                *([f"{self.solver}, then polished"] if self.polished else []),
                f"relative_gap={certificate.relative_gap:.3g}",
                f"objective={certificate.primal_objective:.6g}",
                f"solver={self.solver!r}",
            ),
        )

    def __str__(self) -> str:
        return describe(self)


def _width(columns: int, owner: str) -> int:
    width = positive_integer(columns, f"{owner}.explain", "columns")
    if width < NARROWEST:
        raise InputError(
            f"{owner}.explain: columns must be at least {NARROWEST}, got {width}; "
            "a condition with its residuals needs that many."
        )
    return width
