"""Conjugate gradients on the normal equations of ridge regression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg

from ...numerics import Array
from ...objective import Objective
from ..claim import Claim
from ..domains import AT_LEAST_ONE, NONNEGATIVE, domains
from ..spectrum import EXACT, joint_gram
from ..theorem import Theorem
from ..trajectory import Trajectory


@domains(t=NONNEGATIVE, condition=AT_LEAST_ONE, start=NONNEGATIVE)
def conjugate_gradients_value(t: Array | float, *, condition: float, start: float) -> Array:
    """Bound on f(x_t) - f*: 4 q^(2 t) (f(x_0) - f*), q = (sqrt(k) - 1) / (sqrt(k) + 1).

    Parameters
    ----------
    t : float or array
        Number of steps; inf for an exact solution.
    condition : float
        The condition number k of the system.
    start : float
        f(x_0) - f*, f the quadratic that the system minimises.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Nocedal and Wright, *Numerical Optimization*, (5.36).
    """
    root = np.sqrt(condition)
    share = (root - 1.0) / (root + 1.0)
    steps = np.asarray(t, dtype=float)
    return np.where(steps == np.inf, 0.0, 4.0 * share ** np.minimum(2.0 * steps, 1e9) * start)


class ConjugateGradientsRate(Theorem):
    """The rate of conjugate gradients; f = f* where the system was factored.

    k is the condition of Lambda^(-1/2) X'CX Lambda^(-1/2) + I, X centred, divided by about its
    diagonal; by samples that of I + BB', B = C^(1/2) X Lambda^(-1/2).

    Where samples are fewer, phi(a) = a'(I + BB')a / 2 - a'h is what falls so, and at omega = B'a,
    or omega_0 + r - B'a, f - f* is at most |BB'| (phi(a) - phi*): twice these are e'BB'e and e'e,
    in the inner product of I + BB', e = a - a*. phi(0) - phi* is f* from omega_0 = 0, h = t, and
    |r|^2 / 2 - (f(x_0) - f*) from elsewhere, h = B r, r the residual of the system in omega.
    """

    statement = (
        "f(x_T) - f* <= 4 q^(2T) (f(x_0) - f*), q = (sqrt(k) - 1) / (sqrt(k) + 1); "
        "by samples 4 q^(2T) |BB'| (phi(0) - phi*)"
    )
    source = "Nocedal and Wright, (5.36)"

    def silences(self, run: Trajectory) -> Iterator[str]:
        """Systems too large for their eigenvalues."""
        if run.objective.d > EXACT:
            yield f"eigenvalues are known up to {EXACT} features"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality."""
        (run,) = runs
        at = np.flatnonzero(~np.isnan(run.steps[1:])) + 1  # not after a new start near the end
        known, start = condition(run.objective), float(run.gaps[0])
        if run.objective.n < run.objective.d:
            start = largest(run.objective) * dual_start(run)
        bound = conjugate_gradients_value(run.steps[at], condition=known, start=start)
        yield Claim(self.statement, run.gaps[at], bound, run.value_room, at)


def dual_start(run: Trajectory) -> float:
    """phi(0) - phi* of the system in a."""
    first = next(iter(run.replay()))
    if not np.any(first.w):
        return run.reference.value
    slope, _ = run.objective.gradient(first.w, first.b)
    return 0.5 * float(np.sum((_scales(run.objective) * slope) ** 2)) - float(run.gaps[0])


def condition(objective: Objective) -> float:
    """The condition number of the ridge system that conjugate gradients see.

    I + B'B, B = C^(1/2) X Lam^(-1/2), X centred where there is an intercept; I + BB', among what
    is centred, where samples are fewer. Both are divided by about their diagonals.
    """
    d = objective.d
    if objective.n >= d:
        gram, scales = joint_gram(objective), _scales(objective)
        if objective.fit_intercept:
            gram = gram[:d, :d] - np.outer(gram[d, :d], gram[d, :d]) / gram[d, d]
        matrix = scales[:, None] * gram * scales + np.eye(d)
        unit = 1.0 / np.sqrt(1.0 + scales**2 * objective.design.column_squares(objective.c))
        ends = linalg.eigvalsh(unit[:, None] * matrix * unit)[[0, -1]]
        return float(ends[1] / ends[0])
    B, unit, squares = _system(objective)
    basis = linalg.null_space(unit[None, :]) if unit.any() else np.eye(objective.n)
    matrix = basis.T @ (B @ B.T) @ basis + np.eye(basis.shape[1])
    ends = linalg.eigh(matrix, (basis.T * (1.0 + squares)) @ basis, eigvals_only=True)[[0, -1]]
    return float(ends[1] / ends[0])


def largest(objective: Objective) -> float:
    """|BB'|."""
    return float(np.linalg.norm(_system(objective)[0], 2) ** 2)


def _system(objective: Objective) -> tuple[Array, Array, Array]:
    """B, C^(1/2) 1 as a unit vector (0 without an intercept), squares of rows not centred yet."""
    root = np.sqrt(objective.c)
    rows = root[:, None] * objective.design.dense() * _scales(objective)
    unit = root / np.linalg.norm(root) if objective.fit_intercept else np.zeros(objective.n)
    return rows - np.outer(unit, unit @ rows), unit, np.einsum("ij,ij->i", rows, rows)


def _scales(objective: Objective) -> Array:
    """Lam^(-1/2)."""
    inverse = objective.penalty.conjugate_gradient(np.ones(objective.d))
    assert inverse is not None
    return np.sqrt(inverse)
