"""Every scale of a gap comes from one place: max(|P|, |D|, floor), the floor of the data alone.

By formulas of their own: 1e-6 P_0 of the null model, 1e-3 of the size of a program, nats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.latex import every_model
from support.latex.formula_cases import BINARY, COUNTS, MODELS, REAL, TARGETS, X

from convexml import models
from convexml.certificates import scale

N = len(REAL)
SPREAD = 0.5 * np.var(REAL)
HALF = BINARY.tolist().count(1.0) / N
ENTROPY = -HALF * np.log(HALF) - (1.0 - HALF) * np.log(1.0 - HALF)
RARER = min(HALF, 1.0 - HALF) * N
GRID = np.unique(np.concatenate([REAL, REAL - 0.1, REAL + 0.1]))
FINE = np.linspace(REAL.min(), REAL.max(), 20001)


def least(loss: Any, levels: Any = GRID) -> float:
    """Of the sum over samples of a loss of y - b, at the best of these b."""
    return float(min(np.sum(loss(REAL - b)) for b in levels))


def huber(r: Any) -> Any:
    return np.where(np.abs(r) <= 1.0, 0.5 * r**2, np.abs(r) - 0.5)


TUBE = least(lambda r: np.maximum(np.abs(r) - 0.1, 0.0))
POISSON = float(np.mean(COUNTS * np.log(np.where(COUNTS > 0.0, COUNTS, 1.0) / COUNTS.mean())))
"""Half the deviance of the mean."""
NULL = {
    **dict.fromkeys(("LeastSquares", "Ridge", "ConstrainedRidge", "Lasso"), SPREAD),
    **dict.fromkeys(("ConstrainedLasso", "ElasticNet", "GroupLasso", "Slope"), SPREAD),
    "TrendFilter": SPREAD,
    "HuberRegression": least(huber, FINE) / N,
    "QuantileRegression": least(lambda r: np.maximum(0.3 * r, -0.7 * r)) / N,
    "PoissonRegression": max(POISSON, 1.0),
    "LogisticRegression": ENTROPY,
    "SoftmaxRegression": np.log(3.0),
    "MultiTaskLasso": 0.5 * float(np.var(TARGETS, axis=0).sum()),
    "SoftMarginSVM": 2.0 * 2.0 * RARER,
    "KernelSVM": 2.0 * 2.0 * RARER,
    "SVR": 2.0 * TUBE,
    "KernelSVR": 2.0 * TUBE,
    "KernelRidge": 0.5 * float(np.mean(REAL**2)),
    "KernelLogistic": ENTROPY,
    "KernelProblem": 2.0 * HALF * (1.0 - HALF),
    "OneClassSVM": 0.5 * (0.4 * N) ** 2 * float(np.mean(np.sum(X**2, axis=1))),
    "NuSVC": 0.5 * (0.4 * N) ** 2 * float(np.var(X, axis=0).sum()),
    "AdaBoost": 1.0,
    "MonotoneRegression": 0.5 * float(np.var(every_model.RISING)),
    "ConvexClustering": 0.5 * 5.0 * float(np.var(every_model.POINTS, axis=0).sum()),
    "KMeansBound": 5.0 * float(np.var(every_model.POINTS, axis=0).sum()),
    "NearestNeighbors": float(np.mean(np.linalg.norm(X - X[0] - 0.1, axis=1))),
    "SpanningTree": 4.0 * float(abs(every_model.DISTANCES[np.triu_indices(5, 1)]).mean()),
}
"""P_0 of each model, by closed forms or a search."""
ROUNDED = {
    "HuberRegression": 1e-5,  # searched on a grid
    "MultiTaskLasso": 2e-3,  # P of means that are rounded to a few digits
}
NATS = {"GaussianLikelihood": 4.0, "DiscriminantAnalysis": 2.0}
NATS |= {"BernoulliLikelihood": 1.0, "CategoricalLikelihood": 1.0}
NO_FLOOR = {
    "MinimumNorm": "f = 0 is infeasible: |P| and |D| alone",
    "HardMarginSVM": "as of MinimumNorm",
    "HalfspaceLP": "P is 0 everywhere: only a gap of exactly 0 is certified",
    "PrincipalComponents": "P = -<S, P> is 0 of no P of trace k, unless S is",
}
OF_PROGRAM = {
    "LPBoost": "1e-3 of the size of a program whose entries are the typical ones",
    "LinearProgram": "1e-3 of the size that a fit of units gives",
}


def floors(make: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[list[float], Any]:
    """The floors that the one place was asked for, in the units of P, and the certificate."""
    asked, largest = [], scale._largest

    def heard(*values: float) -> float:
        asked.append((values[-1], largest(*values)))
        return asked[-1][1]

    monkeypatch.setattr(scale, "_largest", heard)
    solution = make().solve(tol=1e-7)
    found = solution.certificate  # it may be judged in other units, where P is another number
    return [floor * (found.scale / of) for floor, of in asked if of > 0.0], found


def check(make: Any, floor: float, monkeypatch: pytest.MonkeyPatch, rel: float = 1e-8) -> None:
    asked, found = floors(make, monkeypatch)
    assert any(each == pytest.approx(floor, rel=rel) for each in asked), (floor, {*asked})
    sizes = abs(found.primal_objective), abs(found.dual_objective)
    assert found.scale == pytest.approx(max(*sizes, floor) if floor < 1.0 else found.scale)


EVERY = MODELS | every_model.MORE


@pytest.mark.parametrize("name", NULL)
def test_a_share_of_the_null_model(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(EVERY[name], 1e-6 * NULL[name], monkeypatch, ROUNDED.get(name, 1e-8))


@pytest.mark.parametrize("name", NATS)
def test_nats(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, found = floors(EVERY[name], monkeypatch)
    assert NATS[name] in asked
    assert found.scale == NATS[name]


@pytest.mark.parametrize("name", NO_FLOOR)
def test_none(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, found = floors(EVERY[name], monkeypatch)
    sizes = abs(found.primal_objective), abs(found.dual_objective)
    assert found.scale == pytest.approx(max(sizes))


@pytest.mark.parametrize("name", ["LPBoost", "LinearProgram"])
def test_a_program_has_a_size(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1e-3, and moved by nothing but units: test_exact_oracles.py has what it is."""
    make = EVERY.get(name, lambda: every_model.linear_program((0, None), True))
    asked, found = floors(make, monkeypatch)
    sizes = abs(found.primal_objective), abs(found.dual_objective)
    assert any(found.scale == max(*sizes, each) for each in asked)


def test_every_model_is_in_a_table() -> None:
    assert {*NULL, *NATS, *NO_FLOOR, *OF_PROGRAM} == {*models.__all__} - {
        "Problem",
        "LearningProblem",  # its floor is that of its loss
    }
    assert (
        every_model.LEARNERS.shape[0]
        == len(every_model.ONE_WRONG)
        == len(every_model.NOT_SEPARABLE)
    )
