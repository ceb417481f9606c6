"""A keyword that nobody takes is refused by name, with the nearest that somebody does."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from inspect import signature
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import Ridge
from support.model_cases import samples

import convexml as cml
from convexml import kernels, losses, penalties
from convexml.errors import InputError

X, Y = samples("real")
FITTED = Ridge().fit(X, Y)
PROGRAM = cml.LinearProgram([1.0, 1.0], [[-1.0, -1.0]], [-1.0])


UNKNOWN: dict[str, tuple[Callable[[], Any], str]] = {
    "model": (
        lambda: cml.Lasso(X, Y, lambda_=0.1),
        "Lasso: there is no argument 'lambda_'. Did you mean 'lam'?",
    ),
    "model, far from all": (
        lambda: cml.LeastSquares(X, Y, granularity=2),
        "LeastSquares: there is no argument 'granularity'. Known: X, y, fit_intercept",
    ),
    "general problem": (
        lambda: cml.LearningProblem(X, Y, losses.Squared(), penalties.L2(0.1), scale="sum"),
        "LearningProblem: there is no argument 'scale'. Did you mean 'loss_scale'?",
    ),
    "kernel model": (
        lambda: cml.KernelRidge(X, Y, 0.1, kernal=kernels.Linear()),
        "KernelRidge: there is no argument 'kernal'. Did you mean 'kernel'?",
    ),
    "linear program": (
        lambda: cml.LinearProgram([1.0], A_up=[[1.0]], b_ub=[1.0]),
        "LinearProgram: there is no argument 'A_up'. Did you mean 'A_ub'?",
    ),
    "estimator": (
        lambda: cml.certify(FITTED, X, Y, sample_weigth=np.ones(len(Y))),
        "certify: there is no argument 'sample_weigth'. Did you mean 'sample_weight'?",
    ),
    "assertion": (
        lambda: cml.assert_optimal(FITTED, X, Y, tolerance=1e-3),
        "assert_optimal: there is no argument 'tolerance'. Did you mean 'gap'?",
    ),
    "CVXPY problem": (
        lambda: cml.certify(cp.Problem(cp.Minimize(0.0)), tolerance=1e-3),
        "certify: a cvxpy.Problem takes no other argument than tol",
    ),
    "solve by hand": (
        lambda: cml.Lasso(X, Y, 0.1).solve("fista", tolerance=1e-6),
        "fista: there is no option 'tolerance'; its options: step, restart. Every solve takes tol,",
    ),
    "solve by a reference solver": (
        lambda: cml.Lasso(X, Y, 0.1).solve("clarabel", max_second=1.0),
        "Every solve takes tol, max_seconds, max_iter and polish.",
    ),
    "auto": (
        lambda: cml.Lasso(X, Y, 0.1).solve(tolerance=1e-6),
        "Every solve takes tol,",
    ),
    "linear program, solve": (
        lambda: PROGRAM.solve(tolerance=1e-6),
        "Every solve takes tol,",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_the_nearest_argument_is_named(name: str) -> None:
    call, words = UNKNOWN[name]
    with pytest.raises(InputError, match=re.escape(words)):
        call()


def test_a_missing_argument_is_still_python_s_own_error() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'lam'"):
        cml.Lasso(X, Y)  # type: ignore[call-arg]


def test_signatures_and_copies_are_as_before() -> None:
    assert [*signature(cml.Lasso).parameters] == ["X", "y", "lam", "fit_intercept", "sample_weight"]
    assert [*signature(cml.LinearProgram).parameters][:3] == ["c", "A_ub", "b_ub"]
    problem = cml.Lasso(X, Y, lam=0.1)
    for twin in (copy.copy(problem), copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
        assert repr(twin) == repr(problem)


def test_a_subclass_takes_what_its_own_constructor_takes() -> None:
    class Halved(cml.Lasso):
        def __init__(self, size: float, **others: Any) -> None:
            super().__init__(X, Y, size / 2.0, **others)

    assert Halved(size=0.2).lam == 0.1
    assert not Halved(size=0.2, fit_intercept=False).objective_parts.fit_intercept
    with pytest.raises(TypeError, match="intercept"):  # it says that it takes any keyword
        Halved(size=0.2, intercept=False)
