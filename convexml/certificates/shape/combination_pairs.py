"""Dual points (u, s) of a generalized lasso with X'u + A's = 0, near what is known of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...numerics import Array, length
from .stacked import Stacked

STEPS = 4
"""Corrections of a dual point: each leaves rounding, and what its box takes off."""
CLEAR = (1e-3, 1e-6, 1e-9)
"""Shares of the largest |(A w)_k| from which on another one counts as not 0."""


@dataclass(frozen=True, eq=False)
class CombinationPair:
    """A dual point: u (n,) and s (m,) in its box, with g = X'u + A's.

    With an intercept the last entry of g is 1'u.
    """

    u: Array
    s: Array
    g: Array


class Combined(Protocol):
    """What dual points ask of the problem; see ``Generalized``."""

    @property
    def c(self) -> Array: ...

    @property
    def lam(self) -> float: ...

    @property
    def null(self) -> float: ...

    @property
    def fit_intercept(self) -> bool: ...

    @property
    def stack(self) -> Stacked: ...

    def drift(self, u: Array, s: Array) -> Array: ...


def pairs(
    problem: Combined, slope: Array, z: Array, u: Array | None, s: Array | None
) -> Iterator[CombinationPair]:
    """Dual points from what is passed of one, itself first where it is whole.

    What is not passed of s has the signs of z = A w where these are clear, what is not of u is the
    slope of the loss.
    """
    slope = slope if u is None else u
    if s is not None:
        given = _pair(problem, slope, s)
        if u is not None:
            yield given
        if problem.stack.regular is not None:
            yield _corrected(problem, given, None)
        yield from _moved(problem, given)
        return
    top = float(np.max(np.abs(z), initial=0.0))
    for share in CLEAR:
        signs = np.where(np.abs(z) > share * top, np.sign(z), 0.0)
        yield from _moved(problem, _pair(problem, slope, problem.lam * signs))


def nothing(problem: Combined) -> CombinationPair:
    """u = 0 and s = 0, which never leave a drift: D = 0, the best bound on an exact fit."""
    return _pair(problem, np.zeros_like(problem.c), np.zeros(problem.stack.A.shape[0]))


def _pair(problem: Combined, u: Array, s: Array) -> CombinationPair:
    """The dual point of u and of s, moved into its box."""
    s = np.clip(s, -problem.lam, problem.lam)
    return CombinationPair(u, s, problem.drift(u, s))


def _corrected(problem: Combined, start: CombinationPair, weights: Array | None) -> CombinationPair:
    """A pair nearby without a drift: u by c * X times a step of w, s by weights * A times it.

    The least change in the metric of the loss and of the weights; without these s stays.
    """
    stack = problem.stack
    solver = stack.regular if weights is None else stack.solver(weights)
    best = pair = start
    for _ in range(STEPS if solver is not None else 0):
        assert solver is not None
        step = -solver.solve(_in_units(problem, pair))
        if not np.all(np.isfinite(step)):
            break
        u = pair.u + np.sqrt(problem.c) * (stack.B @ step)
        pair = _pair(problem, u, pair.s if weights is None else pair.s + weights * (stack.A @ step))
        if not length(_in_units(problem, pair)) < 0.5 * length(_in_units(problem, best)):
            break
        best = pair
    return best


def _in_units(problem: Combined, pair: CombinationPair) -> Array:
    """The drift in the coordinates of the stack."""
    h = pair.g[-1] if problem.fit_intercept else 0.0
    stack = problem.stack
    return np.asarray((pair.g[stack.columns] - h * stack.shift) * stack.units)


def _room(problem: Combined, s: Array) -> Array:
    """How far each s_k may move: by its distance from the ends of its box."""
    return np.square(np.maximum(problem.lam - np.abs(s), 0.0)) / (problem.null or 1.0)


def _moved(problem: Combined, start: CombinationPair) -> Iterator[CombinationPair]:
    """Corrections that keep what is at an end of its box, and ones that shrink to fit."""
    yield _corrected(problem, start, _room(problem, start.s))
    stack = problem.stack
    everywhere = np.full(start.s.size, stack.kappa**2)
    solver = stack.solver(everywhere)
    if solver is None:
        return
    step = -solver.solve(_in_units(problem, start))
    u = start.u + np.sqrt(problem.c) * (stack.B @ step)
    s = start.s + everywhere * (stack.A @ step)
    most = float(np.max(np.abs(s), initial=0.0))
    if problem.lam < most < np.inf:
        factor = problem.lam / most
        shrunk = _pair(problem, factor * u, factor * s)
        yield _corrected(problem, shrunk, _room(problem, shrunk.s))
