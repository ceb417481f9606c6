"""The size of a linear or quadratic program as docs/certificates.md defines it, densely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

NOISE = np.log(1e-8)
ROUNDED = np.log(1e-12)


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
    first = len(sides)
    for i in np.flatnonzero(b):
        equation(b[i], (), i, False)
    behind = len(sides)
    for j in np.flatnonzero(c):
        equation(c[j], (j,), None, True)
    for j, k in np.argwhere(P) if P is not None else ():
        equation(np.asarray(P)[j, k], (j, k), None, True)
    if not lines:
        return Sizes(0.0, np.zeros(m), np.ones(n))
    system, side = np.array(lines), np.array(sides)
    given = (np.arange(side.size) >= first) & (np.arange(side.size) < behind)
    # V is determined where its coordinate is 0 on the null space.
    found, kept = _refitted(system, side, np.ones(side.size, dtype=bool))
    last = np.eye(1, n + m + 1, n + m).ravel()
    projected = np.linalg.pinv(system[kept], rcond=1e-10) @ (system[kept] @ last)
    objective = float(np.exp(found[-1])) if abs(projected[-1] - 1.0) < 1e-8 else 0.0
    # Of rows and columns: the first fit is without b, and those far below the largest stay out.
    kept = ~given
    if np.any(given) and np.any(kept):
        excess = (system @ _least(system[kept], side[kept]) - side)[given]
        kept[given] = excess >= np.max(excess) + ROUNDED
    found, _ = _refitted(system, side, kept | ~np.any(~given))
    rows = np.where(np.any(A != 0.0, axis=1), np.exp(found[n : n + m]), 0.0)
    return Sizes(objective, rows, np.exp(found[:n]))


def _least(system: np.ndarray, side: np.ndarray) -> np.ndarray:
    return np.linalg.lstsq(system, side, rcond=1e-10)[0]


def _refitted(
    system: np.ndarray, side: np.ndarray, kept: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Fit, leave out what is noise beside the fit, and fit again."""
    for _ in range(3):
        found = _least(system[kept], side[kept])
        small = side - system @ found > -NOISE
        if np.array_equal(~small, kept):
            break
        kept = ~small
    return found, kept
