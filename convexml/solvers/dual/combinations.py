"""The generalized lasso by interior points of its dual, ended on the combinations that are 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpbsv

from ...certificates.generalized_lasso import Generalized
from ...certificates.projection import Projection
from ...numerics import Array
from ..exact import smallest_box, without_combinations

# Interior points of a quadratic over a box, the dual of a penalty |A w|_1.


CENTRING = 0.1
"""The complementarity aimed at, as a share of what there is."""
SHORT = 0.99
"""The share of the way to the boundary that a step goes."""


def inner_points(system: BandedBox | CoupledBox, count: int, level: float) -> Iterator[Array]:
    """Yield s, strictly inside of |s| <= level, that lower the quadratic.

    It ends where float64 does: where the system of a step is no longer positive definite.

    Source: Kim, Koh, Boyd and Gorinevsky (2009, https://doi.org/10.1137/070690274).
    """
    s = np.zeros(count)
    unit = max(float(np.max(np.abs(system.slopes(s)))), np.finfo(float).tiny)
    room, force = np.full((2, count), level), np.full((2, count), unit)  # above and below s
    while True:
        yield s
        pull = CENTRING * float(np.vdot(force, room)) / (2 * count) / room
        weights = force / room
        side = system.slopes(s) - pull[0] + pull[1]
        try:
            step = system.step(weights[0] + weights[1], side)
        except (ValueError, np.linalg.LinAlgError):
            return
        change = np.stack((-step, step))
        to_force = pull - weights * change - force
        reach = min(_reach(room, change), _reach(force, to_force))
        s, room, force = s + reach * step, room + reach * change, force + reach * to_force
        system.move(reach)


def _reach(size: Array, change: Array) -> float:
    """The step for which size + step * change stays positive, at most 1."""
    fastest = float(np.max(-change / size))
    return min(1.0, SHORT / fastest) if fastest > 0.0 else 1.0


# The banded quadratic of a trend filter's dual.


@dataclass(frozen=True, eq=False)
class BandedBox:
    """(1/2) s'Qs - b's for ``inner_points``.

    Attributes
    ----------
    bands : array, shape (k, m)
        The lower diagonals of Q, as LAPACK's ``dpbsv`` takes them.
    b : array, shape (m,)
    """

    bands: Array
    b: Array

    def slopes(self, s: Array) -> Array:
        """B - Q s."""
        total = self.bands[0] * s
        for k, band in enumerate(self.bands[1:], start=1):
            if k < s.size:
                total[k:] += band[:-k] * s[:-k]
                total[:-k] += band[:-k] * s[k:]
        return np.asarray(self.b - total)

    def step(self, weights: Array, side: Array) -> Array:
        """The t with Q t + weights * t = side."""
        matrix = self.bands.copy()
        matrix[0] += weights
        _, found, failed = dpbsv(matrix, side, lower=1)
        if failed or not np.isfinite(np.vdot(found, found)):
            raise np.linalg.LinAlgError("no longer positive definite")
        return np.asarray(found)

    def move(self, reach: float) -> None:
        """S alone moves."""


# The dual of a generalized lasso over its box, with the w that belongs to each s.


class CoupledBox:
    """min (1/2) w'Mw - q'w + s'Aw over w, for ``inner_points``; M may be singular.

    Newton's system in s alone has A M^-1 A' + H in it; in w it is M + A' H^-1 A, which is definite
    where no direction of w is free of both. M w - q + A's = 0 is kept by each step, and what is
    left of it corrected by the next.

    Parameters
    ----------
    M, A : arrays or sparse arrays, shapes (k, k) and (m, k)
    q, w : array, shape (k,)
        The start w, where A's is 0, has M w about q.
    metric : callable
        Of the roots of weights (m,): the projection with the factor of M + A' diag(weights) A.
    """

    def __init__(
        self,
        M: Array,
        q: Array,
        A: Array,
        w: Array,
        metric: Callable[[Array], Projection],
    ) -> None:
        self._M, self._q, self._A, self._metric = M, q, A, metric
        self.w = w
        self._left = self._step = np.zeros_like(w)

    def slopes(self, s: Array) -> Array:
        """A w; what s leaves of the equation in w is kept for the next step."""
        self._left = self._M @ self.w - self._q + self._A.T @ s
        return np.asarray(self._A @ self.w)

    def step(self, weights: Array, side: Array) -> Array:
        """The t with A dw - weights * t = -side, where M dw + A't removes what is left."""
        factor = self._metric(np.sqrt(1.0 / weights)).solver
        if factor is None:
            raise np.linalg.LinAlgError("the system of a step is singular.")
        self._step = -factor.solve(self._left + self._A.T @ (side / weights))
        found = (side + self._A @ self._step) / weights
        if not np.all(np.isfinite(found)):
            raise np.linalg.LinAlgError("a step is not finite.")
        return np.asarray(found)

    def move(self, reach: float) -> None:
        """Go that share of the last step of w."""
        self.w = self.w + reach * self._step


EDGE = 1.0 - 1e-9
"""Share of the smallest lam for which A w = 0 from which on it is taken for 0."""
CLOSE = 1e-4
"""Relative gap from which on the combinations that are 0 are guessed."""

Step = tuple[Array, Array, float]
"""w with the intercept, s, and the relative gap that is expected of them."""


def combination_steps(program: Generalized) -> Iterator[Step]:
    """Yield points of a generalized lasso; the first is the last where it is the best A w = 0."""
    stack, q, lam = program.stack, program.side, program.lam
    m = stack.A.shape[0]
    if lam == 0.0 or not np.any(q):
        yield program.told(_least_squares(program)), np.zeros(m), 0.0
        return
    flat = without_combinations(stack, q)
    if flat is not None and lam >= EDGE * np.linalg.norm(flat[1]) / np.sqrt(m):
        v, s = flat
        if np.max(np.abs(s)) > lam:
            s = smallest_box(stack.A, s)
        if EDGE * np.max(np.abs(s)) <= lam:
            yield program.told(v), s, 0.0
            return
    start = (stack.regular or stack.whole).solve(q)
    if start is None:
        return
    box = CoupledBox(stack.gram, q, stack.A, start, stack.metric)
    promise = np.inf
    for s in inner_points(box, m, lam):
        before, promise = promise, program.promise(box.w, s)
        if not promise < before:
            promise = 0.0  # rounding is reached: each point is judged from here on
        settled = _settled(program, box.w, s) if promise < CLOSE else None
        if settled is not None:
            yield program.told(settled), s, promise
        yield program.told(box.w), s, promise


def _least_squares(program: Generalized) -> Array:
    B = program.stack.B
    B = B.toarray() if sparse.issparse(B) else B
    side = np.sqrt(program.c) * (program.y - program.centre)
    return np.asarray(np.linalg.lstsq(B, side, rcond=None)[0])


def _settled(program: Generalized, v: Array, s: Array) -> Array | None:
    """The best point whose combinations are 0 where s is far from its ends, else of their signs."""
    stack, lam = program.stack, program.lam
    z = stack.A @ v
    room, size = 1.0 - np.abs(s) / lam, np.abs(z) / (float(np.max(np.abs(z))) or 1.0)
    zero = room > size
    q = program.side - lam * (stack.A[~zero].T @ np.sign(z[~zero]))
    if not np.any(zero):
        return None if stack.regular is None else stack.regular.solve(q)
    found = without_combinations(replace(stack, A=stack.A[zero]), q)
    return None if found is None else found[0]
