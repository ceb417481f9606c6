"""Small problems of every kind for ``same_answers.py``: models, CVXPY statements, estimators.

They are posed by public names alone (``cml.X``, ``convexml.losses``, ``penalties``, ``kernels``,
``estimators``), so that the same file draws them before and after modules move. Variables have
names, for CVXPY numbers the others by all that there were before.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse
from sklearn import covariance, discriminant_analysis, kernel_ridge, linear_model, svm

import convexml as cml
from convexml import estimators, kernels, losses, penalties

Array = np.ndarray
D = 4
GROUPS = [0, 0, 1, 2]
WIDE = kernels.Gaussian(1.5)
POLYNOMIAL = kernels.Polynomial(2, coef0=1.0)
DIFFERENCES = np.diff(np.eye(D), axis=0)


class Sample:
    """X (n, 4) and targets of every kind: mild, in awkward units with weights, or sparse."""

    def __init__(self, rng: np.random.Generator, form: str, n: int = 18) -> None:
        self.form = form
        X = rng.normal(size=(n, D)) + 0.3
        truth = np.array([1.5, 0.0, -0.8, 2.0])
        z = X @ truth - 0.5
        noisy = z + rng.normal(size=n)
        self.real = noisy
        self.two = np.where(noisy + rng.normal(size=n) > 0.0, 1.0, -1.0)
        self.two[:4] = 1.0, -1.0, 1.0, -1.0
        self.apart = np.where(z > 0.0, 1.0, -1.0)
        self.count = rng.poisson(np.exp(np.clip(0.4 * z, -3.0, 2.0))).astype(float)
        self.three = np.digitize(noisy, np.quantile(noisy, [0.3, 0.6])).astype(float)
        self.three[::5] = (self.three[::5] + 1.0) % 3.0
        self.several = np.column_stack([noisy, np.sin(3.0 * X[:, 0]) + X[:, 1]])
        self.far = X + 0.3 * self.apart[:, None] * truth
        self.few, self.fit = X[:3], X[:3] @ truth
        self.options: dict[str, Any] = {}
        if form == "awkward":
            X = X * np.array([1.0, 100.0, 0.01, 1.0]) + np.array([0.0, 50.0, 0.0, 3.0])
            self.options = {"fit_intercept": False, "sample_weight": rng.choice([0.5, 1, 2, 3], n)}
        self.dense = X
        self.X = sparse.csr_array(X * (rng.random(X.shape) < 0.6)) if form == "sparse" else X
        self.costs = np.abs(rng.normal(size=(4, 5)))
        self.between = np.abs(X[:6, None] - X[None, :6]).sum(axis=2)


def _program(s: Sample, shift: float, sign: float) -> Any:
    """A linear program: solvable, infeasible (large shift) or unbounded (negative sign)."""
    A = np.abs(s.costs)
    return cml.LinearProgram(sign * np.ones(5), -A, -A.sum(axis=1) - shift, np.ones((1, 5)), [5.0])


# Each takes a sample; weights and the intercept are given where the model takes them.
MODELS: dict[str, Callable[..., Any]] = {
    "LeastSquares": lambda s, **k: cml.LeastSquares(s.X, s.real, **k),
    "MinimumNorm": lambda s, **k: cml.MinimumNorm(s.few, s.fit),
    "Ridge": lambda s, **k: cml.Ridge(s.X, s.real, 0.3, **k),
    "ConstrainedRidge": lambda s, **k: cml.ConstrainedRidge(s.X, s.real, 1.2, **k),
    "Lasso": lambda s, **k: cml.Lasso(s.X, s.real, 0.2, **k),
    "ConstrainedLasso": lambda s, **k: cml.ConstrainedLasso(s.X, s.real, 2.0, **k),
    "ElasticNet": lambda s, **k: cml.ElasticNet(s.X, s.real, 0.2, 0.6, **k),
    "GroupLasso": lambda s, **k: cml.GroupLasso(s.X, s.real, 0.2, GROUPS, **k),
    "Slope": lambda s, **k: cml.Slope(s.X, s.real, [0.4, 0.3, 0.2, 0.1], **k),
    "LogisticRegression": lambda s, **k: cml.LogisticRegression(s.X, s.two, 0.05, **k),
    "LogisticRegression l1": lambda s, **k: cml.LogisticRegression(s.X, s.two, 0.05, "l1", **k),
    "LogisticRegression 0": lambda s, **k: cml.LogisticRegression(s.X, s.two, 0.0, None, **k),
    "LogisticRegression apart": lambda s, **k: cml.LogisticRegression(s.far, s.apart, 0.0, None),
    "HuberRegression": lambda s, **k: cml.HuberRegression(s.X, s.real, 0.6, 0.1, **k),
    "PoissonRegression": lambda s, **k: cml.PoissonRegression(s.X, s.count, 0.1, **k),
    "QuantileRegression": lambda s, **k: cml.QuantileRegression(s.X, s.real, 0.3, 0.1, **k),
    "HardMarginSVM": lambda s, **k: cml.HardMarginSVM(s.far, s.apart),
    "HardMarginSVM mixed": lambda s, **k: cml.HardMarginSVM(s.X, s.two),
    "HalfspaceLP": lambda s, **k: cml.HalfspaceLP(s.far, s.apart),
    "HalfspaceLP mixed": lambda s, **k: cml.HalfspaceLP(s.X, s.two),
    "SoftMarginSVM": lambda s, **k: cml.SoftMarginSVM(s.X, s.two, 0.7, **k),
    "SVR": lambda s, **k: cml.SVR(s.X, s.real, 0.5, 0.4, **k),
    "SoftmaxRegression": lambda s, **k: cml.SoftmaxRegression(s.X, s.three, 0.05, **k),
    "SoftmaxRegression l1": lambda s, **k: cml.SoftmaxRegression(s.X, s.three, 0.02, "l1", **k),
    "SoftmaxRegression group": lambda s, **k: cml.SoftmaxRegression(
        s.X, s.three, 0.05, "group", **k
    ),
    "MultiTaskLasso": lambda s, **k: cml.MultiTaskLasso(s.X, s.several, 0.2, **k),
    "KernelRidge": lambda s, **k: cml.KernelRidge(s.X, s.real, 0.1, WIDE, **k),
    "KernelLogistic": lambda s, **k: cml.KernelLogistic(s.X, s.two, 0.05, WIDE, **k),
    "KernelProblem": lambda s, **k: cml.KernelProblem(
        s.X, s.real, losses.Huber(0.5), 0.1, POLYNOMIAL, **k
    ),
    "KernelSVM": lambda s, **k: cml.KernelSVM(s.X, s.two, 0.7, WIDE, **k),
    "KernelSVR": lambda s, **k: cml.KernelSVR(s.X, s.real, 0.5, 0.3, WIDE, **k),
    "NuSVC": lambda s, **k: cml.NuSVC(s.X, s.two, 0.4, **k),
    "NuSVC kernel": lambda s, **k: cml.NuSVC(s.X, s.two, 0.4, WIDE, **k),
    "OneClassSVM": lambda s, **k: cml.OneClassSVM(s.X, 0.3, **k),
    "OneClassSVM kernel": lambda s, **k: cml.OneClassSVM(s.X, 0.3, WIDE, **k),
    "LPBoost": lambda s, **k: cml.LPBoost(np.sign(s.dense), s.two, 0.6, **k),
    "AdaBoost": lambda s, **k: cml.AdaBoost(s.dense, s.two, 8, **k),
    "BernoulliLikelihood": lambda s, **k: cml.BernoulliLikelihood(s.two > 0.0, **k),
    "CategoricalLikelihood": lambda s, **k: cml.CategoricalLikelihood(s.three, **k),
    "GaussianLikelihood": lambda s, **k: cml.GaussianLikelihood(s.dense, **k),
    "GaussianLikelihood l1": lambda s, **k: cml.GaussianLikelihood(s.dense, 0.1, **k),
    "DiscriminantAnalysis": lambda s, **k: cml.DiscriminantAnalysis(s.dense, s.three, **k),
    "DiscriminantAnalysis own": lambda s, **k: cml.DiscriminantAnalysis(
        s.dense, s.three, False, **k
    ),
    "PrincipalComponents": lambda s, **k: cml.PrincipalComponents(s.dense, 2, **k),
    "ConvexClustering": lambda s, **k: cml.ConvexClustering(s.dense[:10], 0.05),
    "KMeansBound": lambda s, **k: cml.KMeansBound(s.dense[:10], 2),
    "MonotoneRegression": lambda s, **k: cml.MonotoneRegression(s.real, **k),
    "TrendFilter": lambda s, **k: cml.TrendFilter(s.real, 0.5),
    "TrendFilter 2": lambda s, **k: cml.TrendFilter(s.real, 0.5, 2),
    "NearestNeighbors": lambda s, **k: cml.NearestNeighbors(s.dense, s.dense[:3] + 0.1, 2),
    "SpanningTree": lambda s, **k: cml.SpanningTree(s.between),
    "LinearProgram": lambda s, **k: _program(s, -0.5, 1.0),
    "LinearProgram infeasible": lambda s, **k: _program(s, 50.0, 1.0),
    "LinearProgram unbounded": lambda s, **k: cml.LinearProgram(
        -np.ones(4), -s.costs.T, s.costs[0]
    ),
}
DENSE = ("Boost", "Likelihood", "Discriminant", "Principal", "Clustering", "KMeans", "Monotone",
         "Trend", "Nearest", "Spanning", "LinearP", "MinimumN",
         "HardMarginSVM", "HalfspaceLP", "apart")  # fmt: skip
LOSSES = {
    "real": (losses.Squared(), losses.Absolute(), losses.Pinball(0.3), losses.Huber(0.5),
             losses.EpsilonInsensitive(0.2), losses.SquaredEpsilonInsensitive(0.2),
             losses.Linex()),
    "two": (losses.Logistic(), losses.Hinge(), losses.SquaredHinge(), losses.Exponential()),
    "count": (losses.Poisson(),),
    "apart": (losses.HardMargin(),),
    "fit": (losses.Interpolation(),),
}  # fmt: skip
PENALTIES = (
    penalties.Zero(), penalties.L2(0.3), penalties.L1(0.2), penalties.ElasticNet(0.3, 0.4),
    penalties.GroupL2(0.2, GROUPS), penalties.L1Ball(3.0), penalties.L2Ball(2.0),
    penalties.Box(-1.0, 2.0), penalties.Nonnegative(), penalties.NonnegativeElasticNet(0.3),
    penalties.SortedL1([0.4, 0.3, 0.2, 0.1]),
)  # fmt: skip


def models(seed: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names and problems to pose: every model in every form, every loss with some penalties."""
    for name, make in MODELS.items():
        for form in ("mild", "awkward", "sparse"):
            if form == "sparse" and any(word in name for word in DENSE):
                continue
            sample = Sample(np.random.default_rng([seed, *name.encode()]), form)
            taken = _taken(name, sample)
            yield f"{name}, {form}", lambda make=make, s=sample, k=taken: make(s, **k)
    pairs = product([(kind, loss) for kind in LOSSES for loss in LOSSES[kind]], PENALTIES)
    for k, ((kind, loss), penalty) in enumerate(pairs):
        if k % 4 == seed % 4:
            s = Sample(np.random.default_rng([seed, 1000, k]), "mild")
            X, y = {"apart": (s.far, s.apart), "fit": (s.few, s.fit)}.get(
                kind, (s.X, getattr(s, kind))
            )
            yield (
                f"{loss!r} + {penalty!r}",
                lambda X=X, y=y, a=loss, b=penalty: cml.LearningProblem(X, y, a, b),
            )


def _taken(name: str, sample: Sample) -> dict[str, Any]:
    """Those of the sample's options that the model takes."""
    known = inspect.signature(getattr(cml, name.split()[0])).parameters
    return {name: value for name, value in sample.options.items() if name in known}


# What people write in CVXPY: data fit of z = Xw + b, penalty or set of w.
FITS: dict[str, tuple[str, Callable[[Any, Array], Any]]] = {
    "squares": ("real", lambda z, y: cp.sum_squares(z - y) / (2 * y.size)),
    "norm": ("real", lambda z, y: cp.norm(z - y, 2)),
    "absolute": ("real", lambda z, y: cp.norm1(y - z)),
    "largest": ("real", lambda z, y: cp.norm_inf(z - y)),
    "huber": ("real", lambda z, y: cp.sum(cp.huber(z - y, 0.5))),
    "pinball": ("real", lambda z, y: cp.sum(cp.maximum(0.3 * (y - z), -0.7 * (y - z)))),
    "tube": ("real", lambda z, y: 0.5 * cp.sum(cp.pos(cp.abs(y - z) - 0.2))),
    "logistic": ("two", lambda z, y: cp.sum(cp.logistic(-cp.multiply(y, z))) / y.size),
    "hinge": ("two", lambda z, y: cp.sum(cp.pos(1 - cp.multiply(y, z)))),
    "squared hinge": ("two", lambda z, y: cp.sum_squares(cp.pos(1 - cp.multiply(y, z)))),
    "exponential": ("two", lambda z, y: cp.sum(cp.exp(-cp.multiply(y, z))) / y.size),
    "poisson": ("count", lambda z, y: cp.sum(cp.exp(z) - cp.multiply(y, z)) / y.size),
}
PARTS: dict[str, Callable[[Any], tuple[Any, list[Any]]]] = {
    "nothing": lambda w: (0.0, []),
    "l2": lambda w: (0.1 * cp.sum_squares(w), []),
    "l1": lambda w: (0.2 * cp.norm(w, 1), []),
    "elastic net": lambda w: (0.1 * cp.norm1(w) + 0.05 * cp.sum_squares(w), []),
    "groups": lambda w: (0.2 * (cp.norm(w[:2]) + cp.norm(w[2:])), []),
    "differences": lambda w: (0.3 * cp.norm1(cp.diff(w)), []),
    "l1 ball": lambda w: (0.0, [cp.norm1(w) <= 2.0]),
    "l2 ball": lambda w: (0.0, [cp.sum_squares(w) <= 2.0]),
    "box": lambda w: (0.0, [w >= -0.5, w <= 1.0]),
    "simplex": lambda w: (0.0, [w >= 0, cp.sum(w) == 1]),
}


def statements(seed: int) -> Iterator[tuple[str, Callable[[], cp.Problem]]]:
    """Names and CVXPY problems to build: fits with penalties, primals, duals, cones, absences."""
    for k, (fit, part) in enumerate(product(FITS, PARTS)):
        if k % 2 == seed % 2:
            sample = Sample(np.random.default_rng([seed, 2000, k]), "mild")
            yield f"{fit} + {part}", lambda a=fit, b=part, s=sample: _written(a, b, s)
    for name, pose in models(seed):
        if name.endswith(", mild"):
            yield f"primal of {name}", lambda pose=pose: pose().primal
            yield f"dual of {name}", lambda pose=pose: pose().dual
    for k, name in enumerate(CONES):
        A = np.random.default_rng([seed, 3000, k]).normal(size=(6, 4))
        yield name, lambda name=name, A=A: CONES[name](A, cp.Variable(4, name="x"))


def _written(fit: str, part: str, s: Sample) -> cp.Problem:
    kind, loss = FITS[fit]
    w, b = cp.Variable(D, name="w"), cp.Variable(name="b")
    penalty, rows = PARTS[part](w)
    return cp.Problem(cp.Minimize(loss(s.dense @ w + b, getattr(s, kind)) + penalty), rows)


def _semidefinite(A: Array, Z: Any) -> cp.Problem:
    return cp.Problem(cp.Minimize(cp.trace(A.T @ A @ Z)), [cp.trace(Z) == 1, Z[0, 1] >= 0.2])


CONES: dict[str, Callable[[Array, Any], cp.Problem]] = {
    "linear": lambda A, x: cp.Problem(cp.Minimize(cp.sum(x)), [A @ x <= 5.0, x >= -1.0]),
    "quadratic": lambda A, x: cp.Problem(cp.Maximize(A[0] @ x - cp.sum_squares(A @ x)), [x >= 0]),
    "cone": lambda A, x: cp.Problem(cp.Minimize(A[0] @ x), [cp.norm(A @ x) <= 1.0]),
    "exponential cone": lambda A, x: cp.Problem(
        cp.Minimize(cp.log_sum_exp(A @ x) + 0.1 * cp.sum_squares(x)), [x[0] == 0.5]
    ),
    "entropy": lambda A, x: cp.Problem(
        cp.Maximize(cp.sum(cp.entr(x)) + A[0] @ x), [cp.sum(x) == 1, A[1] @ x >= A[1].mean()]
    ),
    "power": lambda A, x: cp.Problem(cp.Minimize(cp.pnorm(A @ x - 1.0, 3) + cp.norm1(x))),
    "semidefinite": lambda A, x: _semidefinite(A, cp.Variable((4, 4), PSD=True, name="Z")),
    "spectral": lambda A, x: cp.Problem(
        cp.Minimize(cp.lambda_max(cp.diag(x) + A[:4] + A[:4].T)), [cp.sum(x) == 1]
    ),
    "determinant": lambda A, x: cp.Problem(cp.Maximize(cp.log_det(cp.diag(x))), [x <= 2.0]),
    "infeasible": lambda A, x: cp.Problem(cp.Minimize(cp.sum(x)), [cp.norm(x) <= 1, x[0] >= 2]),
    "unbounded": lambda A, x: cp.Problem(cp.Minimize(A[0] @ x), [A[0] @ x <= 1]),
    "unattained": lambda A, x: cp.Problem(cp.Minimize(cp.exp(x[0])), [x[1:] == 0]),
}


def fitted(seed: int) -> Iterator[tuple[str, Any, Array, Array]]:
    """Names, estimators to fit, X and y: scikit-learn's at two tolerances, and ours."""
    mild = Sample(np.random.default_rng([seed, 4000]), "mild", n=40)
    for module in (linear_model, svm, kernel_ridge, covariance, discriminant_analysis):
        for name in sorted(vars(module)):
            made, ours = getattr(module, name), getattr(estimators, name, None)
            if not inspect.isclass(made) or (ours is None and name not in ALONE):
                continue
            y = next((getattr(mild, kind) for word, kind in TARGETS if word in name), mild.real)
            for text, settings in (("", {}), (", loose", {"tol": 1e-2})):
                known = inspect.signature(made).parameters
                given = {"random_state": 0, "cv": 3, **settings}
                chosen = {each: value for each, value in given.items() if each in known}
                yield f"scikit-learn {name}{text}", made(**chosen), mild.dense, y
            if ours is not None:
                folds = {"cv": 3} if "cv" in inspect.signature(ours).parameters else {}
                yield f"ours {name}", ours(**folds), mild.dense, y


ALONE = ("NuSVC", "NuSVR", "SGDClassifier", "SGDRegressor", "TweedieRegressor", "LassoLars",
         "MultiTaskElasticNet")  # fmt: skip
TARGETS = (("MultiTask", "several"), ("Poisson", "count"), ("Analysis", "three"), ("SVC", "two"),
           ("Classifier", "two"), ("LogisticRegression", "two"))  # fmt: skip
