"""Newton's method with steps that are solved only as far as pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...numerics import EPS, Array
from ...objective import Objective
from ..driver import Iterate
from ..line_search import search
from .hessian import Coordinates, Hessian, Preconditioner, in_single

LOOSEST, TIGHTEST = 0.1, 1e-3
"""Ends of the forcing terms; in single precision no step is worth more digits."""
CURVED = 0.6
"""Share of what the model was last wrong by that a step is solved to."""
ROUGH, ROUGHLY = 1e-4, 0.3
"""Down to this relative gap gradients are taken in single precision too, and steps are solved no
better than this."""
AIM, NEAR, ORDER = 2e-7, 4.0, 1.6
"""Relative gap that the residual of a step is to leave; near to that, this power of it, and so on.
"""
MOST = 500
"""Products for one step."""


def newton_cg(objective: Objective, w: Array, b: float, *, seed: int = 0) -> Iterator[Iterate]:
    """Minimise a smooth objective by inexact Newton steps with Armijo backtracking.

    H s = -g is solved by preconditioned conjugate gradients until |H s + g| <= eta |g|, with
    eta_k = 0.6 |g_k - g_{k-1} - H_{k-1} s_{k-1}| / |g_{k-1}|, what the model was wrong by, at most
    0.1. These tend to 0, which makes convergence superlinear (Dembo, Eisenstat and Steihaug, 1982,
    https://doi.org/10.1137/0719025; Eisenstat and Walker, 1996, https://doi.org/10.1137/0917003).
    No step is solved beyond the gap that its residual leaves, r'Lam^-1 r / 2 for
    Omega = w'Lam w / 2. A step costs a pass each way for each product with H and for its gradient,
    and none for its length. Where X is kept in single precision too, products with H are taken in
    that as long as their rounding is less than the residual, and gradients far from the minimum.
    """
    exact, single = Coordinates(objective), in_single(objective)
    at: Coordinates = single or exact
    precondition = Preconditioner(np.random.default_rng(seed))
    least = EPS if single is None else TIGHTEST
    x, z = at.joined(w, b), objective.predict(w, b)
    value, g = objective.primal(w, b, z), at.gradient(x, z)
    passes, aim, wrong = 2.0, AIM, np.inf
    yield Iterate(w, b, None, passes)
    while np.all(np.isfinite(g)):
        hessian = Hessian(exact, x, z, g, single)
        if at is not exact and not (single and hessian.gap_left(g) > ROUGH * abs(value)):
            at, z = exact, exact.forward(x)
            value, g = objective.primal(x[: at.d], at.intercept(x), z), at.gradient(x, z)
            passes += 2.0
            continue
        most = LOOSEST if at is exact else ROUGHLY
        size, eta = float(np.linalg.norm(g)), float(np.clip(CURVED * wrong, least, most))
        while EPS < aim * abs(value) and hessian.gap_left(g) <= NEAR * aim * abs(value):
            aim **= ORDER
        enough = _Enough(hessian, eta * size, aim * abs(value))
        solve = precondition(hessian)
        step, r, products = conjugate_gradients(hessian, -g, solve, enough)
        precondition.took(products)
        descent = float(g @ step)
        if not descent < 0.0:
            return
        noise = hessian.noise(step, single is not None)
        missed = max(eta * size, float(np.linalg.norm(r)) + noise)
        missed += hessian.noise(x, at is not exact)  # what g is off by, with z added up
        if not noise <= eta * size:
            single = None
        dz = at.forward(step)
        t, value, _ = search(_along(objective, x, z, step, dz), value, descent)
        if t == 0.0:
            return
        x, z, old = x + t * step, z + t * dz, g
        g, passes = at.gradient(x, z), passes + 2.0 * products + 2.0
        wrong = float(np.linalg.norm(g - (1.0 - t) * old + t * r)) / size
        told = {"step": t, "forcing": missed / size}
        left = hessian.gap_left(g)
        promise = left / abs(value) if 0.0 < left < np.inf and value else np.nan
        yield Iterate(x[: at.d], at.intercept(x), None, passes, told, promise=promise)
        if -descent <= EPS * abs(value):  # no further step changes P beyond rounding
            return


def conjugate_gradients(
    hessian: Hessian,
    right: Array,
    solve: Callable[[Array], Array],
    enough: Callable[[Array], bool],
) -> tuple[Array, Array, int]:
    """Solve H x = right from x = 0 until the residual is small enough: (x, residual, products).

    Every x on the way is a direction of descent: it minimises the model over a subspace.
    """
    x, r, k = np.zeros_like(right), right, 0
    p = q = solve(r)
    rho = float(r @ q)
    while k < MOST:
        bent, k = hessian @ p, k + 1
        curvature = float(p @ bent)
        if not curvature > 0.0:
            return (x if k > 1 else p), r, k
        length = rho / curvature
        x, r = x + length * p, r - length * bent
        if enough(r):
            break
        q = solve(r)
        rho, old = float(r @ q), rho
        p = q + (rho / old) * p
    return x, r, k


class _Enough:
    """Whether a residual is small: itself, or the gap that it leaves."""

    def __init__(self, hessian: Hessian, size: float, gap: float) -> None:
        self.hessian, self.size, self.gap = hessian, size, gap

    def __call__(self, r: Array) -> bool:
        return bool(np.linalg.norm(r) <= self.size) or self.hessian.gap_left(r) <= self.gap


def _along(
    objective: Objective, x: Array, z: Array, step: Array, dz: Array
) -> Callable[[float], float]:
    """T -> P(x + t step), whose predictions are z + t dz."""
    w, dw = x[: objective.d], step[: objective.d]
    return lambda t: objective.loss_value(z + t * dz) + objective.penalty.value(w + t * dw)
