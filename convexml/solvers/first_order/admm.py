"""Consensus ADMM: the samples in blocks of rows, each with its own copy of (w, b)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...blocks import rowwise
from ...numerics import Array
from ...objective import Objective
from ...validation import positive_number
from ..driver import Iterate
from .consensus import rows_of

BALANCE = 3.0
"""Residuals further apart than this factor make rho change by a factor 2 ..."""
SETTLE = 1000
"""... in the first iterations; it is constant after them, as the theorem asks."""


def admm(
    objective: Objective, w: Array, b: float, *, blocks: int | None = None, rho: float | None = None
) -> Iterator[Iterate]:
    """Minimise sum_k F_k(z_k) + Omega(v) s.t. z_k = p_k, v = x_k, p_k = X_k x_k, blocks k.

    The losses and the penalty answer by their proxes, sample by sample and with the mean of the
    copies; then each block projects (v + t_k, z_k + s_k) on the graph p = X_k x of its own rows, by
    a matrix of min(n_k, d) rows factored once, and the scaled prices s, t move by the disagreement.
    x_k, v include the intercept. (Boyd et al., 2011, chapters 7 and 8.2,
    https://doi.org/10.1561/2200000016; Parikh and Boyd, 2014,
    https://doi.org/10.1007/s12532-013-0061-8.) ``rho``, default max(c), balances the residuals in
    the first 1000 iterations. u = rho (p - s - z) is a dual point.

    Blocks of ``RowBlocks`` keep their x, t, p, s and their factor; a step visits each of them once,
    gets v and gives x_k back. Rows in memory are cut into ``blocks``, 4 by default.
    """
    rows = rows_of(objective, blocks)
    rho = float(objective.c.max()) if rho is None else positive_number(rho, "admm", "rho")
    yield Iterate(w, b, None, 1.0)
    prox, count, tau = rowwise(objective.loss.prox), len(rows.lengths), rows.metric.tau
    v, t = np.append(w, b), np.zeros(objective.d + 1)
    at, x, passes = rows.begin(v), v, 1.0
    for iteration in range(10**9):
        z = prox(objective.y, at.p - at.s, objective.c / rho)
        u = rho * (at.p - at.s - z)
        share = 1.0 / (rho * tau[:-1] * count)
        v = np.append(objective.penalty.prox((x - t)[:-1], share), (x - t)[-1])
        at, sums = rows.step(at, v, z)
        x, (primal, dual) = sums[:-2] / count, map(float, sums[-2:])
        t = t + v - x
        passes += 2.0
        facts = {"primal": primal, "dual": dual, "rho": rho}
        state = {**rows.shown(at), "v": v, "z": z, "rho": rho}
        yield Iterate(v[:-1], float(v[-1]), u, passes, facts, state)
        if primal == 0.0 and dual == 0.0:
            return
        ratio = np.sqrt(primal / dual) if dual > 0.0 else np.inf
        if iteration < SETTLE and iteration % 5 == 4 and not 1 / BALANCE < ratio < BALANCE:
            change = 2.0 if ratio > 1.0 else 0.5
            rho, t = rho * change, t / change
            at = at._replace(s=at.s / change, t=at.t / change)
