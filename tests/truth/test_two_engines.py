"""Every model by both engines: the Fenchel-Young and the conic certificate bound the same value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.programs.arrays import certify_arrays

import convexml as cml
from convexml.certificates.algebra.clarabel import solve_cone_program
from convexml.duality import cone_program
from convexml.losses import Huber, Poisson

TOL = 1e-6
TIGHT = {"tol_gap_rel": 1e-10, "tol_gap_abs": 1e-10, "tol_feas": 1e-10}


def models() -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    t = X @ np.array([1.0, -2.0, 0.0, 0.5]) + 0.5 * rng.normal(size=20)
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=20))
    separable, wide = np.sign(X[:, 0] + X[:, 1]), rng.normal(size=(4, 8))
    counts = rng.poisson(2.0, 20).astype(float)
    s = rng.uniform(0.5, 2.0, 20)
    gaussian = cml.kernels.Gaussian(2.0)
    return {
        "LeastSquares": lambda: cml.LeastSquares(X, t),
        "MinimumNorm": lambda: cml.MinimumNorm(wide, t[:4]),
        "Ridge": lambda: cml.Ridge(X, t, 0.3, sample_weight=s),
        "ConstrainedRidge": lambda: cml.ConstrainedRidge(X, t, 0.5),
        "Lasso": lambda: cml.Lasso(X, t, 0.2),
        "ConstrainedLasso": lambda: cml.ConstrainedLasso(X, t, 0.8),
        "ConvexRegression": lambda: cml.ConvexRegression(X[:10, :2], t[:10]),
        "GeneralizedLasso": lambda: cml.GeneralizedLasso(
            X, t, 0.2, np.diff(np.eye(4), axis=0), sample_weight=s
        ),
        "Slope": lambda: cml.Slope(X, t, [0.5, 0.4, 0.2, 0.1], sample_weight=s),
        "DantzigSelector": lambda: cml.DantzigSelector(X, t, 0.3, sample_weight=s),
        "SquareRootLasso": lambda: cml.SquareRootLasso(X, t, 0.3, sample_weight=s),
        "ElasticNet": lambda: cml.ElasticNet(X, t, 0.3, 0.5),
        "GroupLasso": lambda: cml.GroupLasso(X, t, 0.2, [0, 0, 1, 1]),
        "MultiTaskLasso": lambda: cml.MultiTaskLasso(X, np.column_stack([t, y]), 0.3),
        "LogisticRegression": lambda: cml.LogisticRegression(X, y, 0.1),
        "LogisticRegression l1": lambda: cml.LogisticRegression(X, y, 0.05, penalty="l1"),
        "HuberRegression": lambda: cml.HuberRegression(X, t, 0.5, 0.1),
        "PoissonRegression": lambda: cml.PoissonRegression(X, counts, 0.1),
        "QuantileRegression": lambda: cml.QuantileRegression(X, t, 0.3, 0.1),
        "HardMarginSVM": lambda: cml.HardMarginSVM(X, separable),
        "SoftMarginSVM": lambda: cml.SoftMarginSVM(X, y, 2.0, sample_weight=s),
        "SVR": lambda: cml.SVR(X, t, 1.0, 0.2),
        "SoftmaxRegression": lambda: cml.SoftmaxRegression(X, np.digitize(t, [-1.0, 1.0]), 0.1),
        "KernelRidge": lambda: cml.KernelRidge(X, t, 0.1, gaussian),
        "KernelLogistic": lambda: cml.KernelLogistic(X, y, 0.1, gaussian),
        "KernelProblem": lambda: cml.KernelProblem(X, t, Huber(0.5), 0.1, gaussian),
        "KernelProblem of counts": lambda: cml.KernelProblem(X, counts, Poisson(), 0.1, gaussian),
        "KernelSVM": lambda: cml.KernelSVM(X, y, 1.0, gaussian),
        "KernelSVR": lambda: cml.KernelSVR(X, t, 1.0, 0.2, gaussian),
        "HalfspaceLP": lambda: cml.HalfspaceLP(X, separable, fit_intercept=True),
        "NuSVC": lambda: cml.NuSVC(X, y, 0.5, sample_weight=s),
        "AdaBoost": lambda: cml.AdaBoost(np.sign(X[:, 1:3]), y, 60, sample_weight=s),
        "LPBoost": lambda: cml.LPBoost(cml.stumps(X[:, :2])[0], y, 0.4, sample_weight=s),
        "OneClassSVM": lambda: cml.OneClassSVM(X + 2.0, 0.3, sample_weight=s),
        "OneClassSVM with a kernel": lambda: cml.OneClassSVM(X, 0.3, gaussian),
        "BernoulliLikelihood": lambda: cml.BernoulliLikelihood(y > 0.0, sample_weight=s),
        "CategoricalLikelihood": lambda: cml.CategoricalLikelihood(counts, np.arange(9.0)),
        "ConvexClustering": lambda: cml.ConvexClustering(X[:8], 0.1),
        "KMeansBound": lambda: cml.KMeansBound(X[:8], 3),
        "PrincipalComponents": lambda: cml.PrincipalComponents(X, 2, sample_weight=s),
        "LinearProgram": lambda: cml.LinearProgram(
            t[:4], X[:6], np.abs(t[:6]) + 1.0, bounds=(-1, 1)
        ),
    }


@pytest.mark.parametrize("name", tuple(models()))
def test_the_two_certificates_agree(name: str) -> None:
    problem = models()[name]()
    ours = problem.solve(tol=1e-8).certificate
    canonical = cone_program(problem.primal)
    x, _, y = solve_cone_program(canonical.program, **TIGHT)
    conic = certify_arrays(canonical.program, x, y, tol=TOL)
    assert ours.verdict is cml.Verdict.CERTIFIED, str(ours)
    assert conic.verdict is cml.Verdict.CERTIFIED, str(conic)
    scale = max(1.0, abs(ours.primal_objective))
    assert abs(ours.primal_objective - conic.primal_objective) <= TOL * scale
    assert abs(ours.dual_objective - conic.dual_objective) <= TOL * scale
    # Each engine's lower bound is below the other's value: the bounds are on the same number.
    assert ours.dual_objective <= conic.primal_objective + 1e-8 * scale
    assert conic.dual_objective <= ours.primal_objective + 1e-8 * scale


@pytest.mark.parametrize("name", tuple(models()))
def test_the_posed_dual_has_the_value_that_the_conic_engine_proves(name: str) -> None:
    problem = models()[name]()
    canonical = cone_program(problem.dual)
    x, _, y = solve_cone_program(canonical.program, **TIGHT)
    conic = certify_arrays(canonical.program, x, y, tol=TOL)
    assert canonical.sign == -1.0
    if name == "HalfspaceLP":  # separable: P* = 0, and the dual's own data have no other unit
        assert conic.gap <= 1e-8
    else:
        assert conic.verdict is cml.Verdict.CERTIFIED, str(conic)
    value = problem.solve(tol=1e-8).objective
    assert -conic.primal_objective == pytest.approx(value, abs=TOL * max(1.0, abs(value)))


def test_every_model_is_here() -> None:
    known = {name.partition(" ")[0] for name in models()}
    exported = set(__import__("convexml.models", fromlist=["__all__"]).__all__)
    own = {
        "EnclosingBall",
        "MonotoneRegression",
        "TrendFilter",
        "NearestNeighbors",
        "SpanningTree",
        "OptimalTransport",
    }  # each is compared in its own file
    assert exported - known - own <= {
        "LearningProblem",
        "GaussianLikelihood",
        "DiscriminantAnalysis",
    }
