"""Every bad input is refused with words that name the object, the value and the requirement."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.bad_inputs import BAD, D, N, X, Y, ones, put

import convexml as cml
from convexml.errors import ConvexmlError, InputError
from convexml.solvers.reference import installed


@pytest.mark.parametrize("name", BAD)
def test_posing_refuses(name: str) -> None:
    make, words = BAD[name]
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ConvexmlError)


PROBLEM = cml.Ridge(X, Y, 0.1, sample_weight=put(ones, 0, 0.0))
CLASSES = cml.SoftmaxRegression(X, np.arange(N) % 3, 0.1)
BARE = cml.Ridge(X, Y, 0.1, fit_intercept=False)
W, U = np.ones(D), np.zeros(N)
JUDGED: dict[str, tuple[Callable[[], Any], str]] = {
    "w too short": (
        lambda: PROBLEM.certify(W[:3]),
        "Ridge: w must have one coefficient per feature (5), got shape (3,)",
    ),
    "w a matrix": (lambda: PROBLEM.objective(X), "got shape (24, 5)"),
    "nan in w": (lambda: PROBLEM.certify(put(W, 2, np.nan)), "Ridge: w contains nan at entry 2"),
    "text in w": (lambda: PROBLEM.certify(["a"] * D), "Ridge: w must hold numbers"),
    "b without intercept": (
        lambda: BARE.certify(W, 0.5),
        "Ridge: b = 0.5, but this problem was posed without intercept",
    ),
    "b a vector": (lambda: PROBLEM.certify(W, W), "Ridge: b must be one finite number"),
    "b nan": (lambda: PROBLEM.objective(W, np.nan), "Ridge: b must be one finite number, got nan"),
    "u too short": (
        lambda: PROBLEM.certify(W, 0.0, U[:3]),
        "Ridge: u must have one entry per sample (24), got shape (3,)",
    ),
    "nan in one of the u of a class": (
        lambda: CLASSES.certify(np.zeros((D, 3)), None, put(np.zeros((N, 3)), (5, 1), np.nan)),
        "SoftmaxRegression: u contains nan at row 5, column 1",
    ),
    "inf in u": (
        lambda: PROBLEM.certify(W, 0.0, put(U, 1, np.inf)),
        "Ridge: u contains inf at entry 1",
    ),
    "u on a dropped row": (
        lambda: PROBLEM.dual_objective(put(U, 0, 1.0)),
        "Ridge: u must be 0 on the samples of weight 0",
    ),
    "w0 too short": (lambda: PROBLEM.solve(w0=W[:2]), "Ridge: w0 must have one coefficient"),
    "seed": (lambda: PROBLEM.solve(seed="a"), "solve: seed must be a number, got 'a'"),
    "max_iter": (lambda: PROBLEM.solve(max_iter=1.5), "solve: max_iter must be a whole number"),
    "tol of certify": (lambda: PROBLEM.certify(W, tol=-1.0), "tol must be > 0, got -1"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_judging_refuses(name: str) -> None:
    call, words = JUDGED[name]
    with pytest.raises(InputError, match=re.escape(words)):
        call()


@pytest.mark.parametrize("given", [1, np.float32(0.5), np.array(2.0)])
def test_hyperparameters_read_back_as_floats(given: Any) -> None:
    problem = cml.Lasso(X, Y, given)
    assert (type(problem.lam), problem.lam) == (float, float(given))
    problem.lam = given
    assert type(problem.lam) is float
    with pytest.raises(InputError, match="lam must be a number, got '3'"):
        problem.lam = "3"
    assert problem.lam == float(given)


@pytest.mark.parametrize("solver", ["clarabel", "osqp", "ecos", "scs", "highs", "piqp"])
def test_an_unknown_option_is_named(solver: str) -> None:
    if not installed(solver):
        assert PROBLEM.solve(solver, no_such_option=3).status == "failed"
        return
    with pytest.raises(InputError, match=f"{solver}: there is no option 'no_such_option'"):
        PROBLEM.solve(solver, no_such_option=3)
