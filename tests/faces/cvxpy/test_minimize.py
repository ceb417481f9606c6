"""`minimize`: sums of losses and penalties, written as they stand."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import losses, penalties
from convexml.certificates.judge import raised

RNG = np.random.default_rng(30)
X = RNG.standard_normal((24, 6))
y = X @ [1.0, -2.0, 0.5, 0.0, 0.0, 1.0] + 0.1 * RNG.standard_normal(24)
s, counts, classes = np.sign(y), RNG.poisson(1.0, 24), np.arange(24) % 3
D = np.diff(np.eye(6), axis=0)
w, b, W = cp.Variable(6), cp.Variable(), cp.Variable((6, 3))
groups = np.array([0, 0, 1, 1, 2, 2])

# What is written, and the same as CVXPY alone has it.
WRITTEN: dict[str, tuple[Any, Any]] = {
    "fused lasso": (
        losses.Squared()(X @ w - y) + 0.1 * penalties.L1()(w) + 0.5 * penalties.L1()(D @ w),
        cp.sum_squares(X @ w - y) / 2 + 0.1 * cp.norm1(w) + 0.5 * cp.norm1(D @ w),
    ),
    "SVM with a group penalty": (
        losses.Hinge()(X @ w + b, s) + np.float64(0.5) * penalties.GroupL2(groups=groups)(w),
        cp.sum(cp.pos(1 - cp.multiply(s, X @ w + b)))
        + 0.5 * math.sqrt(2) * sum(cp.norm(w[g : g + 2]) for g in (0, 2, 4)),
    ),
    "elastic net with bounds": (
        losses.Squared()(X @ w, y) / 24 + penalties.ElasticNet(0.2)(w) + penalties.Box(-1, 1)(w),
        cp.sum_squares(X @ w - y) / 48 + 0.1 * cp.norm1(w) + 0.05 * cp.sum_squares(w)
        + 1e9 * cp.sum(cp.pos(cp.abs(w) - 1)),
    ),
    "weights, a constant and an atom": (
        2.0 + losses.Absolute()(X @ w, 1.0, weights=np.arange(24.0)) + cp.norm(w) - cp.entr(b),
        2.0 + np.arange(24.0) @ cp.abs(X @ w - 1) + cp.norm(w) - cp.entr(b),
    ),
    "several classes": (
        losses.Softmax()(X @ W, classes) + 0.1 * penalties.L2()(W),
        cp.sum(cp.log_sum_exp(X @ W, axis=1)) - cp.sum(cp.multiply(X @ W, np.eye(3)[classes]))
        + 0.05 * cp.sum_squares(W),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_a_sum_has_the_minimum_of_its_statement(name: str) -> None:
    ours, plain = WRITTEN[name]
    certificate = cml.minimize(ours)
    assert certificate.holds()
    assert certificate.primal_objective == pytest.approx(ours.value, rel=1e-7)
    expected = cp.Problem(cp.Minimize(plain)).solve("CLARABEL")
    assert certificate.primal_objective == pytest.approx(expected, rel=1e-5)


def test_combinations_are_those_of_the_lasso_and_of_a_trend() -> None:
    fit, trend, v = losses.Squared()(X @ w + b, y) / 24, cml.TrendFilter(y, 0.1), cp.Variable(24)
    second = np.diff(np.eye(24), 2, axis=0)
    flat = losses.Squared()(v, y) / 24 + 0.1 * penalties.L1()(second @ v)
    for ours, model in (
        (fit + 0.1 * penalties.L1()(np.eye(6) @ w), cml.Lasso(X, y, 0.1)),
        (flat, trend),
    ):
        certificate = cml.minimize(ours)
        assert certificate.holds()
        assert certificate.primal_objective == pytest.approx(model.solve().objective, rel=2e-6)


GIVEN: dict[str, dict[str, Any]] = {
    "epsilon_insensitive": {"epsilon": 0.3},
    "squared_epsilon_insensitive": {"epsilon": 0.3},
    "huber": {"delta": 0.5},
    "pinball": {"tau": 0.2},
    "group_l2": {"groups": groups},
    "sorted_l1": {"lams": np.arange(6.0, 0.0, -1.0)},
    "box": {"lo": -3.0, "hi": 4.0},
    "l1_ball": {"t": 7.0},
    "l2_ball": {"t": 4.0},
}
POINT = np.array([1.0, 0.25, 2.0, 0.0, 0.5, 3.0])


def test_a_sample_of_weight_0_is_none() -> None:
    hard = losses.HardMargin()(w[0] * np.array([1.0, 0.1]), 1.0, weights=[1.0, 0.0])
    assert cml.minimize(hard + penalties.L2()(w)).primal_objective == pytest.approx(0.5)


FIXED: dict[str, Any] = {"interpolation": y, "hard_margin": 1.5 * s}
"""Predictions that a constraint allows; of other losses any will do."""


@pytest.mark.parametrize("name", [name for name in losses.ALL if name != "softmax"])
def test_a_loss_is_posed_as_its_formula(name: str) -> None:
    loss: Any = losses.ALL[name](**GIVEN.get(name, {}))
    targets = {"real": y, "binary": s, "count": counts}[loss.labels]
    scores, z = FIXED.get(name, 0.5 * X @ POINT), cp.Variable(24)
    certificate = cml.minimize(loss(z, targets), [z == scores])
    expected = math.fsum(loss.value(np.asarray(targets, dtype=float), scores))
    assert certificate.holds()
    assert certificate.primal_objective == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", penalties.ALL)
def test_a_penalty_is_posed_as_its_formula(name: str) -> None:
    penalty: Any = penalties.ALL[name](**GIVEN.get(name, {}))
    certificate = cml.minimize(penalty(w), [w == POINT])
    assert certificate.holds()
    assert certificate.primal_objective == pytest.approx(penalty.value(POINT), rel=1e-6, abs=1e-7)
    far = 10.0 * POINT * (-1.0 if name.startswith("nonnegative") else 1.0)
    if penalty.restricts:  # a constraint holds whatever its factor is
        assert cml.minimize(0.0 * penalty(w), [w == far]).claim == "infeasible"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: losses.Hinge()(X @ w), "y is missing; pass the targets, -1 and +1"),
        (lambda: losses.Hinge()(X @ w, y), "y must hold -1 and +1, got"),
        (lambda: losses.Poisson()(X @ w, -1.0), "numbers >= 0, got -1 at entry 0"),
        (lambda: losses.Softmax()(X @ w, 0.0), "shape (n, K), got (24,)"),
        (lambda: losses.Squared()(X @ w, y[:3]), "predictions, (24,), got (3,)"),
        (lambda: losses.Squared()(X @ w, weights=[1.0]), "per prediction (24)"),
        (lambda: losses.Squared()(cp.square(w)), "real, got an expression that is convex"),
        (lambda: penalties.L1(weights=np.ones(5))(w), "per entry of w (6), got 5"),
        (lambda: -1.0 * penalties.L1()(w), "a factor must be >= 0, got -1"),
        (lambda: penalties.L1()(w) + w, "Pass cp.sum of an array"),
        (lambda: penalties.L1()(w) + (w >= 0), "constraints go to minimize(f, [w >= 0])"),
        (lambda: penalties.L1()(w) + penalties.L1(), "that is called, as L1()(w)"),
        (lambda: penalties.L1()(w) - penalties.L1()(w), "is not convex"),
        (lambda: 2 * penalties.L1(), "First call it with an expression, as L1()(w)"),
        (lambda: np.float64(2) * losses.Squared(), "with an expression, as Squared()(z, y)"),
        (lambda: np.ones(2) * penalties.L1()(w), "got ndarray of shape (2,)"),
        (lambda: losses.Squared()(np.zeros((0, 6)) @ w, []), "there are no predictions"),
        (lambda: cp.norm(w) + penalties.L1()(w), "Put what is CVXPY's on the right"),
        (lambda: cml.minimize(losses.Squared()), "must be a sum of terms, got Squared"),
        (lambda: cml.minimize(penalties.L1()(w), [3]), "constraints must be CVXPY's, got 3"),
        (lambda: cml.minimize(penalties.L1()(w) * cp.Parameter(nonneg=True)), "has no value; set"),
    ],
)
def test_what_is_no_sum_of_terms_is_told(call: Any, words: str) -> None:
    with pytest.raises(cml.errors.InputError, match=re.escape(words)):
        call()


def test_what_slacks_of_a_posed_sum_take_off_it_is_charged() -> None:
    """A point that is feasible within tol has slacks below the losses: P is that of the sum."""
    f = losses.Hinge()(X @ w + b, s) + 0.3 * penalties.L1()(w) + 0.2 * penalties.L1()(D @ w)
    found = cml.minimize(f)
    for step, is_certified in ((1e-8, True), (1e-2, False)):
        w.value = w.value + step
        moved = raised(found, f.value)
        assert moved.primal_objective == f.value
        assert moved.gap >= f.value - found.primal_objective > 0.0
        assert moved.holds() == is_certified


def test_slacks_are_charged_beside_constraints_too() -> None:
    """P is the sum at the values that stand, never below it, whatever else is asked for."""
    f = losses.Hinge()(X @ w + b, s) + 0.3 * penalties.L1()(w) + 0.2 * cp.norm(D @ w)
    for constraints in ([], [cp.sum(w) == 0.1], [w <= 0.2, b >= -1.0]):
        found = cml.minimize(f, constraints)
        assert found.holds()
        assert found.primal_objective >= f.value * (1.0 - 1e-14)
        assert found.proved_gap == np.inf


def test_predictions_that_cancel_are_summed_exactly() -> None:
    """P is never below the sum at the point that stands, though A v in floats is off by 1e-7."""
    rng, v = np.random.default_rng(0), cp.Variable(3)
    A, s = 2.0**30 + rng.normal(size=(8, 3)), np.where(np.arange(8) % 2, 1.0, -1.0)
    f = losses.Hinge()(A @ v, s) + penalties.L1()(v - 1.0)
    found = cml.minimize(f, [cp.sum(v) <= 10.0])
    x = [Fraction(float(t)) for t in v.value]
    scores = [sum(Fraction(float(a)) * t for a, t in zip(row, x, strict=True)) for row in A]
    exact = sum(max(Fraction(0), 1 - int(sign) * z) for sign, z in zip(s, scores, strict=True))
    exact += sum(abs(t - 1) for t in x)
    assert Fraction(found.primal_objective) >= exact * (1 - Fraction(1, 10**12))
