"""Smooth losses: Newton's method with 120 digits, until the decrement is below 1e-60."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import arb, arb_mat, fmpq

from support.exact.exact_losses import slopes, smooth_value
from support.exact.exact_numbers import ONE, ZERO, Row, ball, dot, exact, rank
from support.exact.exact_program import INFEASIBLE, OPTIMAL, Answer, minimise

if TYPE_CHECKING:
    from support.exact.exact_learning import Learning

STEPS = 400
SMALL = arb(10) ** -60


def smooth_optimum(problem: Learning) -> Answer:
    """P* with l2 or no penalty, or "unattained" where the data are separable."""
    kind = problem.penalty[0]
    assert kind in ("none", "l2")
    lam = exact(problem.penalty[1]) if kind == "l2" else ZERO
    if recedes(problem, lam):
        return Answer("unattained")
    d, n = problem.d, len(problem.sides)
    # Centred columns: with an intercept the same problem, better conditioned.
    mean = [sum((line[j] for line in problem.rows), ZERO) / n for j in range(d)]
    if not problem.intercept:
        mean = [ZERO] * d
    centred = [[v - m for v, m in zip(line, mean, strict=True)] for line in problem.rows]
    units = [max([abs(line[j]) for line in centred], default=ZERO) or ONE for j in range(d)]
    kept = independent([[v / s for v, s in zip(line, units, strict=True)] for line in centred])
    if lam:
        kept = list(range(d))
    Z = [[line[j] / units[j] for j in kept] + [ONE] * problem.intercept for line in centred]
    weights = [lam / units[j] ** 2 for j in kept] + [ZERO] * problem.intercept
    theta = _newton(problem, Z, weights)
    w = [ZERO] * d
    for place, j in enumerate(kept):
        w[j] = _rational(theta[place]) / units[j]
    b = _rational(theta[-1]) - dot(mean, w) if problem.intercept else ZERO
    return Answer(OPTIMAL, problem.value(w, b), [*w, b])


def recedes(problem: Learning, lam: fmpq) -> bool:
    """Whether P falls for ever along some (w, b); w = 0 where it is penalised."""
    rows: list[Row] = []
    falls: list[Row] = []
    for line, y in zip(problem.rows, problem.sides, strict=True):
        z = ([*line] if not lam else []) + [ONE] * problem.intercept
        z = z + [-v for v in z]
        if problem.loss[0] != "poisson":
            rows.append([y * v for v in z])
            falls.append(rows[-1])
        else:
            rows.append([-v for v in z])
            (rows if y > 0 else falls).append(z if y > 0 else rows[-1])
    if not falls or not falls[0]:
        return False
    total = [sum((line[j] for line in falls), ZERO) for j in range(len(falls[0]))]
    zeros = [[ZERO] * len(total) for _ in total]
    sides = [ZERO] * len(rows) + [ONE]
    return minimise(zeros, [ZERO] * len(total), [*rows, total], sides).status != INFEASIBLE


def independent(columns: list[Row]) -> list[int]:
    """Indices of columns that span all of them together with the column of ones, if centred."""
    kept: list[int] = []
    for j in range(len(columns[0])):
        if rank([[line[k] for k in [*kept, j]] for line in columns]) > len(kept):
            kept.append(j)
    return kept


def _newton(problem: Learning, Z: list[Row], weights: Row) -> list[arb]:
    rows = [[ball(v) for v in line] for line in Z]
    start = [ball(v) for v in problem.start]
    ridge = [ball(v) for v in weights]
    k, c = len(weights), ball(problem.c)
    theta = [arb(0)] * k

    def total(at: list[arb]) -> arb:
        value = sum((r * t * t for r, t in zip(ridge, at, strict=True)), arb(0)) / 2
        for line, y, z in zip(rows, problem.sides, start, strict=True):
            z = sum((a * t for a, t in zip(line, at, strict=True)), z)
            value += c * ball(smooth_value(problem.loss, y, z.mid()))
        return value.mid()

    current = total(theta)
    for _ in range(STEPS):
        gradient = [r * t for r, t in zip(ridge, theta, strict=True)]
        hessian = [[ridge[i] if i == j else arb(0) for j in range(k)] for i in range(k)]
        for line, y, z in zip(rows, problem.sides, start, strict=True):
            z = sum((a * t for a, t in zip(line, theta, strict=True)), z).mid()
            first, second = (c * v for v in slopes(problem.loss, y, z))
            for i in range(k):
                gradient[i] += first * line[i]
                for j in range(k):
                    hessian[i][j] += second * line[i] * line[j]
        if k == 0:
            return theta
        move = arb_mat(hessian).solve(arb_mat([[g] for g in gradient]))
        step = [move[i, 0].mid() for i in range(k)]
        decrement = sum((s * g for s, g in zip(step, gradient, strict=True)), arb(0)).mid()
        if decrement <= SMALL * (1 + abs(current)) * SMALL:
            return theta
        share = arb(1)
        while True:
            trial = [(t - share * s).mid() for t, s in zip(theta, step, strict=True)]
            value = total(trial)
            # A decrement this small is below the digits of the value: Newton's own step.
            if decrement < SMALL or value <= current - share * decrement / 10:
                break
            share /= 2
        theta, current = trial, value
    raise AssertionError("Newton's method did not converge")


def _rational(x: arb) -> fmpq:
    mantissa, exponent = x.mid().man_exp()
    return fmpq(mantissa) * fmpq(2) ** int(exponent)
