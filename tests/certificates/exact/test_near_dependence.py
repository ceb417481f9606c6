"""Columns that nearly repeat another, no penalty: the bound is true, and as near as floats are."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb
from support.exact.exact_learning import Learning

import convexml as cml


@pytest.mark.parametrize("apart", [1e-9, 3e-12])
@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_the_bound_is_true_and_close(name: str, apart: float) -> None:
    """P* by Newton's method with 120 digits; w is about 1 / apart."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    X[:, 2] = X[:, 0] + apart * rng.normal(size=40)
    z, seen = X[:, 0] + X[:, 1], rng.random(40)
    y = np.where(seen < 1.0 / (1.0 + np.exp(-z)), 1.0, -1.0)
    y = y if name == "logistic" else rng.poisson(np.exp(0.5 * z)).astype(float)
    model = cml.LogisticRegression if name == "logistic" else cml.PoissonRegression
    solution = model(X, y, 0.0).solve()
    certificate, (w, b) = solution.certificate, (solution.primal["w"], solution.primal["b"])
    truth = Learning(X, y, (name,), ("none",))
    best = truth.optimum.value
    assert certificate.verdict == cml.Verdict.CERTIFIED
    assert np.abs(w).max() > 0.01 / apart
    assert arb(certificate.gap) >= truth.value(w, b) - best
    assert arb(certificate.dual_objective) - arb(certificate.rounding) <= best
    assert certificate.gap <= 1e-8
