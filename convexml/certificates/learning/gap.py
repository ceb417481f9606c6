"""The Fenchel-Young certificate of a learning problem: the gap is the KKT violation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from ...data import in_blocks
from ...deadline import is_late
from ...formulas import Condition
from ...numerics import EPS, Array
from ...penalties import L1, L2, ElasticNet, GroupL2, NonnegativeElasticNet, Penalty, Zero
from ...problem import Frame, Objective, frame_of, parameters_of, pose_primal
from ...problem.frame import SeveralTargets
from ...problem.kernel import KernelObjective
from ..certificate import Certificate, Verdict
from ..judge import judged, refuted
from ..rounding import compensated_matvec
from ..scale import learning_scale
from .dual import SMALL_ENOUGH as FEW_ENTRIES
from .dual import ask_clarabel, newton_candidates, plain_dual, step_down
from .existence import met_exactly, met_within, not_met_near, price_of_meeting
from .function import quick_gap_of_function
from .repair import DualPoint, PrimalPoint, primal_scale, repair_dual, repair_primal, scales
from .rounding import evaluate, primal_rounding, unproved
from .rows import PassedPoint, conditions_at, conditions_later, is_feasible, prediction_size

# A penalty so small that no dual point meets it in floats: the bound of the problem without it.
#
# Where Omega >= Omega', P* >= inf F(X w + b) + Omega'(w), and that problem's certificate has a
# bound
# of its own: Omega' = 0, or the l1 norm of an elastic net alone, or that of the coefficients of
# ordinary columns where others are in units of 1e-8. Where lam is 1e-40 of the size of
# X'X, rounding of X'u makes Omega*(-X'u) as large as P; without the penalty the price of X'u = 0
# is a
# share of 1e-13.


LESS = 1.0 - 4.0 * EPS
"""Times a product of two hyperparameters it is surely no more than that."""
NOTHING, SPENT = 1e-6, 0.1
"""lam counts as nothing beside a column of which it is at most this share; and what such columns'
penalties may be together, as a share of what the verdict leaves room for."""
TINY = float(np.finfo(float).tiny)
MOST = 100_000
"""Entries of X up to which a second certificate costs nothing."""


def lesser(penalty: Penalty, w: Array, sizes: Array, room: float) -> Iterator[Penalty]:
    """Penalties that are nowhere larger, of the largest first.

    An l1 norm is one without what lam is nothing beside: coefficients w_j of columns that are so
    many ``sizes`` times as large, together no more than a share of ``room``.
    """
    if isinstance(penalty, L1):
        level = penalty.zero_blocks(len(w))[1]
        share = np.where((level > 0.0) & (sizes > 0.0), level / np.maximum(sizes, TINY), np.inf)
        order = np.argsort(share, kind="stable")
        spent = np.cumsum((level * np.abs(w))[order])
        dropped = order[(spent <= SPENT * room) & (share[order] < NOTHING)]
        weights = np.ones(len(w)) if penalty.weights is None else penalty.weights.copy()
        weights[dropped] = 0.0
        if dropped.size and weights.any():  # none is dropped twice
            yield L1(penalty.lam, weights)
    if isinstance(penalty, ElasticNet | NonnegativeElasticNet):
        parts = penalty.hyperparameters()
        level = LESS * parts["l1"]
        if level > 0.0 and parts["l2"] > 0.0:
            yield L1(level) if isinstance(penalty, ElasticNet) else NonnegativeElasticNet(level)
    if type(penalty) in (L1, L2, ElasticNet, GroupL2, NonnegativeElasticNet):
        yield Zero()


def bounded_without_penalty(
    point: PassedPoint,
    certificate: Certificate,
    stationary: bool,
    certify: Callable[..., Certificate],
) -> Certificate:
    """The certificate with the bound of the problem without its penalty, where that is better.

    Parameters
    ----------
    point : PassedPoint
    certificate : Certificate
        Of the point, judged, with a dual point that was constructed.
    stationary : bool
        Whether stationarity in w is among the conditions.
    certify : callable
        ``certify_objective``.
    """
    objective, w, tol = point.objective, point.w, certificate.tol
    penalty, primal = objective.penalty, certificate.primal_objective
    small = objective.n * objective.d <= MOST and w.any() and not objective.loss.is_indicator
    if certificate.verdict is not Verdict.UNDECIDED or not small or is_late():
        return certificate
    room = tol * learning_scale(primal, primal, objective.null_value)
    for less in lesser(penalty, w, objective.column_sizes, room):
        omega = penalty.value(w) - less.value(w)
        if not 0.0 <= omega <= room < certificate.gap:
            continue
        free = certify(replace(objective, penalty=less), w, point.b, tol=tol, refute=False)
        if free.within is None:
            break
    else:
        return certificate
    bound, u = free.dual_objective, free.dual["u"]
    repaired = u
    for _ in range(2):  # with room in dom Omega* that u may be repaired: then it needs no price
        own = certify(objective, w, point.b, repaired, tol=tol, refute=False)
        if own.verdict is Verdict.CERTIFIED:
            return own.but(dual_source="constructed")
        repaired = own.dual["u"]
    scale = learning_scale(primal, bound, objective.null_value)
    seen = replace(point, u=u, v=-objective.design.rmatvec(u), scale=scale)
    rounding = 2.0 * penalty.value_rounding(w, penalty.value(w))
    # P(w, b) - P* <= Omega(w) - Omega'(w) + what it is above inf F + Omega'.
    found = judged(
        primal,
        bound,
        conditions_at(seen, stationary=stationary),
        tol,
        scale=scale,
        rounding=free.rounding + rounding,
        gap=omega + free.gap - free.rounding,
        is_proved=isfinite(free.proved_gap),
        unproved=free.unproved,
        repaired=certificate.repaired,
        dual=free.dual,
        dual_source="constructed without the penalty",
    )
    return found if found.gap < certificate.gap else certificate


# Look for a feasible point that is better: the proof that a claimed optimum is none.


SMALL_ENOUGH = 2_000_000
"""Entries of X up to which a conic solver is asked for a better point."""


def better_point(objective: Objective, point: PrimalPoint, threshold: float) -> PrimalPoint | None:
    """Return a feasible point with P < threshold, or None where none was found."""
    for w, b in _candidates(objective, point):
        if not (np.all(np.isfinite(w)) and np.all(np.isfinite(b))):
            continue
        found = repair_primal(objective, w, b)
        value = objective.primal(found.w, found.b, found.z)
        rounding = primal_rounding(objective, found, objective.zero_scores)
        rounding += price_of_meeting(objective, found)
        if value < threshold - rounding:
            return found
    return None


def _candidates(objective: Objective, point: PrimalPoint) -> Iterator[tuple[Array, float]]:
    w, b = point.w, point.b
    yield w, b + objective.best_intercept(point.z)
    yield np.zeros_like(w), objective.best_intercept(objective.zero_scores)
    if objective.loss.is_indicator and objective.loss.labels == "binary":
        margin = float(np.min(objective.y * point.z))
        if margin > 0.0:
            yield w / margin, b / margin
    down = step_down(objective, point)
    if down is not None:
        yield down.w, down.b
    for candidate in newton_candidates(objective, point):
        for size in (1.0, 0.25, 0.01):
            yield w + size * (candidate.w - w), b + size * (candidate.b - b)
    small = objective.n * objective.d <= SMALL_ENOUGH and not in_blocks(objective.design)
    if small and not is_late():
        yield from _from_conic_solver(objective)


def _from_conic_solver(objective: Objective) -> Iterator[tuple[Array, float]]:
    statement = pose_primal(objective, parameters_of(objective))
    if not ask_clarabel(statement.problem):
        return
    w = statement.variables["w"].value
    b = objective.best_intercept(objective.zero_scores)
    b = statement.variables["b"].value if objective.fit_intercept else b
    if w is not None and b is not None:
        yield np.ravel(w), b if np.ndim(b) else float(b)


MET = 1e-9
"""Row-relative residual at which an equality counts as met while an algorithm runs."""
BEYOND = "No bound: what the intercepts are rounded by is beyond float64."
NEAR = 1e-3
"""A relative gap for which an algorithm's own dual point needs no other beside it."""


@np.errstate(over="ignore", invalid="ignore")
def certify_objective(
    objective: Objective,
    w: Array,
    b: float | None = None,
    u: Array | None = None,
    *,
    tol: float = 1e-6,
    solver_dual: Array | None = None,
    refute: bool = True,
    stationary: bool = True,
    price: Callable[[Array], float] | None = None,
) -> Certificate:
    """Certify (w, b), with the dual point u judged as it is or constructed where it is None.

    Parameters
    ----------
    objective : Objective
    w : array, shape (d,)
    b : float, optional
        The intercept; None takes the best one for this w.
    u : array, shape (n,), optional
        Dual point to judge; repaired where almost feasible, never replaced.
    tol : float
        Tolerance of the verdict, on the relative gap and on row-relative feasibility.
    solver_dual : array, optional
        A solver's dual point, which competes with the constructed one; ignored if u is passed.
    refute : bool
        Whether to look for a better point when the claim is not certified.
    stationary : bool
        Whether stationarity in w is among the conditions.
    price : callable, optional
        What P and D(u) may be off by beside rounding, in the data.

    Returns
    -------
    Certificate
        With the conditions at the points as passed; P and D at the repaired points, or by the
        formulas at the passed ones where these are worse.
    """
    frame = frame_of(objective, always=True)
    inner, f = frame.objective, frame.factor
    chosen = 0.0  # a b that is looked for here may be any number between two floats
    if b is None:
        b = best_intercept(frame, w)
        chosen = EPS * float(np.max(np.abs(b)))
    own, shift, error = frame.inside(w, b)
    theirs, solvers = (None if x is None else frame.dual_inside(x) for x in (u, solver_dual))
    found = evaluate(inner, own, shift, theirs, tol=tol, solver_dual=solvers, shift_error=error)
    point, dual = found.point, found.dual
    passed = dual.u if theirs is None else theirs
    # The products with X are shared with the repairs wherever nothing was moved but by rounding.
    z = point.z if point.moved == 0.0 else inner.predict(own, shift)
    v = dual.v
    if theirs is not None and not found.same_dual:
        v = -inner.design.rmatvec(theirs) if dual.start is None else dual.start
    primal, bound, rounding = point.value, dual.value, found.rounding
    # What a repair gains is not credited: the worse of the passed and the repaired value counts.
    if point.moved > 0.0 and isfinite(primal):
        plain = PrimalPoint(own, shift, z, inner.primal_formula(own, z), 0.0)
        if plain.value > primal:
            primal = plain.value
            rounding += primal_rounding(inner, plain, dual.u, error)
    if theirs is not None and not found.same_dual:
        bound = min(bound, inner.dual_formula(theirs, v))
    scale = f * learning_scale(primal, bound, inner.null_value)
    seen = frame.seen(w.copy(), b, passed, z, v)
    bare = inner.loss.is_indicator
    unsolved = not_met_near(inner, point, found.primal_rounding) if bare else ""
    if unsolved and met_exactly(objective, w, b):
        unsolved = ""
        if inner.penalty.is_constraint:  # P is 0 there
            rounding = found.dual_rounding
    slack = frame.target_unit * inner.prediction_slack(own, shift) if bare else np.zeros(1)
    exact = met_within(objective, w, b, tol * prediction_size(objective)) if bare else None
    if exact is not None:
        seen, slack = (*seen[:3], exact[0], seen[4]), exact[1]
    doubt = unproved(objective)
    seen_at = PassedPoint(objective, *seen, scale, slack + chosen)
    met = theirs is None and is_feasible(seen_at, tol)
    rows = conditions_later(seen_at, stationary)
    shown = frame.dual_outside(dual.u).copy()  # known ones are not to be written to
    beside = 0.0 if price is None else price(shown)
    certificate = judged(
        f * primal,
        f * bound,
        rows if met else rows(),
        tol,
        scale=scale,
        rounding=frame.bound(rounding) + beside,
        gap=np.inf if unsolved else frame.bound(_gap(inner, point, dual, primal, bound)),
        reason=unsolved or found.reason or (BEYOND if np.isinf(beside) else ""),
        within=None if found.within is None else frame.radius(found.within),
        repaired=frame.distance(point.w - own, 0.0 if theirs is None else dual.moved),
        dual_source=dual.source,
        dual={"u": shown},
        is_proved=found.within is None and not doubt,
        unproved=doubt,
    )
    if u is None:
        again = partial(certify_objective, price=price)
        certificate = bounded_without_penalty(seen_at, certificate, stationary, again)
    return try_to_refute(frame, point, certificate, beside) if refute else certificate


def best_intercept(frame: Frame, w: Array) -> Any:
    """The best b for this w, rounded as a number of the problem itself."""
    inner = frame.objective
    if not inner.fit_intercept:
        return 0.0
    own = w / frame.unit
    small = inner.n * inner.d <= FEW_ENTRIES  # where it costs nothing, in twice the digits
    z = compensated_matvec(inner.design, own) if small else inner.predict(own)
    b = frame.outside(own, inner.best_intercept(z))[1]
    if inner.loss.is_smooth or np.ndim(b):
        return b
    # Next to a kink the nearest number may lie on the steep side.
    near = [b, *(float(np.nextafter(b, end)) for end in (-np.inf, np.inf))]
    values = [inner.primal_formula(own, z + frame.inside(w, each)[1]) for each in near]
    return near[int(np.argmin(values))]


def _gap(
    objective: Objective, point: PrimalPoint, dual: DualPoint, primal: float, bound: float
) -> float:
    """P - D; where X w + b = y is missed, also the sum of the Fenchel-Young terms and |u|'|r|."""
    if not objective.loss.is_indicator or scales(objective):
        return primal - bound
    residual = objective.loss.violation(objective.y, point.z)
    if not np.any(residual > objective.prediction_slack(point.w, point.b)):
        return primal - bound
    excess = float(np.abs(dual.u) @ residual)
    return max(primal - bound, float(objective.feature_terms(point.w, dual.v).sum()) + excess)


def try_to_refute(
    frame: Frame, point: PrimalPoint, certificate: Certificate, price: float = 0.0
) -> Certificate:
    """Look for a feasible point that is better by more than tol; REFUTED where one is found.

    Parameters
    ----------
    frame : Frame
        The coordinates that ``point`` is in.
    point : PrimalPoint
    certificate : Certificate
        In the problem's own units.
    price : float
        What objectives may be off by beside rounding.
    """
    inner, f = frame.objective, frame.factor
    if certificate.verdict is not Verdict.UNDECIDED:
        return certificate
    rounding = frame.bound(primal_rounding(inner, point, inner.zero_scores)) + 2.0 * price
    room = certificate.tol * certificate.scale + rounding
    if not certificate.gap > room:
        return certificate  # no point is better by more than tol
    better = better_point(inner, point, (certificate.primal_objective - room) / f)
    if better is None:
        reason = f"{certificate.reason} No better feasible point was found."
        return certificate.but(reason=reason)
    w, b = frame.nearest(better.w, better.b)
    own, shift, error = frame.inside(w, b)
    found = repair_primal(inner, own, shift)
    value = f * inner.primal(found.w, found.b)
    rounding += frame.bound(primal_rounding(inner, found, inner.zero_scores, error))
    rounding += frame.bound(price_of_meeting(inner, found))
    witness = {"w": w.reshape(frame.objective.w_shape), "b": b, "objective": value}
    return refuted(certificate, value, witness, rounding)


def quick_gap(
    objective: Objective | KernelObjective,
    w: Array,
    b: float,
    u: Array | None = None,
) -> tuple[float, DualPoint]:
    """Return P(w, b) and a dual point, for stopping rules: a pass each way, nothing solved.

    The algorithm's own u, where it has one, competes with the derivative of the loss as long as
    its gap is not small. P is inf where X w + b = y is not met to ``MET``: no stopping rule may
    take that for solved.
    """
    if isinstance(objective, KernelObjective):
        return quick_gap_of_function(objective, w, b, u)
    point = repair_primal(objective, w, b)
    if objective.loss.is_indicator:
        violation = objective.loss.violation(objective.y, point.z)
        if np.any(violation > MET * primal_scale(objective, point.w, point.b)):
            point = replace(point, value=np.inf)
    if u is None:
        return point.value, plain_dual(objective, point.z)
    own = repair_dual(objective, u, source="solver")
    if point.value - own.value <= NEAR * max(abs(point.value), abs(own.value)):
        return point.value, own
    return point.value, max(plain_dual(objective, point.z), own, key=lambda p: p.value)


# The certificate of several targets with common features, told in matrices.


WORDS = {
    "-X'u in dOmega(w)": "-X'U in dOmega(W)",
    "|X_g'u| <= lam omega_g": "|X_j'U| <= lam",
    "lam omega_g |w_g| + w_g'X_g'u = 0": "lam |W_j| + X_j'U W_j' = 0",
}
"""What the rows of the group lasso are called here; of b, that is 1'U = 0."""


def certify_targets(
    targets: SeveralTargets, W: Array, b: Array | None, U: Array | None = None, **options: Any
) -> Certificate:
    """Certify (W, b), with the dual point U judged or constructed.

    Parameters
    ----------
    targets : SeveralTargets
    W : array, shape (d, K)
    b : array, shape (K,), optional
        None takes the best one for W.
    U : array, shape (n, K), optional
        Dual point to judge; None constructs one.
    **options
        tol and refute as of ``certify_objective``; solver_dual, a solver's dual point, a vector.

    Returns
    -------
    Certificate
        Of the problem in Y: what Y - centre and b - centre have lost by rounding is priced.
    """
    b = targets.best_intercept(W) if b is None else b
    u = None if U is None else _with_ridge(targets, W, U)
    options["price"] = partial(_price, targets, W, b)
    found = certify_objective(targets.objective, targets.vector(W, b), 0.0, u, **options)
    (n, K), better = targets.Y.shape, found.witness
    if better is not None:
        at = targets.matrices(np.asarray(better["w"]))
        better = {**better, "w": at[0], "b": at[1]}
    return found.but(
        conditions=tuple(_told(targets, row) for row in found.conditions),
        dual={"u": found.dual["u"][: n * K].reshape(n, K)},
        witness=better,
    )


def _with_ridge(targets: SeveralTargets, W: Array, U: Array) -> Array:
    """U as a vector; the multipliers of a ridge term are those of W."""
    ridge = np.sqrt(targets.ridge) * W.ravel() if targets.ridge > 0.0 else []
    return np.append(U.ravel(), ridge)


def _price(targets: SeveralTargets, W: Array, b: Array, u: Array) -> float:
    """What P and D may be off by, since Y and b are less than centre and a rounded rest."""
    if not W.any() and np.array_equal(targets.Y, np.broadcast_to(b, targets.Y.shape)):
        return 0.0  # P is 0 exactly, and nothing is less
    size = np.abs(targets.lost)
    if targets.fit_intercept:
        size = size + targets.lost_in(W, b)
    if not size.any():
        return 0.0
    rest = np.abs(targets.Y - targets.predict(W, b)) + size
    primal = float(targets.c @ (size * (rest + size)).sum(axis=1))
    dual = float(np.abs(u[: size.size]) @ np.abs(targets.lost).ravel())
    price = (primal + dual) * (1.0 + 1e-6)
    return price if np.isfinite(price) else np.inf  # inf - inf, after an overflow


def _told(targets: SeveralTargets, row: Condition) -> Condition:
    """The row in the words of matrices, with the name of its column."""
    column = "" if row.index is None else targets.column(row.index, row.among)
    named = row.named(WORDS.get(row.name, row.name))
    if row.among == targets.Y.size and row.name.startswith("u"):
        named = replace(named, shape=targets.Y.shape)
    return named if not column else named.of_columns([column] * row.among)
