"""Certificates of solved CVXPY problems, whoever solved them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...certificates.certificate import Certificate, Verdict
from ...certificates.conic.bounds import reach
from ...certificates.conic.optimum import certify_conic
from ...certificates.conic.search.recovery import Completed, complete_dual, complete_point
from ...certificates.conic.subject import Seen, Subject
from ...certificates.judge import bounded
from ...certificates.judge import judge as decide
from ...conditions import Condition
from ...duality.checking import check_problem, substituted
from ...duality.inner import last_answer
from ...errors import InputError
from ...numerics import Array
from ...objective.conic.program import ConePoint
from .constant import certify_constant
from .reading.answer import kept_answer
from .reading.domain import undefined, without_value
from .reading.labels import soft_rows
from .reading.layout import dense
from .reading.missed import Missed, missed
from .reading.point import (
    Posed,
    outside_domain,
    pose,
    primal_rows,
    sparse_values,
    violations,
)
from .reading.rows import Given, dual_rows, moved_row, read_duals
from .reading.worth import shortfall
from .rounding.enclosed import objective_at, without_constant
from .rounding.met import meets_exactly, only_inequalities

INSIDE = (1.0, 1e-3, 1e-6)
ENDED = ("infeasible", "infeasible_inaccurate", "unbounded", "unbounded_inaccurate")


@sparse_values()
def certify_problem(problem: Any, *, tol: float = 1e-6, effort: str = "normal") -> Certificate:
    """Judge the values and dual values that stand in a DCP problem.

    Parameters
    ----------
    problem : cvxpy.Problem
        Solved by anything. Dual values that are present are judged as they are; missing ones,
        those of variable attributes and of auxiliary variables are recovered.
    tol : float
        For the relative gap and the feasibilities, relative to their rows.
    effort : str
        "normal", or "full": without a budget of work on finding a bound.

    Returns
    -------
    Certificate
        Claim "optimal"; "infeasible" or "unbounded" where the problem's status says so and its
        variables have no values. Objectives are those of the problem, also under Maximize; the
        gap is never negative beyond rounding. ``dual`` holds "y", the multipliers of the conic
        form, and the user's by label.

    Raises
    ------
    InputError
        Where a variable has no value and no status explains why.
    """
    check_problem(problem, "certify")
    variables = problem.variables()
    if not variables:
        return certify_constant(problem, tol)
    posed = pose(problem)
    if problem.status in ENDED and any(v.value is None for v in variables):
        from .absence import certify_absence

        return certify_absence(posed, str(problem.status).removesuffix("_inaccurate"), tol=tol)
    missing = [posed.names[v.id] for v in variables if v.value is None]
    if missing:
        raise InputError(
            f"certify: variable {missing[0]} has no value; solve the problem first, or use "
            "cml.solve."
        )
    return judge(posed, tol, effort=effort)


def judge(
    posed: Posed, tol: float, answer: ConePoint | None = None, effort: str = "normal"
) -> Certificate:
    """The certificate of the values in the variables, for the claim that they are optimal.

    ``answer`` is the solver's own, where it is at hand.
    """
    # CVXPY cannot index the sparse values that it gives to diagonal variables.
    stored = {v: v.value for v in posed.problem.variables()}
    with substituted({v: dense(value) for v, value in stored.items() if sparse.issparse(value)}):
        return _judge(posed, tol, answer or last_answer(posed.problem), effort)


def _judge(posed: Posed, tol: float, answer: ConePoint | None, effort: str) -> Certificate:
    if not np.all(np.isfinite(posed.read({v: v.value for v in posed.problem.variables()}))):
        return _empty(tol, "a variable has a value that is not finite")
    given = read_duals(posed)
    if given.broken:
        moved = Condition(f"that of {given.broken}", "dual_feasibility", np.inf)
        return _empty(tol, f"the dual value of {given.broken} is not finite").but(moved=moved)
    outside = outside_domain(posed)
    is_broken = any(row.breaks(tol) for row in outside)
    near = None if is_broken else missed(posed, tol)
    if near is not None and near.at:
        return _judge_near(posed, tol, answer, effort, given, near)
    if (reason := near.words if near else without_value(posed.domains)) or is_broken:
        empty = bounded(np.nan, np.nan, outside, tol, scale=np.nan, reason=reason)
        return _explained(posed, decide(empty))
    return _explained(posed, _judge_inside(posed, tol, answer, effort, given))


def _judge_near(
    posed: Posed, tol: float, answer: ConePoint | None, effort: str, given: Given, near: Missed
) -> Certificate:
    """By the point at the tolerance's distance inside; by one less far where that charges more."""
    first = None
    for share in INSIDE:
        inside = near if share == 1.0 else missed(posed, tol, share)
        if inside is None or not inside.at:
            break
        with substituted(inside.at):
            found = _judge_inside(posed, tol, answer, effort, given, inside)
        said = (found.reason.removesuffix("."), inside.words)
        found = found.but(reason="; ".join(filter(None, said)))
        if found.verdict is Verdict.CERTIFIED:
            return found
        first = found if first is None else first
    assert first is not None
    return first


def _judge_inside(
    posed: Posed,
    tol: float,
    answer: ConePoint | None,
    effort: str,
    given: Given,
    near: Missed | None = None,
) -> Certificate:
    """The certificate where all atoms have values: at the point, or ``near`` by."""
    x = posed.read({v: v.value for v in posed.problem.variables()})
    sizes, sign = (posed.units, posed.fit, posed.own), posed.canonical.sign
    subject = Audited(
        posed.program, *sizes, posed, sign, _bent(posed), posed.curvature, given, near
    )
    for full, pair in _completions(posed, x, given, answer):
        radius = reach(full, posed.own)
        certificate = certify_conic(subject, full, pair, tol, radius, given.missing, effort)
        if certificate.verdict is not Verdict.UNDECIDED or posed.curvature:
            break  # of what is not convex no multipliers make a bound
    if certificate.verdict is Verdict.CERTIFIED and posed.doubt:
        said = (certificate.reason.removesuffix("."), posed.doubt)
        certificate = certificate.but(reason="; ".join(filter(None, said)))
    return certificate


def _completions(
    posed: Posed, x: Array, given: Given, answer: ConePoint | None
) -> Iterator[tuple[Array, Completed]]:
    """x and the multipliers with what CVXPY does not pass on: as kept, then as recovered.

    What was passed stays as it is, also where these units cannot hold it.
    """
    kept = kept_answer(posed, x, given, answer) if answer is not None else None
    if kept is not None:
        x = np.where(posed.own, x, kept.w)
        yield x, kept
    program, to = posed.fit.program, posed.fit.scaled
    z, y = to.x_in(x), to.y_in(given.y)
    z = complete_point(program, z, posed.own, y, given.mask)
    full = complete_dual(program, z, posed.own, y, given.mask, reach(z, posed.own))
    x = np.where(posed.own, x, to.x_out(z))
    y = np.where(given.mask, given.y, to.y_out(full.y))
    pair = Completed(to.x_out(full.w), y)
    if kept is None or not all(map(np.array_equal, kept, pair)):
        yield x, pair


def _explained(posed: Posed, certificate: Certificate) -> Certificate:
    """With the expression and the values where something at this point is no number."""
    rows = [row for row in certificate.conditions if row.kind == "primal_feasibility"]
    numbers = [certificate.primal_objective, *(row.residual for row in rows)]
    if certificate.verdict is Verdict.CERTIFIED or np.all(np.isfinite(numbers)):
        return certificate
    words = undefined(posed.domains)
    if not words or words in certificate.reason:
        return certificate
    refuted = certificate.verdict is Verdict.REFUTED
    return certificate.but(
        reason=f"{certificate.reason.removesuffix('.')}; {words}" if refuted else words
    )


def _empty(tol: float, reason: str) -> Certificate:
    return bounded(np.nan, np.nan, (), tol, scale=np.nan, reason=reason)


@dataclass(frozen=True)
class Audited(Subject):
    """A CVXPY problem for the conic engine: the point that stands is in its variables."""

    names: Posed
    given: Given
    near: Missed | None = None

    def seen(self, x: Array) -> Seen:
        """See ``Subject``."""
        found, sign = objective_at(self.names.problem), self.sign
        rest = without_constant(found, sign * self.program.offset) * sign
        near = self.near
        if near is None or not near.stands():
            violated = violations(self.names)
            rows = primal_rows(self.names, x, violated)
        else:
            violated, rows = near.near, primal_rows(self.names, x, near.told, near.outside)
        return Seen(sign * found.value, rest, found.radius, rows, violated)

    @contextmanager
    def standing(self, x: Array) -> Iterator[None]:
        """See ``Subject``."""
        with substituted(self.names.values(x)):
            yield

    def dual_rows(self, x: Array, y: Array, scale: float) -> list[Condition]:
        """See ``Subject``."""
        return dual_rows(self.names, x, y, self.given, scale)

    def moved(self, y: Array) -> Condition | None:
        """See ``Subject``."""
        return moved_row(self.names, y, self.given)

    @property
    def comparable(self) -> bool:
        """See ``Subject``."""
        return only_inequalities(self.names.problem)

    def meets(self, x: Array) -> bool:
        """See ``Subject``."""
        if not self.comparable:
            return False
        with self.standing(x):
            return meets_exactly(self.names.problem, self.names.domains)

    def shortfall(self, seen: Seen, y: Array) -> float:
        """See ``Subject``."""
        found = shortfall(self.names, seen.violated, y)
        if self.near is not None and seen.violated is self.near.near:
            found += self.near.drift
        return found


def _bent(posed: Posed) -> bool:
    """Whether a constraint or attribute asks for more than linear rows."""
    if not all(arg.is_pwl() for c in posed.problem.constraints for arg in c.args):
        return True
    return any(not cone.is_polyhedral for cone, _ in posed.program.runs_of(soft_rows(posed)))
