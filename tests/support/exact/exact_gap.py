"""P and D of a learning problem without rounding: rationals, and balls of 120 digits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

import convexml as cml
from convexml.losses import Loss
from convexml.penalties import Penalty
from convexml.problem import Objective
from support.exact.exact_losses import as_objects, loss_value, penalty_value
from support.exact.exact_numbers import HALF, ONE, ZERO, Row, ball, dot, exact, row, table

Kind = tuple[Any, ...]


def conjugate(loss: Kind, y: Any, v: Any) -> Any:
    """l*(y, v): rational, a ball, or inf, from the textbook."""
    match loss[0]:
        case "squared":
            return HALF * v * v + v * y
        case "huber":
            return HALF * v * v + v * y if abs(v) <= exact(loss[1]) else arb.pos_inf()
        case "absolute":
            return v * y if abs(v) <= 1 else arb.pos_inf()
        case "pinball":
            inside = -exact(loss[1]) <= v <= ONE - exact(loss[1])
            return v * y if inside else arb.pos_inf()
        case "epsilon_insensitive":
            return v * y + exact(loss[1]) * abs(v) if abs(v) <= 1 else arb.pos_inf()
        case "squared_epsilon_insensitive":
            return v * y + exact(loss[1]) * abs(v) + HALF * v * v
        case "hinge":
            return y * v if -1 <= y * v <= 0 else arb.pos_inf()
        case "squared_hinge":
            return y * v + HALF * v * v if y * v <= 0 else arb.pos_inf()
        case "hard_margin":
            return y * v if y * v <= 0 else arb.pos_inf()
        case "logistic":
            p = -y * v
            return entropy(p) + entropy(ONE - p) if 0 <= p <= 1 else arb.pos_inf()
        case "exponential":
            p = -y * v
            return entropy(p) - ball(p) if p >= 0 else arb.pos_inf()
        case "poisson":
            s = v + y
            return entropy(s) - ball(s) - entropy(y) + ball(y) if s >= 0 else arb.pos_inf()
        case "linex":
            return entropy(ONE - v) + ball(v + y * v) if v <= 1 else arb.pos_inf()
    raise LookupError(loss)


def entropy(p: Any) -> arb:
    """p log p, 0 at 0."""
    return ball(p) * ball(p).log() if p > 0 else arb(0)


def simplex_conjugate(y: int, v: Row) -> arb:
    """l*(y, v) of the softmax loss: the entropy of v + e_y, inf outside the simplex."""
    p = [a + (ONE if k == y else ZERO) for k, a in enumerate(v)]
    if sum(p, ZERO) != 1 or any(a < 0 for a in p):
        return arb.pos_inf()
    return sum((entropy(a) for a in p), arb(0))


def softmax_value(y: int, z: Row) -> arb:
    """l(y, z) = log sum_k exp(z_k - z_y)."""
    others = (ball(a) - ball(z[y]) for k, a in enumerate(z) if k != y)
    return sum((a.exp() for a in others), arb(0)).log1p()


@dataclass(frozen=True, eq=False)
class Case:
    """A problem in floats, and its P and D without rounding.

    ``loss`` and ``penalty`` as in ``exact_losses``; ("group", level, groups, weights of groups).
    """

    X: np.ndarray
    y: np.ndarray
    c: np.ndarray
    loss: Kind
    penalty: Kind
    intercept: bool = True

    @cached_property
    def parts(self) -> tuple[Loss, Penalty]:
        """The library's loss and penalty."""
        return as_objects(self.loss, self.penalty)

    @cached_property
    def posed(self) -> cml.LearningProblem:
        """The library's problem."""
        return cml.LearningProblem(
            self.X,
            self.y,
            *self.parts,
            fit_intercept=self.intercept,
            sample_weight=self.c,
            loss_scale="sum",
        )

    @property
    def objective(self) -> Objective:
        return self.posed.objective_parts

    @property
    def classes(self) -> int:
        """K, 0 where predictions are numbers."""
        return len(np.unique(self.y)) if self.loss[0] == "softmax" else 0

    def scores(self, w: Any, b: Any) -> list[Any]:
        """The predictions, exactly: rationals, or rows of K."""
        columns = [row(a) for a in np.reshape(np.asarray(w, dtype=float), (self.d, -1)).T]
        shifts = row(b) * (1 if np.ndim(b) else len(columns))
        found = [
            [dot(line, column) + shift for column, shift in zip(columns, shifts, strict=True)]
            for line in table(self.X)
        ]
        return found if self.classes else [line[0] for line in found]

    @property
    def d(self) -> int:
        return self.X.shape[1]

    def primal(self, w: Any, b: Any) -> arb:
        """P(w, b); of a hard margin that of the smallest multiple that has it."""
        scores, total, w = self.scores(w, b), arb(0), row(w)
        if self.loss[0] == "hard_margin":
            margin = min(y * z for y, z in zip(row(self.y), scores, strict=True))
            return self.omega([v / min(margin, ONE) for v in w]) if margin > 0 else arb.pos_inf()
        for z, y, c in zip(scores, self.y.tolist(), row(self.c), strict=True):
            total += ball(c) * self._loss(y, z)
        return total + self.omega(w)

    def _loss(self, y: float, z: Any) -> arb:
        if self.classes:
            return softmax_value(int(y), z)
        return ball(loss_value(self.loss, exact(y), z))

    def omega(self, w: Row) -> arb:
        """Omega(w)."""
        if self.penalty[0] != "group":
            return ball(penalty_value(self.penalty, w))
        sizes = [ball(size).sqrt() for size in self._squares(w)]
        return ball(exact(self.penalty[1])) * sum(
            (ball(exact(s)) * size for s, size in zip(self.penalty[3], sizes, strict=True)), arb(0)
        )

    def _squares(self, v: Row) -> Row:
        labels = np.unique(self.penalty[2])
        return [
            sum((a * a for a, g in zip(v, self.penalty[2], strict=True) if g == label), ZERO)
            for label in labels
        ]

    def dual(self, u: Any) -> arb:
        """D(u), -inf where u misses any constraint by anything; u in floats or rationals."""
        u = [exact(a) for a in u] if isinstance(u, list) else row(u)
        K = len(u) // len(self.y)
        lines = [u[i : i + K] for i in range(0, len(u), K)]
        columns = list(zip(*lines, strict=True))
        if self.intercept and any(sum(column, ZERO) != 0 for column in columns):
            return arb.neg_inf()
        total = arb(0)
        for line, y, c in zip(lines, self.y.tolist(), row(self.c), strict=True):
            slopes = [a / c for a in line]
            found = (
                simplex_conjugate(int(y), slopes)
                if self.classes
                else conjugate(self.loss, exact(y), slopes[0])
            )
            total -= ball(c) * ball(found)
        features = list(zip(*table(self.X), strict=True))
        v = [-dot(feature, column) for feature in features for column in columns]
        return total - ball(self.of_columns(v))

    def of_columns(self, v: Row) -> Any:
        """Omega*(v)."""
        match self.penalty[0]:
            case "l2":
                return dot(v, v) / (2 * exact(self.penalty[1]))
            case "l1":
                inside = all(abs(x) <= exact(self.penalty[1]) for x in v)
                return ZERO if inside else arb.pos_inf()
            case "elastic_net":
                lam, share = exact(self.penalty[1]), exact(self.penalty[2])
                over = [max(abs(x) - lam * share, ZERO) for x in v]
                return dot(over, over) / (2 * lam * (ONE - share))
            case "group":
                levels = [(exact(self.penalty[1]) * exact(s)) ** 2 for s in self.penalty[3]]
                sizes = self._squares(v)
                met = all(size <= level for size, level in zip(sizes, levels, strict=True))
                return ZERO if met else arb.pos_inf()
        raise LookupError(self.penalty)
