"""Problems that almost have no point, or almost no minimum, and their twins across the border."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from support.draws.conic_draws import Conic, quadratic
from support.draws.linear_draws import Linear, opposite, program, rescaled
from support.exact.exact_judging import Truth
from support.exact.exact_numbers import ZERO, ball, dot, exact, row
from support.exact.exact_program import INFEASIBLE, OPTIMAL, UNBOUNDED
from support.exact.exact_sizes import sizes

Random = np.random.Generator


def offsets(rng: Random) -> float:
    """A whole number from 1 to 1e10, each power as likely."""
    return float(np.round(10.0 ** rng.uniform(0.0, 10.0)))


def legs(rng: Random) -> tuple[np.ndarray, int]:
    """Integers and the root of the sum of their squares, an integer."""
    found, norm = [((3, 4), 5), ((5, 12), 13), ((2, 3, 6), 7), ((1,), 1)][int(rng.integers(4))]
    return np.array(found, dtype=float), norm


# -- almost infeasible -----------------------------------------------------------------------


def however_tiny(rng: Random) -> Conic:
    """min |m|^2 or sum of m subject to a'm >= side, m >= 0, a from 1e-12 to 1e-3: feasible."""
    n = int(rng.integers(1, 7))
    a = 10.0 ** rng.uniform(-12, -3) * rng.uniform(0.5, 2.0, n)
    a = a * 10.0 ** rng.uniform(-3, 3, n) if rng.random() < 0.3 else a
    side = 1.0 if rng.random() < 0.7 else float(10.0 ** rng.uniform(-4, 4))
    m = cp.Variable(n, nonneg=True) if rng.random() < 0.7 else cp.Variable(n)
    equal = rng.random() < 0.3
    rows = [a @ m == side] if equal else [a @ m >= side]
    if not m.is_nonneg():
        rows.append(m >= 0)
    sharp, along = rng.random() < 0.3, row(a)
    if sharp:
        k = int(np.argmax(a))
        best, at = exact(side) / along[k], np.eye(n)[k] * (side / a[k])
        objective = cp.sum(m)
    else:
        best, at = exact(side) ** 2 / dot(along, along), a * (side / (a @ a))
        objective = cp.sum_squares(m)

    cost, form = (np.ones(n), None) if sharp else (np.zeros(n), 2.0 * np.eye(n))
    size = sizes(a[None], [side], cost, form).objective

    def feasible(at: list) -> bool:
        more = dot(along, at) - exact(side)
        return all(v >= 0 for v in at) and (more == 0 if equal else more >= 0)

    return Conic(
        cp.Problem(cp.Minimize(objective), rows),
        m,
        Truth(OPTIMAL, best, ball(1.001e-3) * ball(size)),
        at,
        lambda at: sum(at, ZERO) if sharp else dot(at, at),
        feasible,
    )


def contradicting(rng: Random) -> Linear:
    """Rows with multipliers y > 0, A'y = 0 and b'y of size 2^-20 ... 2^-40: -, 0 or +.

    Below some 2^-43 of its terms a contradiction counts as the rounding of the data.
    """
    n, k = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    A = rng.integers(-4, 5, (k, n)).astype(float)
    y = rng.integers(1, 4, k - 1).astype(float)
    A[-1] = -(y @ A[:-1])
    x = rng.integers(0, 5, n).astype(float)
    b = A @ x
    i = int(rng.integers(k))
    side = max(abs(b[i]), 1.0)
    b[i] += rng.choice([-1.0, -1.0, 0.0, 1.0]) * side * 2.0 ** -rng.integers(20, 41)
    if rng.random() < 0.4:  # a turn of the rows as well: what contradicts near may agree far away
        A[int(rng.integers(k)), int(rng.integers(n))] += 2.0 ** -rng.integers(20, 41)
    others = rng.integers(-3, 4, (int(rng.integers(0, 3)), n)).astype(float)
    A, b = np.r_[A, others], np.r_[b, others @ x + rng.integers(0, 3, len(others))]
    c = rng.integers(-2, 6, n) if rng.random() < 0.5 else rng.integers(1, 6, n)
    lower = 0.0 if rng.random() < 0.6 else -np.inf
    if rng.random() < 0.3:
        return program(c, A[1:], b[1:], A[:1], b[:1], lower)
    return program(c, A, b, lower=lower)


def open_ended(rng: Random) -> Linear:
    """``contradicting`` beside a variable that falls for ever: unbounded only where feasible."""
    base = contradicting(rng)
    pad = [np.c_[A, np.zeros(len(A))] for A in (base.A_ub, base.A_eq)]
    return Linear(
        np.r_[base.c, -1.0],
        pad[0],
        base.b_ub,
        pad[1],
        base.b_eq,
        np.r_[base.lower, 0.0],
        np.r_[base.upper, np.inf],
    )


def touching(rng: Random) -> Conic:
    """min c'x subject to |x - p| <= r, c'x >= c'p + r |c| (1 + e): no point where e > 0."""
    c, norm = legs(rng)
    p, r = rng.integers(-4, 5, c.size).astype(float), float(2.0 ** rng.integers(-3, 4))
    e = rng.choice([-1.0, 0.0, 1.0, 1.0]) * 2.0 ** -rng.integers(10, 45)
    x = cp.Variable(c.size)
    side = c @ p + r * norm * (1.0 + e)
    least, span = exact(side), exact(r) * norm
    base, along, ratio = dot(row(c), row(p)), row(c), exact(r) ** 2
    empty = least - base > span

    def feasible(at: list) -> bool:
        step = [s - t for s, t in zip(at, row(p), strict=True)]
        return bool(dot(step, step) <= ratio and dot(along, at) >= least)

    return Conic(
        cp.Problem(cp.Minimize(c @ x), [cp.norm(x - p) <= r, c @ x >= side]),
        x,
        Truth(INFEASIBLE if empty else OPTIMAL, least, ball(1e-2) * ball(span + abs(base))),
        None if empty else p + c * float((least - base) / norm**2),
        lambda at: dot(along, at),
        feasible,
    )


def contradictory(rng: Random) -> Conic:
    """``contradicting`` in CVXPY, now and then in other units."""
    base = contradicting(rng)
    return quadratic(rng, rescaled(rng, base, 30) if rng.random() < 0.3 else base)


def endless_if_feasible(rng: Random) -> Conic:
    """``open_ended`` in CVXPY."""
    return quadratic(rng, open_ended(rng))


# -- almost unbounded ------------------------------------------------------------------------


def falling(rng: Random) -> tuple[Linear, np.ndarray]:
    """A direction d with A d = 0 or almost, c'd < 0, and a feasible point."""
    n = int(rng.integers(2, 5))
    d = rng.integers(1, 4, n).astype(float)
    A = rng.integers(-3, 4, (int(rng.integers(1, n + 1)), n)).astype(float)
    A = A * (d @ d) - np.outer(A @ d, d)  # A d = 0
    A = A / np.maximum(np.gcd.reduce(A.astype(int), axis=1), 1)[:, None]
    A = np.r_[A, -A] if rng.random() < 0.8 else A
    if rng.random() < 0.8:
        turn = rng.choice([-1.0, 1.0, 1.0]) * 2.0 ** -rng.integers(10, 51)
        A[int(rng.integers(len(A))), int(rng.integers(n))] += turn
    x = rng.integers(0, 4, n).astype(float)
    c = rng.integers(-3, 4, n).astype(float)
    c[int(np.argmax(d))] -= max(np.ceil((c @ d + 1.0) / d.max()), 0.0)
    b = np.round(A @ x) + rng.integers(1, 4, len(A))
    lower = 0.0 if rng.random() < 0.5 else -np.inf
    return program(c, A, b, lower=lower), d


def leaking(rng: Random) -> Conic:
    """A linear program with an exact ray, or one that ends very far away."""
    return quadratic(rng, falling(rng)[0])


def flat(rng: Random) -> Conic:
    """A quadratic program of curvature 1e-12 ... 1e-4, or none, along its way down."""
    base, d = falling(rng)
    n = d.size
    M = rng.integers(-2, 3, (int(rng.integers(0, n)), n)).astype(float)
    M = M * (d @ d) - np.outer(M @ d, d)
    P = M.T @ M
    if rng.random() < 0.7:
        P = P + np.outer(d, d) * 2.0 ** -rng.integers(13, 41)
    P = P if np.any(P) else np.outer(d, d) * 2.0**-40
    return quadratic(rng, base, P)


def hyperbola(rng: Random) -> Conic:
    """min a t - c'x subject to |(x - p, r)| <= t: r sqrt(a^2 - |c|^2) - c'p, or no minimum.

    |c| is 5, 13 ... and a = |c| (1 + e), e from -2^-10 to 2^-10 and as small as 2^-40.
    """
    c, norm = legs(rng)
    n = c.size
    a = norm * (1.0 + rng.choice([-1.0, 0.0, 1.0, 1.0]) * 2.0 ** -rng.integers(10, 41))
    p, r = rng.integers(-4, 5, n).astype(float), float(2.0 ** rng.integers(-6, 7))
    unit = 2.0 ** rng.integers(-20, 21) if rng.random() < 0.5 else 1.0
    p, r = p * unit, r * unit
    v = cp.Variable(n + 1)
    moved = cp.hstack([v[1:] - p, np.array([r])])
    problem = cp.Problem(cp.Minimize(a * v[0] - c @ v[1:]), [cp.norm(moved) <= v[0]])
    wide = exact(a) ** 2 - norm**2
    base = -dot(row(c), row(p))
    best, at = ball(base), None
    if wide > 0:
        root = ball(wide).sqrt()
        best = ball(r) * root + ball(base)
        at = np.r_[r * a / float(root), p + r * c / float(root)]

    def feasible(at: list) -> bool:
        step = [s - t for s, t in zip(at[1:], row(p), strict=True)]
        return bool(at[0] >= 0 and dot(step, step) + exact(r) ** 2 <= at[0] ** 2)

    return Conic(
        problem,
        v,
        # At a = |c| the infimum is not attained; it bounds all the same.
        Truth(OPTIMAL if wide >= 0 else UNBOUNDED, best, ball(1e-2) * ball(r * norm)),
        at,
        lambda at: exact(a) * at[0] - dot(row(c), at[1:]),
        feasible,
    )


# -- multipliers without end -----------------------------------------------------------------


def endless(rng: Random) -> Conic:
    """A program with an equality as two inequalities, now and then with curvature."""
    base = opposite(rng)
    P = None
    if rng.random() < 0.3:
        M = rng.integers(-2, 3, (int(rng.integers(1, 3)), base.c.size)).astype(float)
        P = M.T @ M if np.any(M) else None
    return quadratic(rng, base, P)


LINEAR = {
    "contradicting": contradicting,
    "open ended": open_ended,
    "falling": lambda rng: falling(rng)[0],
}
