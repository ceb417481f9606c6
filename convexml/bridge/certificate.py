"""Certificates of solved CVXPY problems, whoever solved them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from ..certificates.certificate import Certificate, Verdict
from ..certificates.conic.bounds import reach
from ..certificates.conic.optimum import certify_conic
from ..certificates.conic.program import Seen, Subject
from ..certificates.conic.search import Completed, complete_dual, complete_point
from ..certificates.judge import absent, bounded, judged
from ..certificates.judge import judge as decide
from ..duality.checking import check_problem, constraint_names, substituted, value_of
from ..duality.interface import last_answer
from ..errors import InputError
from ..formulas import Condition, worst
from ..modelling import cp
from ..numerics import EPS, ROUNDING, Array
from ..problem.cones import ConePoint
from .domain import (
    domain_rows,
    domains_of,
    is_endless,
    row_name,
    size_of,
    transposed,
    undefined,
    units_of,
    without_value,
)
from .layout import constraint_violation, dense, gathered, term_sizes, value_sizes
from .point import (
    Given,
    Posed,
    Violations,
    dual_rows,
    kept_answer,
    moved_row,
    named_rows,
    outside_domain,
    pose,
    primal_rows,
    read_duals,
    soft_rows,
    sparse_values,
    variable_sizes,
    violations,
)
from .rounding import enclosed, meets_exactly, objective_at, only_inequalities, without_constant

# Certificates of CVXPY problems without variables: true or false as they stand.


def certify_constant(problem: Any, tol: float) -> Certificate:
    """Evaluate the constraints and the objective, which are all numbers.

    Returns
    -------
    Certificate
        Claim "optimal" with P = D = the constant and gap 0; or, where an entry or a cone of a
        constraint is violated by more than the rounding of its own terms, claim "infeasible" with
        the violations by constraint in ``evidence``, those of domains among them. Both CERTIFIED.
        UNDECIDED where a violation of that size may be rounding, or the objective is not finite.
    """
    names = constraint_names(problem)
    rows, broken = [], {}
    for constraint in problem.constraints:
        with np.errstate(all="ignore"):
            violated = constraint_violation(constraint)
            sizes, error = value_sizes(constraint, violated.size), _error(constraint, violated.size)
            certain = np.abs(violated) > error
        name = f"{names[constraint.id]}: violation"
        rows.append(worst(name, "primal_feasibility", violated, sizes, error))
        if np.any(certain):
            broken[names[constraint.id]] = violated
    for row in domain_rows(domains_of(problem, names), lambda _: np.zeros(1)):
        rows.append(row)
        if row.breaks(ROUNDING):
            broken[row.name.removesuffix(": violation")] = np.array([row.residual])
    sign = 1.0 if problem.objective.NAME == "minimize" else -1.0
    if broken:
        reason = f"violated, and no variable can change it: {', '.join(broken)}"
        return decide(
            absent("infeasible", (), tol, objective=sign * np.inf, reason=reason, evidence=broken)
        )
    value = sign * objective_at(problem).value
    reason = "" if np.isfinite(value) else f"the objective is {sign * value}"
    known = {"scale": abs(value), "sign": sign, "reason": reason, "is_proved": False}
    return judged(value, value, rows, tol, **known)


def _error(constraint: Any, count: int) -> Array:
    """How far off each violation may be: the rounding of its terms, and what atoms may be off."""
    found = [(enclosed(part), dense(part.value)) for part in constraint.args]
    off = [np.abs(each.value - value) + each.reach for each, value in found]
    terms = [term_sizes(part) for part in constraint.args]
    behind = max(2.0, sum(part.size for part in off) / max(count, 1))
    return ROUNDING * gathered(constraint, terms, count) + behind * gathered(constraint, off, count)


# Points that miss a domain by less than the tolerance: they are priced at the nearest one inside.
#
# Rounding leaves log or entr at -1e-11, where it has no value. Feasibility is told of the point as
# it stands; its objective, and what the constraints are short of, are those of the point nearby.


ROUNDS, STEPS = 4, 200
"""The point moves to the border, then by a few roundings beyond it; and steps of least squares."""
FAR = 10.0
"""A point farther away than so many tolerances, in the units of a variable, is not nearby."""


@dataclass(frozen=True)
class Missed:
    """How a point is judged that misses a domain.

    Attributes
    ----------
    at : dict
        Values by variable: its own where the objective has one, else those nearby; empty where
        nothing nearby has values.
    told, near : Violations
        Its own, with those nearby of constraints whose domain it misses; and all those nearby.
    drift : float
        How far the objective nearby is from that told.
    outside : list of Condition
        Its domains.
    words : str
        What has no value there.
    """

    at: dict[Any, Array]
    told: Violations
    near: Violations
    drift: float
    outside: list[Condition]
    words: str

    def stands(self) -> bool:
        """Whether the variables have the values ``at``."""
        return all(np.array_equal(dense(v.value), value) for v, value in self.at.items())


def missed(posed: Posed, tol: float, share: float = 1.0) -> Missed | None:
    """None where all domains are met, or a function is infinite for another reason.

    Where it is infinite at the border, the point nearby is inside by a ``share`` of ``tol``, for
    the size of its argument; so is that of a constraint that is infinite on the border.
    """
    if not any(constraints for owner in posed.domains for _, constraints in owner.atoms):
        return None
    outside, told = outside_domain(posed), Violations([], [])
    if not without_value(posed.domains):  # each violation is a number, or infinite
        told = violations(posed)
        if all(map(_is_finite, told.constraints)) and not any(row.residual for row in outside):
            return None
    own = {v: dense(v.value) for v in posed.problem.variables()}
    values = dict(own)
    for count in range(ROUNDS + 1):
        with substituted(values), np.errstate(all="ignore"):
            wanted = list(_wanted(posed, share * tol, count))
            moves = _moves(posed, wanted) if count < ROUNDS else {}
        if not moves:
            break
        values |= {v: values[v] + move for v, move in moves.items()}
    if count == 0 and not wanted:
        return None
    words, value = undefined(posed.domains), _objective(posed)
    far = any(
        np.any(np.abs(values[v] - own[v]).ravel(order="F") > FAR * tol * unit)
        for v, unit in ((v, units_of(v, variable_sizes(posed, v))) for v in own)
    )
    with substituted(values):
        if wanted or far or without_value(posed.domains):
            return Missed({}, told, told, 0.0, outside, words)
        near, other = violations(posed), _objective(posed)
    away = max(float(np.max(np.abs(values[v] - own[v]), initial=0.0)) for v in values)
    words = f"{words}; its value is taken {away:.3g} away"
    broken = {row.name for row in outside if row.residual}
    names = {row_name(owner.name) for owner in posed.domains}
    outside = [row for row in outside if row.name in names]
    if not told.constraints:
        told = near
    told = told._replace(
        constraints=[
            one if _is_finite(one) and row_name(posed.labels[one[0].id]) not in broken else two
            for one, two in zip(told.constraints, near.constraints, strict=True)
        ]
    )
    if np.isfinite(value) and row_name("the objective") not in broken:
        return Missed(own, told, near, abs(other - value), outside, words)
    return Missed(values, told, near, 0.0, outside, words)


def _is_finite(found: tuple[Any, Array]) -> bool:
    return bool(np.all(np.isfinite(found[1])))


def _objective(posed: Posed) -> float:
    """Its value; nan where it has none."""
    value = value_of(posed.problem.objective.expr)[0]
    return np.nan if value is None else float(np.real(dense(value)).ravel()[0])


def _wanted(posed: Posed, tol: float, count: int) -> Iterator[tuple[Any, Array]]:
    """Expressions, and how far each of their entries has to move."""
    for k, (_, _, atoms) in enumerate(posed.domains):
        for atom, constraints in atoms:
            for i, constraint in enumerate(constraints):
                part, is_matrix = constraint.args[0], isinstance(constraint, cp.constraints.PSD)
                if isinstance(constraint, cp.constraints.Inequality):
                    part = constraint.args[1] - part
                elif not is_matrix:
                    continue
                value = value_of(part)[0]
                if value is None or not part.variables():
                    continue
                endless, value = is_endless(atom, i), dense(value)
                levels, vectors = np.linalg.eigh(value) if is_matrix else (value, value)
                # On the border the objective is infinite, and not by rounding.
                out = levels <= 0.0 if endless and k + count > 0 else levels < 0.0
                if not np.any(out):
                    continue
                size = size_of(part, lambda v: variable_sizes(posed, v))[0]
                size = np.linalg.norm(size, axis=(-2, -1))[..., None] if is_matrix else size
                step = np.where(out, size * (tol if endless else count * EPS) - levels, 0.0)
                if is_matrix:
                    step = (vectors * step[..., None, :]) @ np.conj(np.swapaxes(vectors, -2, -1))
                yield part, step


def _moves(posed: Posed, wanted: list[tuple[Any, Array]]) -> dict[Any, Array]:
    """The least moves of the variables that make these, in their units; none where unknown."""
    variables = posed.problem.variables()
    units = [units_of(v, variable_sizes(posed, v)) for v in variables]
    blocks, sides = [], []
    for part, step in wanted:
        slopes, side = part.grad, step.ravel(order="F")
        if any(slope is None for slope in slopes.values()):
            return {}
        at = np.flatnonzero(side)
        every = [transposed(slopes.get(v, np.zeros((v.size, side.size))), v) for v in variables]
        rows = sparse.hstack([sparse.csr_array(matrix.T)[at] for matrix in every])
        blocks.append(rows @ sparse.diags_array(np.concatenate(units)))
        sides.append(side[at])
    if not blocks:
        return {}
    system, side = sparse.vstack(blocks, format="csr"), np.concatenate(sides)
    z = np.zeros(system.shape[1], dtype=side.dtype)
    for turn, half in ((1.0, np.real(side)), (1j, np.imag(side))):
        if np.any(half):
            z = z + turn * lsqr(system, half, atol=1e-15, btol=1e-15, iter_lim=STEPS)[0]
    moves = np.split(z * np.concatenate(units), np.cumsum([unit.size for unit in units])[:-1])
    return {
        v: (move if v.is_complex() else np.real(move)).reshape(v.shape, order="F")
        for v, move in zip(variables, moves, strict=True)
    }


# What violations of constraints and attributes are worth.


def shortfall(posed: Posed, found: Violations, y: Array) -> float:
    """|y|'violation of the constraints and attributes at the variables' values.

    What the point gains, to first order, by being feasible only within the tolerance.
    """
    total = 0.0
    for constraint, violated in found.constraints:
        multipliers = posed.maps.get(constraint.id)
        if multipliers is None or not np.any(violated):
            continue
        if multipliers.matrix.shape[0] == violated.size == multipliers.rows.size:
            total += float(abs(multipliers.matrix) @ np.abs(y) @ violated)
        else:
            total += float(np.linalg.norm(y[multipliers.rows]) * np.linalg.norm(violated))
    for variable, attribute, violated, _ in found.attributes:
        rows: Any = named_rows(posed).get(f"{posed.names[variable.id]} {attribute}")
        if rows is not None and np.any(violated):
            total += float(np.linalg.norm(y[rows]) * np.linalg.norm(violated))
    return total


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
        form, the user's by label, and those of attributes by name: "x nonneg", "x lower bounds".

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
        return _explained(posed, decide(_empty(tol, reason, outside)))
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


def _empty(tol: float, reason: str, rows: Sequence[Condition] = ()) -> Certificate:
    return bounded(np.nan, np.nan, rows, tol, scale=np.nan, reason=reason)


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
