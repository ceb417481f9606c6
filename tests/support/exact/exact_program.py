"""Convex quadratic programs solved in rationals: Lemke's pivots, and the KKT conditions exactly.

The pivots need no trust: an optimum is handed out only after its KKT conditions were met exactly,
and infeasibility only after an exact Farkas vector was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import fmpq

from support.exact.exact_numbers import HALF, ONE, ZERO, Row, dot, exact, row, table

INFEASIBLE, UNBOUNDED, OPTIMAL = "infeasible", "unbounded", "optimal"


@dataclass
class Answer:
    """What is true of a program: its status, and where it is optimal the value and a minimiser."""

    status: str
    value: Any = None
    x: Row = field(default_factory=list)
    multipliers: Row = field(default_factory=list)


def minimise(Q: list[Row], c: Row, A: list[Row], b: Row) -> Answer:
    """Solve min x'Qx/2 + c'x subject to A x >= b, x >= 0; Q is positive semidefinite."""
    found = _kkt_point(Q, c, A, b)
    if found is not None:
        x, y = found
        return Answer(OPTIMAL, HALF * dot(x, [dot(line, x) for line in Q]) + dot(c, x), x, y)
    zeros = [[ZERO] * len(c) for _ in c]
    feasible = _kkt_point(zeros, [ZERO] * len(c), A, b)
    if feasible is not None:
        return Answer(UNBOUNDED)
    _farkas(A, b)
    return Answer(INFEASIBLE)


def _kkt_point(Q: list[Row], c: Row, A: list[Row], b: Row) -> tuple[Row, Row] | None:
    n, m = len(c), len(b)
    M = [Q[i] + [-A[k][i] for k in range(m)] for i in range(n)]
    M += [A[k] + [ZERO] * m for k in range(m)]
    z = lemke(M, [*c, *(-side for side in b)])
    if z is None:
        return None
    x, y = z[:n], z[n:]
    reduced = [
        dot(Q[i], x) + c[i] - sum((A[k][i] * y[k] for k in range(m)), ZERO) for i in range(n)
    ]
    slack = [dot(A[k], x) - b[k] for k in range(m)]
    assert all(v >= 0 for v in (*x, *y, *reduced, *slack))
    assert dot(x, reduced) == 0
    assert dot(y, slack) == 0
    return x, y


def _farkas(A: list[Row], b: Row) -> None:
    """Assert that some y >= 0 has A'y <= 0 and b'y = 1."""
    m, n = len(b), len(A[0])
    rows = [[-A[k][j] for k in range(m)] for j in range(n)]
    rows += [list(b), [-v for v in b]]
    zeros = [[ZERO] * m for _ in range(m)]
    assert _kkt_point(zeros, [ZERO] * m, rows, [*[ZERO] * n, ONE, -ONE]) is not None


def lemke(M: list[Row], q: Row) -> Row | None:
    """Find z >= 0 with M z + q >= 0 and z'(M z + q) = 0; None on a ray. Ratios lexicographic."""
    n = len(q)
    if all(v >= 0 for v in q):
        return [ZERO] * n
    # Columns: w (n), z (n), the artificial one, and the right-hand side; rows w - M z - z0 = q.
    rows = [
        [ONE if j == i else ZERO for j in range(n)] + [-v for v in M[i]] + [-ONE, q[i]]
        for i in range(n)
    ]
    basis, art, rhs = list(range(n)), 2 * n, 2 * n + 1
    lead = min(range(n), key=lambda i: (q[i], i))
    # Lexicographically smallest row enters first; ties by the identity are broken by index.
    entering = _pivot(rows, basis, lead, art)
    while True:
        entering = entering + n if entering < n else entering - n
        best, leaving = None, -1
        for i in range(n):
            if rows[i][entering] > 0:
                key = _key(rows[i], entering, rhs, n)
                if best is None or key < best or (key == best and basis[i] == art):
                    best, leaving = key, i
        if leaving < 0:
            return None
        ties = [i for i in range(n) if rows[i][entering] > 0 and basis[i] == art]
        if ties and rows[ties[0]][rhs] / rows[ties[0]][entering] == best[0]:
            leaving = ties[0]
        left = _pivot(rows, basis, leaving, entering)
        if left == art:
            z = [ZERO] * n
            for i, name in enumerate(basis):
                if n <= name < 2 * n:
                    z[name - n] = rows[i][rhs]
            return z
        entering = left


def _key(line: Row, entering: int, rhs: int, n: int) -> list[fmpq]:
    pivot = line[entering]
    return [line[rhs] / pivot, *(line[j] / pivot for j in range(n))]


def _pivot(rows: list[Row], basis: list[int], i: int, j: int) -> int:
    """Let column j enter in row i; return the name of what leaves."""
    pivot = rows[i][j]
    rows[i] = line = [v / pivot if v else v for v in rows[i]]
    used = [k for k, v in enumerate(line) if v]
    for k, other in enumerate(rows):
        factor = other[j]
        if k != i and factor:
            for t in used:
                other[t] -= factor * line[t]
    left, basis[i] = basis[i], j
    return left


def solve_program(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    lower: Any = 0.0,
    upper: Any = np.inf,
    P: Any = None,
) -> Answer:
    """Solve min x'Px/2 + c'x subject to A_ub x <= b_ub, A_eq x = b_eq, lower <= x <= upper."""
    cost = row(c)
    n = len(cost)
    lower, upper = np.broadcast_to(lower, n), np.broadcast_to(upper, n)
    rows: list[Row] = []
    sides: Row = []
    for A, b, signs in ((A_ub, b_ub, (-1,)), (A_eq, b_eq, (-1, 1))):
        for line, side in zip(table(A), row(b), strict=True) if A is not None else ():
            for sign in signs:
                rows.append([sign * v for v in line])
                sides.append(sign * side)
    for j in np.flatnonzero(np.isfinite(upper)).tolist():
        rows.append([-ONE if i == j else ZERO for i in range(n)])
        sides.append(-exact(upper[j]))
    start = [exact(v) if np.isfinite(v) else ZERO for v in lower]
    free = [j for j in range(n) if not np.isfinite(lower[j])]
    Q = [[ZERO] * n for _ in range(n)] if P is None else table(P)
    return shifted(Q, cost, rows, sides, start, free)


def shifted(Q: list[Row], c: Row, A: list[Row], b: Row, start: Row, free: list[int]) -> Answer:
    """``minimise`` with x >= start, except for the free coordinates."""
    n = len(c)
    push = [dot(line, start) for line in Q]
    base = HALF * dot(start, push) + dot(c, start)

    def split(line: Row) -> Row:
        return line + [-line[j] for j in free]

    full = [split(line) for line in Q]
    full += [[-v for v in full[j]] for j in free]
    cost = split([s + t for s, t in zip(c, push, strict=True)])
    sides = [side - dot(line, start) for line, side in zip(A, b, strict=True)]
    found = minimise(full, cost, [split(line) for line in A], sides)
    if found.status == OPTIMAL:
        x = [s + t for s, t in zip(found.x[:n], start, strict=True)]
        for k, j in enumerate(free):
            x[j] -= found.x[n + k]
        found.x, found.value = x, found.value + base
    return found
