"""Consensus ADMM: the samples in blocks of rows, each with its own copy of (w, b)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg
from scipy.linalg.lapack import dpotrs

from ...design import Design
from ...errors import InputError
from ...numerics import Array
from ...objective import Objective
from ...validation import positive_number
from ..driver import Iterate

BALANCE = 3.0
"""Residuals further apart than this factor make rho change by a factor 2 ..."""
SETTLE = 1000
"""... in the first iterations; it is constant after them, as the theorem asks."""


def admm(
    objective: Objective, w: Array, b: float, *, blocks: int = 4, rho: float | None = None
) -> Iterator[Iterate]:
    """Minimise sum_k F_k(z_k) + Omega(v) s.t. z_k = p_k, v = x_k, p_k = X_k x_k, blocks k.

    The losses and the penalty answer by their proxes, sample by sample and block by block; then
    each block projects (v + t_k, z_k + s_k) on the graph p = X_k x of its own rows, by a matrix
    factored once, and the scaled prices s, t move by the disagreement. x_k, v include the
    intercept. (Boyd et al., 2011, chapter 7, https://doi.org/10.1561/2200000016; Parikh and Boyd,
    2014, https://doi.org/10.1007/s12532-013-0061-8.) ``rho``, default max(c), balances the
    residuals in the first 1000 iterations. u = rho (p - s - z) is a dual point.
    """
    if not (isinstance(blocks, int | np.integer) and 1 <= blocks):
        raise InputError(f"admm: blocks must be a whole number >= 1, got {blocks!r}.")
    rho = float(objective.c.max()) if rho is None else positive_number(rho, "admm", "rho")
    free_b, size = objective.fit_intercept, objective.d + 1
    rows = -(-objective.n // blocks)
    parts = list(objective.design.row_blocks(rows))
    tau = weights(objective) / len(parts)
    factors = [linalg.cho_factor(graph_matrix(part, free_b, tau))[0] for _, part in parts]
    v = np.append(w, b)
    x, t = np.tile(v, (len(parts), 1)), np.zeros((len(parts), size))
    p = objective.predict(w, b)
    s, passes = np.zeros(objective.n), 1.0
    yield Iterate(w, b, None, passes)
    for iteration in range(10**9):
        z = objective.loss.prox(objective.y, p - s, objective.c / rho)
        u = rho * (p - s - z)
        mean = (x - t).mean(axis=0)
        share = 1.0 / (rho * tau[:-1] * len(parts))
        v = np.append(objective.penalty.prox(mean[:-1], share), mean[-1])
        before_x, before_p = x, p
        x, p = np.empty_like(x), np.empty_like(p)
        for k, (at, part) in enumerate(parts):
            goal = z[at] + s[at]
            right = tau * (v + t[k]) + np.append(part.rmatvec(goal), free_b * goal.sum())
            x[k] = dpotrs(factors[k], right)[0]
            p[at] = part.matvec(x[k][:-1]) + free_b * x[k][-1]
        s, t = s + z - p, t + v - x
        passes += 2.0
        primal = float(np.sum((z - p) ** 2) + np.sum(tau * (v - x) ** 2))
        dual = float(np.sum((p - before_p) ** 2) + np.sum(tau * (x - before_x) ** 2))
        facts = {"primal": primal, "dual": dual, "rho": rho}
        state = {"x": x, "v": v, "z": z, "p": p, "s": s, "t": t, "tau": tau}
        state |= {"rho": rho, "rows": rows}
        yield Iterate(v[:-1], float(v[-1]), u, passes, facts, state)
        if primal == 0.0 and dual == 0.0:
            return
        ratio = np.sqrt(primal / dual) if dual > 0.0 else np.inf
        if iteration < SETTLE and iteration % 5 == 4 and not 1 / BALANCE < ratio < BALANCE:
            change = 2.0 if ratio > 1.0 else 0.5
            rho, s, t = rho * change, s / change, t / change


def weights(objective: Objective) -> Array:
    """What makes the entries of (w, b) as large as predictions: |x_j|^2, one for all if need be."""
    squares = objective.design.column_squares()
    squares = np.where(squares > 0.0, squares, 1.0)
    zeros = np.zeros(objective.d)
    is_separable = objective.penalty.terms(zeros, zeros).shape == zeros.shape
    return np.append(
        squares if is_separable else np.full_like(squares, squares.mean()), objective.n
    )


def graph_matrix(part: Design, free_b: bool, tau: Array) -> Array:
    """Return diag(tau) + X~'X~ for the rows of one block, X~ = [X 1], or [X 0] without b."""
    n, d = part.shape
    matrix = np.diag(tau)
    matrix[:d, :d] += part.gram()
    if free_b:
        edge = part.rmatvec(np.ones(n))
        matrix[d, :d] += edge
        matrix[:d, d] += edge
        matrix[d, d] += n
    return matrix
