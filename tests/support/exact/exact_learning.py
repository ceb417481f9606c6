"""A learning problem on the rationals that its floats are: P at any point, and P*, of smooth losses
by Newton's method with 120 digits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, arb_mat, fmpq

import convexml as cml
from support.exact import exact_losses
from support.exact import exact_numbers as num
from support.exact.exact_program import INFEASIBLE, OPTIMAL, Answer, minimise, shifted

if TYPE_CHECKING:
    from support.exact.exact_learning import Learning

STEPS = 400
SMALL = arb(10) ** -60


def smooth_optimum(problem: Learning) -> Answer:
    """P* with l2 or no penalty, or "unattained" where the data are separable."""
    kind = problem.penalty[0]
    assert kind in ("none", "l2")
    lam = num.exact(problem.penalty[1]) if kind == "l2" else num.ZERO
    if recedes(problem, lam):
        return Answer("unattained")
    d, n = problem.d, len(problem.sides)
    # Centred columns: with an intercept the same problem, better conditioned.
    mean = [sum((line[j] for line in problem.rows), num.ZERO) / n for j in range(d)]
    if not problem.intercept:
        mean = [num.ZERO] * d
    centred = [[v - m for v, m in zip(line, mean, strict=True)] for line in problem.rows]
    units = [max([abs(line[j]) for line in centred], default=num.ZERO) or num.ONE for j in range(d)]
    kept = independent([[v / s for v, s in zip(line, units, strict=True)] for line in centred])
    if lam:
        kept = list(range(d))
    Z = [[line[j] / units[j] for j in kept] + [num.ONE] * problem.intercept for line in centred]
    weights = [lam / units[j] ** 2 for j in kept] + [num.ZERO] * problem.intercept
    theta = _newton(problem, Z, weights)
    w = [num.ZERO] * d
    for place, j in enumerate(kept):
        w[j] = _rational(theta[place]) / units[j]
    b = _rational(theta[-1]) - num.dot(mean, w) if problem.intercept else num.ZERO
    return Answer(OPTIMAL, problem.value(w, b), [*w, b])


def recedes(problem: Learning, lam: fmpq) -> bool:
    """Whether P falls for ever along some (w, b); w = 0 where it is penalised."""
    rows: list[num.Row] = []
    falls: list[num.Row] = []
    for line, y in zip(problem.rows, problem.sides, strict=True):
        z = ([*line] if not lam else []) + [num.ONE] * problem.intercept
        z = z + [-v for v in z]
        if problem.loss[0] != "poisson":
            rows.append([y * v for v in z])
            falls.append(rows[-1])
        else:
            rows.append([-v for v in z])
            (rows if y > 0 else falls).append(z if y > 0 else rows[-1])
    if not falls or not falls[0]:
        return False
    total = [sum((line[j] for line in falls), num.ZERO) for j in range(len(falls[0]))]
    zeros = [[num.ZERO] * len(total) for _ in total]
    sides = [num.ZERO] * len(rows) + [num.ONE]
    return minimise(zeros, [num.ZERO] * len(total), [*rows, total], sides).status != INFEASIBLE


def independent(columns: list[num.Row]) -> list[int]:
    """Indices of columns that span all of them together with the column of ones, if centred."""
    kept: list[int] = []
    for j in range(len(columns[0])):
        if num.rank([[line[k] for k in [*kept, j]] for line in columns]) > len(kept):
            kept.append(j)
    return kept


def _newton(problem: Learning, Z: list[num.Row], weights: num.Row) -> list[arb]:
    rows = [[num.ball(v) for v in line] for line in Z]
    start = [num.ball(v) for v in problem.start]
    ridge = [num.ball(v) for v in weights]
    k, c = len(weights), num.ball(problem.c)
    theta = [arb(0)] * k

    def total(at: list[arb]) -> arb:
        value = sum((r * t * t for r, t in zip(ridge, at, strict=True)), arb(0)) / 2
        for line, y, z in zip(rows, problem.sides, start, strict=True):
            z = sum((a * t for a, t in zip(line, at, strict=True)), z)
            value += c * num.ball(exact_losses.smooth_value(problem.loss, y, z.mid()))
        return value.mid()

    current = total(theta)
    for _ in range(STEPS):
        gradient = [r * t for r, t in zip(ridge, theta, strict=True)]
        hessian = [[ridge[i] if i == j else arb(0) for j in range(k)] for i in range(k)]
        for line, y, z in zip(rows, problem.sides, start, strict=True):
            z = sum((a * t for a, t in zip(line, theta, strict=True)), z).mid()
            first, second = (c * v for v in exact_losses.slopes(problem.loss, y, z))
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


UNATTAINED = "unattained"


@dataclass(frozen=True, eq=False)
class Learning:
    """Minimise sum_i c_i l(y_i, x_i.w + b) + Omega(w), c_i = 1/n, or the number that is passed."""

    X: np.ndarray
    y: np.ndarray
    loss: exact_losses.Kind
    penalty: exact_losses.Kind
    intercept: bool = True
    weight: float | None = None
    base: num.Row | None = None
    """Scores that are there already, of each sample."""

    @cached_property
    def posed(self) -> Any:
        """The library's problem."""
        loss, penalty = exact_losses.as_objects(self.loss, self.penalty)
        scale = "mean" if self.weight is None else self.weight
        return cml.LearningProblem(
            self.X, self.y, loss, penalty, fit_intercept=self.intercept, loss_scale=scale
        )

    @cached_property
    def rows(self) -> list[num.Row]:
        """X, exactly."""
        return num.table(self.X)

    @cached_property
    def sides(self) -> num.Row:
        """The targets, exactly."""
        return num.row(self.y)

    @cached_property
    def start(self) -> num.Row:
        """The scores of w = 0, b = 0."""
        return [num.ZERO] * len(self.y) if self.base is None else self.base

    def at_best_intercept(self, w: Any) -> tuple[Any, Any] | None:
        """The infimum of P over b, constraints left out, and the largest P at the floats nearby.

        None where there is no best b, or none is found (scores too far apart).
        """
        scores = [num.dot(line, [num.exact(v) for v in w]) for line in self.rows]
        mean = sum(scores, num.ZERO) / len(scores)
        rest = [z - mean for z in scores]
        if self.loss[0] in exact_losses.SMOOTH and max(abs(z) for z in rest) > 30:
            return None
        none, nothing = ("none",), self.X[:, :0]
        free = Learning(nothing, self.y, self.loss, none, True, self.weight, rest).optimum
        if free.status != OPTIMAL:
            return None
        b = free.x[0] - mean
        floats = [float(b)]
        floats += [float(np.nextafter(floats[0], end)) for end in (-np.inf, np.inf)]
        values = [num.ball(self.value(w, v, constrained=False)) for v in floats]
        best = num.ball(self.value(w, b, constrained=False))
        return best, max(values, key=float)

    @property
    def c(self) -> Any:
        """The factor of each sample's loss."""
        return num.ONE / len(self.y) if self.weight is None else num.exact(self.weight)

    @property
    def d(self) -> int:
        return self.X.shape[1]

    def value(self, w: Any, b: Any = 0.0, constrained: bool = True) -> Any:
        """P(w, b) of floats or rationals, without rounding; inf outside of the constraints."""
        w, (b,) = [num.exact(v) for v in w], [num.exact(v) for v in np.ravel(b)]
        total = exact_losses.penalty_value(self.penalty, w)
        total = num.ZERO if not constrained and isinstance(total, arb) else total
        for line, y, z in zip(self.rows, self.sides, self.start, strict=True):
            part = exact_losses.loss_value(self.loss, y, num.dot(line, w) + b + z)
            if isinstance(part, arb) and not constrained and not part.is_finite():
                continue
            if isinstance(part, arb) or isinstance(total, arb):
                total = num.ball(total) + num.ball(self.c) * num.ball(part)
            else:
                total += self.c * part
        return total

    def margin_missed(self, w: Any, b: Any) -> Any:
        """By how much the worst y_i z_i of a hard margin is below 1."""
        w, (b,) = [num.exact(v) for v in w], [num.exact(v) for v in np.ravel(b)]
        pairs = zip(self.rows, self.sides, strict=True)
        return max([num.ZERO, *(num.ONE - y * (num.dot(line, w) + b) for line, y in pairs)])

    @cached_property
    def null(self) -> Any:
        """P_0, of the null model; inf where that is infeasible."""
        alone = Learning(
            self.X[:, :0], self.y, self.loss, ("none",), self.intercept, self.weight
        ).optimum
        return alone.value if alone.status == OPTIMAL else arb.pos_inf()

    @cached_property
    def optimum(self) -> Answer:
        """P* and a minimiser, or that there is none."""
        if self.loss[0] in exact_losses.SMOOTH:
            return smooth_optimum(self)
        if self.penalty[0] == "l2_ball":
            return self._shortest()
        if self.loss[0] == "squared" and self.penalty[0] in ("none", "l2") and self.base is None:
            return self._normal_equations()
        return self._program()

    def _shortest(self) -> Answer:
        """In a ball: of a constraint on the predictions the shortest w decides."""
        assert self.loss[0] in ("hard_margin", "interpolation")
        free = Learning(self.X, self.y, self.loss, ("l2", 1.0), self.intercept).optimum
        if free.status != OPTIMAL or 2 * free.value > num.exact(self.penalty[1]) ** 2:
            return Answer(INFEASIBLE)
        return Answer(OPTIMAL, num.ZERO, free.x)

    def _normal_equations(self) -> Answer:
        Z = [[*line, num.ONE] if self.intercept else line for line in self.rows]
        k = len(Z[0])
        gram = [
            [self.c * sum((z[i] * z[j] for z in Z), num.ZERO) for j in range(k)] for i in range(k)
        ]
        if self.penalty[0] == "l2":
            for j in range(self.d):
                gram[j][j] += num.exact(self.penalty[1])
        side = [
            self.c * sum((z[i] * y for z, y in zip(Z, self.sides, strict=True)), num.ZERO)
            for i in range(k)
        ]
        x = num.solve_consistent(gram, side)
        assert x is not None
        b = x.pop() if self.intercept else num.ZERO
        value = exact_losses.penalty_value(self.penalty, x)
        for line, y in zip(self.rows, self.sides, strict=True):
            value += self.c * exact_losses.loss_value(self.loss, y, num.dot(line, x) + b)
        return Answer(OPTIMAL, value, [*x, b])

    def _program(self) -> Answer:
        """As a quadratic program in w+, w-, b and what the loss needs."""
        d, n, kind = self.d, len(self.y), self.penalty[0]
        extra = {"huber": 2 * n, "squared": 0, "hard_margin": 0, "interpolation": 0}
        size = 2 * d + 1 + extra.get(self.loss[0], n)
        Q = [[num.ZERO] * size for _ in range(size)]
        cost, A, b = [num.ZERO] * size, [], []
        base = num.ZERO

        def scores(line: num.Row) -> num.Row:
            return [*line, *(-v for v in line), num.ONE if self.intercept else num.ZERO]

        def require(terms: num.Row, places: dict[int, Any], side: Any) -> None:
            full = [*terms, *[num.ZERO] * (size - len(terms))]
            for place, value in places.items():
                full[place] += value
            A.append(full)
            b.append(side)

        ridge, l1 = num.ZERO, num.ZERO
        if kind == "l2":
            ridge = num.exact(self.penalty[1])
        elif kind == "l1":
            l1 = num.exact(self.penalty[1])
        elif kind == "elastic_net":
            l1 = num.exact(self.penalty[1]) * num.exact(self.penalty[2])
            ridge = num.exact(self.penalty[1]) - l1
        for j in range(d):
            cost[j] = cost[d + j] = l1
            Q[j][j] = Q[d + j][d + j] = ridge
            Q[j][d + j] = Q[d + j][j] = -ridge
            if kind == "box":
                one = {j: num.ONE, d + j: -num.ONE}
                require([], one, num.exact(self.penalty[1]))
                require([], {k: -v for k, v in one.items()}, -num.exact(self.penalty[2]))
            if kind == "nonnegative":
                require([], {d + j: -num.ONE}, num.ZERO)
        if kind == "l1_ball":
            require([-num.ONE] * (2 * d), {}, -num.exact(self.penalty[1]))
        data = zip(self.rows, self.sides, self.start, strict=True)
        for i, (line, y, z0) in enumerate(data):
            z, own = scores(line), 2 * d + 1 + i
            if self.loss[0] == "squared":
                for p, s in enumerate(z):
                    if s:
                        cost[p] -= self.c * s * (y - z0)
                        for q, t in enumerate(z):
                            Q[p][q] += self.c * s * t
                base += num.HALF * self.c * (y - z0) ** 2
            elif self.loss[0] == "hard_margin":
                require([y * v for v in z], {}, num.ONE - y * z0)
            elif self.loss[0] == "interpolation":
                require(z, {}, y - z0)
                require([-v for v in z], {}, z0 - y)
            elif self.loss[0] == "huber":
                Q[own][own], cost[own + n] = self.c, self.c * num.exact(self.loss[1])
                require([-v for v in z], {own: num.ONE, own + n: num.ONE}, z0 - y)
                require(z, {own: num.ONE, own + n: num.ONE}, y - z0)
            else:
                if self.loss[0] in exact_losses.LINES:
                    cost[own] = self.c
                else:
                    Q[own][own] = self.c
                for slope, offset in exact_losses.lines(self.loss, y):
                    require([-slope * v for v in z], {own: num.ONE}, offset + slope * z0)
        free = [2 * d] if self.intercept else []
        found = shifted(Q, cost, A, b, [num.ZERO] * size, free)
        assert found.status in (OPTIMAL, INFEASIBLE)
        if found.status == OPTIMAL:
            x = found.x
            found.value += base
            found.x = [*(x[j] - x[d + j] for j in range(d)), x[2 * d] if free else num.ZERO]
        return found
