"""Power-of-two changes of units change no verdict, and no relative gap beyond rounding."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import support.draws.linear_draws as linear_draws
from support.draws.families import assert_honest, sampled

import convexml as cml
from convexml import Certificate, Verdict, losses, penalties

Random = np.random.Generator


def same(one: Certificate, two: Certificate, where: str) -> None:
    """The same verdict, the same relative gap; a gap within rounding of 0 stays there."""
    assert one.verdict is two.verdict, f"{where}: {one!r} {two!r}"
    if np.isfinite(one.relative_gap) or np.isfinite(two.relative_gap):
        assert two.relative_gap == pytest.approx(one.relative_gap, rel=1e-3, abs=1e-9), where


@pytest.mark.parametrize("seeds", sampled(12, 36))
def test_no_false_verdict(seeds: range) -> None:
    tally = assert_honest("learning: units", seeds)
    assert tally.counts["certified"] > 0.1 * tally.judged


# -- linear programs and CVXPY ---------------------------------------------------------------


def twins(rng: Random) -> tuple[linear_draws.Linear, linear_draws.Linear, np.ndarray, np.ndarray]:
    """A program, its twin, and the units of columns and rows."""
    one = linear_draws.solvable(rng)
    column = 2.0 ** rng.integers(-30, 31, one.c.size)
    row, equal = (2.0 ** rng.integers(-30, 31, len(v)) for v in (one.b_ub, one.b_eq))
    cost = 2.0 ** rng.integers(-30, 31)
    two = linear_draws.Linear(
        one.c * column * cost,
        one.A_ub * column * row[:, None],
        one.b_ub * row,
        one.A_eq * column * equal[:, None],
        one.b_eq * equal,
        one.lower / column,
        one.upper / column,
    )
    return one, two, column, cost / row


@pytest.mark.parametrize("seeds", sampled(12, 36))
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


@pytest.mark.parametrize("seeds", sampled(12, 36))
def test_linear_programs_through_cvxpy(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        one, two, column, price = twins(rng)
        x = np.array([float(v) for v in one.optimum.x])
        duals = one.posed.solve().dual["lambda_ub"]
        found = []
        for each, at, dual in ((one, x, duals), (two, x / column, duals * price)):
            v = cp.Variable(x.size)
            rows = [each.A_ub @ v <= each.b_ub] if len(each.b_ub) else []
            rest = [each.A_eq @ v == each.b_eq] if len(each.b_eq) else []
            rest += [v >= each.lower]
            top = np.isfinite(each.upper)
            rest += [v[top] <= each.upper[top]] if top.any() else []
            problem = cp.Problem(cp.Minimize(each.c @ v), rows + rest)
            v.save_value(at)
            if rows:
                rows[0].dual_variables[0].save_value(dual)
            found.append(cml.certify(problem))
        same(found[0], found[1], f"{seed}")


# -- learning problems: each in the group of units that it states ----------------------------

# name: (problem at (X, y, unit of X by column, unit of y), unit of w, unit of P).
Model = Callable[[np.ndarray, np.ndarray, float, float], Any]
REAL: dict[str, Model] = {
    "Ridge": lambda X, y, s, t: cml.Ridge(X, y, 0.1 * s**2),
    "Lasso": lambda X, y, s, t: cml.Lasso(X, y, 0.1 * s * t),
    "ConstrainedLasso": lambda X, y, s, t: cml.ConstrainedLasso(X, y, 0.5 * t / s),
    "ConstrainedRidge": lambda X, y, s, t: cml.ConstrainedRidge(X, y, 0.5 * t / s),
    "GroupLasso": lambda X, y, s, t: cml.GroupLasso(X, y, 0.1 * s * t, [0, 0, 1]),
    "LeastSquares": lambda X, y, s, t: cml.LeastSquares(X, y),
    "Huber": lambda X, y, s, t: cml.HuberRegression(X, y, 0.5 * t, 0.1 * s**2),
    "Quantile": lambda X, y, s, t: cml.QuantileRegression(X, y, 0.3, 0.1 * s),
    "SVR": lambda X, y, s, t: cml.SVR(X, y, 2.0 * t / s**2, 0.1 * t),
    "MinimumNorm": lambda X, y, s, t: cml.MinimumNorm(X[:2], y[:2]),
    "Nonnegative": lambda X, y, s, t: cml.LearningProblem(
        X, y, losses.Squared(), penalties.Nonnegative()
    ),
}
BINARY: dict[str, Model] = {
    "Logistic": lambda X, y, s, t: cml.LogisticRegression(X, np.sign(y), 0.1 * s**2),
    "Logistic, l1": lambda X, y, s, t: cml.LogisticRegression(X, np.sign(y), 0.1 * s, penalty="l1"),
    "SoftMargin": lambda X, y, s, t: cml.SoftMarginSVM(X, np.sign(y), 2.0 / s**2),
    "HardMargin": lambda X, y, s, t: cml.HardMarginSVM(X, X[:, 0] > np.median(X[:, 0])),
}


@pytest.mark.parametrize("seeds", sampled(6))
@pytest.mark.parametrize("name", [*REAL, *BINARY])
def test_learning_problems(name: str, seeds: range) -> None:
    make, real = (REAL | BINARY)[name], name in REAL
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(8, 3)), rng.normal(size=8)
        y[:2] = abs(y[0]), -abs(y[1])  # both classes
        s = 2.0 ** rng.integers(-60, 61)
        t = 2.0 ** rng.integers(-60, 61) if real else 1.0
        one, two = make(X, y, 1.0, 1.0), make(X * s, y * t, s, t)
        first, second = one.solve(), two.solve()
        assert first.status == second.status == "optimal", f"{name}, {seed}"
        w, b = first.primal["w"], float(first.primal.get("b", 0.0))
        for step in (0.0, 1e-8, 1e-4, 1.0):
            at = w + step * rng.normal(size=3)
            at = np.abs(at) if name == "Nonnegative" else at
            shift = b if one.objective_parts.fit_intercept else 0.0
            same(one.certify(at, shift), two.certify(at * t / s, shift * t), f"{name}, {seed}")


@pytest.mark.parametrize("exponent", [-40, -20, 0, 20, 40])
def test_a_sign_constraint_broken_by_1e_minus_9(exponent: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    problem = cml.LearningProblem(X, y, losses.Squared(), penalties.Nonnegative())
    unit = 2.0**exponent
    twin = cml.LearningProblem(X / unit, y, losses.Squared(), penalties.Nonnegative())
    w = np.array([1.0, -1e-9])
    same(problem.certify(w), twin.certify(w * unit), f"2^{exponent}")


def test_a_huber_loss_of_a_tiny_threshold() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    delta = 1e-14
    problem = cml.HuberRegression(X, y, delta, 0.1)
    outside = np.full(10, 1.01 * delta / 10.0) * np.array([1.0, -1.0] * 5)
    assert problem.dual_objective(outside) == -np.inf
    assert np.isfinite(problem.dual_objective(outside / 1.02))
    assert problem.solve().status == "optimal"


def test_lam_max_of_a_pinball_loss_forgets_the_size_of_an_outlier() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    levels = []
    for size in (1e2, 1e6, 1e12, 1e15):
        far = y.copy()
        far[0] = size
        levels.append(cml.QuantileRegression(X, far, 0.3, 1.0).lam_max)
    assert levels == pytest.approx([levels[0]] * 4, rel=1e-6)
    assert levels[0] > 1e-3


def test_verdicts_of_refused_units_are_no_crash() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for unit in (2.0**-500, 2.0**500):
            rng = np.random.default_rng(0)
            X, y = rng.normal(size=(8, 3)), rng.normal(size=8)
            found = cml.LeastSquares(X * unit, y).certify(np.zeros(3))
            assert found.verdict is not Verdict.CERTIFIED
