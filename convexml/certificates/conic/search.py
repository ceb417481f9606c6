"""Points, multipliers and rays that Clarabel finds, inside of cones and recovered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from ...errors import SolverError
from ...numerics import EPS, Array, length
from ...problem.cones import (
    Cone,
    ConeProgram,
    ExponentialCone,
    NonnegativeCone,
    SecondOrder,
    Semidefinite,
    ZeroCone,
    cone_program_of,
)
from ..algebra.definite import definite_solver, powers_of_two
from ..algebra.dual_points import Priced
from ..algebra.polyhedron import least_change, moved_onto
from ..algebra.searchers import highs
from ..algebra.sums import exact_residual
from ..scale import ProgramUnits
from .prices import priced
from .program import distances, linear_rows, solve_scaled

# Points inside of cones, and the way there for a multiplier that is almost feasible.


MARGINS = (1e-4, 1e-7, 1e-9)
"""How far inside the dual cone a helping point is wanted, relative to the multiplier."""
SHARES = (1e-6, 1e-5, 1e-4, 3e-4, 5e-4, 7e-4, 1e-3, 3e-3, 1e-2, 1e-1)


def inward(cone: Cone) -> Array:
    """A direction inside the cone and inside its dual; 0 for {0}."""
    match cone:
        case ZeroCone():
            return np.zeros(cone.dim)
        case SecondOrder():
            return np.eye(cone.dim)[0]
        case Semidefinite():
            return cone.vector(np.eye(cone.order))
        case ExponentialCone():
            return np.array([-1.0, 1.0, 1.0])
    point = np.ones(cone.dim)
    if not cone.is_polyhedral:
        point[-1] = 0.0
    return point


def interior_point(program: ConeProgram) -> Array:
    """``inward`` of each cone, one after the other."""
    return np.concatenate([np.zeros(0), *(inward(cone) for cone in program.cones)])


def deepest(
    program: ConeProgram, e: Array | None = None, pull: float = 0.0
) -> tuple[Array, Array] | None:
    """A point with b - A x - t e in K for the largest t <= 1, and its multipliers, not judged.

    By default e is inside of the curved cones. ``pull`` |x|^2 / 2 is added to -t, to choose one of
    several. None where Clarabel breaks down.
    """
    m, n = program.A.shape
    if e is None:
        e = interior_point(program) * ~program.ruled_by(ZeroCone, NonnegativeCone)
    limit = sparse.csc_array(([1.0], ([0], [n])), shape=(1, n + 1))
    A = sparse.vstack([sparse.hstack([program.A, e[:, None]]), limit], format="csc")
    cost, b = -np.eye(1, n + 1, n).ravel(), np.append(program.b, 1.0)
    P = sparse.diags_array(np.append(np.full(n, pull), 0.0)) if pull else None
    try:
        x, y = solve_scaled(cone_program_of(P, cost, A, b, [*program.cones, NonnegativeCone(1)]))
    except SolverError:
        return None
    return x[:n], y[:m]


def mixtures(program: ConeProgram, w: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    """(w, y) with more and more of a dual point well inside K*, all near the equality.

    A dual point with margin eta has the form y + eta e, and y is the multiplier of the program
    with the cost q + eta A'e. None where there is no such point.

    Parameters
    ----------
    program : ConeProgram
        In units in which its entries are of size 1.
    w, y : array
        An almost feasible dual point.
    """
    level = max(1.0, float(np.max(np.abs(y), initial=0.0)))
    start = on_equality(program, w, y)
    for margin in MARGINS:
        shift = margin * level * interior_point(program)
        try:
            inner_w, inner = solve_scaled(replace(program, q=program.q + program.A.T @ shift))
        except SolverError:
            continue
        target = on_equality(program, inner_w, inner + shift)
        if not _inside(program, target[1]):
            continue
        a, b = np.concatenate(start), np.concatenate(target)
        points = (np.split((1.0 - share) * a + share * b, [w.size]) for share in SHARES)
        usable = [(w, y) for w, y in points if _inside(program, y)]
        yield from usable
        if usable:
            return


def on_equality(
    program: ConeProgram, w: Array, y: Array, reach: Array | None = None
) -> tuple[Array, Array]:
    """(w, y) after the least change that takes off what they leave of the equality, twice.

    y moves in proportion to ``reach``, by default all of it alike, and w where P bends it.
    """
    curved = np.diff(program.P_by_row.indptr) > 0
    weights = np.where(curved, np.maximum(np.abs(w), 1.0), 0.0)
    reach = np.ones(y.size) if reach is None else reach
    z, reach = np.concatenate([w, y]), np.concatenate([weights, reach])
    w, y = np.split(moved_onto(program.equality, -program.q, z, reach), [w.size])
    return w, y


def _inside(program: ConeProgram, y: Array) -> bool:
    away, size = distances(program, y, np.full(y.size, np.max(np.abs(y), initial=0.0)), dual=True)
    return not np.any(away > 4.0 * EPS * size)


# Auxiliary variables and missing multipliers: the Lagrangian, minimised over a box.


NUDGE = 1e-6
"""The pull that keeps auxiliary variables at their atoms' values where nothing else does."""


class Completed(NamedTuple):
    """The dual's own w and the multipliers of all rows."""

    w: Array
    y: Array


def complete_point(program: ConeProgram, x: Array, own: Array, y: Array, given: Array) -> Array:
    """x with its auxiliary entries filled: they minimise the Lagrangian with x[own] fixed.

    Parameters
    ----------
    program : ConeProgram
    x : array, shape (n,)
        What stands in the auxiliary entries plays no part.
    own : mask, shape (n,)
        The entries that stay.
    y : array, shape (m,)
        Multipliers of the rows in ``given``, which need not hold.
    given : mask, shape (m,)
        Other rows hold: they say what the auxiliary variables mean.
    """
    free = np.flatnonzero(~own)
    x = np.where(own, x, 0.0)
    if free.size == 0:
        return x
    pull = np.where(given, y + NUDGE * interior_point(program), 0.0)
    columns = program.A[:, free]
    rows, cones = _rows_of(program, ~given & (np.diff(columns.tocsr().indptr) > 0))
    reduced = ConeProgram(
        sparse.csc_array(program.P[free][:, free]),
        program.stationarity(x, pull)[free],
        sparse.csc_array(columns.tocsr()[rows]),
        (program.b - program.A @ x)[rows],
        tuple(cones),
    )
    try:
        x[free] = solve_scaled(reduced)[0]
    except SolverError:
        pass  # zeros are a point as well; what they break is seen by whoever judges it
    return x


def complete_dual(
    program: ConeProgram, x: Array, own: Array, y: Array, given: Array, radius: float
) -> Completed:
    """Fill the multipliers of the rows that are not in ``given``, those in ``given`` as they are.

    min over |x_j - xhat_j| <= radius of the Lagrangian, subject to the rows that are not given:
    its multipliers are the best ones to go with those given, and its minimiser is the w of the
    bound. Without the box an error of 1e-9 in y would leave no minimum.

    Clarabel is asked even where it has solved the problem: the rows that pose an atom (epigraphs,
    cones, z = A x + b) have multipliers that CVXPY does not pass on, and no formula fills those of
    cones that share variables. Only where every row is given and P = 0 nothing is left to ask.

    Parameters
    ----------
    program : ConeProgram
    x : array, shape (n,)
        The point.
    own : mask, shape (n,)
        The entries of x that the box holds: the user's variables.
    y : array, shape (m,)
    given : mask, shape (m,)
        The entries of y that are kept.
    radius : float
        Half the width of the box.
    """
    y = np.where(given, y, 0.0)
    if np.all(given) and program.P.nnz == 0:
        return Completed(x, y)
    rows, cones = _rows_of(program, ~given)
    # The unknown is the step from x, in units of the radius.
    A = program.A_by_row[rows]
    mine = np.flatnonzero(own)
    identity = sparse.eye_array(x.size, format="csr")[mine]
    local = ConeProgram(
        radius * program.P,
        program.stationarity(x, y),
        sparse.csc_array(sparse.vstack([radius * A, identity, -identity])),
        np.concatenate([(program.b - program.A @ x)[rows], np.ones(2 * mine.size)]),
        (*cones, NonnegativeCone(2 * mine.size)),
    )
    try:
        step, found = solve_scaled(local)
    except SolverError:
        return Completed(x, y)
    y[rows] = radius * found[: rows.size]
    return Completed(x + radius * step, y)


def _rows_of(program: ConeProgram, wanted: Array) -> tuple[Array, list[Cone]]:
    found = list(program.runs_of(wanted))
    rows = np.concatenate([np.zeros(0, dtype=int), *(rows.ravel() for _, rows in found)])
    return rows, [cone for cone, run in found for _ in run]


# The smallest relaxation that makes a cone program feasible; its multipliers are Farkas' own.


class Relaxation(NamedTuple):
    """The relaxed point, how much each row is moved, the total, and the multipliers.

    ``phase`` is the program that was solved; ``primal`` and ``dual`` are its answer. ``ways`` is E.
    """

    x: Array
    shift: Array
    total: float
    y: Array
    phase: ConeProgram
    primal: Array
    dual: Array
    ways: Any

    def evidence(self, y: Array) -> dict[str, Any]:
        """What is told of it beside multipliers with b'y = -1.

        y / max(E'y) is feasible for the dual of the relaxed program: no total is below its
        value, 1 / max(E'y).
        """
        pull = float(np.max(self.ways.T @ y, initial=0.0))
        noise = 1e-7 * max(1.0, float(np.max(np.abs(self.shift), initial=0.0)))
        return {
            "relaxation": np.where(np.abs(self.shift) <= noise, 0.0, self.shift),
            "relaxation_total": self.total,
            "relaxation_bound": 1.0 / pull if pull > 0.0 else np.inf,
        }


def relax(program: ConeProgram, soft: Array, vertex: bool = False) -> Relaxation:
    """Minimise sum(t) subject to A x + s = b + E t, s in K, t >= 0.

    E moves equalities both ways, inequalities apart, and other cones along a direction inside
    them: (1, 0) of a second-order cone, the identity of a semidefinite one. The multipliers y of
    the rows satisfy A'y = 0, y in K* and -b'y = sum(t): where that is positive, no point is
    feasible.

    Parameters
    ----------
    program : ConeProgram
        Its objective plays no part.
    soft : mask, shape (m,)
        The rows that may be relaxed.
    vertex : bool
        By HiGHS, whose multipliers are sparse and about exact; linear programs only.

    Returns
    -------
    Relaxation
        As Clarabel or HiGHS found it: to be verified.

    Raises
    ------
    SolverError
        Where they break down, or curved cones are asked of HiGHS.
    """
    ways = moves(program, soft)
    n, k = program.q.size, ways.shape[1]
    A = sparse.block_array([[program.A, -ways], [None, -sparse.eye_array(k)]], format="csc")
    cost, b = np.repeat([0.0, 1.0], [n, k]), np.append(program.b, np.zeros(k))
    none, more = sparse.csc_array((n + k, n + k)), (NonnegativeCone(k),) if k else ()
    phase = ConeProgram(none, cost, A, b, (*program.cones, *more))
    if vertex:
        data, rows = linear_rows(phase)
        found = highs(data) if program.is_polyhedral else None
        if found is None or found.x is None or found.y is None:
            raise SolverError("conic form: HiGHS has no vertex of the smallest relaxation.")
        x, y = found.x, np.zeros(b.size)
        y[rows] = found.y
    else:
        x, y = solve_scaled(phase)
    t = np.maximum(x[n:], 0.0)
    return Relaxation(x[:n], ways @ t, float(t.sum()), y[: program.b.size], phase, x, y, ways)


def moves(program: ConeProgram, soft: Array) -> sparse.csc_array:
    """E: one column for each way in which a soft row or cone can move."""
    equal, below = (np.flatnonzero(program.ruled_by(c) & soft) for c in (ZeroCone, NonnegativeCone))
    eye = sparse.eye_array(soft.size, format="csc")
    blocks = [eye[:, equal], -eye[:, equal], eye[:, below]]
    for cone, run in program.runs:
        whole = run[np.all(soft[run], axis=1)]
        if not cone.is_polyhedral and whole.size:
            ways = zip(inward(cone), whole.T, strict=True)
            blocks.append(sum(part * eye[:, rows] for part, rows in ways if part))
    return sparse.hstack(blocks, format="csc")


# Semidefinite multipliers moved inside of their cones along a direction that is always there.


STEPS = (1e-9, 1e-8, 1e-7)
"""How far inside, for the size of the multipliers; at least twice what the residual asks for."""
FREE = 1e-9
"""What equality multipliers leave of A'e where they free the way inside."""


def inward_prices(
    program: ConeProgram, w: Array, y: Array, units: ProgramUnits
) -> Iterator[Priced]:
    """Prices of (w, y) moved by t (e + d): e inside of the cones, A'(e + d) = 0, d in equalities.

    The residual is taken off by the least change first, which may leave the cones by as much.
    None without semidefinite cones, or without such a d.
    """
    if not any(isinstance(cone, Semidefinite) for cone in program.cones):
        return
    equal = program.ruled_by(ZeroCone)
    e = np.where(equal, 0.0, interior_point(program))
    pull = program.A.T @ e
    free = program.A_by_row[equal].T
    e[equal] = least_change(free, -pull, np.ones(free.shape[1]))
    if not length(program.A.T @ e) <= FREE * length(pull):
        return
    level, (w, at) = float(np.max(np.abs(y), initial=0.0)), on_equality(program, w, y)
    for share in STEPS:
        t = max(share * level, 2.0 * share / STEPS[0] * length(at - y))
        yield priced(program, w, at + t * e, units)


# Directions along which nothing in a program changes: one coordinate of each may be left out.


LARGEST = 20_000
SHIFT = 1e-12
LINEALITY_ROUNDS = 4
LINEALITY_FEW = 40
"""So many directions are looked for."""
NOTHING = 1e-7
"""Of a row of A, P and q: what may be left before the rounding to the grid."""
GRID = 2.0**20
MOST = 4_000_000
"""Entries of a normal matrix; of rows that would make more, the longest only choose at the end."""


def idle_columns(program: ConeProgram) -> Array:
    """Columns k with A d = 0, P d = 0, q'd = 0 exactly for a d with d_k != 0 and no other of them.

    With x the point x - (x_k / d_k) d is as good, so that x_k = 0 may be asked for: the dual's
    equality is then not needed in column k. The d are found in floats, and verified exactly;
    their entries are multiples of 2^-20 of one another.
    """
    n = program.q.size
    if n > LARGEST or n == 0:
        return np.zeros(0, dtype=int)
    system = sparse.vstack([program.A, program.P, program.q[None, :]], format="csr")
    sizes = np.sqrt(np.asarray(system.power(2).sum(axis=0)).ravel())
    if not np.all(np.isfinite(sizes)):
        return np.zeros(0, dtype=int)
    units = powers_of_two(1.0 / np.where(sizes > 0.0, sizes, 1.0))
    scaled = sparse.csr_array(system @ sparse.diags_array(units))
    found = ((k, units * np.round(d * GRID) / GRID) for k, d in _directions(scaled))
    return np.array([k for k, d in found if not np.any(exact_residual(system, d))], dtype=int)


def _directions(system: Any) -> list[tuple[int, Array]]:
    """By inverse iteration on a few vectors; the coordinates are chosen by pivoting."""
    n, counts = system.shape[1], np.diff(system.indptr).astype(float)
    order = np.argsort(counts, kind="stable")
    few = order.size if n * n <= MOST else np.searchsorted(np.cumsum(counts[order] ** 2), MOST)
    short = system[order[:few]]
    factor = definite_solver(sparse.csc_array(short.T @ short), SHIFT)
    if factor is None:
        return []
    basis = np.cos(np.outer(np.arange(1.0, n + 1.0), np.arange(1.0, LINEALITY_FEW + 1.0)))
    for _ in range(LINEALITY_ROUNDS):
        basis = np.linalg.qr(factor.solve(basis))[0]
    values, turned = np.linalg.svd(system @ basis, full_matrices=False)[1:]
    basis = basis @ turned[values < NOTHING].T
    count = basis.shape[1]
    if count == 0:
        return []
    chosen = qr(basis.T, mode="r", pivoting=True)[-1][:count]
    directions = np.linalg.solve(basis[chosen].T, basis.T)
    return [(int(k), d) for k, d in zip(chosen, directions, strict=True)]
