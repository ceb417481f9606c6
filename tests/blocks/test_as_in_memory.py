"""The same problem in memory and in blocks: objective, verdict and bound."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.models.in_blocks import MODELS, NAMED, Data, Model

import convexml as cml

N, D = 300, 6
LARGE_N, LARGE_D = 20_000, 20
TOL = 1e-10


@cache
def data(n: int, d: int) -> Data:
    return Data.drawn(n, d)


def layouts(n: int) -> dict[str, list[int]]:
    """Where rows are cut: seven uneven blocks, some of them empty or of one row, and so on."""
    return {
        "uneven": [1, 1 + n // 100, n // 4, n // 4, n // 2, n - 1],
        "one": [],
        "two": [n // 3],
        "fifty": list(range(n // 50, n, n // 50)),
    }


def judge_as_in_memory(model: Model, given: Data, cuts: dict[str, list[int]]) -> None:
    here = model.of(given)
    whole = here.solve(tol=TOL)
    assert whole.status == "optimal"
    w, b = whole.primal["w"], whole.primal["b"]
    known = here.certify(w, b, tol=TOL)
    for layout in cuts.values():
        problem = model.in_blocks(given, layout)
        solution = problem.solve(tol=TOL)
        assert solution.status == "optimal", solution.message
        assert solution.objective == pytest.approx(whole.objective, rel=1e-9)
        told = problem.certify(w, b, tol=TOL)
        assert told.verdict == known.verdict
        assert told.primal_objective == pytest.approx(known.primal_objective, rel=1e-12)
        assert told.dual_objective == pytest.approx(known.dual_objective, rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_blocks_are_solved_and_certified_as_in_memory(name: str) -> None:
    judge_as_in_memory(MODELS[name], data(N, D), {"uneven": layouts(N)["uneven"]})


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_larger_ones_in_however_many_blocks(name: str) -> None:
    judge_as_in_memory(NAMED[name], data(LARGE_N, LARGE_D), layouts(LARGE_N))


DEAR = {"softmax l1", "softmax group"}


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=[pytest.mark.slow] if k in DEAR else []) for k in MODELS]
)
def test_a_wrong_point_is_refuted_in_blocks_as_well(name: str) -> None:
    model, given = MODELS[name], data(N, D)
    here, there = model.of(given), model.in_blocks(given, layouts(N)["uneven"])
    w = np.zeros(here.coefficients_shape)
    w[3] = 0.2
    known, told = here.certify(w, 0.1), there.certify(w, 0.1)
    assert known.verdict == told.verdict == cml.Verdict.REFUTED
    assert told.primal_objective == pytest.approx(known.primal_objective, rel=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", NAMED)
def test_with_weights_in_single_precision_and_columns_of_all_sizes(
    name: str, intercept: bool
) -> None:
    model, given = MODELS[name], data(N, D)
    units = np.float32([1e4, 1e-3, 1.0, 30.0, 1.0, 1e-2])
    rough = Data((given.X * units).astype(np.float32), given.targets)
    weights = np.random.default_rng(3).integers(0, 3, N).astype(float)
    options: dict[str, Any] = {"fit_intercept": intercept}
    whole = model.of(rough, sample_weight=weights, **options).solve(tol=TOL)
    problem = model.in_blocks(rough, layouts(N)["uneven"], weights, **options)
    solution = problem.solve(tol=TOL)
    assert solution.status == whole.status, solution.message
    assert solution.objective == pytest.approx(whole.objective, rel=1e-9)
    for u, y in zip(solution.dual["u"], np.split(weights, layouts(N)["uneven"]), strict=True):
        assert len(u) == len(y)
        assert not np.any(u[y == 0.0])
