"""The size of a linear or quadratic program as docs/certificates.md defines it, densely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

NOISE = np.log(1e-8)


@dataclass(frozen=True)
class Sizes:
    """Of the objective (0 where there is none), of rows and of columns."""

    objective: float
    rows: np.ndarray
    columns: np.ndarray


def sizes(A: Any, b: Any, c: Any, P: Any = None) -> Sizes:
    """Fit log|A_ij| + xi_j = log|b_i| = eta_i, log|c_j| + xi_j = log|P_jk| + xi_j + xi_k = V."""
    A, b, c = (np.asarray(v, dtype=float) for v in (A, b, c))
    m, n = A.shape
    lines, sides = [], []

    def equation(value: float, xi: tuple[int, ...], eta: int | None, objective: bool) -> None:
        line = np.zeros(n + m + 1)
        for j in xi:
            line[j] += 1.0
        if eta is not None:
            line[n + eta] = -1.0
        line[-1] = -1.0 if objective else 0.0
        lines.append(line)
        sides.append(-np.log(abs(value)))

    for i, j in np.argwhere(A):
        equation(A[i, j], (j,), i, False)
    for i in np.flatnonzero(b):
        equation(b[i], (), i, False)
    for j in np.flatnonzero(c):
        equation(c[j], (j,), None, True)
    for j, k in np.argwhere(P) if P is not None else ():
        equation(np.asarray(P)[j, k], (j, k), None, True)
    if not lines:
        return Sizes(0.0, np.zeros(m), np.ones(n))
    system, side = np.array(lines), np.array(sides)
    kept = np.ones(len(side), dtype=bool)
    for _ in range(3):
        found = np.linalg.lstsq(system[kept], side[kept], rcond=1e-10)[0]
        small = side - system @ found > -NOISE
        if np.array_equal(~small, kept):
            break
        kept = ~small
    # V is determined where its coordinate is 0 on the null space.
    last = np.zeros(n + m + 1)
    last[-1] = 1.0
    projected = np.linalg.pinv(system[kept], rcond=1e-10) @ (system[kept] @ last)
    determined = abs(projected[-1] - 1.0) < 1e-8
    rows = np.where(np.any(A != 0.0, axis=1), np.exp(found[n : n + m]), 0.0)
    return Sizes(float(np.exp(found[-1])) if determined else 0.0, rows, np.exp(found[:n]))
