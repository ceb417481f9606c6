"""GraphicalLasso: an inverse covariance with zeros.

    -log det Theta + tr(S Theta) + alpha sum_{i != j} |Theta_ij|

Theta is ``precision_``; S the covariance of X with 1/n, about the mean unless ``assume_centered``,
or X itself where ``covariance="precomputed"``. The dual is

    maximise log det W + d  subject to  W_jj = S_jj, |W_ij - S_ij| <= alpha

and ``covariance_`` is a guess of W, which must be Theta^-1 as closely as Theta is judged: within
tol for a feature in tr(Theta W) - log det(Theta W) - d >= 0, which is 0 there alone. The gap is
measured on d: in nats for a feature.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ....certificates import Certificate, Condition, Verdict
from ....certificates.judge import bounded, judge, refuted
from ....conditions import products, worst
from ....numerics import Array, gamma, soft_threshold
from ..fitted import Fitted

STEPS = 500
"""Proximal gradient steps towards a better point."""
UNPROVED = "the account of rounding of determinants is of first order only"


def graphical_lasso(fitted: Fitted) -> Iterator[PrecisionPart]:
    """GraphicalLasso with its ``precision_``."""
    fitted.refuse_sparse()
    estimator, X = fitted.estimator, np.asarray(fitted.X)
    if np.any(fitted.s != fitted.s[0]):
        raise fitted.refuse("it takes no sample_weight.")
    ready = getattr(estimator, "covariance", None) == "precomputed"
    if ready:
        S, sizes = X, np.abs(X)
    else:
        R = X if estimator.assume_centered else X - X.mean(axis=0)
        S, sizes = R.T @ R / fitted.n, np.abs(R).T @ np.abs(R) / fitted.n
    Theta, W = (np.asarray(each) for each in (estimator.precision_, estimator.covariance_))
    if any(part.shape != S.shape or not np.all(np.isfinite(part)) for part in (Theta, W)):
        raise fitted.refuse(f"precision_ and covariance_ must be finite, of shape {S.shape}.")
    centre = X.mean(axis=0)
    if ready or estimator.assume_centered:
        centre = np.zeros(len(S))
    held = np.asarray(estimator.location_)
    off = 4.0 * (fitted.n + 16) * np.finfo(held.dtype).eps * np.max(np.abs(X), axis=0)
    if held.shape != centre.shape or not np.all(np.abs(held - centre) <= off):
        raise fitted.refuse(
            "its location_ is not the mean of X; pass the data that it was fitted on."
        )
    noise = gamma(fitted.n + 8) * sizes
    yield PrecisionPart(0.5 * (S + S.T), noise, float(estimator.alpha), Theta, W)


@dataclass(frozen=True)
class PrecisionPart:
    """The problem in Theta, and the pair (Theta, W) that the estimator holds; S is off by noise."""

    S: Array
    noise: Array
    alpha: float
    Theta: Array
    W: Array
    name: str = ""

    def value_at(self, Theta: Array) -> float:
        """The objective; inf where Theta is not positive definite."""
        return self._linear(Theta) - log_det(Theta)

    def _linear(self, Theta: Array) -> float:
        return float(np.sum(self.S * Theta) + self.alpha * np.abs(off_diagonal(Theta)).sum())

    @property
    def value(self) -> float:
        """The objective at the fitted point."""
        return self.value_at(0.5 * (self.Theta + self.Theta.T))

    def feasible(self, W: Array) -> Array:
        """The nearest W of the dual's box."""
        W = 0.5 * (W + W.T)
        return self.S + off_diagonal(np.clip(W - self.S, -self.alpha, self.alpha))

    def certify(self, tol: float) -> Certificate:
        """Judge Theta, and ``covariance_`` as its inverse."""
        found = self._of_precision(tol)
        if found.verdict is not Verdict.CERTIFIED:
            return found
        row = worst("covariance_ = Theta^-1", "primal_feasibility", self._apart(), len(self.S))
        return judge(found.but(conditions=(*found.conditions, row)))

    def _of_precision(self, tol: float) -> Certificate:
        """Judge Theta by W, or by the inverse of a better point."""
        Theta, d = 0.5 * (self.Theta + self.Theta.T), len(self.S)
        found = self._judged(Theta, self.feasible(self.W), tol)
        if found.verdict is Verdict.CERTIFIED or not np.isfinite(self.value):
            return found
        better = self._improved(Theta)
        W = self.feasible(np.linalg.inv(better))
        if log_det(W) + d > found.dual_objective:
            found = self._judged(Theta, W, tol)
        value = self.value_at(better)
        witness = {"Theta": better, "objective": value}
        return refuted(found, value, witness, self._rounding(better, W))

    def _judged(self, Theta: Array, W: Array, tol: float) -> Certificate:
        primal, dual = self.value_at(Theta), log_det(W) + len(W)
        return judge(
            bounded(
                primal,
                dual,
                self._rows(Theta, W),
                tol,
                scale=float(len(W)),
                rounding=self._rounding(Theta, W),
                dual={"W": W},
                dual_source="constructed",
                unproved=UNPROVED,
            )
        )

    def _rows(self, Theta: Array, W: Array) -> list[Condition]:
        largest = float(np.max(np.abs(Theta)))
        least = float(np.linalg.eigvalsh(Theta)[0])
        terms = off_diagonal(Theta * (self.S - W) + self.alpha * np.abs(Theta))
        return [
            worst("Theta W = I", "stationarity", Theta @ W - np.eye(len(W))),
            worst("Theta = Theta'", "primal_feasibility", self.Theta - self.Theta.T, largest),
            worst("Theta > 0", "primal_feasibility", max(-least, 0.0), largest),
            Condition("W_jj = S_jj, |W_ij - S_ij| <= alpha", "dual_feasibility", 0.0),
            products("Theta_ij (S_ij - W_ij) + alpha |Theta_ij| = 0", terms),
        ]

    def _apart(self) -> float:
        """Divergence of ``covariance_`` from Theta^-1, without rounding; inf if not symmetric."""
        Theta, W = 0.5 * (self.Theta + self.Theta.T), self.W
        if not np.array_equal(W, W.T):
            return np.inf
        found = float(np.sum(Theta * W)) - len(W) - log_det(Theta) - log_det(W)
        return max(found - self._rounding(Theta, W), 0.0) if found < np.inf else np.inf

    def _rounding(self, Theta: Array, W: Array) -> float:
        """What log det, traces and S itself may be off by."""
        share = gamma(8 * len(W) + 16)
        total = share * float(np.sum(np.abs(self.S * Theta)) + self.alpha * np.abs(Theta).sum())
        total += float(np.sum(self.noise * (np.abs(Theta) + np.abs(np.linalg.pinv(W)))))
        for M in (Theta, W):
            total += share * float(np.sum(np.abs(np.linalg.pinv(M)) * np.abs(M))) + share * len(M)
        return total

    def _improved(self, Theta: Array) -> Array:
        """Proximal gradient steps on the objective, each as long as it lowers."""
        value, step = self.value_at(Theta), 1.0 / np.max(np.diag(self.S)) ** 2
        for _ in range(STEPS):
            gradient = self.S - np.linalg.inv(Theta)
            while step > 1e-18:
                moved = Theta - step * gradient
                trial = np.diag(np.diag(moved)) + off_diagonal(
                    soft_threshold(moved, step * self.alpha)
                )
                trial = 0.5 * (trial + trial.T)
                reached = self.value_at(trial)
                if reached < value:
                    break
                step *= 0.5
            else:
                return Theta
            small = value - reached <= 1e-15 * abs(value)
            Theta, value, step = trial, reached, 2.0 * step
            if small:
                break
        return Theta


def log_det(M: Array) -> float:
    """Log det M; -inf where M is not positive definite."""
    try:
        return 2.0 * float(np.sum(np.log(np.diag(linalg.cholesky(M, lower=True)))))
    except linalg.LinAlgError:
        return -np.inf


def off_diagonal(M: Array) -> Array:
    """M with zeros on its diagonal."""
    return M - np.diag(np.diag(M))
