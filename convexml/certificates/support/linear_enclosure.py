"""Enclose the solutions of a linear system whose right-hand side is known up to an error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics import ROUNDING, Array

DEPENDENT = 1e-9
"""Singular values below this share of the largest count as zero: the bound holds for any split."""


@dataclass(frozen=True)
class EnclosedSolution:
    """abs(x_k - center_k) <= radius_k for every solution; ``unique`` where the rank is full."""

    center: Array
    radius: Array
    unique: bool


def enclose_solutions(
    M: Array, rhs: Array, box: Array, ball: float, rows: Array, around: Array, reach: Array
) -> EnclosedSolution:
    """Bound every x with M x = rhs + e + f, |e_i| <= box_i and |f|_2 <= ball, f on ``rows`` only.

    With M = Q S V' split into large singular values and the rest N,
    x = M⁺(rhs + e + f) + N N'x: the first part moves by at most |M⁺| box + |M⁺|_2 ball, and the
    second is known only from |x - around| <= reach.

    Parameters
    ----------
    M : array, shape (m, k)
    rhs, box : array, shape (m,)
    ball : float
    rows : array, shape (m,)
        Mask of the rows that share the error in the ball.
    around, reach : array, shape (k,)
        What is known beforehand; reach may be inf.
    """
    size = np.sqrt(np.einsum("ij,ij->j", M, M))
    size = np.where(size > 0.0, size, 1.0)
    Q, s, Vt = np.linalg.svd(M / size, full_matrices=M.shape[0] < M.shape[1])
    rank = int(np.sum(s > DEPENDENT * s[0])) if s.size and s[0] > 0.0 else 0
    inverse = (Vt[:rank].T / s[:rank]) @ Q[:, :rank].T
    center = inverse @ rhs
    error = np.abs(inverse) @ box + ball * np.linalg.norm(inverse[:, rows], axis=1)
    condition = s[0] / s[rank - 1] if rank else 1.0
    error = error + ROUNDING * condition * np.linalg.norm(center)
    null = Vt[rank:]
    if len(null):
        scaled = reach * size
        known = around * size if np.all(np.isfinite(scaled)) else np.zeros(len(around))
        center = center + null.T @ (null @ known)
        part = np.linalg.norm(null, axis=0)
        error = error + np.where(part > 0.0, part, np.finfo(float).tiny) * np.linalg.norm(scaled)
    return EnclosedSolution(center / size, error / size, not len(null))
