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

LEVEL, FINER = 5e-7, 1e-3
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


def normal_equations(objective: Objective, w: Array, b: float) -> Iterator[Iterate]:
    """Minimise sum_i c_i (y_i - z_i)^2 / 2 + w'Lam w / 2: a linear system.

    A matrix of min(n, d) rows is factored where that costs no more than ``SOON`` pairs of
    products, and conjugate gradients are taken else; where these take as long as a factor would,
    it is factored after all. P - D at w and its u = c l'(z) is half the square of
    Lam^(-1/2) grad P, which they know: iterates are shown where they may do. What is left of it
    after a solve is solved for again.
    """
    system = RidgeSystem(objective)
    omega, least = w / system.inverse, np.inf
    yield Iterate(w, b, None, system.passes, {"steps": 0.0})
    size, other = sorted(objective.design.shape)
    cost = size**2 * (other + size / 3.0) / (CHEAPER * max(entries_of(objective), 1))
    patience = cost if size <= LARGEST else float(STEPS)
    left = 0 if patience <= SOON else int(patience)
    coarse, solve = system.by_samples and size >= COARSE, None
    while True:
        residual = system.residual(omega)
        square = float(residual @ residual)
        stalled = not square < LESS * least
        if square == 0.0 or (stalled and not (coarse and solve)):
            return
        is_first, least = least == np.inf, min(square, least)
        if left:
            omega, left = yield from conjugate_gradients(system, omega, residual, left, is_first)
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


def factored(system: RidgeSystem, coarse: bool) -> tuple[Solve | None, bool]:
    """How to solve, and whether in single precision; in double precision where that fails."""
    for kind in (True, False) if coarse else (False,):
        with suppress(linalg.LinAlgError):
            return system.solver(kind), kind
    return None, False


def conjugate_gradients(
    system: RidgeSystem, omega: Array, r: Array, most: int, is_first: bool
) -> Generator[Iterate, None, tuple[Array, int]]:
    """Go from omega, r its residual, for at most ``most`` steps; (omega, how many are left)."""
    unit = 1.0 / system.diagonal()
    omega, r = omega.copy(), r.copy()
    p = unit * r
    square = first = float(r @ p)
    level = LEVEL
    for step in range(most):
        share = 0.5 * float(r @ r) / system.value(omega)
        if share <= level or (step and step % OFTEN == 0):
            told = {"steps": float(step)} if is_first else {}
            point = system.point(omega)
            yield Iterate(*point, None, system.passes, told, promise=share)
            while level >= share > 0.0:
                level *= FINER
        if not square > SHARE**2 * first:
            return omega, most - step
        bent = p + system.back(system.forth(p))
        length = square / float(p @ bent)
        omega += length * p
        r -= length * bent
        scaled = unit * r
        square, before = float(r @ scaled), square
        p = scaled + (square / before) * p
    return omega, 0
