"""Every model by both engines: the Fenchel-Young and the conic certificate bound the same value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.model_cases import MODELS
from support.programs.arrays import certify_arrays

import convexml as cml
import convexml.models
from convexml.certificates.algebra.searchers import solve_cone_program
from convexml.duality import cone_program
from convexml.losses import Huber, Poisson

TOL = 1e-6
TIGHT = {"tol_gap_rel": 1e-10, "tol_gap_abs": 1e-10, "tol_feas": 1e-10}


def models() -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    t = X @ np.array([1.0, -2.0, 0.0, 0.5]) + 0.5 * rng.normal(size=20)
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=20))
    counts = rng.poisson(2.0, 20).astype(float)
    s = rng.uniform(0.5, 2.0, 20)
    gaussian = cml.kernels.Gaussian(2.0)
    plain = {case.name: case.pose for case in MODELS}
    return plain | {
        "Ridge, weighted": lambda: cml.Ridge(X, t, 0.3, sample_weight=s),
        "ConvexRegression": lambda: cml.ConvexRegression(X[:10, :2], t[:10]),
        "GeneralizedLasso": lambda: cml.GeneralizedLasso(
            X, t, 0.2, np.diff(np.eye(4), axis=0), sample_weight=s
        ),
        "Slope, weighted": lambda: cml.Slope(X, t, [0.5, 0.4, 0.2, 0.1], sample_weight=s),
        "DantzigSelector": lambda: cml.DantzigSelector(X, t, 0.3, sample_weight=s),
        "SquareRootLasso": lambda: cml.SquareRootLasso(X, t, 0.3, sample_weight=s),
        "MultiTaskLasso": lambda: cml.MultiTaskLasso(X, np.column_stack([t, y]), 0.3),
        "SoftMarginSVM, weighted": lambda: cml.SoftMarginSVM(X, y, 2.0, sample_weight=s),
        "SoftmaxRegression": lambda: cml.SoftmaxRegression(X, np.digitize(t, [-1.0, 1.0]), 0.1),
        "KernelRidge": lambda: cml.KernelRidge(X, t, 0.1, gaussian),
        "KernelLogistic": lambda: cml.KernelLogistic(X, y, 0.1, gaussian),
        "KernelProblem": lambda: cml.KernelProblem(X, t, Huber(0.5), 0.1, gaussian),
        "KernelProblem of counts": lambda: cml.KernelProblem(X, counts, Poisson(), 0.1, gaussian),
        "KernelSVM": lambda: cml.KernelSVM(X, y, 1.0, gaussian),
        "KernelSVR": lambda: cml.KernelSVR(X, t, 1.0, 0.2, gaussian),
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
