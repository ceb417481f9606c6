"""Overflow, inf and nan fail every comparison: nothing is certified by a number that is none."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import convexml as cml
from convexml import LearningProblem
from convexml.losses import SquaredHinge
from convexml.penalties import Box, Nonnegative

rng0 = np.random.default_rng(0)
X = rng0.normal(size=(8, 3))


def test_a_product_that_overflowed_is_not_that_of_a_part_of_it() -> None:
    A = np.random.default_rng(0).uniform(1.0, 2.0, (20, 60))
    y, far, near = np.linspace(-1.0, 1.0, 20), np.full(60, 2.0**1022), np.full(60, 4.0)
    A[0] = -1.0
    problem = cml.Ridge(A, y, 0.1)
    assert problem.certify(far, 0.0).verdict is not cml.Verdict.CERTIFIED
    assert not cml.Ridge(abs(A), y, 0.1).certify(far, 0.0).gap < np.inf  # the intercept overflows
    found, fresh = problem.certify(near, 0.0), cml.Ridge(A, y, 0.1).certify(near, 0.0)
    assert found.verdict is fresh.verdict is cml.Verdict.REFUTED
    assert found.primal_objective == fresh.primal_objective


def test_a_certificate_that_was_read_lets_go_of_the_data() -> None:
    A = np.random.default_rng(0).normal(size=(100, 20))
    gone = weakref.ref(A)
    certificate = cml.Lasso(A, A[:, 0].copy(), 0.1).solve().certificate
    assert "CERTIFIED" in str(certificate)
    del A
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("seed", range(4))
def test_weights_over_many_orders(seed: int) -> None:
    """The heavy samples can be met, and P* is all of the light ones."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 12)), 6
    X = rng.normal(size=(n, d))
    y = np.where(rng.normal(size=n) > 0.0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weights = 10.0 ** rng.uniform(-7, 7, n)
    penalty = (Box(-np.ones(d), np.ones(d)), Nonnegative())[seed % 2]
    problem = LearningProblem(X, y, SquaredHinge(), penalty, sample_weight=weights)
    solution = problem.solve()
    assert solution.status == "optimal", solution.certificate
