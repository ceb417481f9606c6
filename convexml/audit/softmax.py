"""The certificate of multinomial logistic regression, for predictions Z of shape (n, K).

    P(W, b) = sum_i c_i (log sum_k e^{z_ik} - z_{i y_i}) + Omega(W),  Z = X W + 1 b'
    D(U)    = -sum_ik c_i p_ik log p_ik - Omega*(-X'U),  p_i = u_i / c_i + e_{y_i}

with p_i in the simplex, and 1'U = 0 when b is free. The gap P - D is again a sum of Fenchel-Young
terms. U is built at a point that Newton's method reaches from the fitted one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from ..certificates import Certificate, Condition, Verdict
from ..certificates.certificate import relative_gap, worst
from ..design import Design, as_design
from ..numerics import ROUNDING, Array
from ..penalties import Penalty
from .fitted import Fitted
from .softmax_newton import polish

Point = tuple[Array, Array]
"""W of shape (d, K) and b of shape (K,)."""


@dataclass(frozen=True)
class SoftmaxPart:
    """The multinomial problem, and the fitted (W, b).

    Attributes
    ----------
    design : Design
        X, shape (n, d).
    onehot : array, shape (n, K)
        Row i is e_{y_i}.
    penalty : Penalty
        Separable, of the entries of W row by row.
    c : array, shape (n,)
        Coefficients > 0.
    fit_intercept : bool
    w : array, shape (d, K)
    b : array, shape (K,)
    """

    design: Design
    onehot: Array
    penalty: Penalty
    c: Array
    fit_intercept: bool
    w: Array
    b: Array
    name: str = ""

    def predict(self, point: Point) -> Array:
        """Z, shape (n, K)."""
        return self.design.matvec(point[0]) + point[1]

    def value_at(self, point: Point) -> float:
        """P(W, b)."""
        Z = self.predict(point)
        at_label = np.sum(self.onehot * Z, axis=1)
        loss = float(self.c @ (logsumexp(Z, axis=1) - at_label))
        return loss + self.penalty.value(point[0].ravel())

    @property
    def value(self) -> float:
        """The objective at the fitted point."""
        return self.value_at((self.w, self.b))

    def derivative(self, point: Point) -> Array:
        """U with rows c_i (softmax(z_i) - e_{y_i})."""
        return self.c[:, None] * (softmax(self.predict(point), axis=1) - self.onehot)

    @cached_property
    def null_value(self) -> float:
        """P at W = 0 with the best b."""
        K = self.onehot.shape[1]
        if not self.fit_intercept:
            return float(self.c.sum()) * np.log(K)
        share = self.c @ self.onehot / self.c.sum()
        return -float(self.c.sum() * np.sum(xlogy(share, share)))

    # -- dual --------------------------------------------------------------------------------

    def dual(self, U: Array) -> float:
        """D(U); -inf where U is infeasible beyond rounding."""
        P = U / self.c[:, None] + self.onehot
        total = np.abs(U).sum(axis=0)
        if np.any(P < 0.0) or np.any(np.abs(P.sum(axis=1) - 1.0) > ROUNDING):
            return -np.inf
        if self.fit_intercept and np.any(np.abs(U.sum(axis=0)) > ROUNDING * total):
            return -np.inf
        slack = ROUNDING * self.design.abs_rmatvec(U).ravel()
        conjugate = self.penalty.conjugate(-self.design.rmatvec(U).ravel(), slack)
        return -float(self.c @ np.sum(xlogy(P, P), axis=1)) - conjugate

    def repaired(self, U: Array) -> Array:
        """U with 1'U = 0, X'U = 0 on unpenalised rows, p in the simplex, and in dom Omega*.

        The columns of the correction are in the span of [1, those features], weighted by c, so
        that the rows keep their sum 0.
        """
        free = np.flatnonzero(self.penalty.free(self.w.size).reshape(self.w.shape).all(axis=1))
        columns = [np.ones((len(U), 1))] if self.fit_intercept else []
        columns += [self.design.columns(free).dense()] if free.size else []
        if columns:
            E = np.hstack(columns)
            size = np.linalg.norm(E, axis=0)
            E = E / np.where(size > 0.0, size, 1.0)
            root = np.sqrt(self.c)[:, None]
            for _ in range(3):
                t = np.linalg.lstsq((root * E).T @ (root * E), E.T @ U, rcond=1e-14)[0]
                U = U - self.c[:, None] * (E @ t)
        # p = U / c + onehot >= 0 along the segment from U = 0, which is feasible.
        P = U / self.c[:, None] + self.onehot
        least = float(P.min())
        if least < 0.0:
            start = self.onehot.mean(axis=0)
            inner = self.c[:, None] * (start - self.onehot)
            inner = inner - self.c[:, None] * (inner.sum(axis=0) / self.c.sum())
            room = float((inner / self.c[:, None] + self.onehot).min())
            if free.size or room <= 0.0:
                return np.zeros_like(U)
            share = min(1.0, -2.0 * least / (room - least))
            U = (1.0 - share) * U + share * inner
        V = -self.design.rmatvec(U).ravel()
        slack = ROUNDING * self.design.abs_rmatvec(U).ravel()
        return self.penalty.domain_scale(V, slack) * U

    # -- verdict -----------------------------------------------------------------------------

    def certify(self, tol: float) -> Certificate:
        """Judge (W, b)."""
        fitted = (self.w, self.b)
        polished = polish(self, fitted)
        guesses = [self.repaired(self.derivative(point)) for point in (fitted, polished)]
        guesses.append(np.zeros_like(guesses[0]))
        dual, U = max(((self.dual(U), U) for U in guesses), key=lambda found: found[0])
        primal, better = self.value, self.value_at(polished)
        gap = primal - dual
        gap = 0.0 if -ROUNDING * (abs(primal) + abs(dual)) <= gap < 0.0 else gap
        relative = relative_gap(gap, primal, dual, self.null_value)
        witness, reason = None, ""
        if relative <= tol:
            verdict = Verdict.CERTIFIED
        elif primal - better > tol * max(abs(primal), abs(dual), 1e-6 * self.null_value):
            verdict = Verdict.REFUTED
            witness = {"w": polished[0], "b": polished[1], "objective": better}
            reason = f"A feasible point with objective {better:.10g} is better."
        else:
            verdict = Verdict.UNDECIDED
            reason = f"The relative gap {relative:.3g} exceeds tol {tol:g}."
        return Certificate(
            claim="optimal",
            primal_objective=primal,
            dual_objective=dual,
            gap=gap,
            relative_gap=relative,
            conditions=self._conditions(U),
            verdict=verdict,
            tol=tol,
            reason=reason,
            witness=witness,
            dual={"u": U},
        )

    def _conditions(self, U: Array) -> tuple[Condition, ...]:
        fitted = (self.w, self.b)
        w, V = self.w.ravel(), -self.design.rmatvec(U).ravel()
        move = w - self.penalty.prox(w + V, 1.0)
        P = U / self.c[:, None] + self.onehot
        rows = [
            worst("-X'U in dOmega(W)", "stationarity", move),
            worst(
                "p_i = softmax(z_i)",
                "complementary_slackness",
                P - softmax(self.predict(fitted), axis=1),
            ),
            worst("p_i in the simplex", "dual_feasibility", np.maximum(-P, 0.0)),
        ]
        if self.fit_intercept:
            size = np.abs(U).sum(axis=0)
            rows.append(worst("1'U = 0", "dual_feasibility", U.sum(axis=0), size))
        return tuple(rows)


def softmax_part(fitted: Fitted, penalty: Penalty, c: Array) -> SoftmaxPart:
    """Pose the multinomial problem of a fitted estimator with ``coef_`` (K, d).

    Raises
    ------
    InputError
        If the coefficients do not fit X, or are not finite.
    """
    W = np.asarray(fitted.estimator.coef_, dtype=np.float64).T
    K = len(fitted.estimator.classes_)
    b = np.array(np.broadcast_to(fitted.intercepts, (K,)))
    if W.shape != (fitted.X.shape[1], K):
        raise fitted.refuse(f"coef_ of shape {W.T.shape} does not fit X {fitted.X.shape}.")
    if not (np.all(np.isfinite(W)) and np.all(np.isfinite(b))):
        raise fitted.refuse("coef_ or intercept_ contains NaN or infinite entries.")
    kept = np.flatnonzero(c > 0.0)
    X: Any = fitted.X[kept]
    onehot = np.eye(K)[fitted.labels()[kept]]
    intercept = bool(fitted.estimator.fit_intercept)
    return SoftmaxPart(as_design(X), onehot, penalty, c[kept], intercept, W, b)
