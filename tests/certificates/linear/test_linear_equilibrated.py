"""Linear programs in bad units: other units find the answer, the program's own judge it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.objective.linear.data import read_linear_data
from convexml.objective.linear.scaling import equilibrate

RNG = np.random.default_rng(0)
ROWS, COLUMNS = 10.0 ** RNG.integers(-9, 10, size=4), 10.0 ** RNG.integers(-9, 10, size=3)
BASE = RNG.uniform(0.5, 2.0, size=(4, 3))


def test_an_optimum_at_1e10_is_found() -> None:
    solution = cml.LinearProgram([-1.0, 0.0], [[1e-10, 1.0]], [1.0]).solve()
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.primal["x"], [1e10, 0.0])
    np.testing.assert_allclose(solution.dual["lambda_ub"], [1e10])
    assert "equilibrated" in solution.choice


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_and_columns_of_any_size(form: type) -> None:
    A = form(ROWS[:, None] * BASE * COLUMNS)
    c, b = -COLUMNS, ROWS
    solution = cml.LinearProgram(c, A, b).solve()
    # In x' = x * COLUMNS and rows / ROWS: maximise 1'x' s.t. BASE x' <= 1.
    plain = cml.LinearProgram(-np.ones(3), BASE, np.ones(4)).solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(plain.objective, rel=1e-9)
    np.testing.assert_allclose(solution.primal["x"] * COLUMNS, plain.primal["x"], atol=1e-7)


def test_scaling_is_exact_and_goes_back() -> None:
    A = ROWS[:, None] * BASE * COLUMNS
    data = read_linear_data(COLUMNS, A, ROWS, A[:1], ROWS[:1], (-1.0, None), "test")
    scaled = equilibrate(data)
    assert np.abs(scaled.data.A_ub).max(axis=1) == pytest.approx(np.ones(4), abs=1.01)
    x = RNG.normal(size=3)
    back = scaled.point(x)
    assert np.all(scaled.ub * (A @ back) / scaled.size == pytest.approx(scaled.data.A_ub @ x))
    assert float(data.c @ back) == pytest.approx(scaled.cost * scaled.size * scaled.data.c @ x)
    for factors in (scaled.ub, scaled.eq, scaled.column):
        assert np.all(np.frexp(factors)[0] == 0.5)  # powers of two: nothing is rounded


@pytest.mark.parametrize("scale", [1e-10, 1.0, 1e10])
def test_evidence_in_bad_units(scale: float) -> None:
    # x + y >= 2 and x + y <= 1, the second column in other units.
    infeasible = cml.LinearProgram(
        [1.0, scale], [[-1.0, -scale], [1.0, scale]], [-2.0, 1.0], bounds=(None, None)
    ).solve()
    assert infeasible.status == "infeasible"
    # x - y <= 1 leaves x = y free to grow.
    unbounded = cml.LinearProgram([-1.0, 0.0], [[1.0, -scale]], [1.0]).solve()
    assert unbounded.status == "unbounded"


def test_auto_goes_on_until_something_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    from convexml.models.linear import solve as linear_solve
    from convexml.solvers.reference import ReferenceRun

    real = linear_solve.run_reference

    def broken(problem: object, name: str, **options: object) -> ReferenceRun:
        if name in ("highs", "clarabel"):
            return ReferenceRun("error", 0.0, 0.0, 0, f"{name} crashed")
        return real(problem, name, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(linear_solve, "run_reference", broken)
    monkeypatch.setattr(linear_solve, "solve_equilibrated", lambda *given: None)
    solution = cml.LinearProgram([1.0, 1.0], [[-1.0, -1.0]], [-1.0]).solve()
    assert solution.status == "optimal"
    assert solution.solver not in ("highs", "clarabel")
    assert "highs ended failed" in solution.choice
