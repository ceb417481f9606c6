"""A direction along which a loss decreases for ever: an infimum without a minimiser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ....blocks import in_memory
from ....conditions import worst
from ....numerics import ROUNDING, Array
from ....objective import MulticlassObjective, Objective, frame_of
from ...algebra.sums import exact_residual
from .evidence import SMALL_ENOUGH, Evidence, at_zero, few, furthest, orthonormal, with_ones
from .separating_scores import separating_scores

NEAR = 1e-7
"""Predictions below this share of the largest are taken for 0 where rationals are asked."""
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
    lo, hi = objective.slope_bounds
    return objective.fit_intercept and bool((hi == 0.0).all() or (lo == 0.0).all())


def separating_direction(
    objective: Objective, w: Array | None = None, b: Any = 0.0
) -> Evidence | None:
    """Return a direction along which the loss decreases for ever, verified; None if none is known.

    For a strictly convex loss: z = X w + b with z_i >= 0 wherever the loss has its limit at +inf,
    z_i <= 0 where it has it at -inf, z_i = 0 elsewhere, and z != 0, where w stays among the
    directions that cost nothing: unpenalised coefficients, of the sign that a one-sided bound
    leaves. Then P has an infimum but no minimiser. Signs are decided exactly. A given (w, b) is
    tried first, then a linear program decides.
    """
    if isinstance(objective, MulticlassObjective):
        found = separating_scores(objective, w, b)
        return None if found is None else Evidence(found, (), REASON + HELD)
    if not can_recede(objective):
        return None
    frame = frame_of(objective)
    inner = frame.objective
    down, up = recession_signs(inner)
    lo, hi = inner.slope_bounds
    given = None if w is None else frame.inside(w, b)[:2]
    for direction, may_move in _candidates(inner, given):
        w, shift = np.where(direction[0] > 0.0, up, down) * direction[0], direction[1]
        verified = _verified(inner, w, shift, lo, hi, may_move)
        if verified is not None:
            w, shift, z = verified
            scale = 1.0 / float(np.max(np.abs(z)))
            own = frame.outside(w * scale, shift * scale)
            arrays = {"w": own[0], "b": np.asarray(own[1]), "z": z * scale}
            rows = [worst("z_i of the sign in which the loss falls", "primal_feasibility", 0.0)]
            told = REASON + (LOOSE if recedes_by_intercept(inner) else HELD)
            return Evidence(arrays, tuple(rows), told)
    return None


def _candidates(
    objective: Objective, given: tuple[Array, Any] | None
) -> Iterator[tuple[tuple[Array, float], bool]]:
    """Directions, and whether those may be moved to others that are exact."""
    if not np.any(recession_signs(objective)):  # the intercept alone is free
        yield from (((np.zeros(objective.d), shift), False) for shift in (1.0, -1.0))
        return
    if given is not None:
        yield (given[0], float(given[1])), False
    if objective.n * objective.d <= SMALL_ENOUGH:
        found = _by_linear_program(objective)
        if found is not None:
            yield found, True
    if given is not None:
        yield (given[0], float(given[1])), True


def _by_linear_program(objective: Objective) -> tuple[Array, float] | None:
    """By ``furthest``: t_i <= s_i z_i where one side is free, z_i = 0 elsewhere."""
    down, up = recession_signs(objective)
    used = np.flatnonzero(down | up)
    lo, hi = (in_memory(end) for end in objective.slope_bounds)
    ends = [(None if down[j] else 0.0, None if up[j] else 0.0) for j in used]
    ends += [(None, None)] * objective.fit_intercept
    E = with_ones(objective, objective.design.columns(used).dense())
    back = None
    if all(low is None and high is None for low, high in ends):
        E, back = orthonormal(E)
        ends = [(None, None)] * E.shape[1]
    matrix = sparse.csr_array(E)
    sign = np.where(hi == 0.0, 1.0, np.where(lo == 0.0, -1.0, 0.0))
    free, held = np.flatnonzero(sign), np.flatnonzero(sign == 0.0)
    found = furthest(sparse.diags_array(-sign[free]) @ matrix[free], matrix[held], ends)
    if found is None:
        return None
    x = found if back is None else back @ found
    direction = np.zeros(objective.d)
    direction[used] = x[: used.size]
    return direction, float(x[-1]) if objective.fit_intercept else 0.0


def _verified(
    objective: Objective, w: Array, b: float, lo: Array, hi: Array, may_move: bool
) -> tuple[Array, float, Array] | None:
    """(w, b, z) with all signs proved, for this direction or for an exact one next to it."""
    z = _signs(objective, w, b)
    size = float(np.max(np.abs(z), initial=0.0))
    if not 0.0 < size < np.inf:
        return None
    if _recedes(z, lo, hi):
        return w, b, z
    near = np.abs(z) <= NEAR * size
    if not (may_move and _recedes(np.where(near, 0.0, z), lo, hi)):
        return None
    return _held(objective, w, b, near, lo, hi)


def _recedes(z: Array, lo: Array, hi: Array) -> bool:
    return bool(np.all(np.where(z > 0.0, hi == 0.0, np.where(z < 0.0, lo == 0.0, z == 0.0))))


def _signs(objective: Objective, w: Array, b: float) -> Array:
    """X w + b with every sign right: exact sums where rounding could decide; nan if not known."""
    z = objective.predict(w, b)
    size = objective.design.abs_matvec(w) if w.any() else 0.0  # the intercept alone
    slack = ROUNDING * (1.0 + objective.d / 32.0) * (size + abs(b))
    close = np.flatnonzero(~(np.abs(z) > slack))
    if close.size:
        used = np.flatnonzero(w)
        part = objective.design.rows(close).columns(used).dense()
        z[close] = exact_residual(
            np.column_stack([part, np.ones(close.size)]), np.append(w[used], b)
        )
    return z


def _held(
    objective: Objective, w: Array, b: float, near: Array, lo: Array, hi: Array
) -> tuple[Array, float, Array] | None:
    """The same for the nearest rational direction with z_i = 0 exactly on the samples ``near``."""
    used = np.flatnonzero(np.abs(w) > 1e-9 * float(np.max(np.abs(w), initial=0.0)))
    if not few(int(near.sum()), used.size + objective.fit_intercept):
        return None
    E = objective.design.rows(np.flatnonzero(near)).columns(used).dense()
    start = w[used]
    if objective.fit_intercept:
        E, start = np.column_stack([E, np.ones(len(E))]), np.append(start, b)
    exact = at_zero(E, start)
    if exact is None:
        return None
    if np.any(np.sign(exact) * np.sign(start) < 0.0):
        return None  # a sign constraint may be broken
    w = np.zeros(objective.d)
    w[used] = exact[: used.size]
    b = float(exact[-1]) if objective.fit_intercept else 0.0
    z = objective.predict(w, b)
    slack = ROUNDING * (1.0 + objective.d / 32.0) * (objective.design.abs_matvec(w) + abs(b))
    z = np.where(near, 0.0, z)  # x meets these rows exactly, and (w, b) is x, rounded
    if np.any(~near & (np.abs(z) <= slack)) or not np.any(z) or not _recedes(z, lo, hi):
        return None
    return w, b, z
