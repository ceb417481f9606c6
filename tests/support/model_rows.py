"""Every model as a row: how it is posed in any unit of X and y, and its optimum by other routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import convexml as cml
from convexml.numerics import Array
from support.oracles import likelihoods, machines, regressions, shapes, smooth

N, D = 24, 3
WEIGHTS = np.random.default_rng(5).integers(0, 4, N).astype(float)


@cache
def data(kind: str) -> tuple[Array, Array]:
    """X (24, 3) and targets: real, labels of two or three classes, counts, two targets."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D)) * [1.0, 0.5, 2.0] + 0.3
    z = X @ [1.5, -1.0, 0.4] - 1.0 + 0.8 * rng.normal(size=N)
    targets = {
        "real": z,
        "two": np.where(z + 2.5 * rng.normal(size=N) > 0.0, 1.0, -1.0),
        "three": np.argsort(np.argsort(z + 2.0 * rng.normal(size=N))) // 8 + 0.0,
        "count": rng.poisson(np.exp(np.clip(0.4 * z, -3.0, 2.0))).astype(float),
        "several": np.column_stack([z, 1.0 + X @ [0.5, 0.0, -1.0] + np.sin(7.0 * z)]),
        "apart": np.where(X @ [1.0, -1.0, 0.2] > 0.1, 1.0, -1.0),
    }
    if kind == "apart":
        X = X + 0.4 * np.outer(targets["apart"], [1.0, -1.0, 0.2])
    if kind == "few values":
        return np.round(X[:, [0]] / 2.0), np.resize([1.0, -1.0, 1.0], N)
    if kind == "away":
        return X + 3.0 * np.eye(3)[0], targets["real"]
    return X, targets[kind]


Unit = Callable[[float, float], float]


@dataclass(frozen=True)
class Row:
    """A model: ``make(X, y, s, t, **keywords)`` with X in units of s, y of t, and what moves along.

    ``known(X, y)`` is P* in units of 1 by a route of its own, ``unit(s, t)`` that of P.
    """

    name: str
    make: Callable[..., Any]
    known: Callable[[Array, Array], dict[str, Any]] | None
    unit: Unit | None = None
    kind: str = "real"
    weighs: bool = True
    rel: float = 1e-8
    tied: bool = False
    """The units of X and y move together only."""

    def pose(self, **keywords: Any) -> Any:
        """The problem in units of 1."""
        return self.make(*data(self.kind), 1.0, 1.0, **keywords)

    def moved(self, s: float, t: float) -> tuple[Any, float]:
        """The same in other units, and the unit of P."""
        (X, y), t = data(self.kind), s if self.tied else t
        t = t if self.kind in ("real", "several") else 1.0
        assert self.unit is not None
        return self.make(X * s, y * t, s, t), self.unit(s, t)


def of(model: Any, *hyper: Any, **fixed: Any) -> Callable[..., Any]:
    """Pose a model whose hyperparameters are numbers, or functions of the units s and t."""

    def make(X: Array, y: Array, s: float, t: float, **keywords: Any) -> Any:
        moved = [h(s, t) if isinstance(h, FunctionType) else h for h in hyper]
        return model(X, y, *moved, **fixed, **keywords)

    return make


def alone(model: Any, *hyper: Any) -> Callable[..., Any]:
    """The same of X alone."""
    return of(lambda X, y, *rest, **keywords: model(X, *rest, **keywords), *hyper)


def with_kernel(model: Any, *hyper: Any) -> Callable[..., Any]:
    """The same with a Gaussian kernel of the samples."""
    return of(model, *hyper, lambda s, t: cml.kernels.Gaussian(1.5 * s))


def by(oracle: Any, *hyper: Any) -> Callable[..., Any]:
    """An oracle with the hyperparameters in units of 1."""
    return lambda X, y: oracle(X, y, *hyper)


GAUSSIAN = {"name": "gaussian", "sigma": 1.5}

LAMS = np.array([0.3, 0.2, 0.1])


def squares(s: float, t: float) -> float:
    return t * t


def one(s: float, t: float) -> float:
    return 1.0


def margins(s: float, t: float) -> float:
    return s**-2


def columns(s: float, t: float) -> float:
    return s * s


def distances(s: float, t: float) -> float:
    return s


ROWS = (
    Row("LeastSquares", of(cml.LeastSquares), regressions.least_squares, squares),
    Row("MinimumNorm", lambda X, y, s, t, **k: cml.MinimumNorm(X[:2], y[:2], **k),
        lambda X, y: regressions.minimum_norm(X[:2], y[:2]), lambda s, t: (t / s) ** 2,
        weighs=False),
    Row("Ridge", of(cml.Ridge, lambda s, t: 0.1 * s * s), by(regressions.ridge, 0.1), squares),
    Row("ConstrainedRidge", of(cml.ConstrainedRidge, lambda s, t: 0.5 * t / s),
        by(regressions.constrained_ridge, 0.5), squares),
    Row("Lasso", of(cml.Lasso, lambda s, t: 0.1 * s * t), by(regressions.lasso, 0.1), squares),
    Row("ConstrainedLasso", of(cml.ConstrainedLasso, lambda s, t: 0.5 * t / s),
        by(regressions.constrained_lasso, 0.5), squares),
    Row("ElasticNet", of(cml.ElasticNet, lambda s, t: 0.1 * s * s, 0.5),
        by(regressions.elastic_net, 0.1, 0.5), squares, tied=True),
    Row("GroupLasso", of(cml.GroupLasso, lambda s, t: 0.1 * s * t, [0, 0, 1]),
        by(regressions.group_lasso, 0.1, [0, 0, 1]), squares),
    Row("Slope", of(cml.Slope, lambda s, t: LAMS * s * t), by(regressions.slope, LAMS), squares),
    Row("MultiTaskLasso", of(cml.MultiTaskLasso, lambda s, t: 0.2 * s * t),
        by(regressions.multi_task_lasso, 0.2), squares, "several"),
    Row("HuberRegression", of(cml.HuberRegression, lambda s, t: 0.5 * t, lambda s, t: 0.1 * s * s),
        by(smooth.huber_regression, 0.5, 0.1), squares),
    Row("QuantileRegression", of(cml.QuantileRegression, 0.3, lambda s, t: 0.05 * s),
        by(regressions.quantile_regression, 0.3, 0.05), lambda s, t: t),
    Row("PoissonRegression", of(cml.PoissonRegression, lambda s, t: 0.1 * s * s),
        by(smooth.smooth(smooth.poisson_loss), 0.1), one, "count"),
    Row("LogisticRegression", of(cml.LogisticRegression, lambda s, t: 0.1 * s * s),
        by(smooth.logistic_regression, 0.1), one, "two"),
    Row("LogisticRegression-l1", of(cml.LogisticRegression, lambda s, t: 0.1 * s, "l1"),
        by(smooth.logistic_regression, 0.1, "l1"), one, "two"),
    Row("LogisticRegression-none", of(cml.LogisticRegression, 0.0, None),
        by(smooth.logistic_regression, 0.0), one, "two"),
    Row("LearningProblem",
        of(cml.LearningProblem, cml.losses.SquaredHinge(),
           lambda s, t: cml.penalties.L2(0.1 * s * s)),
        by(smooth.smooth(smooth.squared_hinge_loss), 0.1), one, "two"),
    Row("HardMarginSVM", of(cml.HardMarginSVM), machines.hard_margin_svm, margins, "apart"),
    Row("HalfspaceLP", of(cml.HalfspaceLP), regressions.halfspace_lp, one, "apart"),
    Row("SoftMarginSVM", of(cml.SoftMarginSVM, lambda s, t: 0.7 / s**2),
        by(machines.soft_margin_svm, 0.7), margins, "two"),
    Row("SVR", of(cml.SVR, lambda s, t: 0.5 * t / s**2, lambda s, t: 0.3 * t),
        by(machines.svr, 0.5, 0.3), lambda s, t: (t / s) ** 2, rel=1e-7),
    Row("SoftmaxRegression", of(cml.SoftmaxRegression, lambda s, t: 0.05 * s * s),
        by(smooth.softmax_regression, 0.05), one, "three"),
    Row("SoftmaxRegression-l1", of(cml.SoftmaxRegression, lambda s, t: 0.02 * s, "l1"),
        by(smooth.softmax_regression, 0.02, "l1"), one, "three", rel=1e-6),
    Row("SoftmaxRegression-group", of(cml.SoftmaxRegression, lambda s, t: 0.05 * s, "group"),
        by(smooth.softmax_regression, 0.05, "group"), one, "three", rel=1e-6),
    Row("KernelRidge", with_kernel(cml.KernelRidge, 0.1), by(machines.kernel_ridge, 0.1, GAUSSIAN),
        squares),
    Row("KernelLogistic", with_kernel(cml.KernelLogistic, 0.05),
        by(machines.kernel_logistic, 0.05, GAUSSIAN), one, "two"),
    Row("KernelProblem",
        with_kernel(cml.KernelProblem, lambda s, t: cml.losses.Huber(0.5 * t), 0.1),
        by(machines.kernel_problem, 0.1, {"name": "huber", "delta": 0.5}, GAUSSIAN), squares),
    Row("KernelSVM", with_kernel(cml.KernelSVM, 0.7), by(machines.kernel_svm, 0.7, GAUSSIAN), one,
        "two"),
    Row("KernelSVR", with_kernel(cml.KernelSVR, lambda s, t: 0.5 * t, lambda s, t: 0.3 * t),
        by(machines.kernel_svr, 0.5, 0.3, GAUSSIAN), squares, rel=1e-7),
    Row("OneClassSVM", alone(cml.OneClassSVM, 0.3), lambda X, y: machines.one_class_svm(X, 0.3),
        columns, "away"),
    Row("OneClassSVM-kernel",
        alone(cml.OneClassSVM, 0.3, lambda s, t: cml.kernels.Gaussian(1.5 * s)),
        lambda X, y: machines.one_class_svm(X, 0.3, GAUSSIAN), one),
    Row("NuSVC", of(cml.NuSVC, 0.6), by(machines.nu_svc, 0.6), columns, "apart"),
    Row("NuSVC-kernel", with_kernel(cml.NuSVC, 0.6), by(machines.nu_svc, 0.6, GAUSSIAN), one,
        "two"),
    Row("AdaBoost", of(cml.AdaBoost, 2000), lambda X, y: shapes.ada_boost(X, y, 0, np.ones(N)), one,
        "few values"),
    Row("LPBoost", lambda X, y, s, t, **k: cml.LPBoost(s * cml.stumps(X / s)[0], y, 0.4, **k),
        by(shapes.lp_boost, 0.4), distances, "two"),
    Row("TrendFilter", lambda X, y, s, t: cml.TrendFilter(y, 0.1 * t), by(shapes.trend_filter, 0.1),
        squares, weighs=False),
    Row("MonotoneRegression", lambda X, y, s, t, **k: cml.MonotoneRegression(y, **k),
        shapes.monotone_regression, squares),
    Row("NearestNeighbors", lambda X, y, s, t: cml.NearestNeighbors(X[4:], X[:4], 3),
        lambda X, y: shapes.nearest_neighbors(X[4:], X[:4], 3), distances, weighs=False),
    Row("SpanningTree", lambda X, y, s, t: cml.SpanningTree(cdist(X[:9], X[:9])),
        lambda X, y: shapes.spanning_tree(X[:9]), distances, weighs=False),
    Row("GaussianLikelihood", alone(cml.GaussianLikelihood, 0.0),
        lambda X, y: likelihoods.gaussian_likelihood(X)),
    Row("GaussianLikelihood-l1", alone(cml.GaussianLikelihood, lambda s, t: 0.1 * s * s),
        lambda X, y: likelihoods.gaussian_likelihood(X, 0.1)),
    Row("DiscriminantAnalysis", of(cml.DiscriminantAnalysis), likelihoods.discriminant_analysis,
        kind="three"),
    Row("DiscriminantAnalysis-own", of(cml.DiscriminantAnalysis, False),
        by(likelihoods.discriminant_analysis, False), kind="three", weighs=False),
    Row("BernoulliLikelihood", lambda X, y, s, t, **k: cml.BernoulliLikelihood(y > 0.0, **k),
        lambda X, y: likelihoods.bernoulli_likelihood(y > 0.0), one, "two"),
    Row("CategoricalLikelihood", lambda X, y, s, t, **k: cml.CategoricalLikelihood(y, **k),
        lambda X, y: likelihoods.categorical_likelihood(y), one, "three"),
    Row("PrincipalComponents", alone(cml.PrincipalComponents, 2),
        lambda X, y: shapes.principal_components(X, 2), columns),
    Row("ConvexClustering", alone(cml.ConvexClustering, lambda s, t: 0.02 * s),
        lambda X, y: shapes.convex_clustering(X, 0.02), columns, weighs=False),
    Row("KMeansBound",
        lambda X, y, s, t: cml.KMeansBound(X[:12] + 20.0 * s * (np.arange(12)[:, None] // 6), 2),
        lambda X, y: shapes.k_means_bound(X[:12] + 20.0 * (np.arange(12)[:, None] // 6), 2),
        columns, weighs=False, rel=2e-6),
    Row("LinearProgram",
        lambda X, y, s, t: cml.LinearProgram(s * np.ones(D), -np.abs(X), -np.abs(y)),
        lambda X, y: regressions.linear_program(np.ones(D), A_ub=-np.abs(X), b_ub=-np.abs(y)),
        lambda s, t: t, weighs=False),
)  # fmt: skip
