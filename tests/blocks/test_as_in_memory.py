"""The same problem in memory and in blocks: objective, verdict and bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import convexml as cml

N, D = 20_000, 20
RNG = np.random.default_rng(14)
X = RNG.standard_normal((N, D)) + RNG.choice([0.0, 0.5], D)
SCORES = (X - X.mean(axis=0)) @ (RNG.standard_normal(D) * (RNG.uniform(size=D) < 0.5))
REAL = SCORES + RNG.standard_t(4, N)
LABELS = np.where(SCORES + RNG.logistic(size=N) > 0.0, "yes", "no")
COUNTS = RNG.poisson(np.exp(np.clip(0.3 * SCORES, -3.0, 3.0))).astype(float)
CUTS = {
    "uneven": [1, 100, 5_000, 5_100, 9_000, 19_999],
    "one": [],
    "two": [12_345],
    "fifty": list(range(400, N, 400)),
}
MODELS: dict[str, tuple[Callable[..., Any], Any]] = {
    "ridge": (lambda *data: cml.Ridge(*data, lam=0.1), REAL),
    "lasso": (lambda *data: cml.Lasso(*data, lam=0.1), REAL),
    "elastic net": (lambda *data: cml.ElasticNet(*data, lam=0.1, l1_ratio=0.5), REAL),
    "logistic l2": (lambda *data: cml.LogisticRegression(*data, lam=0.01), LABELS),
    "logistic l1": (lambda *data: cml.LogisticRegression(*data, lam=0.01, penalty="l1"), LABELS),
    "Huber": (lambda *data: cml.HuberRegression(*data, delta=1.0, lam=0.01), REAL),
    "Poisson": (lambda *data: cml.PoissonRegression(*data, lam=0.01), COUNTS),
    "quantile": (lambda *data: cml.QuantileRegression(*data, tau=0.3, lam=0.01), REAL),
    "SVM": (lambda *data: cml.SoftMarginSVM(*data, C=0.01), LABELS),
    "SVR": (lambda *data: cml.SVR(*data, C=0.01, epsilon=0.2), REAL),
}
TOL = 1e-10


def in_blocks(y: Any, cuts: list[int]) -> cml.RowBlocks:
    return cml.RowBlocks(list(zip(np.split(X, cuts), np.split(y, cuts), strict=True)))


@pytest.mark.parametrize("name", MODELS)
def test_blocks_are_solved_and_certified_as_in_memory(name: str) -> None:
    judge_as_in_memory(name, ["uneven"])


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_however_many_blocks_there_are(name: str) -> None:
    judge_as_in_memory(name, ["one", "two", "fifty"])


def judge_as_in_memory(name: str, layouts: list[str]) -> None:
    model, y = MODELS[name]
    whole = model(X, y).solve(tol=TOL)
    assert whole.status == "optimal"
    for cuts in (CUTS[layout] for layout in layouts):
        problem = model(in_blocks(y, cuts))
        solution = problem.solve(tol=TOL)
        assert solution.status == "optimal", solution.message
        assert solution.objective == pytest.approx(whole.objective, rel=1e-9)
        w, b = whole.primal["w"], whole.primal["b"]
        here, there = model(X, y).certify(w, b, tol=TOL), problem.certify(w, b, tol=TOL)
        assert there.verdict == here.verdict
        assert there.primal_objective == pytest.approx(here.primal_objective, rel=1e-12)
        assert there.dual_objective == pytest.approx(here.dual_objective, rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_a_wrong_point_is_refuted_in_blocks_as_well(name: str) -> None:
    model, y = MODELS[name]
    w = np.zeros(D)
    w[3] = 1.0
    here = model(X, y).certify(w, 0.1)
    there = model(in_blocks(y, CUTS["uneven"])).certify(w, 0.1)
    assert here.verdict == there.verdict == cml.Verdict.REFUTED
    assert there.primal_objective == pytest.approx(here.primal_objective, rel=1e-12)
