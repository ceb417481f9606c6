"""A program that was read -> a posed LinearProgram, or a CVXPY problem where Q is not 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ...errors import ProblemFileError
from ...modelling import cp
from ..schema import Array
from .program import Program

CONSTANT = "constant"
"""The name of the variable, fixed at 1, that carries the constant of a linear objective."""
FLAT = 1e-9
"""Eigenvalues of Q above -FLAT times the largest count as rounding of zeros."""


def pose_program(program: Program) -> tuple[Any, tuple[str, ...], str]:
    """Return the problem, the names of its variables, and a line about what was changed.

    Rows of kind G become A_ub x <= b_ub by a change of sign, rows with a range are written twice;
    a maximum is posed as the minimum of the negative.

    Raises
    ------
    ProblemFileError
        Where the objective is not convex (not concave, where it is maximised).
    """
    sign = -1.0 if program.maximize else 1.0
    n = len(program.columns)
    c = sign * _vector(program.c, n)
    A = _matrix(program.A, (len(program.rows), n))
    low, high = _pairs([program.limits(i) for i in range(len(program.rows))])
    lower, upper = _pairs([program.bounds(j) for j in range(n)])
    names = list(program.columns)
    said = "Posed as the minimum of the negative objective." if program.maximize else ""
    equal, above, below = low == high, np.isfinite(high), np.isfinite(low)
    above, below = above & ~equal, below & ~equal
    if any(program.Q.values()):
        Q = sign * _matrix(program.Q, (n, n))
        problem = _quadratic((Q + Q.T) / 2.0, c, sign * program.offset, names)
        rows = [(A[equal], "==", low[equal]), (A[above], "<=", high[above])]
        rows += [(A[below], ">=", low[below])]
        return problem(rows, lower, upper), tuple(names), said
    if program.offset:
        c = np.append(c, sign * program.offset)
        A = sparse.hstack([A, sparse.csr_array((A.shape[0], 1))], format="csr")
        lower, upper = np.append(lower, 1.0), np.append(upper, 1.0)
        names.append(f"{CONSTANT}_" if CONSTANT in names else CONSTANT)
        said = f"{said} The variable {names[-1]!r} = 1 carries the constant of the objective."
    from ...models import LinearProgram

    arguments: dict[str, Any] = {}
    if above.any() or below.any():
        arguments["A_ub"] = sparse.vstack([A[above], -A[below]], format="csr")
        arguments["b_ub"] = np.append(high[above], -low[below])
    if equal.any():
        arguments |= {"A_eq": A[equal], "b_eq": low[equal]}
    bounds = list(zip(lower.tolist(), upper.tolist(), strict=True))
    return LinearProgram(c, **arguments, bounds=bounds), tuple(names), said.strip()


def _quadratic(Q: Any, c: Array, offset: float, names: list[str]) -> Any:
    """A function of rows and bounds that poses ½x'Qx + c'x + offset with CVXPY."""
    spectrum = np.linalg.eigvalsh(Q.toarray())
    if not spectrum[0] >= -FLAT * spectrum[-1]:
        raise ProblemFileError(
            "the objective is not convex: the least eigenvalue of Q, in the direction of the "
            f"minimum, is {spectrum[0]:.3g} (largest {spectrum[-1]:.3g})"
        )
    x = cp.Variable(len(names), name="x")
    bent = 0.5 * cp.quad_form(x, cp.psd_wrap(sparse.csc_array(Q)))

    def pose(rows: list[tuple[Any, str, Array]], lower: Array, upper: Array) -> Any:
        constraints = []
        for matrix, relation, side in rows:
            if len(side):
                left = matrix @ x
                row = left == side if relation == "==" else left <= side
                constraints.append(left >= side if relation == ">=" else row)
                constraints[-1].set_label(f"rows {relation}")
        for kind, bound in (("lower", lower), ("upper", upper)):
            there = np.flatnonzero(np.isfinite(bound))
            if there.size:
                held = x[there] >= bound[there] if kind == "lower" else x[there] <= bound[there]
                constraints.append(held)
                held.set_label(f"{kind} bounds")
        return cp.Problem(cp.Minimize(bent + c @ x + offset), constraints)

    return pose


def _vector(entries: Mapping[int, float], size: int) -> Array:
    vector = np.zeros(size)
    vector[list(entries)] = list(entries.values())
    return vector


def _matrix(entries: Mapping[tuple[int, int], float], shape: tuple[int, int]) -> Any:
    places = np.array(list(entries), dtype=int).reshape(-1, 2).T
    values = np.array(list(entries.values()), dtype=float)
    return sparse.csr_array((values, tuple(places)), shape=shape)


def _pairs(pairs: list[tuple[float, float]]) -> tuple[Array, Array]:
    first, second = np.array(pairs, dtype=float).reshape(-1, 2).T
    return first, second
