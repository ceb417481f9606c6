"""Power-of-two changes of units change no verdict, and no relative gap beyond rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import support.draws.linear_draws as linear_draws
from sklearn.datasets import load_breast_cancer
from support.exact.exact_program import solve_program
from support.sizes import by_turns

import convexml as cml
from convexml import Certificate, losses, penalties

Random = np.random.Generator


def same(one: Certificate, two: Certificate, where: str) -> None:
    """The same verdict, the same relative gap; a gap within rounding of 0 stays there."""
    assert one.verdict is two.verdict, f"{where}: {one!r} {two!r}"
    if np.isfinite(one.relative_gap) or np.isfinite(two.relative_gap):
        assert two.relative_gap == pytest.approx(one.relative_gap, rel=1e-3, abs=1e-9), where


def twins(rng: Random) -> tuple[linear_draws.Linear, linear_draws.Linear, np.ndarray, np.ndarray]:
    """A program, its twin, and the units of columns and rows."""
    one = linear_draws.solvable(rng)
    column = 2.0 ** rng.integers(-30, 31, one.c.size)
    row, equal = (2.0 ** rng.integers(-30, 31, len(v)) for v in (one.b_ub, one.b_eq))
    cost = 2.0 ** rng.integers(-30, 31)
    two = linear_draws.in_units(one, column, row, equal, cost)
    return one, two, column, cost / row


@pytest.mark.parametrize("seeds", [range(6)])
def test_linear_programs(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        one, two, column, price = twins(rng)
        x = np.array([float(v) for v in one.optimum.x])
        duals = one.posed.solve().dual
        for step in (0.0, 1e-9, 1e-4, 1.0):
            at = x + step * rng.normal(size=x.size) * (x > 0.0)
            where = f"{seed}, {step}"
            same(one.posed.certify(at), two.posed.certify(at / column), where)
            if duals and not len(one.b_eq):
                passed = duals["lambda_ub"] * (1.0 + step)
                same(
                    one.posed.certify(at, {"lambda_ub": passed}),
                    two.posed.certify(at / column, {"lambda_ub": passed * price}),
                    f"{where}, passed",
                )
        assert one.posed.solve().status == two.posed.solve().status


def test_a_huber_loss_of_a_tiny_threshold() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    delta = 1e-14
    problem = cml.HuberRegression(X, y, delta, 0.1)
    outside = np.full(10, 1.01 * delta / 10.0) * np.array([1.0, -1.0] * 5)
    assert problem.dual_objective(outside) == -np.inf
    assert np.isfinite(problem.dual_objective(outside / 1.02))
    assert problem.solve().status == "optimal"


def data(unit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    y = X @ np.array([1.0, -2.0, 0.0, 0.5]) + 0.3 * rng.normal(size=30)
    return X * unit, y, np.where(y > 0.0, 1.0, -1.0)


# (X, y, labels, unit of X) -> problem; radii are 1 in the units of w.
PROBLEMS: dict[str, Callable[..., Any]] = {
    "Absolute + L2Ball": lambda X, y, c, s: cml.LearningProblem(
        X, y, losses.Absolute(), penalties.L2Ball(1.0 / s)
    ),
    "Quantile": lambda X, y, c, s: cml.QuantileRegression(X, y, 0.3, 0.05 * s),
    "MinimumNorm": lambda X, y, c, s: cml.MinimumNorm(X[:3], y[:3]),
    "Hinge + L1Ball": lambda X, y, c, s: cml.LearningProblem(
        X, c, losses.Hinge(), penalties.L1Ball(1.0 / s)
    ),
    "ConstrainedLasso": lambda X, y, c, s: cml.ConstrainedLasso(X, y, 1.0 / s),
    "ConstrainedRidge": lambda X, y, c, s: cml.ConstrainedRidge(X, y, 1.0 / s),
    "logistic, l1": lambda X, y, c, s: cml.LogisticRegression(X, c, 0.05 * s, penalty="l1"),
}


@pytest.mark.parametrize("unit", by_turns([1e-8, 1e-4, 1e8, 1.0, 1e4]))
@pytest.mark.parametrize("moves", [True, False], ids=["hyperparameters move along", "they stay"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_units_of_X(name: str, moves: bool, unit: float) -> None:
    solution = PROBLEMS[name](*data(unit), unit if moves else 1.0).solve()
    assert solution.status == "optimal", solution.certificate
    if moves:
        ordinary = PROBLEMS[name](*data(1.0), 1.0).solve()
        factor = unit**-2 if name == "MinimumNorm" else 1.0
        assert solution.objective == pytest.approx(ordinary.objective * factor, rel=1e-5)


@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0])
def test_a_polynomial_kernel_on_raw_columns(lam: float) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    rows = slice(0, 569, 6)
    problem = cml.KernelLogistic(X[rows], y[rows], lam, cml.kernels.Polynomial(2))
    solution = problem.solve()
    assert solution.status == "optimal", solution.certificate


A = np.array([[-1, 2, -3, -1], [-1, -5, 2, 4], [1, -1, -3, -1], [-4, -2, 2, 4], [1, 2, 4, -1.0]])
b, c = np.array([-8, 1, 5, -20, 5.0]), np.array([5, 16, -20, -17.0])


def test_a_program_in_bad_units_is_solved_as_in_good_ones() -> None:
    assert cml.LinearProgram(c, A, b).solve().objective == pytest.approx(1.0)
    twin = c * 1e-9, A * 1e6, b * 1e6
    best = float(solve_program(*twin).value)
    assert best == pytest.approx(1e-9)
    solution = cml.LinearProgram(*twin).solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(best, rel=1e-6)
