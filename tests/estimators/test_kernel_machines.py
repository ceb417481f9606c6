"""Machines with a kernel known to be semidefinite are solved and judged by rows of it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import svm
from support.estimator_objectives import svc, svr

import convexml as cml
from convexml import estimators as ours
from convexml.kernels import matrix as kernel_matrix

RNG = np.random.default_rng(2)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=120)
LABELS = np.digitize(Y, [-0.4, 0.4])
KERNELS: tuple[dict[str, Any], ...] = (
    {"kernel": "rbf", "gamma": 0.2},
    {"kernel": "poly", "gamma": 0.3, "coef0": 1.0, "degree": 2},
)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: each["kernel"])
@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_no_factor_of_the_kernel_is_made(
    name: str, kernel: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_matrix, "factor", None)
    y = LABELS if name == "SVC" else Y
    theirs = getattr(svm, name)(C=2.0, tol=1e-10, **kernel).fit(X, y)
    found = getattr(ours, name)(C=2.0, **kernel).fit(X, y)
    assert found.certificate_.verdict is cml.Verdict.CERTIFIED
    assert cml.certify(theirs, X, y, tol=1e-5).verdict is cml.Verdict.CERTIFIED
    value = svr if name == "SVR" else svc
    for each in (found, theirs):
        each.set_params(**({"decision_function_shape": "ovo"} if name == "SVC" else {}))
    reached, best = (value(each, X, y, np.ones(120)) for each in (found, theirs))
    assert reached == pytest.approx(best, rel=1e-6)
    assert found.certificate_.primal_objective == pytest.approx(reached, rel=1e-10)


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_the_problem_is_that_of_a_kernel_and_knows_the_columns(name: str) -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    found = getattr(ours, name)(C=3.0, gamma=0.2).fit(frame, LABELS > 0)
    problem = found.problem_
    assert isinstance(problem, cml.KernelSVM if name == "SVC" else cml.KernelSVR)
    assert (problem.C, problem.features) == (3.0, list("abcd"))
    assert problem.kernel.sigma == pytest.approx((1.0 / 0.4) ** 0.5, rel=1e-15)


@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_a_coefficient_of_a_sample_without_weight_counts(name: str) -> None:
    s = np.ones(120)
    s[7] = 0.0
    y = LABELS > 0 if name == "SVC" else Y
    fitted = getattr(ours, name)(gamma=0.2).fit(X, y, sample_weight=s)
    assert cml.certify(fitted, X, y, sample_weight=s).verdict is cml.Verdict.CERTIFIED
    moved = copy.deepcopy(fitted)
    moved.support_ = np.append(moved.support_, 7).astype(np.int32)
    moved.support_vectors_ = X[moved.support_]
    moved.dual_coef_ = np.append(moved.dual_coef_, [[0.5]], axis=1)
    assert cml.certify(moved, X, y, sample_weight=s).verdict is cml.Verdict.REFUTED


@pytest.mark.slow
def test_more_than_a_thousand_free_samples_are_solved_exactly() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2600, 20))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=2600) > 0.0
    machine = cml.KernelSVM(X, y, 100.0, cml.kernels.Gaussian((10.0 * X.var()) ** 0.5))
    solution = machine.solve("smo")
    alpha = solution.dual["alpha"]
    assert solution.certificate.verdict is cml.Verdict.CERTIFIED
    assert np.sum((alpha > 0.0) & (alpha < 100.0)) > 1000
    assert solution.iterations <= 20  # more than 40 where they are climbed in pairs
