"""HuberRegressor: coefficients and scale are estimated together, in one convex problem.

    sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |w|_2^2,  r = X w + b - y,  sigma > 0
    H(t) = t^2 where |t| <= epsilon, 2 epsilon |t| - epsilon^2 beyond

It is jointly convex in (w, b, sigma), as H(r / sigma) sigma is a perspective, and the certificate
is that of the joint problem: (w, b, sigma) is compared with every other triple. The dual is

    maximise -u'y - |X'u|_2^2 / (4 alpha)
    subject to 1'u = 0, |u_i| <= 2 epsilon s_i, sum_i u_i^2 / (4 s_i) <= sum_i s_i

and the multiplier of its last constraint is sigma. For a fixed sigma the problem is a Huber
regression with delta = epsilon sigma and c_i = 2 s_i / sigma, plus the constant sigma sum_i s_i.
For sigma -> 0 it is the least absolute deviations, c_i = 2 epsilon s_i: the dual without its last
constraint. Where a dual point of these meets that constraint, no sigma > 0 is best, the infimum is
theirs, and a sigma that is nothing beside the residuals is as good as any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ....certificates import Certificate, Condition, certify_objective
from ....certificates.judge import bounded, judge, refuted
from ....certificates.learning.points.dual_repair import repair_dual
from ....certificates.scale import learning_scale
from ....design import as_design
from ....losses import Absolute, Huber
from ....numerics import EPS, Array
from ....objective import Objective
from ....penalties import L2
from ..fitted import Fitted

NEWTON_STEPS = 60


def huber_regressor(fitted: Fitted) -> Iterator[HuberPart]:
    """HuberRegressor with its ``scale_``."""
    estimator = fitted.estimator
    y, w, b = fitted.single()
    sigma = float(estimator.scale_)
    if not (sigma > 0.0 and np.all(np.isfinite(np.append(w, [b, sigma])))):
        raise fitted.refuse("coef_, intercept_ and scale_ must be finite, and scale_ > 0.")
    kept = fitted.s > 0.0
    yield HuberPart(
        fitted.X[kept], y[kept], fitted.s[kept], float(estimator.epsilon),
        float(estimator.alpha), bool(estimator.fit_intercept), w, b, sigma,
        features=fitted.features,
    )  # fmt: skip


@dataclass(frozen=True)
class HuberPart:
    """The joint problem in (w, b, sigma), and the point that the estimator holds."""

    X: object
    y: Array
    s: Array
    epsilon: float
    alpha: float
    fit_intercept: bool
    w: Array
    b: float
    sigma: float
    name: str = ""
    features: tuple[str, ...] = ()

    def at_scale(self, sigma: float) -> Objective:
        """The problem in (w, b) for a fixed sigma, without its constant."""
        loss, c = Huber(self.epsilon * sigma), 2.0 * self.s / sigma
        penalty = L2(2.0 * self.alpha)
        return Objective(
            as_design(self.X), self.y, loss, penalty, c, self.fit_intercept, self.features
        )

    def without_scale(self) -> Objective:
        """The limit for sigma -> 0."""
        c, penalty = 2.0 * self.epsilon * self.s, L2(2.0 * self.alpha)
        return Objective(
            as_design(self.X), self.y, Absolute(), penalty, c, self.fit_intercept, self.features
        )

    def excess(self, u: Array) -> float:
        """What sum_i u_i^2 / (4 s_i) is above sum_i s_i: minus the slope in sigma."""
        return float(np.sum(u**2 / (4.0 * self.s))) - float(self.s.sum())

    def value_at(self, w: Array, b: float, sigma: float) -> float:
        """The joint objective; inf where sigma <= 0."""
        if sigma <= 0.0:
            return np.inf
        return self.at_scale(sigma).primal(w, b) + sigma * float(self.s.sum())

    @property
    def value(self) -> float:
        """The joint objective at the fitted point."""
        return self.value_at(self.w, self.b, self.sigma)

    def dual(self, u: Array) -> tuple[float, Array]:
        """The best joint dual value on the ray of u, and the point where it is taken."""
        square, total = float(np.sum(u**2 / (4.0 * self.s))), float(self.s.sum())
        off = (u.size + 8) * EPS  # what the two sums may be off by, each
        if square > total * (1.0 - 2.0 * off):
            u = u * np.sqrt(total / square) * (1.0 - 2.0 * off)
        # For a fixed sigma, D(u) = -u'y - sigma sum u^2 / (4 s) - |X'u|^2 / (4 alpha).
        square = float(np.sum(u**2 / (4.0 * self.s)))
        return self.at_scale(self.sigma).dual(u) + self.sigma * square, u

    def certify(self, tol: float) -> Certificate:
        """Judge (w, b, sigma) against all triples."""
        fixed = self.at_scale(self.sigma)
        base = certify_objective(fixed, self.w, self.b, tol=tol, refute=False)
        w, b, sigma = self._polished()
        near = self.at_scale(sigma)
        guesses = [
            np.asarray(base.dual["u"]),
            repair_dual(near, near.loss_derivative(near.predict(w, b))).u,
        ]
        dual, u = max((self.dual(guess) for guess in guesses), key=lambda found: found[0])
        primal, constant = self.value, self.sigma * float(self.s.sum())
        room = tol * learning_scale(primal, dual, fixed.null_value + constant)
        if not primal - dual + base.rounding <= room:
            limit = certify_objective(self.without_scale(), w, b, tol=tol, refute=False)
            dual, u = max((dual, u), self.dual(limit.dual["u"]), key=lambda found: found[0])
        certificate = judge(
            bounded(
                primal,
                dual,
                (*base.conditions, self._scale_condition()),
                tol,
                scale=learning_scale(primal, dual, fixed.null_value + constant),
                rounding=base.rounding,
                dual={"u": u},
                dual_source="constructed",
            )
        )
        better = self.value_at(w, b, sigma)
        witness = {"w": w, "b": b, "sigma": sigma, "objective": better}
        return refuted(certificate, better, witness, base.rounding)

    def _scale_condition(self) -> Condition:
        """The derivative of the objective in sigma, relative to sum_i s_i."""
        fixed = self.at_scale(self.sigma)
        excess = self.excess(fixed.loss_derivative(fixed.predict(self.w, self.b)))
        total = float(self.s.sum())
        return Condition("sum u_i^2/(4 s_i) = sum s_i", "stationarity", abs(excess), total)

    def _polished(self) -> tuple[Array, float, float]:
        """Newton's method on the joint problem, from the fitted point, to build a dual point."""
        w, b, sigma, value = self.w, self.b, self.sigma, self.value
        for _ in range(NEWTON_STEPS):
            dw, db, ds = self._newton_step(w, b, sigma)
            size = 1.0
            while size > 1e-9:
                trial = (w + size * dw, b + size * db, sigma + size * ds)
                reached = self.value_at(*trial)
                if reached < value:
                    break
                size *= 0.5
            else:
                return w, b, sigma
            (w, b, sigma), value = trial, reached
        return w, b, sigma

    def _newton_step(self, w: Array, b: float, sigma: float) -> tuple[Array, float, float]:
        fixed = self.at_scale(sigma)
        design, d = fixed.design, fixed.d
        z = fixed.predict(w, b)
        r = z - self.y
        u = fixed.loss_derivative(z)
        h = fixed.c * fixed.loss.curvature(self.y, z)
        cross = -h * r / sigma  # d^2 / dz dsigma, on the samples within epsilon sigma
        matrix, right = np.zeros((d + 2, d + 2)), np.zeros(d + 2)
        matrix[:d, :d] = design.gram(h) + 2.0 * self.alpha * np.eye(d)
        matrix[:d, d] = matrix[d, :d] = design.rmatvec(h)
        matrix[:d, -1] = matrix[-1, :d] = design.rmatvec(cross)
        matrix[d, d], matrix[-1, -1] = h.sum(), float(np.sum(h * r**2)) / sigma**2
        matrix[d, -1] = matrix[-1, d] = cross.sum()
        right[:d] = -(design.rmatvec(u) + 2.0 * self.alpha * w)
        right[d] = -u.sum()
        right[-1] = self.excess(u)
        free = np.ones(d + 2, dtype=bool)
        free[d] = self.fit_intercept
        step = np.zeros(d + 2)
        if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(right))):
            return step[:d], 0.0, 0.0
        size = np.sqrt(np.maximum(np.diag(matrix)[free], 1e-300))
        scaled = matrix[np.ix_(free, free)] / size[:, None] / size
        step[free] = linalg.lstsq(scaled, right[free] / size, cond=1e-13)[0] / size
        return step[:d], float(step[d]), float(step[-1])
