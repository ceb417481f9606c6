"""Problems and solutions that show themselves: in words, in a notebook, in a document."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from ..errors import InputError
from ..typesetting.aligned import broken_rows
from ..typesetting.lines import fitting
from ..validation import positive_integer
from .derivation import derived
from .formats.explanation import of_answer
from .formats.text import describe
from .latex import Latex

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
