"""Columns 1e-8 ... 1e8, C = 1e6, lam = 1e-12, lam >= lam_max.

The verdict of the rescaled problem; w = 0 exactly at lam_max.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.hard.every_model import ALONE, KERNEL, ROWS, UNWEIGHTED, kind, targets, three
from support.model_cases import GROUPS, binary, count, real, separable

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.errors import ConvexmlError
from convexml.penalties import L1, L2, Box, ElasticNet, Penalty, Zero

CASES = pytest.mark.parametrize("case", ROWS, ids=lambda case: case.name)
SPREAD = 2.0 ** np.array([-27, 13, 0, -13, 27])
"""From about 1e-8 to 1e8; powers of two, so that the rescaled problem is the same one exactly."""


def rescaled(penalty: Penalty) -> Penalty | None:
    """The penalty of the coefficients of X, given that of X * SPREAD; None where there is none."""
    match penalty:
        case L2():
            return L2(penalty.lam, weights=1.0 / SPREAD**2)
        case L1():
            return L1(penalty.lam, weights=1.0 / SPREAD)
        case Zero():
            return penalty
    return None


@CASES
def test_columns_of_any_unit(case: Any) -> None:
    X, y = case.data()
    for units in (SPREAD, np.full(5, 2.0**27), np.full(5, 2.0**-27)):
        solution = case.make(X * units, y).solve()
        assert solution.status == "optimal"
        assert solution.certificate.verdict is Verdict.CERTIFIED
    parts = case.make(X * SPREAD, y).objective_parts
    if case.name.startswith("Kernel") or kind(case) == "more":
        return
    penalty = rescaled(parts.penalty)
    if penalty is None:
        return
    found = case.make(X * SPREAD, y).solve(tol=1e-8)
    scale = "sum" if parts.c[0] != 1.0 / len(y) else "mean"
    size = float(parts.c[0]) if scale == "sum" else scale
    twin = LearningProblem(
        X, y, parts.loss, penalty, fit_intercept=parts.fit_intercept, loss_scale=size
    ).solve(tol=1e-8)
    assert twin.status == found.status
    assert found.objective == pytest.approx(twin.objective, rel=1e-7, abs=1e-12)


def test_softmax_with_an_l1_norm_in_any_unit() -> None:
    """P* by a conic statement in V = units W; the gap of any point covers what it lacks."""
    X, y = three()
    labels = (y[:, None] == np.unique(y)).astype(float)
    kept = np.mean(np.abs(X), axis=0) > 0.02 / SPREAD  # no slope is as large for the others
    V, b = cp.Variable((int(kept.sum()), 3)), cp.Variable((1, 3))
    Z = X[:, kept] @ V + np.ones((len(y), 1)) @ b
    loss = cp.sum(cp.log_sum_exp(Z, axis=1)) - cp.sum(cp.multiply(labels, Z))
    norm = cp.sum(cp.multiply(1.0 / SPREAD[kept, None], cp.abs(V)))
    posed = cp.Problem(cp.Minimize(loss / len(y) + 0.02 * norm))
    best = posed.solve(solver="CLARABEL")
    problem = cml.SoftmaxRegression(X * SPREAD, y, 0.02, "l1")
    solution = problem.solve()
    assert solution.objective == pytest.approx(best, rel=1e-7)
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-7, 1e-4, 1e-1):
        W = solution.primal["w"] * (1.0 + size * rng.normal(size=(5, 3)))
        found = problem.certify(W)
        assert found.gap >= found.primal_objective - best - 1e-7
        assert found.gap <= 2.0 * (found.primal_objective - best) + 1e-6 or size > 1e-4


@pytest.mark.parametrize("case", [*ALONE, *UNWEIGHTED], ids=lambda case: case.name)
def test_columns_of_any_unit_of_models_of_x_alone(case: Any) -> None:
    X, y = case.data()
    there = case.make(X, y).solve()
    for units in (SPREAD, np.full(5, 2.0**27), np.full(5, 2.0**-27)):
        solution = case.make(X * units, y).solve()
        if case.name == "NuSVC-kernel" and units.max() < 1.0:
            # Beside a width of 1 all samples are one: K is 1 and P is 0 to their last digits, and
            # no gap is small beside the spread of the k(x_i, .), which is nothing.
            assert solution.status == "inaccurate"
            assert abs(solution.objective) <= 1e-12
            assert solution.gap <= 1e-12
            continue
        assert solution.status == "optimal"
        assert solution.certificate.verdict is Verdict.CERTIFIED
        if case.name == "GaussianLikelihood" or case.name.startswith("Discriminant"):
            shift = 2.0 * float(np.log(units).sum())
            assert solution.objective - shift == pytest.approx(there.objective, abs=1e-10)
            Theta = solution.primal["Theta"] * np.outer(units, units)
            np.testing.assert_allclose(Theta, there.primal["Theta"], rtol=1e-9, atol=1e-12)
        elif case.name in ("OneClassSVM", "NuSVC") and np.ptp(units) == 0.0:
            found, size = solution.objective, units[0] ** 2
            assert found == pytest.approx(there.objective * size, rel=2e-6)


LARGE: dict[str, Callable[[float], Any]] = {
    "SoftMarginSVM": lambda C: cml.SoftMarginSVM(*binary(), C),
    "SoftMarginSVM, separable": lambda C: cml.SoftMarginSVM(*separable(), C),
    "SVR": lambda C: cml.SVR(*real(), C, 0.1),
    "KernelSVM": lambda C: cml.KernelSVM(*binary(), C, KERNEL),
    "KernelSVR": lambda C: cml.KernelSVR(*real(), C, 0.1, KERNEL),
}
SMALL: dict[str, Callable[[float], Any]] = {
    "Ridge": lambda lam: cml.Ridge(*real(), lam),
    "Lasso": lambda lam: cml.Lasso(*real(), lam),
    "ElasticNet": lambda lam: cml.ElasticNet(*real(), lam, 0.5),
    "GroupLasso": lambda lam: cml.GroupLasso(*real(), lam, GROUPS),
    "LogisticRegression": lambda lam: cml.LogisticRegression(*binary(), lam),
    "LogisticRegression, separable": lambda lam: cml.LogisticRegression(*separable(), lam),
    "LogisticRegression-l1": lambda lam: cml.LogisticRegression(*binary(), lam, "l1"),
    "LogisticRegression-l1, separable": lambda lam: cml.LogisticRegression(*separable(), lam, "l1"),
    "SoftmaxRegression": lambda lam: cml.SoftmaxRegression(*three(), lam),
    "SoftmaxRegression-l1": lambda lam: cml.SoftmaxRegression(*three(), lam, "l1"),
    "HuberRegression": lambda lam: cml.HuberRegression(*real(), 0.6, lam),
    "PoissonRegression": lambda lam: cml.PoissonRegression(*count(), lam),
    "QuantileRegression": lambda lam: cml.QuantileRegression(*real(), 0.3, lam),
    "MultiTaskLasso": lambda lam: cml.MultiTaskLasso(*targets(), lam),
    "KernelRidge": lambda lam: cml.KernelRidge(*real(), lam, KERNEL),
    "KernelLogistic": lambda lam: cml.KernelLogistic(*binary(), lam, KERNEL),
}


@pytest.mark.parametrize("name", LARGE)
def test_an_enormous_price_of_slack(name: str) -> None:
    for C in (1e6, 1e8):
        solution = LARGE[name](C).solve()
        assert solution.status == "optimal"
    if name == "SoftMarginSVM, separable":  # its slack costs too much: it is the hard margin
        assert solution.objective == pytest.approx(
            cml.HardMarginSVM(*separable()).solve().objective, rel=1e-6
        )


@pytest.mark.parametrize("name", SMALL)
def test_next_to_no_penalty(name: str) -> None:
    """P* is between that of no penalty and lam times its penalty more."""
    solution = SMALL[name](1e-12).solve()
    assert solution.status == "optimal"
    before = SMALL[name](1e-9).solve()
    assert solution.objective <= before.objective * (1.0 + 1e-6) + 1e-12
    if "separable" not in name and not name.startswith("Kernel"):
        free = SMALL[name](0.0).solve()
        assert free.status == "optimal"
        assert solution.objective == pytest.approx(free.objective, rel=2e-6)


@CASES
def test_from_lam_max_on_w_is_exactly_0(case: Any) -> None:
    problem = case.pose()
    try:
        largest = problem.lam_max
    except (ConvexmlError, AttributeError):
        assert not isinstance(problem.objective_parts.penalty, L1 | ElasticNet)
        return
    hyper, level = ("lam", 1.0) if case.name != "Slope" else ("lams", np.array(problem.lams))
    for factor in (1.0, 1.0 + 1e-9, 2.0, 1e6):
        setattr(problem, hyper, factor * largest * level)
        solution = problem.solve()
        assert solution.status == "optimal"
        assert np.all(solution.primal["w"] == 0.0)
    setattr(problem, hyper, 0.98 * largest * level)
    assert np.any(problem.solve().primal["w"] != 0.0)


def test_no_way_is_left_where_a_box_pins_all() -> None:
    for box in (Box(0.0, 0.0), Box(-1e-300, 1e-300)):
        solution = LearningProblem(*real(), cml.losses.Squared(), box).solve()
        assert solution.status == "optimal"
        assert np.all(np.abs(solution.primal["w"]) <= 1e-300)
