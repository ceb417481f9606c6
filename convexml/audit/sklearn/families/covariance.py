"""GraphicalLasso: an inverse covariance with zeros.

    -log det Theta + tr(S Theta) + alpha sum_{i != j} |Theta_ij|

Theta is ``precision_``; S the covariance of X with 1/n, about the mean unless ``assume_centered``,
or X itself where ``covariance="precomputed"``: ``GaussianLikelihood`` with lam = alpha. The dual is

    maximise log det W + d  subject to  W_jj = S_jj, |W_ij - S_ij| <= alpha

and ``covariance_`` is a guess of W, which must be Theta^-1 as closely as Theta is judged: within
tol for a feature in tr(Theta W) - log det(Theta W) - d >= 0, which is 0 there alone. The gap is
measured on d: in nats for a feature.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....certificates import Certificate, Verdict
from ....certificates.algebra.log_det import log_det
from ....certificates.judge import judge
from ....certificates.likelihood.gaussian import Precision
from ....conditions import worst
from ....numerics import UNIT, Array, gamma
from ....objective.likelihood.moments import moments
from ..fitted import Fitted


def graphical_lasso(fitted: Fitted) -> Iterator[PrecisionPart]:
    """GraphicalLasso with its ``precision_``."""
    fitted.refuse_sparse()
    estimator, X = fitted.estimator, np.asarray(fitted.X)
    if np.any(fitted.s != fitted.s[0]):
        raise fitted.refuse("it takes no sample_weight.")
    ready = getattr(estimator, "covariance", None) == "precomputed"
    centre = X.mean(axis=0)
    if ready or estimator.assume_centered:
        centre = np.zeros(X.shape[1])
    if ready:
        S, noise = 0.5 * (X + X.T), UNIT * np.abs(X + X.T)
    else:
        found = moments(X, fitted.s, not estimator.assume_centered)
        S, noise = found.S, found.noise
    Theta, W = (np.asarray(each) for each in (estimator.precision_, estimator.covariance_))
    if any(part.shape != S.shape or not np.all(np.isfinite(part)) for part in (Theta, W)):
        raise fitted.refuse(f"precision_ and covariance_ must be finite, of shape {S.shape}.")
    held = np.asarray(estimator.location_)
    off = 4.0 * (fitted.n + 16) * np.finfo(held.dtype).eps * np.max(np.abs(X), axis=0)
    if held.shape != centre.shape or not np.all(np.abs(held - centre) <= off):
        raise fitted.refuse(
            "its location_ is not the mean of X; pass the data that it was fitted on."
        )
    problem = Precision(S, noise, float(estimator.alpha))
    yield PrecisionPart(problem, Theta, W, features=fitted.features)


@dataclass(frozen=True)
class PrecisionPart:
    """The problem in Theta, and the pair (Theta, W) that the estimator holds."""

    problem: Precision
    Theta: Array
    W: Array
    name: str = ""
    features: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The objective at the fitted point."""
        return self.problem.value(0.5 * (self.Theta + self.Theta.T))

    def certify(self, tol: float) -> Certificate:
        """Judge Theta, by ``covariance_`` moved into the dual's box, and that as its inverse."""
        near = self.problem.nearest(self.W)
        found = self.problem.certify(self.Theta, near, tol, search=False)
        if found.verdict is not Verdict.CERTIFIED:
            found = self.problem.certify(self.Theta, None, tol)
        rows = tuple(row.of_columns(self.features, len(self.W)) for row in found.conditions)
        found = found.but(dual_source="constructed", conditions=rows)
        if found.verdict is not Verdict.CERTIFIED:
            return found
        row = worst("covariance_ = Theta^-1", "primal_feasibility", self._apart(), len(self.W))
        return judge(found.but(conditions=(*found.conditions, row)))

    def _apart(self) -> float:
        """Divergence of ``covariance_`` from Theta^-1, without rounding; inf if not symmetric."""
        Theta, W = 0.5 * (self.Theta + self.Theta.T), self.W
        if not np.array_equal(W, W.T):
            return np.inf
        (one, lost), (other, more) = log_det(Theta), log_det(W)
        found = float(np.sum(Theta * W)) - len(W) - one - other
        rounding = gamma(2 * W.size + 8) * float(np.sum(np.abs(Theta * W))) + lost + more
        return max(found - rounding, 0.0) if found < np.inf else np.inf
