"""A quadratic plus norms of groups, minimised: block descent finds the groups, Newton ends."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...numerics import Array
from ..line_search import ARMIJO
from .cycles import cycle
from .support_factor import solve_positive

SWEEPS = 8
"""Of block descent before Newton steps."""
ROUNDS, STEPS = 60, 12
"""Sets of groups that are tried, and Newton steps on each, at most."""
SHORTEST = 2.0**-12


def distance(x: Array, g: Array, level: Array, sizes: Callable[[Array], Array]) -> Array:
    """How far -g_g is from level_g d|x_g|_2, one entry a coordinate."""
    norms = sizes(x)
    unit = x / np.where(norms > 0.0, norms, 1.0)
    return np.where(norms > 0.0, sizes(g + level * unit), np.maximum(sizes(g) - level, 0.0))


def minimise(
    gram: Array, slope: Array, start: Array, level: Array, block: Array, tol: Array
) -> Array:
    """As ``support_newton.minimise`` for mu = 0, with norms of blocks; ``block`` is sorted.

    Near a point whose nonzero blocks are those of the minimiser all is smooth, and Newton steps
    with the Hessian level (I - u u') / |x_g|, u = x_g / |x_g|, of the norms converge quadratically.
    """
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    ends = np.append(starts[1:], len(block))
    curves = np.array(
        [np.linalg.eigvalsh(gram[i:j, i:j])[-1] for i, j in zip(starts, ends, strict=True)]
    )
    constants = level[starts], np.zeros(len(starts))

    def sizes(v: Array) -> Array:
        return np.repeat(np.sqrt(np.add.reduceat(v * v, starts)), ends - starts)

    def value(step: Array, bent: Array) -> float:
        apart = (sizes(x + step) - sizes(x))[starts]
        return float(g @ step + 0.5 * (step @ bent) + level[starts] @ apart)

    x, g = start.copy(), slope.copy()
    for _ in range(ROUNDS):
        cycle(gram, g, x, starts, ends, curves, *constants, SWEEPS)
        for _ in range(STEPS):
            g = slope + gram @ (x - start)
            if np.all(distance(x, g, level, sizes) <= tol):
                return x
            norms = sizes(x)
            used = np.flatnonzero(((norms > 0.0) | (level == 0.0)) & (np.diag(gram) > 0.0))
            steepness = level / np.where(norms > 0.0, norms, 1.0)
            step = np.zeros_like(x)
            residual = (g + steepness * x)[used]
            found, _ = solve_positive(_hessian(gram, x, norms, steepness, block, used), -residual)
            if found is None:
                break
            step[used], bent, t = found, gram[:, used] @ found, 1.0
            fall = float(residual @ found)
            while t >= SHORTEST and not value(t * step, t * bent) <= ARMIJO * t * fall:
                t *= 0.5
            if t < SHORTEST or not fall < 0.0:
                break
            x = x + t * step
    return x


def _hessian(
    gram: Array, x: Array, norms: Array, steepness: Array, block: Array, used: Array
) -> Array:
    """The Hessian of the quadratic and of the norms, on the coordinates used."""
    matrix = gram[np.ix_(used, used)]
    unit = (x / np.where(norms > 0.0, norms, 1.0))[used]
    same = block[used][:, None] == block[used]
    matrix -= same * np.outer(steepness[used] * unit, unit)
    matrix[np.diag_indices_from(matrix)] += steepness[used]
    return matrix
