"""A direction along which a loss decreases for ever: an infimum without a minimiser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ...data import in_memory, rows_in_blocks
from ...formulas import worst
from ...numerics import EPS, ROUNDING, Array, length
from ...problem import Frame, MulticlassObjective, Objective, frame_of
from ...problem.frame import base_of
from ...problem.linear_program import LinearData
from ..algebra.polyhedron import nearby, verified_interior, widest
from ..algebra.sums import exact_residual
from ..conic.infeasible import find_linear_infeasibility
from .existence import SMALL_ENOUGH, Evidence, orthonormal, rows_of_multipliers, with_ones
from .margin import with_margin
from .repair import repair_dual, scales
from .rounding import dual_rounding
from .unpenalised import origin

# Evidence that no hyperplane separates the classes: Farkas multipliers, exact or priced.


SOFT = "SoftMarginSVM pays for samples on the wrong side instead."
PROVE = "The multipliers in .evidence prove, to more than rounding can explain"


def inseparable(objective: Objective) -> Evidence | None:
    """Return Farkas multipliers of an infeasible hard margin; None where none can be proved.

    alpha >= 0, sum alpha_i = 1, sum alpha_i y_i = 0 (with b) and sum alpha_i y_i x_i = 0: those of
    the linear program without a cost that asks for the margins.
    """
    inner = frame_of(objective).objective
    if inner.n * inner.d > SMALL_ENOUGH:
        return None
    E = with_ones(inner, inner.design.dense()) * inner.y[:, None]
    sizes = np.frexp(np.max(np.abs(E), axis=1))[1]
    unit = np.exp2(-np.clip(sizes, -999, 0))  # exact; sides of 1 serve rows of any size
    (n, k), none = E.shape, (E[:0], np.zeros(0))
    free = np.full(k, np.inf)
    margins = LinearData(np.zeros(k), -unit[:, None] * E, -np.ones(n), *none, -free, free)
    found = find_linear_infeasibility(margins)
    return None if found is None else _of_alpha(objective, unit * found.evidence["lambda_ub"])


def _of_alpha(objective: Objective, alpha: Array) -> Evidence:
    alpha = alpha / alpha.sum()
    u = alpha * objective.y
    rows = rows_of_multipliers(objective, ("sum alpha_i y_i x_i = 0", "sum alpha_i y_i = 0"), u)
    reason = f"{PROVE}: no hyperplane separates the classes"
    arrays = {"alpha": alpha, "residual": np.asarray(length(objective.design.rmatvec(u)))}
    if objective.fit_intercept:
        plus = np.maximum(u, 0.0)
        arrays["shared"] = shared = objective.design.rmatvec(plus / plus.sum())
        reason += f": their hulls share the point {_told(shared)}"
    return Evidence(arrays, rows, f"{reason}. {SOFT}")


def _told(point: Array) -> str:
    """Its first coordinates."""
    more = ", ..." if point.size > 4 else ""
    return f"({', '.join(f'{x:.4g}' for x in point[:4])}{more})"


# Directions along which no loss rises and some fall, verified: the infimum is not attained.


REASON = "Along the direction in .evidence the loss decreases for ever. "
HELD = "A penalty on w, with lam > 0, keeps it from going there."
LOOSE = "Only b need move, which no penalty holds: fit_intercept=False does."


def recession_signs(objective: Objective) -> tuple[Array, Array]:
    """Masks (down, up) of the coefficients that may fall, or rise, for ever at no cost."""
    ones = np.ones(objective.d)
    return objective.penalty.outside(-ones) != 0.0, objective.penalty.outside(ones) != 0.0


def can_recede(objective: Objective) -> bool:
    """Whether the loss and the penalty leave a direction in which P may fall for ever."""
    if isinstance(objective, MulticlassObjective):
        return True
    if objective.is_unbounded or not objective.loss.is_strictly_convex:
        return False
    lo, hi = objective.slope_bounds
    if np.logical_or(*recession_signs(objective)).any():
        return not ((lo < 0.0) & (hi > 0.0)).all()
    return recedes_by_intercept(objective)


def recedes_by_intercept(objective: Objective) -> bool:
    """Whether P may fall for ever as b alone moves, whatever the penalty."""
    if isinstance(objective, MulticlassObjective):
        return False  # every class has a sample
    lo, hi = objective.slope_bounds
    return objective.fit_intercept and bool((hi == 0.0).all() or (lo == 0.0).all())


@dataclass(frozen=True, eq=False)
class Recession:
    """Directions x = (w, b), and the products whose signs tell whether the loss falls along them.

    These are z_i = x_i.w + b; of K classes z_y - z_k, of each sample's own class and each other.

    Attributes
    ----------
    objective : Objective
    """

    objective: Objective

    @cached_property
    def pairs(self) -> tuple[Array, Array, Array] | None:
        """The sample, its class and the other one of each product of K classes."""
        if not isinstance(self.objective, MulticlassObjective):
            return None
        i, other = np.nonzero(self.objective.labels == 0.0)
        return i, self.objective.y[i].astype(int), other

    @cached_property
    def classes(self) -> int:
        """The number of intercepts."""
        return int(np.prod(self.objective.w_shape[1:], dtype=int))

    @cached_property
    def sign(self) -> Array:
        """1 for products that may be > 0, -1 for those that may be < 0, else 0."""
        if self.pairs is not None:
            return np.ones(len(self.pairs[0]))
        lo, hi = self.objective.slope_bounds
        return np.where(hi == 0.0, 1.0, np.where(lo == 0.0, -1.0, 0.0))

    @cached_property
    def allowed(self) -> tuple[Array, Array]:
        """Masks (down, up) of the entries of x that may fall, or rise."""
        free = np.ones(self.classes * self.objective.fit_intercept, dtype=bool)
        down, up = (np.append(mask, free) for mask in recession_signs(self.objective))
        return down, up

    def inside(self, x: Array) -> Array:
        """X without what it may not have."""
        down, up = self.allowed
        return np.where(x > 0.0, up, down) * x

    def split(self, x: Array) -> tuple[Array, Any]:
        """(w, b)."""
        w, b = np.split(x, [self.objective.d])
        b = b if b.size else np.zeros(self.classes)
        return w, b if self.pairs is not None else float(b[0])

    def products(self, x: Array) -> tuple[Array, Array]:
        """The products, and what rounding may be of them."""
        (w, b), objective = self.split(x), self.objective
        z = objective.predict(w, b)
        size = (objective.design.abs_matvec(w) if w.any() else np.zeros_like(z)) + np.abs(b)
        if self.pairs is not None:
            i, own, other = self.pairs
            z, size = z[i, own] - z[i, other], size[i, own] + size[i, other]
        return z, ROUNDING * (1.0 + len(x) / self.classes / 32.0) * size

    def columns(self, used: Array, samples: Array | slice = slice(None)) -> Array:
        """Columns of [X, 1] at some samples, dense."""
        base = base_of(self.objective.design)
        k, base = base.shape[1], base if isinstance(samples, slice) else base.rows(samples)
        found = base.columns(used[used < k]).dense()
        return np.column_stack([found, np.ones(len(found))]) if k in used else found

    def rows(self, E: Array, some: Array) -> Any:
        """The rows of some products, of columns at their samples; of K classes for W row by row."""
        if self.pairs is None:
            return sparse.csr_array(E)
        found, K = sparse.coo_array(E), self.classes
        _, own, other = (each[some] for each in self.pairs)
        row, column = found.coords
        at = np.append(row, row), np.append(column * K + own[row], column * K + other[row])
        return sparse.csr_array((np.append(found.data, -found.data), at), (len(E), E.shape[1] * K))

    def cone(self, E: Array, lower: Array, upper: Array) -> LinearData:
        """All directions that [X, 1] = E leaves, within bounds of theirs."""
        sign = in_memory(self.sign)
        matrix = self.rows(E if self.pairs is None else E[self.pairs[0]], np.arange(sign.size))
        free, held = np.flatnonzero(sign), np.flatnonzero(sign == 0.0)
        turned = sparse.csr_array(sparse.diags_array(-sign[free]) @ matrix[free])
        none, top, rest = (np.zeros(k) for k in (lower.size, free.size, held.size))
        return LinearData(none, turned, top, matrix[held], rest, lower, upper)


def separating_direction(
    objective: Objective, w: Array | None = None, b: Any = 0.0
) -> Evidence | None:
    """Return a direction along which the loss decreases for ever, verified; None if none is known.

    For a strictly convex loss: z = X w + b with z_i >= 0 wherever the loss has its limit at +inf,
    z_i <= 0 where it has it at -inf, z_i = 0 elsewhere, and z != 0; of K classes none is above a
    sample's own, and some are below. w stays among the directions that cost nothing: unpenalised
    coefficients, of the sign that a one-sided bound leaves. Then P has an infimum but no minimiser.
    Signs are decided exactly. A given (w, b) is tried first, then a linear program decides.
    """
    several = isinstance(objective, MulticlassObjective)
    if not can_recede(objective) or (several and rows_in_blocks(objective)):
        return None
    frame = frame_of(objective)
    way, given = Recession(frame.objective), None
    if w is not None:
        own, shift, _ = frame.inside(w, np.broadcast_to(b, objective.w_shape[1:]))
        given = np.append(own, shift) if objective.fit_intercept else own
    for x, known in _candidates(way, given):
        z = _products(way, x) if known is None else known
        if z is None:
            continue
        scale = 1.0 / float(np.max(np.abs(z)))
        w, b = frame.outside(*way.split(x * scale))
        arrays = {"w": w.reshape(objective.w_shape), "b": np.asarray(b), "z": z * scale}
        row = worst("z_i of the sign in which the loss falls", "primal_feasibility", 0.0)
        told = REASON + (LOOSE if recedes_by_intercept(objective) else HELD)
        if several:
            arrays["z"] = objective.predict(w, b)
        return Evidence(arrays, () if several else (row,), told)
    return None


def _candidates(way: Recession, given: Array | None) -> Iterator[tuple[Array, Array | None]]:
    """Directions, and the products of an exact one next to it where that is proved."""
    objective = way.objective
    if not np.any(recession_signs(objective)):  # the intercept alone is free
        alone = np.append(np.zeros(objective.d), np.ones(len(way.allowed[0]) - objective.d))
        yield from ((alone, None), (-alone, None))
        return
    if given is not None:
        yield way.inside(given), None
    if objective.n * objective.d <= SMALL_ENOUGH:
        yield from _by_linear_program(way)


def _by_linear_program(way: Recession) -> Iterator[tuple[Array, Array | None]]:
    """That with the most products that are not 0: as a solver has it, and an exact one near."""
    down, up = (mask.reshape(-1, way.classes) for mask in way.allowed)
    used = np.flatnonzero((down | up).any(axis=1))
    E, x = way.columns(used), np.zeros(down.shape)
    lower, upper = (np.where(mask[used].ravel(), np.inf, 0.0) for mask in (down, up))
    cone = way.cone(E, -lower, upper)
    if (down & up)[used].all():  # columns that are nearly dependent are told apart
        Q, back = orthonormal(E)
        free = np.full(Q.shape[1] * way.classes, np.inf)
        found = widest(way.cone(Q, -free, free))
        if found is not None:
            point = back @ found.point.reshape(-1, way.classes)
            found = found._replace(point=point.ravel())
    else:
        found = widest(cone)
    if found is None or found.always[: cone.b_ub.size].all():
        return
    x[used] = found.point.reshape(-1, way.classes)
    yield way.inside(x.ravel()), None
    interior = verified_interior(cone, found)
    if interior is None or nearby(interior, interior.point) is None:
        return
    z = in_memory(way.sign).copy()
    z[z != 0.0] *= np.nan_to_num(interior.room[: cone.b_ub.size])
    x[used] = interior.point.reshape(-1, way.classes)
    if np.any(z):
        yield x.ravel(), z


def _products(way: Recession, x: Array) -> Array | None:
    """The products of x, where their signs are proved and the loss falls along it; else None."""
    z, slack = way.products(x)
    close = np.flatnonzero(~(np.abs(z) > slack))
    if close.size:  # exact sums where rounding could decide
        X = x.reshape(-1, way.classes)
        used = np.flatnonzero(X.any(axis=1))
        samples = close if way.pairs is None else way.pairs[0][close]
        z[close] = exact_residual(way.rows(way.columns(used, samples), close), X[used].ravel())
    right = np.all((z == 0.0) | (way.sign * z > 0.0))
    return z if right and 0.0 < float(np.max(np.abs(z), initial=0.0)) < np.inf else None


# A dual point that no w of the penalty's constraint survives: D(u) > 0 where P is 0 or inf.


SHARES = (1e-9, 1e-6, 0.0)
"""Multipliers below such a share of the largest are left out: rounding has no room beside 0."""


def excluded(frame: Frame, objective: Objective, u: Array) -> Evidence | None:
    """Return multipliers that exclude every w of a constraint; None where u does not.

    F and Omega are constraints, so that P* is 0 or inf, and inf where D(u) > 0. D is priced as in
    every certificate: u is repaired, and D(u) less its rounding and the price of rows of X'u that
    are only nearly 0 is a bound.

    Parameters
    ----------
    frame : Frame
        Coordinates of the objective.
    objective : Objective
        With a constraint on the predictions, and a penalty that is one.
    u : array, shape (n,)
        About dual feasible, in the frame's coordinates.
    """
    inner, size = frame.objective, float(np.max(np.abs(u), initial=0.0))
    if not 0.0 < size < np.inf:
        return None
    for share in SHARES:
        some = np.where(np.abs(u) > share * size, u / size, 0.0)
        dual = with_margin(inner, repair_dual(inner, some), precise=True)
        found = dual_rounding(inner, origin(inner), replace(dual, conjugates=None))
        if found.within is None and dual.value - found.price > 4.0 * EPS * abs(dual.value):
            return _dual_ray_told(objective, frame.dual_outside(dual.u))
    return None


def _dual_ray_told(objective: Objective, u: Array) -> Evidence:
    nu = -u / float(np.abs(u).sum())
    v = objective.design.rmatvec(nu)
    most = objective.penalty.conjugate(v, np.inf)
    arrays, sums = {"nu": nu}, "nu_i"
    told = f"nu'Xw <= {most:.6g} for all w of the constraint, and y'nu = {objective.y @ nu:.6g}."
    if scales(objective):
        arrays, sums = {"alpha": objective.y * nu}, "alpha_i y_i"
        told = f"no w of the constraint has a margin above {most:.6g}. Widen the constraint. {SOFT}"
    names = "X'u in dom Omega*", f"sum {sums} = 0"
    rows = rows_of_multipliers(objective, names, nu, objective.penalty.outside(v))
    return Evidence(arrays | {"most": np.asarray(most)}, rows, f"{PROVE}: {told}")
