"""The certificate of a cone program: any y in K* with P w + A'y + q = 0 bounds the value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, tee

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from ...errors import SolverError
from ...formulas import Condition, worst
from ...numerics import EPS, Array, length
from ...problem.cones import ConeProgram, NonnegativeCone, ZeroCone
from ...problem.linear_program import LinearData
from ..algebra.dual_points import dual_residual, dual_value
from ..certificate import Certificate, Verdict
from ..judge import BOUND, bounded, is_better, judge, refuted, without_unit
from ..scale import program_scale
from .bounds import Bound, bound_of
from .linear_absence import plausible
from .margin import repair_conic_dual
from .program import (
    FittedProgram,
    Seen,
    Subject,
    conic_objective,
    curvature_words,
    linear_rows,
    row_violations,
    share,
    solve_scaled,
    times,
)
from .ray import exact_near, has_point_among
from .search import Completed, deepest, interior_point

# Whether a better point is a witness: what an exactly feasible one near it is worth.


SHARES = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
"""How far a witness moves towards the inside of the curved cones, one after the other."""


def way_to_exact(program: ConeProgram, z: Array) -> float:
    """How much the objective grows, at most, on the way from z to an exactly feasible point.

    Parameters
    ----------
    program : ConeProgram
        In units in which its entries are of size 1.
    z : array, shape (n,)
        Feasible within a tolerance.

    Returns
    -------
    float
        0 where it falls; inf where no exactly feasible point is known.
    """
    found = next(exact_near(program, chain((z,), _within(program, z))), None)
    if found is None:
        return np.inf
    x, away = found
    slope = length(program.P @ x + program.q)
    size = length(program.P.data) if program.P.nnz else 0.0
    # The slope is rounded, too: by far less than a thousandth of its terms.
    slope += 1e-3 * (size * length(x) + length(program.q))
    value = conic_objective(program, x)
    value += (slope + size * away) * away + 4.0 * EPS * abs(value)
    return max(value - conic_objective(program, z), 0.0)


def _within(program: ConeProgram, z: Array) -> Iterator[Array]:
    """Points between z and one inside of the curved cones, if there are any."""
    if program.is_polyhedral or (found := deepest(program)) is None:
        return
    for part in SHARES:
        yield (1.0 - part) * z + part * found[0]


# Whether the constraints of a cone program can be met, not only to within tol.


FEW = 300
"""Rows up to which a solver is faster than a search for a point nearby."""
LARGEST = 1500
"""Rows up to which another point is looked for."""
PULL, ROUNDS = 1e-3, 100
"""Of the least-squares problem that looks for a point inside before a solver does."""
SMALL = 20_000
"""Entries up to which it is solved at once."""
UNMET = (
    "the constraints are met to within tol only, and no point is known that meets them to rounding"
)


def unmet(subject: Subject, x: Array) -> str:
    """Why the feasible set may be empty although x is feasible within tol; "" where it is not.

    Constraints that contradict one another by less than tol have points that violate each of them
    by less: such a point is near to nothing. Larger programs are not looked into, nor are cones
    where no constraint is ``bent``.
    """
    program, to = subject.fit.program, subject.fit.scaled
    if program.b.size > LARGEST:
        return ""
    z = to.x_in(x)
    if not subject.bent:
        return "" if plausible(_binding(subject.fit), z) or subject.meets(x) else UNMET
    if subject.meets(x):
        return ""
    near, again = tee(_near(program, z))
    if subject.comparable and any(subject.meets(to.x_out(point)) for point in again):
        return ""
    return "" if has_point_among(program, near) else UNMET


def _binding(fit: FittedProgram) -> LinearData:
    """The linear rows without those that an entry of x meets whatever the rest is.

    Such are r = A x - b, where nothing else asks for r, and what is t >= x for each row that has
    t: they define auxiliary entries and exclude no x. Without them, others are alone.
    """
    program = fit.program
    below, equal = (program.ruled_by(kind) for kind in (NonnegativeCone, ZeroCone))
    A = sparse.coo_array(program.A)
    used = A.data != 0.0
    row, column, sign = A.row[used], A.col[used], np.sign(A.data[used])
    left = np.ones(program.b.size, dtype=bool)
    while row.size:
        count, ups, free = (
            np.bincount(column, weights, program.q.size)
            for weights in (None, sign, below[row].astype(float))
        )
        alone = (count == 1) | ((np.abs(ups) == count) & (free == count))
        met = np.unique(row[alone[column]])
        met = met[below[met] | equal[met]]
        if not met.size:
            break
        left[met] = False
        kept = left[row]
        row, column, sign = row[kept], column[kept], sign[kept]
    found, rows = linear_rows(program, left)
    found.memo["units"] = replace(fit.units, rows=fit.units.rows[rows])
    return found


def _near(program: ConeProgram, z: Array) -> Iterator[Array]:
    """z, points on the equalities whose other slacks are about a multiple of ``inward``, a middle.

    Few rows are quickly solved without an objective, as they are: what comes back is in the middle.
    """
    yield z
    equal, slack = program.ruled_by(ZeroCone), program.slack(z)
    target = interior_point(program) * float(np.max(np.abs(slack), initial=0.0))
    weights = np.where(equal, 1.0, PULL)
    system = times(program.A, weights, np.ones(z.size))
    side = weights * np.where(equal, slack, slack - target)
    if np.all(np.isfinite(side)):
        if system.shape[0] * system.shape[1] <= SMALL:
            step = np.linalg.lstsq(system.toarray(), side, rcond=None)[0]
        else:
            step = lsqr(system, side, atol=1e-12, btol=1e-12, iter_lim=ROUNDS)[0]
        yield z + step
        yield z + 1e-2 * step
    if program.b.size <= FEW:
        with suppress(SolverError):
            yield solve_scaled(program.without_objective(), plain=True)[0]


WITNESS = 1e-2
"""A better point refutes only if its violations are below this share of the tolerance."""

BELOW = (
    "no bound: the objective is below the dual objective by more than tol, which no feasible point "
    "can be; what is violated was not found"
)
"""Weak duality holds wherever the program and its owner say the same."""


def certify_conic(
    subject: Subject,
    x: Array,
    pair: Completed,
    tol: float,
    R: float | None = None,
    missing: Sequence[str] = (),
    effort: str = "normal",
) -> Certificate:
    """Judge a point of a cone program by a dual point that is almost feasible.

    Parameters
    ----------
    subject : Subject
        The program, and how its owner says its objective and its conditions.
    x : array, shape (n,)
        The point that stands, judged as it is.
    pair : Completed
        The dual point: w and the multipliers y.
    tol : float
        For the relative gap and the feasibilities, relative to their rows.
    R : float, optional
        Where no exact dual point is found near the pair, bound the suboptimality over
        abs(x_j - xhat_j) <= R instead: ``within``.
    missing : sequence of str
        Whose multipliers were recovered.
    effort : str
        "normal", or "full": without a budget of work on finding a bound.

    Returns
    -------
    Certificate
        ``gap`` = max(P - D, 0), with the price of a residual and that of violations; ``inf`` where
        the price is not known, or P is not convex. Its relative size is against
        max(|P|, |D|, 1e-3 of a size that comes from the data alone), constants left out.
    """
    seen = subject.seen(x)
    certificate, untried = _assemble(subject, seen, x, pair, tol, R, missing, effort)
    if certificate.stands(tol) and (reason := unmet(subject, x)):
        certificate = certificate.but(gap=np.inf, relative_gap=np.inf, reason=reason)
    certificate = _refute(subject, judge(certificate), seen.radius)
    if untried and certificate.verdict is Verdict.UNDECIDED:
        said = f'not tried, or not to the end: {", ".join(untried)}; effort="full" tries them'
        certificate = certificate.but(reason=f"{certificate.reason.removesuffix('.')}; {said}")
    return certificate


def _assemble(
    subject: Subject,
    seen: Seen,
    x: Array,
    pair: Completed,
    tol: float,
    R: float | None,
    missing: Sequence[str],
    effort: str,
) -> tuple[Certificate, Sequence[str]]:
    program, units, offset, rest = subject.program, subject.units, subject.program.offset, seen.rest
    noise = seen.radius + 16.0 * EPS * abs(rest)  # entries of the conic form are rounded, too
    exact = conic_objective(program, x)
    # Where the data have no unit of their own, the constant is one.
    constant = offset if units.size == 0.0 else 0.0
    scale = program_scale(rest + constant, exact + constant, units.size)
    enough = rest - 0.3 * tol * scale
    # Where P is not convex, or the violations alone are worth more, no bound can be near enough.
    convex = not subject.curvature
    short = subject.shortfall(seen, pair.y) if convex else np.inf
    worth_it = short <= tol * scale
    bound = bound_of(
        program, subject.fit, x, subject.own, pair, R, enough, worth_it, convex, effort
    )
    short = subject.shortfall(seen, bound.pair.y)
    feasible = all(row.meets(tol) for row in seen.rows)
    known = scale > 0.0 and np.isfinite(rest) and np.isfinite(short)
    value = rest if feasible else rest - short  # of which violations explain a part
    best = Condition(BOUND, "dual_feasibility", value, scale) if known else None
    moved, near = _moved(subject, x, pair, bound, tol, best, worth_it and feasible)
    apart = _apart(program, subject.own, x, bound.pair.y, exact - rest)
    reason, within = subject.curvature or curvature_words(bound.curvature), None
    w, y, value, price, _ = bound.pair
    if reason:
        value, price = -np.inf, 0.0
    elif not np.isfinite(price):
        price, reason = 0.0, _left_words(subject, bound)
        value, within = bound.local, max(bound.radius, bound.far)
        if R is None:
            value, within = -np.inf, None
    scale = program_scale(rest + constant, value + constant, units.size)
    if value - rest - price - short - apart - noise > tol * scale:
        reason, value, within = BELOW, -np.inf, None
    certificate = bounded(
        seen.value,
        value + offset,
        seen.rows + subject.dual_rows(x, pair.y, scale),
        tol,
        scale=scale,
        rounding=price + short + apart + noise,
        gap=rest - value,
        within=within,
        sign=subject.sign,
        reason=reason,
        repaired=bound.moved,
        dual={"y": y, "w": w, **subject.names.named(y)},
        dual_source="passed" if near and not missing else "constructed",
        moved=moved,
    )
    if within is not None:
        also = f" ({bound.far:.4g} for auxiliary variables)" if bound.far else ""
        reason += f"; over |x_j - xhat_j| <= {bound.radius:.4g}{also} the suboptimality is at most "
        certificate = certificate.but(reason=f"{reason}{certificate.gap:.3g}")
    elif constant == 0.0:
        certificate = without_unit(certificate, units.size, program.b)
    if missing and not certificate.reason and not certificate.relative_gap <= tol:
        reason = f"the gap is {certificate.gap:.3g}, with recovered multipliers of "
        certificate = certificate.but(reason=reason + ", ".join(missing))
    return certificate, bound.untried if worth_it else ()


def _moved(
    subject: Subject,
    x: Array,
    pair: Completed,
    bound: Bound,
    tol: float,
    best: Condition | None,
    thorough: bool,
) -> tuple[Condition | None, bool]:
    """How far what was passed is from dual points that hold, and whether the bound is from those.

    None where nothing was passed. The bound may come from others, as multipliers need not be
    unique: then, where ``thorough``, those that the least change makes feasible are asked. ``best``
    is what their value is to reach, with its scale.
    """
    first: Condition | None = None
    for w, y, left in _dual_points(subject, x, pair, bound):
        moved = subject.moved(y)
        if moved is None:
            return None, False
        row = max(moved, _left_row(subject, w, y, left), key=lambda row: row.relative)
        near = row.meets(tol)
        if near and best is not None:
            there = dual_value(subject.program, w, y) + float(left @ x)
            short = replace(best, residual=max(best.residual - there, 0.0))
            return (row if short.meets(tol) else short), first is None
        if near or not thorough:
            return row, near
        first = first or row
    return first, False


def _dual_points(
    subject: Subject, x: Array, pair: Completed, bound: Bound
) -> Iterator[tuple[Array, Array, Array]]:
    """That of the bound and one near the passed one, with what they leave of the equality."""
    yield bound.pair.w, bound.pair.y, bound.pair.left
    program, to = subject.fit.program, subject.fit.scaled
    w, y = to.x_in(pair.w), to.y_in(pair.y)
    if np.all(np.isfinite(w)) and np.all(np.isfinite(y)):
        room = np.maximum(np.abs(y), share(1.0, subject.fit.units.rows))
        w, y = repair_conic_dual(program, to.x_in(x), y, w, room)
        w, y = to.x_out(w), to.y_out(y)
        yield w, y, dual_residual(subject.program, w, y)


def _left_row(subject: Subject, w: Array, y: Array, left: Array) -> Condition:
    """What (w, y) leave of the dual's equality, by the size of its terms or that of the data."""
    unit = share(subject.units.objective, subject.units.columns)
    size = np.maximum(subject.program.stationarity_size(w, y), unit)
    row = worst("", "dual_feasibility", left, size)
    name = "" if row.index is None else subject.names.column_name(row.index)
    return replace(row, name=f"what they leave on {name}", index=None)


def _apart(program: ConeProgram, own: Array, x: Array, y: Array, apart: float) -> float:
    """How far apart the objectives of program and owner are, beyond what x explains.

    Where the program is no exact copy (or x is outside a domain), the difference counts. The
    auxiliary entries of x are only as good as their complementarity, |s'y|, and their violations:
    so much of a difference says nothing.
    """
    if apart == 0.0:
        return 0.0
    auxiliary = program.A_sizes @ (~own).astype(float) > 0.0
    slack, runs = program.slack(x), list(program.runs_of(auxiliary))
    loose = 0.0
    for cone, rows in runs:
        product = y[rows] * slack[rows]
        loose += float(np.sum(np.abs(product if cone.is_polyhedral else np.sum(product, axis=1))))
    if abs(apart) <= 2.0 * loose:
        return 0.0
    outside = row_violations(program, x)[1]
    for cone, rows in runs:
        if not cone.is_polyhedral:
            lengths = (np.linalg.norm(part[rows], axis=1) for part in (y, outside))
            loose += float(np.dot(*lengths))
    return max(abs(apart) - 2.0 * loose, 0.0)


def _left_words(subject: Subject, bound: Bound) -> str:
    """What a residual takes away."""
    j = int(np.argmax(np.abs(bound.pair.left)))
    left = f"{bound.pair.left[j]:.2g} on {subject.names.column_name(j)}"
    return (
        f"the multipliers leave {left}, and no exact ones "
        "were found near them, so there is no bound over all x"
    )


def _refute(subject: Subject, certificate: Certificate, radius: float) -> Certificate:
    """Look for a feasible point that is better by more than tol."""
    scale, endless = certificate.scale, subject.sign * certificate.primal_objective == np.inf
    if endless:  # any feasible point with a value is better by more than anything
        scale, radius = 0.0, 0.0
    if certificate.verdict is not Verdict.UNDECIDED or not np.isfinite(scale):
        return certificate
    offset, sign = subject.program.offset, subject.sign
    try:
        x, y = subject.fit.solve()
        # What this is off the owner's own value counts against it: that would not be better.
        exact = conic_objective(subject.program, x)
        if not sign * certificate.primal_objective - (exact + offset) > certificate.tol * scale:
            return certificate
        with subject.standing(x):
            seen = subject.seen(x)
            short = subject.shortfall(seen, y)
    except (SolverError, ValueError, ArithmeticError):
        return certificate
    if not all(row.meets(WITNESS * certificate.tol) for row in seen.rows):
        return certificate
    found = sign * seen.value
    rounding = short + abs(exact + offset - seen.value) + radius + seen.radius
    rounding += 8.0 * EPS * (0.0 if endless else abs(certificate.primal_objective) + abs(found))
    constant = sign * offset if subject.units.size else 0.0
    judged = certificate.but(scale=scale)
    if not is_better(judged, found, rounding, sign, constant):
        return certificate
    # What meets its rows within a tolerance only may be near to no feasible point.
    to = subject.fit.scaled
    rounding += to.worth * way_to_exact(to.program, to.x_in(x))
    judged = refuted(judged, found, subject.names.point(x), rounding, sign, constant)
    return judged.but(scale=certificate.scale)
