"""What is known of a CVXPY problem before it is solved: Slater's condition, what makes it hard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg, sparse

from ..certificates.certificate import Verdict
from ..certificates.conic.infeasible import certify_infeasible
from ..certificates.conic.search import deepest
from ..certificates.conic.slater import no_interior, strict_point
from ..duality.checking import (
    check_problem,
    constraint_names,
    require_problem,
    shown,
    substituted,
)
from ..errors import InputError
from ..modelling import cp
from ..numerics import EPS, Array, without_warnings
from ..problem.cones import ZeroCone
from ..progress import operation
from ..validation import PublicNames
from .domain import size_of
from .layout import constraint_violation, dense
from .point import Posed, named_rows, pose, soft_rows, sparse_values, variable_sizes
from .recognition.problem import recognize
from .rounding import enclosed

# How much room the values of CVXPY's variables leave in a constraint, as it is written.


def is_linear(constraint: Any) -> bool:
    """Whether a constraint is one or several linear ones."""
    kinds = (
        cp.constraints.Inequality,
        cp.constraints.NonPos,
        cp.constraints.NonNeg,
        cp.constraints.Equality,
        cp.constraints.Zero,
    )
    return isinstance(constraint, kinds) and all(arg.is_pwl() for arg in constraint.args)


def slack_of(constraint: Any) -> float:
    """The least room of its entries, less what rounding may have added; < 0 where it is violated.

    Of a matrix its least eigenvalue, of a second-order cone t - |v|, of an exponential or power
    cone the room of its inequality; of an equality minus the residual.
    """
    match constraint:
        case cp.constraints.Inequality():
            return _least(constraint.args[1] - constraint.args[0])
        case cp.constraints.NonNeg():
            return _least(constraint.args[0])
        case cp.constraints.NonPos():
            return _least(-constraint.args[0])
    args = [dense(argument.value) for argument in constraint.args]
    match constraint:
        case cp.constraints.PSD():
            matrix = np.atleast_2d(args[0])
            half = 0.5 * (matrix + np.conj(np.swapaxes(matrix, -2, -1)))
            lost = 8.0 * half.shape[-1] * EPS * float(np.linalg.norm(half))
            return float(np.min(np.linalg.eigvalsh(half))) - lost
        case cp.constraints.SOC():
            vectors = args[1].reshape(-1, 1) if args[1].ndim < 2 else args[1]
            vectors = vectors.T if constraint.axis == 1 and args[1].ndim == 2 else vectors
            norms = np.linalg.norm(vectors, axis=0)
            return _room(args[0].ravel(), norms)
        case cp.constraints.ExpCone():
            x, y, z = (part.ravel() for part in args)
            return _room(z, y * np.exp(x / y)) if np.all(y > 0.0) else -np.inf
        case cp.constraints.PowCone3D():
            x, y, z = (part.ravel() for part in args)
            alpha = np.broadcast_to(dense(constraint.alpha.value).ravel(), x.shape)
            if not (np.all(x > 0.0) and np.all(y > 0.0)):
                return -np.inf
            return _room(x**alpha * y ** (1.0 - alpha), np.abs(z))
    return -float(np.max(constraint_violation(constraint), initial=0.0))


def _least(room: Any) -> float:
    """The least entry of an expression, less the radius of its evaluation."""
    found = enclosed(room)
    lower = np.real(dense(found.value)) - found.reach
    return float(np.min(lower, initial=np.inf))


def _room(high: Any, low: Any) -> float:
    """The least of high - low, each rounded by a few units and the length of a sum."""
    lost = 32.0 * (np.size(low) + 8) * EPS * (np.abs(high) + np.abs(low))
    return float(np.min(high - low - lost))


@dataclass(frozen=True)
class Slater(PublicNames):
    """Whether a convex problem meets the refined condition of Slater.

    Attributes
    ----------
    holds : bool or None
        True: some point meets all constraints, those that are not linear strictly. False: none
        does. None: neither was verified; ``reason`` says why.
    point : dict of arrays
        Where True, by names of variables. An exactly feasible point is within ``distance``.
    slack : dict of float
        Where True, by label: the least room of each constraint at ``point``, less what rounding
        may have added; > 0 for each that is not linear. Of an equality minus its residual, of a
        linear inequality what is left: they need only be met, by a point within ``distance``.
    multipliers : dict of arrays
        Where False, by label: of the signs that CVXPY's have. The sum of the constraints g(x) <= 0
        times them is >= 0 everywhere, and would be < 0 at a strictly feasible point.
    distance : float
        Of an exactly feasible point from ``point`` (2-norm, auxiliary variables included).
    reason : str
    """

    holds: bool | None
    point: dict[str, Any] = field(default_factory=dict)
    slack: dict[str, float] = field(default_factory=dict)
    multipliers: dict[str, Any] = field(default_factory=dict)
    distance: float = 0.0
    reason: str = ""

    def __str__(self) -> str:
        said = {True: "holds", False: "fails", None: "is undecided"}[self.holds]
        rows = [f"  {name}: slack {value:.3g}" for name, value in self.slack.items()]
        return "\n".join([f"Slater's condition {said}", f"  {self.reason}", *rows])


@operation("slater")
@without_warnings
@sparse_values()
def slater(problem: Any) -> Slater:
    """Look for a strictly feasible point, or for multipliers that show that there is none.

    The refined condition: equalities and linear inequalities (also of maxima and l1 norms, which
    are several of these) need only be met, all other constraints, and the domains of the atoms,
    strictly. Where it holds and the optimal value is finite, the dual has a solution of the same
    value.

    Parameters
    ----------
    problem : cvxpy.Problem, or a posed problem
        DCP and continuous; of a posed problem its ``primal``. Values of variables stay.

    Returns
    -------
    Slater
        True only where a point has been verified: linear constraints are met exactly by a point
        nearby, and everything as near is inside of the others, both in CVXPY's conic form; the
        slacks are those of the constraints as they are written. False only where multipliers prove
        it of the conic form, whose coefficients are taken as they are: in rationals, or priced
        (those of an infeasible problem). Everything else is None.

    Raises
    ------
    InputError
        For what is neither.

    References
    ----------
    Boyd and Vandenberghe, *Convex Optimization* (2004), section 5.2.3; Rockafellar, *Convex
    Analysis* (1970), theorem 28.2.
    """
    from ..models.base import Problem

    problem = problem.primal if isinstance(problem, Problem) else problem
    require_problem(problem, "slater")
    if not problem.variables():
        raise InputError("slater: the problem has no variables; there is no point to look for.")
    check_problem(problem, "slater")
    posed = pose(problem, "slater")
    if words := posed.curvature:
        return Slater(None, reason=words)
    x, y = deepest(posed.program) or (None, None)
    if (strict := strict_point(posed.program, x)) is not None:
        return _told(posed, *strict)
    y = None if y is None else no_interior(posed.program, y)
    if y is not None:
        reason = (
            "every feasible point, if there is one, is on the border of a constraint that is not "
            "linear, or of a domain"
        )
        return Slater(False, multipliers=posed.named(y), reason=reason)
    farkas = certify_infeasible(posed.program, lambda: posed.units, soft_rows(posed), None, 1e-6)
    if farkas.verdict is Verdict.CERTIFIED:
        named = posed.named(farkas.dual["y"])
        return Slater(False, multipliers=named, reason=f"infeasible: {farkas.reason}")
    reason = "no point with room was verified, and no multipliers that exclude one exactly"
    return Slater(None, reason=reason)


def _told(posed: Posed, x: Array, distance: float) -> Slater:
    """The point in the user's variables, with the slacks of the constraints as they are written."""
    names = constraint_names(posed.problem)
    with substituted(posed.values(x)):
        slack = {names[c.id]: slack_of(c) for c in posed.problem.constraints}
        strict = [names[c.id] for c in posed.problem.constraints if not is_linear(c)]
    tight = [name for name in strict if not slack[name] > 0.0]
    if tight:
        reason = f"{tight[0]}: no room is left of it once rounding is taken off"
        return Slater(None, slack=slack, reason=reason)
    point = {name: np.array(value) for name, value in posed.point(x).items()}
    reason = f"strictly feasible; an exactly feasible point is within {distance:.3g}"
    return Slater(True, point, slack, distance=distance, reason=reason)


# What makes a problem hard to solve.


APART = 1e6
"""Coefficients whose sizes differ by more have units far apart."""
INFINITE = 1e20
"""Several solvers take larger numbers for infinity."""
NEARLY = 1e-8
"""What is left of a row of norm 1, less its projection on others, where it nearly depends."""
ROUNDED = 1e-14
"""What rounding may leave of a row that depends on others."""
ENDS = ((np.argmin, np.inf), (np.argmax, 0.0))
CLOSE = 1e-6
"""How much of its size an argument keeps from the end of a domain that is not near."""
LARGEST = 4_000_000
"""Entries up to which dependent rows and columns are looked for."""


@dataclass(frozen=True)
class CoefficientRange:
    """The sizes of what is not 0 in the objective, a constraint or the columns of a variable."""

    name: str
    count: int
    least: float
    largest: float


@dataclass(frozen=True)
class Difficulty:
    """What may go wrong: its kind, where it is, and what to do.

    ``kind`` is "units", "infinite", "dependent", "domain" or "size".
    """

    kind: str
    where: str
    words: str


@dataclass(frozen=True)
class Diagnosis(PublicNames):
    """What is known of a problem before it is solved.

    Attributes
    ----------
    reading : str
        What ``solve`` takes it for.
    coefficients : tuple of CoefficientRange
        Of the objective, of each constraint and of each variable, in the conic form.
    difficulties : tuple of Difficulty
        Empty where nothing was found.
    """

    reading: str
    coefficients: tuple[CoefficientRange, ...]
    difficulties: tuple[Difficulty, ...]

    def table(self) -> str:
        """The whole as text."""
        rows = [("coefficients of", "count", "least", "largest")]
        rows += [
            (c.name, str(c.count), f"{c.least:.2g}", f"{c.largest:.2g}") for c in self.coefficients
        ]
        width = max(len(row[0]) for row in rows)
        lines = [
            f"{name:{width}}  {count:>7}  {low:>8}  {high:>8}" for name, count, low, high in rows
        ]
        found = [f"{each.kind}: {each.where}: {each.words}" for each in self.difficulties]
        return "\n".join([self.reading, "", *lines, "", *(found or ["Nothing was found."])])

    __str__ = table


@operation("diagnose")
@without_warnings
@sparse_values()
def diagnose(problem: Any) -> Diagnosis:
    """Say, before a problem is solved, what it is taken for and what may make it hard.

    Looked at are sizes of coefficients by constraint and variable (more than 1e6 apart), numbers
    that solvers take for infinity (1e20), equations, and columns of a learning problem, that nearly
    depend on others, and atoms whose arguments are near the end of their domain: at the values of
    the variables where these are there, else at a point that ``slater`` finds as far inside as it
    can.

    Parameters
    ----------
    problem : cvxpy.Problem
        DCP and continuous; values of variables stay.

    Returns
    -------
    Diagnosis
        ``table()`` is the whole as text.

    Raises
    ------
    InputError
        For what is no such problem, and where it has no variables.
    """
    require_problem(problem, "diagnose")
    if not problem.variables():
        raise InputError("diagnose: the problem has no variables; there is nothing to solve.")
    check_problem(problem, "diagnose")
    read = recognize(problem, explain=True)
    assert read is not None
    posed = pose(problem, "diagnose")
    difficulties = [*_of_rows(posed), *_equations(posed), *_domains(posed)]
    if hasattr(read.problem, "objective_parts"):
        difficulties += _features(read.problem)
    return Diagnosis(read.why, tuple(_coefficients(posed)), tuple(difficulties))


def _coefficients(posed: Posed) -> Iterator[CoefficientRange]:
    program = posed.program
    yield _sized("the objective", np.append(program.q, program.P.data))
    for name, rows in named_rows(posed).items():
        yield _sized(name, np.append(program.A_by_row[rows].data, program.b[rows]))
    for part in posed.parts:
        yield _sized(posed.names[part.variable.id], program.A[:, part.columns].data)


def _sized(name: str, entries: Array) -> CoefficientRange:
    sizes = np.abs(entries[entries != 0.0])
    ends = (float(sizes.min()), float(sizes.max())) if sizes.size else (0.0, 0.0)
    return CoefficientRange(name, sizes.size, *ends)


def _of_rows(posed: Posed) -> Iterator[Difficulty]:
    """Coefficients of one row that are far apart, and those that are infinity to some."""
    program, rest = posed.program, np.ones(posed.program.b.size, dtype=bool)
    named = named_rows(posed)
    for rows in named.values():
        rest[rows] = False
    for name, rows in {**named, "the atoms": np.flatnonzero(rest)}.items():
        A = program.A_by_row[rows]
        sizes, inverse = abs(A), A.copy()
        inverse.data = np.divide(1.0, sizes.data, out=0.0 * A.data, where=A.data != 0.0)
        largest, least = (each.max(axis=1).toarray().ravel() for each in (sizes, inverse))
        apart = largest * least
        k = int(np.argmax(apart)) if rows.size else 0
        if rows.size and apart[k] > APART:
            words = f"coefficients of one row go from {1.0 / least[k]:.2g} to {largest[k]:.2g}"
            yield Difficulty("units", name, f"{words}; measure its variables in other units")
        most = _sized(name, np.append(A.data, program.b[rows])).largest
        if most >= INFINITE:
            words = f"{most:.2g} is infinity to several solvers; leave out what bounds nothing"
            yield Difficulty("infinite", name, words)


def _equations(posed: Posed) -> Iterator[Difficulty]:
    """Equations of the user's that are far apart, or nearly depend on others."""
    equal = posed.program.ruled_by(ZeroCone)
    names = [
        (f"{name}[{k}]", row)
        for name, rows in named_rows(posed).items()
        for k, row in enumerate(rows)
        if equal[row]
    ]
    if names:
        rows = posed.program.A_by_row[[row for _, row in names]]
        yield from _dependent("the equations", rows, [name for name, _ in names])


def _features(problem: Any) -> Iterator[Difficulty]:
    """Columns of a learning problem in units far apart, or nearly dependent."""
    design = problem.objective_parts.design
    names = [f"column {j}" for j in range(design.shape[1])]
    if design.shape[0] >= design.shape[1]:
        yield from _dependent("the features", design, names)


def _dependent(where: str, matrix: Any, names: list[str]) -> Iterator[Difficulty]:
    """Rows of a sparse matrix, or columns of a design, that are far apart or nearly dependent."""
    if matrix.shape[0] * matrix.shape[1] > LARGEST:
        yield Difficulty("size", where, "too large to look for those that depend on others")
        return
    columns = matrix.toarray().T if sparse.issparse(matrix) else matrix.dense()
    norms = np.linalg.norm(columns, axis=0)
    low, high = (int(pick(np.where(norms > 0.0, norms, end))) for pick, end in ENDS)
    if norms[high] > APART * norms[low]:
        words = f"{names[high]} is {norms[high] / norms[low]:.2g} times as large as {names[low]}"
        yield Difficulty("units", where, f"{words}; measure them in units of a like size")
    scaled = columns / np.where(norms > 0.0, norms, 1.0)
    R, order = linalg.qr(scaled, mode="r", pivoting=True)
    left = np.zeros(order.size)
    left[: min(R.shape)] = np.abs(np.diag(R))
    for k, rest in zip(order, left, strict=True):
        if rest <= ROUNDED:
            yield Difficulty("dependent", where, f"{names[k]} follows from others; leave it out")
        elif rest < NEARLY:
            words = f"{names[k]} is a combination of others but for {rest:.1g} of its size"
            yield Difficulty("dependent", where, f"{words}; leave it out")


def _domains(posed: Posed) -> Iterator[Difficulty]:
    """Atoms whose arguments are near the end of their domain, or can have no room at all."""
    ends = [
        (each.name, atom, constraint)
        for each in posed.domains
        for atom, found in each.atoms
        for constraint in found
        if constraint.variables()
    ]
    values = {v: v.value for v in posed.problem.variables()}
    if ends and any(value is None for value in values.values()):
        inside = slater(posed.problem)
        if inside.holds is False:
            words = "no point is strictly inside of all; optimal multipliers need not exist"
            yield Difficulty("domain", "the constraints", words)
        if not inside.point:
            return
        values = {v: inside.point[posed.names[v.id]] for v in values}
    with substituted(values):
        for name, atom, constraint in ends:
            sizes = (size_of(arg, lambda v: variable_sizes(posed, v)) for arg in constraint.args)
            size = max(float(np.max(unit, initial=0.0)) for unit, _ in sizes)
            room = max(slack_of(constraint), 0.0)
            if not room > CLOSE * size:
                words = f"{shown(atom)} has {room:.2g} of room to the end of its domain"
                yield Difficulty("domain", name, words)
