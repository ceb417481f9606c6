"""Ridge regression by its normal equations: one factorisation, or conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress

import numpy as np
from scipy import linalg

from ...numerics import Array
from ...objective import Objective
from ..costs import entries_of
from ..driver import Iterate
from .ridge_system import RidgeSystem
from .sampled_gram import Step, from_sampled_gram

LEVEL, FINER = 5e-7, 2e-4
"""The relative gap at which iterates are shown first, and how much smaller it is each time."""
OFTEN = 64
"""Steps after which an iterate is shown whatever its gap."""
STEPS = 5000
"""Of conjugate gradients, at most."""
CHEAPER = 50.0
"""Operations in a product of matrices that take as long as one in a pair of products."""
SOON = 25
"""Conjugate gradients take more steps than this: where a factor costs less, it is made at once."""
LARGEST = 3000
"""Unknowns up to which the system may be factored."""
COARSE = 500
"""Samples from which a matrix of them is factored in single precision first."""
SHARE = 1e-9
"""A run of conjugate gradients ends at this share of the residual that it began with."""
LESS = 0.1
"""Refinement goes on as long as it takes the squared residual below this share."""

Solve = Callable[[Array, Array | None], Array]


def normal_equations(
    objective: Objective, w: Array, b: float, *, sample: int = 0, seed: int = 0
) -> Iterator[Iterate]:
    """Minimise sum_i c_i (y_i - z_i)^2 / 2 + w'Lam w / 2: a linear system.

    A matrix of min(n, d) rows is factored where that costs no more than ``SOON`` pairs of
    products, and conjugate gradients are taken else; where these take as long as a factor would,
    it is factored after all. P - D at w and its u = c l'(z) is half the square of
    Lam^(-1/2) grad P, which they know: iterates are shown where they may do. What is left of it
    after a solve is solved for again. With the matrix of ``sample`` rows and slopes of all it goes
    as far as that is fast, see ``sampled_gram``.
    """
    if 0 < sample < objective.n:
        yield Iterate(w, b, None, 1.0, {"steps": 0.0}, promise=np.inf)
        w, b, _ = yield from from_sampled_gram(objective, w, b, sample, seed, ridge_step(objective))
    system = RidgeSystem(objective)
    omega, least, is_first = w / system.inverse, np.inf, True
    size, other = sorted(objective.design.shape)
    cost = size**2 * (other + size / 3.0) / (CHEAPER * max(entries_of(objective), 1))
    patience = cost if size <= LARGEST else float(STEPS)
    left = 0 if patience <= SOON else int(patience)
    coarse, solve = system.by_samples and size >= COARSE, None
    if left and system.by_samples and not np.any(omega):  # B't is not asked for
        yield Iterate(w, b, None, 0.0, {"steps": 0.0}, promise=np.inf)
        omega, left = yield from by_samples(system, omega, omega, left, True)
        is_first = False
    while True:
        residual = system.residual(omega)
        square = float(residual @ residual)
        stalled = not square < LESS * least
        if is_first:
            share = 0.5 * square / system.value(omega)
            yield Iterate(w, b, None, system.passes, {"steps": 0.0}, promise=share)
        if square == 0.0 or (stalled and not (coarse and solve)):
            return
        told, least, is_first = is_first, min(square, least), False
        if left:
            solved = by_samples if system.by_samples else by_features
            omega, left = yield from solved(system, omega, residual, left, told)
            continue
        if size > LARGEST:
            return
        if solve is None or stalled:
            solve, coarse = factored(system, coarse and not stalled)
            if solve is None:
                return
        omega = omega + solve(residual, None if np.any(omega) else system.target)
        point = system.point(omega)
        yield Iterate(*point, None, system.passes, {"steps": np.inf}, promise=0.0)


def ridge_step(objective: Objective) -> Step:
    """To the minimum of a model of the loss plus w'Lam w / 2."""
    level = np.diag(objective.penalty.gradient(np.ones(objective.d)))

    def step(gram: Array, pull: Array, w: Array) -> Array:
        slope = pull + objective.penalty.gradient(w)
        with suppress(linalg.LinAlgError):
            factor = linalg.cho_factor(gram + level, overwrite_a=True, check_finite=False)
            return w - linalg.cho_solve(factor, slope, check_finite=False)
        return w

    return step


def factored(system: RidgeSystem, coarse: bool) -> tuple[Solve | None, bool]:
    """How to solve, and whether in single precision; in double precision where that fails."""
    for kind in (True, False) if coarse else (False,):
        with suppress(linalg.LinAlgError):
            return system.solver(kind), kind
    return None, False


def by_features(
    system: RidgeSystem, omega: Array, r: Array, most: int, is_first: bool
) -> Generator[Iterate, None, tuple[Array, int]]:
    """Conjugate gradients from omega, r its residual: (omega, how many of ``most`` are left)."""
    unit = 1.0 / system.diagonal()
    omega, r = omega.copy(), r.copy()
    p = unit * r
    square = first = float(r @ p)
    level = LEVEL
    for step in range(1, most + 1):
        bent = p + system.back(system.forth(p))
        length = square / float(p @ bent)
        omega += length * p
        r -= length * bent
        share = 0.5 * float(r @ r) / system.value(omega)
        if share <= level or step % OFTEN == 0:
            yield shown(system, omega, share, step if is_first else None)
            level = finer(level, share)
        scaled = unit * r
        square, before = float(r @ scaled), square
        if not square > SHARE**2 * first:
            return omega, most - step
        p = scaled + (square / before) * p
    return omega, 0


def by_samples(
    system: RidgeSystem, omega: Array, r: Array, most: int, is_first: bool
) -> Generator[Iterate, None, tuple[Array, int]]:
    """The same with vectors of n entries: omega = B'a for (I + BB') a = t, from omega = 0.

    From elsewhere it is the step r - B'a for (I + BB') a = B r. What a leaves of its system, e, is
    B'e of the residual: of e'De, for the diagonal D, its square is thought of as the same share as
    for the z = D^-1 e before.
    """
    cold = not np.any(omega)
    e, worth = (system.target, 0.0) if cold else (system.forth(r), system.value(omega))
    a, z, mean = np.zeros_like(e), system.divided(e), 0.0
    p, square, level = z, float(e @ z), LEVEL
    first, before, turn, drawn = square, z, 0.0, 0.0
    if not square > 0.0:  # r is none of B's
        return omega + r, most
    for step in range(1, most + 1):
        pulled = system.outer(p)
        # |B'z|^2 for z = p - turn p_before: between the two I + BB' is 0.
        last, drawn = drawn, float(p @ pulled)
        growth = (drawn + turn * (2.0 * float(p @ before) + turn * last)) / square
        bent = p + pulled
        length = square / float(p @ bent)
        a, e, mean = a + length * p, e - length * bent, mean + length * system.mean
        share = 0.5 * growth * system.weighed(e) / (system.value_by(a + e) if cold else worth)
        z = system.divided(e)
        square, old = float(e @ z), square
        ends = step == most or not square > SHARE**2 * first
        if ends or share <= level or step % OFTEN == 0:
            found = system.back(a) if cold else omega + r - system.back(a)
            known = mean if cold else None
            yield shown(system, found, share, step if is_first else None, known)
            level = finer(level, share)
            if ends:
                return found, most - step
        turn, before = square / old, p
        p = z + turn * p
    return omega, 0


def shown(
    system: RidgeSystem, omega: Array, share: float, step: int | None, mean: float | None = None
) -> Iterate:
    """An iterate that promises this relative gap, after so many steps from the start."""
    told = {} if step is None else {"steps": float(step)}
    return Iterate(*system.point(omega, mean), None, system.passes, told, promise=share)


def finer(level: float, share: float) -> float:
    """The relative gap at which the next iterate is shown."""
    while level >= share > 0.0:
        level *= FINER
    return level
