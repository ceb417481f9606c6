"""No mutation of a point or of multipliers of a linear program is certified."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.programs.small import BOUNDS, certificates_multipliers, oracle, programs
from support.sizes import sizes

from convexml.certificates import Verdict
from convexml.models import LinearProgram


def feasible_program(rng: np.random.Generator) -> dict[str, object]:
    n, m, p = rng.integers(2, 6), rng.integers(1, 7), rng.integers(0, 3)
    A, E = rng.normal(size=(m, n)), rng.normal(size=(p, n))
    x0 = rng.uniform(0.0, 2.0, n)
    bounds = [BOUNDS[0] if k == 4 else BOUNDS[k] for k in rng.integers(0, 5, n)]
    x0 = np.clip(x0, [b[0] or 0.0 for b in bounds], [b[1] or 9.0 for b in bounds])
    c = rng.normal(size=n) + A.T @ -rng.uniform(0.0, 1.0, m)
    return {
        "c": c,
        "A_ub": A,
        "b_ub": A @ x0 + rng.integers(0, 2, m) * rng.uniform(0.0, 1.0, m),
        "A_eq": E if p else None,
        "b_eq": E @ x0 if p else None,
        "bounds": bounds,
    }


def changes(rng: np.random.Generator, values: np.ndarray) -> Iterator[np.ndarray]:
    """Perturbed, flipped, permuted, scaled, one entry moved or dropped."""
    for size in (1e-9, 1e-5, 1e-3, 0.1):
        yield values + size * rng.normal(size=values.size)
    yield -values
    yield rng.permutation(values)
    yield values * rng.uniform(0.9, 1.1)
    for shift in (1e-3, -1e-3):
        yield values + shift * np.eye(values.size)[rng.integers(values.size)]
    yield values * (np.arange(values.size) != rng.integers(values.size))


def is_wrong(
    data: dict[str, object], best: float, x: np.ndarray, m: dict[str, np.ndarray], tol: float
) -> bool:
    """Whether P rose, D fell or feasibility broke by clearly more than tol; plain NumPy."""
    lower = np.array([-np.inf if b[0] is None else b[0] for b in data["bounds"]])
    upper = np.array([np.inf if b[1] is None else b[1] for b in data["bounds"]])
    E = np.zeros((0, x.size)) if data["A_eq"] is None else data["A_eq"]
    e = np.zeros(0) if data["b_eq"] is None else data["b_eq"]
    A, b, c = data["A_ub"], data["b_ub"], data["c"]

    def broken(residual: np.ndarray, scale: np.ndarray) -> bool:
        return bool(np.any(residual > 2.0 * tol * np.maximum(1.0, scale)))

    ub = broken(A @ x - b, abs(A) @ abs(x) + abs(b))
    eq = broken(abs(E @ x - e), abs(E) @ abs(x) + abs(e))
    box = broken(np.maximum(lower - x, x - upper), abs(x))
    signs = any(broken(-m[k], abs(m[k])) for k in ("lambda_ub", "lambda_lower", "lambda_upper"))
    gradient = c + A.T @ m["lambda_ub"] + E.T @ m["nu"] - m["lambda_lower"] + m["lambda_upper"]
    sizes = abs(c) + abs(A).T @ abs(m["lambda_ub"]) + abs(E).T @ abs(m["nu"])
    stationary = broken(abs(gradient), sizes + m["lambda_lower"] + m["lambda_upper"])
    dual = -b @ m["lambda_ub"] - e @ m["nu"]
    dual += m["lambda_lower"] @ np.where(np.isfinite(lower), lower, 0.0)
    dual -= m["lambda_upper"] @ np.where(np.isfinite(upper), upper, 0.0)
    scale = max(1.0, abs(best), abs(c @ x))
    rose, fell = c @ x > best + 2.0 * tol * scale, dual < best - 2.0 * tol * scale
    return ub or eq or box or signs or stationary or bool(rose) or bool(fell)


@pytest.mark.parametrize("count", sizes(400, 2000))
def test_no_mutation_of_point_or_multipliers_is_certified(count: int) -> None:
    rng, tol = np.random.default_rng(5), 1e-6
    tries = wrong = 0
    while tries < count:
        data = feasible_program(rng)
        status, result = oracle(data)
        if status != "optimal":
            continue
        problem, good = LinearProgram(**data), certificates_multipliers(result)
        assert problem.certify(result.x, good, tol=tol).verdict is Verdict.CERTIFIED
        cases = [(x, good) for x in changes(rng, result.x)]
        for name, values in good.items():
            if values.size:
                cases += [(result.x, good | {name: v}) for v in changes(rng, values)]
        for x, multipliers in cases:
            tries += 1
            certificate = problem.certify(x, multipliers, tol=tol)
            if is_wrong(data, result.fun, x, multipliers, tol):
                wrong += 1
                assert certificate.verdict is not Verdict.CERTIFIED, (data, x, multipliers)
            assert certificate.gap >= data["c"] @ x - result.fun - 1e-9 * (1 + abs(result.fun))
    assert wrong > 0.5 * count


@settings(max_examples=60)
@given(programs(), st.integers(0, 10**6))
def test_the_gap_bounds_the_suboptimality_for_any_multipliers(
    data: dict[str, object], seed: int
) -> None:
    status, result = oracle(data)
    assume(status == "optimal")
    rng, problem = np.random.default_rng(seed), LinearProgram(**data)
    x = result.x + rng.normal(size=result.x.size)
    multipliers = {
        "lambda_ub": rng.exponential(size=problem.data.b_ub.size),
        "nu": rng.normal(size=problem.data.b_eq.size),
    }
    for passed in (None, multipliers):
        certificate = problem.certify(x, passed)
        assert certificate.gap >= problem.data.c @ x - result.fun - 1e-9 * (1 + abs(result.fun))
