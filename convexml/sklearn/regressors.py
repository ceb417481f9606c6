"""What scikit-learn's regressors minimise, and the point that each of them holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from ..certificates import Certificate, Condition, certify_objective
from ..certificates.judge import Better, judged, settled
from ..certificates.learning.gap import certify_targets
from ..certificates.learning.repair import repair_dual
from ..certificates.scale import learning_scale
from ..data import as_design
from ..losses import Absolute, Huber, Linex, Loss, Pinball, Poisson, Squared
from ..models.monotone import MonotoneRegression
from ..numerics import EPS, Array, gamma
from ..penalties import L1, L2, Box, ElasticNet, Nonnegative, NonnegativeElasticNet, Penalty, Zero
from ..problem import Objective
from ..problem.frame import SeveralTargets
from ..validation import refuse_nonfinite
from .classifiers import columns
from .fitted import Fitted, LearningPart, append_column, learning_part
from .kernel_machines import features, kernel_matrix, stands_on

# Least squares with no penalty or a ridge: one target, several, classes, or a kernel.
#
# ================  ==============================================================================
# LinearRegression  sum_i s_i (y_i - z_i)^2, and w >= 0 with ``positive=True``
# Ridge             sum_i s_i (y_i - z_i)^2 + alpha |w|_2^2, and w >= 0 with ``positive=True``
# RidgeClassifier   the same for targets -1 and +1, one for each class if there are more than two
# KernelRidge       sum_i s_i (y_i - f(x_i))^2 + alpha |f|_H^2, without intercept
# ================  ==============================================================================
#
# z = X w + b. The intercept is not penalised. Several targets are as many independent problems.
# f = sum_i q_i k(x_i, .) with q = ``dual_coef_`` and |f|_H^2 = q'Kq. Class weights multiply s.


def linear_regression(fitted: Fitted) -> Iterator[LearningPart]:
    """LinearRegression: the residual sum of squares, without 1/2 and without 1/n."""
    penalty: Penalty = Nonnegative() if fitted.estimator.positive else Zero()
    return fitted.parts(Squared(), penalty, 2.0 * fitted.s)


def ridge(fitted: Fitted) -> Iterator[LearningPart]:
    """Ridge: a *sum* of squares, so that alpha is lam / 2 of a sum and not of a mean."""
    alphas = np.ravel(np.asarray(fitted.estimator.alpha, dtype=np.float64))
    for k, (name, y, w, b) in enumerate(fitted.per_target()):
        alpha = float(alphas[k if alphas.size > 1 else 0])
        if fitted.estimator.positive:
            yield _nonnegative_ridge(fitted, alpha, name, y, w, b)
        else:
            yield learning_part(
                fitted.X, y, Squared(), L2(2.0 * alpha), 2.0 * fitted.s, w, b,
                fit_intercept=fitted.estimator.fit_intercept, features=fitted.features, name=name,
            )  # fmt: skip


def _nonnegative_ridge(
    fitted: Fitted, alpha: float, name: str, y: Array, w: Array, b: float
) -> LearningPart:
    """Pose alpha |w|^2 as d more squared residuals, so that w >= 0 remains as the penalty."""
    X, d = fitted.X, fitted.X.shape[1]
    below = np.sqrt(alpha) * np.eye(d)
    stacked = (
        sparse.csr_array(sparse.vstack([X, sparse.csr_array(below)]))
        if sparse.issparse(X)
        else np.vstack([X, below])
    )
    center, lower = 0.0, np.zeros(d)
    if fitted.estimator.fit_intercept:
        center = float(fitted.mean_weights @ y)
        stacked = append_column(stacked, np.repeat([1.0, 0.0], [fitted.n, d]))
        w, lower = np.append(w, b - center), np.append(lower, -np.inf)
    target = np.append(y - center, np.zeros(d))
    c = np.append(2.0 * fitted.s, np.full(d, 2.0))
    return learning_part(
        stacked, target, Squared(), Box(lower, np.inf), c, w, name=name,
        features=columns(fitted, stacked),
    )  # fmt: skip


def ridge_classifier(fitted: Fitted) -> Iterator[LearningPart]:
    """RidgeClassifier: ridge regression of -1 and +1; with two classes there is one target."""
    binarizer = getattr(fitted.estimator, "_label_binarizer", None)
    if fitted.y.ndim == 2 and str(getattr(binarizer, "y_type_", "")).startswith("multilabel"):
        yield from _labels_of_each(fitted)
        return
    index, classes = fitted.labels(), np.asarray(fitted.estimator.classes_)
    coded = np.where(index[:, None] == np.arange(len(classes)), 1.0, -1.0)
    names = [f"class {label}" for label in classes]
    if len(classes) == 2:
        coded, names = coded[:, 1:], [""]
    s = fitted.s * fitted.class_weights(weighted=False)[index]
    parts = ridge(replace(fitted, y=coded, s=s))
    yield from (replace(part, name=name) for part, name in zip(parts, names, strict=True))


def _labels_of_each(fitted: Fitted) -> Iterator[LearningPart]:
    """RidgeClassifier where a sample has several labels: a target of -1 and +1 for each of them."""
    from sklearn.utils import compute_sample_weight

    if fitted.y.shape[1] != len(fitted.estimator.classes_) or set(np.unique(fitted.y)) - {0, 1}:
        raise fitted.refuse("y must have a column of 0 and 1 for each label, as it was fitted on.")
    setting = fitted.estimator.class_weight
    if setting not in (None, "balanced"):
        raise fitted.refuse("with several labels for a sample class_weight is 'balanced' or None.")
    v = 1.0 if setting is None else compute_sample_weight(setting, fitted.y)
    coded = np.where(fitted.y == 1, 1.0, -1.0)
    yield from ridge(replace(fitted, y=coded, s=fitted.s * v))


def kernel_ridge(fitted: Fitted) -> Iterator[LearningPart]:
    """KernelRidge with any positive semidefinite kernel; each target may have its own alpha."""
    estimator, Y = fitted.estimator, fitted.targets()
    Y = Y[:, None] if Y.ndim == 1 else Y
    q = np.asarray(estimator.dual_coef_, dtype=np.float64)
    q = q[:, None] if q.ndim == 1 else q
    if q.shape != Y.shape:
        raise fitted.refuse(f"it was fitted on y of shape {q.shape}, got {Y.shape}.")
    if estimator.kernel != "precomputed":
        stands_on(fitted, estimator.X_fit_)
    alphas = np.broadcast_to(np.ravel(np.asarray(estimator.alpha, dtype=np.float64)), Y.shape[1])
    L = features(fitted, kernel_matrix(fitted, estimator.gamma))
    for k in range(Y.shape[1]):
        yield learning_part(
            L, Y[:, k], Squared(), L2(2.0 * alphas[k]), 2.0 * fitted.s, L.T @ q[:, k],
            u=2.0 * alphas[k] * -q[:, k], name=f"target {k}" if Y.shape[1] > 1 else "",
        )  # fmt: skip


# Squares and norms that select: one target, or several together.
#
# ===================  ===========================================================================
# Lasso, LassoLars     (1/2S) sum_i s_i (y_i - z_i)^2 + alpha |w|_1
# ElasticNet           (1/2S) sum_i s_i (y_i - z_i)^2 + alpha (rho |w|_1 + (1 - rho) |w|_2^2 / 2)
# MultiTaskLasso       (1/2S) sum_i s_i |y_i - W'x_i - b|_2^2 + alpha sum_j |W_j.|_2
# MultiTaskElasticNet  the same with alpha (rho sum_j |W_j.|_2 + (1 - rho) |W|_F^2 / 2)
# ===================  ===========================================================================
#
# z = X w + b, S = sum_i s_i, rho = ``l1_ratio``; w >= 0 in the first two rows with
# ``positive=True``. The intercept is not penalised. Several targets are
# as many independent problems but of the last two, where W, (d, K), is the transpose of ``coef_``.


def lasso(fitted: Fitted) -> Iterator[LearningPart]:
    """Lasso: (1/2n) of the sum of squares; weights are normalised to mean 1."""
    return _mean_squares(fitted, float(fitted.estimator.alpha), 1.0)


def elastic_net(fitted: Fitted) -> Iterator[LearningPart]:
    """ElasticNet: as Lasso, with alpha l1_ratio and alpha (1 - l1_ratio) / 2."""
    estimator = fitted.estimator
    return _mean_squares(fitted, float(estimator.alpha), float(estimator.l1_ratio))


def _mean_squares(fitted: Fitted, alpha: float, rho: float) -> Iterator[LearningPart]:
    penalty: Penalty = L1(alpha) if rho == 1.0 else ElasticNet(alpha, rho)
    if fitted.estimator.positive:
        penalty = NonnegativeElasticNet(alpha, rho) if alpha > 0.0 else Nonnegative()
    return fitted.parts(Squared(), penalty, fitted.mean_weights)


@dataclass(frozen=True)
class TargetsPart:
    """Coefficients (w, b) of several targets, of shapes (d, K) and (K,), and a dual point u."""

    targets: SeveralTargets
    w: Array
    b: Array
    u: Array | None = None
    name: str = ""

    @property
    def value(self) -> float:
        """P(w, b)."""
        return self.targets.primal(self.w, self.b)

    def certify(self, tol: float) -> Certificate:
        """Judge (w, b); u competes with the dual points that are constructed."""
        u = None if self.u is None else self.u.ravel()
        return certify_targets(self.targets, self.w, self.b, tol=tol, solver_dual=u)


def multi_task(fitted: Fitted) -> Iterator[TargetsPart]:
    """MultiTaskLasso, and MultiTaskElasticNet with a ridge term beside it."""
    estimator, Y = fitted.estimator, fitted.targets()
    if Y.ndim != 2:
        raise fitted.refuse(f"y must have shape (n, K), got {Y.shape}.")
    K, d = Y.shape[1], fitted.X.shape[1]
    if fitted.coef.shape != (K, d):
        raise fitted.refuse(f"coef_ of shape {fitted.coef.shape} does not fit ({K}, {d}).")
    b = np.array(np.broadcast_to(fitted.intercepts, (K,)))
    for name, held in (("coef_", fitted.coef), ("intercept_", b)):
        refuse_nonfinite(held, "certify", name)
    alpha, rho = float(estimator.alpha), float(getattr(estimator, "l1_ratio", 1.0))
    kept = np.flatnonzero(fitted.s > 0.0)
    given = as_design(fitted.X[kept]), Y[kept], fitted.mean_weights[kept], alpha * rho
    intercept, ridge = bool(estimator.fit_intercept), alpha * (1.0 - rho)
    targets = SeveralTargets(*given, intercept, ridge, fitted.features)
    yield TargetsPart(targets, fitted.coef.T.copy(), b)


# Regression with other losses: quantiles, and generalised linear models.
#
# ==================  =============================================================================
# QuantileRegressor   (1/S) sum_i s_i pinball_q(y_i - z_i) + alpha |w|_1, q = ``quantile``
# PoissonRegressor    (1/2S) sum_i s_i deviance(y_i, e^{z_i}) + (alpha / 2) |w|_2^2
# GammaRegressor      the same with the gamma deviance
# TweedieRegressor    (1/2S) sum_i s_i (y_i - z_i)^2 + ... with ``power=0``, PoissonRegressor's with
#                     1, GammaRegressor's with 2
# ==================  =============================================================================
#
# z = X w + b, S = sum_i s_i. The half deviance is e^z - y z + y log y - y, and e^t - t - 1 with t =
# log y - z for gamma. The intercept is not penalised.


def quantile_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """QuantileRegressor: the mean pinball loss with an l1 penalty."""
    yield _mean(fitted, Pinball(fitted.estimator.quantile), L1(fitted.estimator.alpha))


def poisson_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """PoissonRegressor: the mean half deviance with a ridge penalty."""
    if np.any(fitted.targets() < 0.0):
        raise fitted.refuse("y must be >= 0.")
    yield _mean(fitted, Poisson(), L2(fitted.estimator.alpha))


def gamma_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """GammaRegressor: the mean half deviance with a ridge penalty, of the targets log y."""
    if not np.all(fitted.targets() > 0.0):
        raise fitted.refuse("y must be > 0.")
    logs = replace(fitted, y=np.log(fitted.target()))
    yield _mean(logs, Linex(), L2(fitted.estimator.alpha))


def tweedie_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """TweedieRegressor: squares with the identity, the Poisson and gamma deviances with log."""
    power, link = fitted.estimator.power, fitted.estimator.link
    if power == 0 and link in ("auto", "identity"):
        yield _mean(fitted, Squared(), L2(fitted.estimator.alpha))
    elif power == 1 and link in ("auto", "log"):
        yield from poisson_regressor(fitted)
    elif power == 2 and link in ("auto", "log"):
        yield from gamma_regressor(fitted)
    else:
        reason = "is not judged"
        if link in ("auto", "log"):
            reason = "is not convex"
            if 1 < power < 2:
                reason = "has no dual in closed form, and so nothing to be judged by"
        raise fitted.refuse(
            f"power={power:g} with link={link!r} {reason}; power=0 with the identity, and 1 and 2 "
            "with log are judged."
        )


def _mean(fitted: Fitted, loss: Loss, penalty: Penalty) -> LearningPart:
    fitted.single()
    return next(fitted.parts(loss, penalty, fitted.mean_weights))


# HuberRegressor: coefficients and scale are estimated together, in one convex problem.
#
#     sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |w|_2^2,  r = X w + b - y,  sigma > 0
#     H(t) = t^2 where |t| <= epsilon, 2 epsilon |t| - epsilon^2 beyond
#
# It is jointly convex in (w, b, sigma), as H(r / sigma) sigma is a perspective, and the certificate
# is that of the joint problem: (w, b, sigma) is compared with every other triple. The dual is
#
#     maximise -u'y - |X'u|_2^2 / (4 alpha)
#     subject to 1'u = 0, |u_i| <= 2 epsilon s_i, sum_i u_i^2 / (4 s_i) <= sum_i s_i
#
# and the multiplier of its last constraint is sigma. For a fixed sigma the problem is a Huber
# regression with delta = epsilon sigma and c_i = 2 s_i / sigma, plus the constant sigma sum_i s_i.
# For sigma -> 0 it is the least absolute deviations, c_i = 2 epsilon s_i: the dual without its last
# constraint. Where a dual point of these meets that constraint, no sigma > 0 is best, the infimum
# is
# theirs, and a sigma that is nothing beside the residuals is as good as any.


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
        certificate = judged(
            primal,
            dual,
            (*base.conditions, self._scale_condition()),
            tol,
            null=fixed.null_value + constant,
            rounding=base.rounding,
            dual={"u": u},
            is_proved=False,
        )
        best = Better({"w": w, "b": b, "sigma": sigma}, self.value_at(w, b, sigma), base.rounding)
        return settled(certificate, lambda: best)

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


# IsotonicRegression: ``MonotoneRegression`` in the order of X, one value for equal X.
#
#     sum_i s_i (y_i - f(x_i))^2  over f that does not fall (or does not rise)
#
# Samples of one x are one sample of their weight, with the mean of their targets; what they differ
# among each other is a constant.


def isotonic_regression(fitted: Fitted) -> Iterator[MonotonePart]:
    """IsotonicRegression with what it predicts for X."""
    estimator = fitted.estimator
    fitted.refuse_sparse()
    if estimator.y_min is not None or estimator.y_max is not None:
        raise fitted.refuse("the bounds y_min and y_max are not judged; leave them out.")
    if fitted.X.shape[1] != 1:
        raise fitted.refuse(f"X must have one column, got shape {fitted.X.shape}.")
    x, y, kept = np.asarray(fitted.X)[:, 0], fitted.target(), fitted.s > 0.0
    w = np.ravel(np.asarray(estimator.predict(x), dtype=np.float64))
    x, y, s, w = x[kept], y[kept], fitted.s[kept], w[kept]
    if not np.all(np.isfinite(w)):
        raise fitted.refuse("it predicts nan of X; pass the data that it was fitted on.")
    centre = float(np.average(y, weights=s))  # rounding is of the spread of y, not of its level
    y, w = y - centre, w - centre
    _, first, place = np.unique(x, return_index=True, return_inverse=True)
    weights = np.bincount(place, weights=s)
    means = np.bincount(place, weights=s * y) / weights
    problem = MonotoneRegression(
        means, sample_weight=weights, increasing=bool(estimator.increasing_)
    )
    within = float(s @ np.square(y - means[place]))
    null = float(s @ np.square(y))
    yield MonotonePart(problem, w[first], 2.0 * float(weights.sum()), within, null, len(y))


@dataclass(frozen=True)
class MonotonePart:
    """``factor`` times the monotone problem plus ``constant``, and the values w of its samples."""

    problem: MonotoneRegression
    w: Array
    factor: float
    constant: float
    null: float
    n: int
    name: str = ""

    @property
    def value(self) -> float:
        """The sum of squares at w."""
        return self.factor * self.problem.program.cost(self.w) + self.constant

    def certify(self, tol: float) -> Certificate:
        """Judge w by the cumulative sums of its residuals."""
        inner = self.problem.certify(self.w, tol=tol)
        primal, factor = self.value, self.factor
        lost = gamma(4 * self.n + 32) * (primal + self.null)
        dual = factor * inner.dual_objective + self.constant
        certificate = judged(
            primal,
            dual,
            inner.conditions,
            tol,
            null=self.null,
            gap=factor * inner.gap,
            rounding=lost,
            dual=inner.dual,
            dual_source=inner.dual_source,
            reason=inner.reason if not np.isfinite(inner.gap) else "",
            unproved="the means of samples of one x are rounded",
        )
        if inner.witness is None:
            return certificate
        better = Better(inner.witness, factor * inner.witness["objective"] + self.constant, lost)
        return settled(certificate, lambda: better)
