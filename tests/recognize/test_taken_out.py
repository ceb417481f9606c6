"""Least squares by their Gram matrix, and X'y that was taken out of a likelihood."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.recognize.judging import in_doubt, wrong
from support.recognize.statement import classes, counts, regression, species

import convexml as cml
from convexml.recognition.posing.forms import FactoredForm, factored
from convexml.recognition.reading.objective import read_objective

A, target = regression()
G, c = A.T @ A, A.T @ target
X, labels = classes()
t = (labels > 0.0).astype(float)
C, k = counts()
S, kinds = species()
Y = np.eye(3)[kinds]
WIDE = np.random.default_rng(3).normal(size=(6, 12))
squares, form, total = cp.sum_squares, cp.quad_form, cp.sum


def of(cost: Callable[[Any], Any], size: Any = 5, *rows: Any) -> Callable[[], cp.Problem]:
    def build() -> cp.Problem:
        w = cp.Variable(size, name="w")
        return cp.Problem(cp.Minimize(cost(w)), [row(w) for row in rows])

    return build


def logistic_with_intercept() -> cp.Problem:
    w, b = cp.Variable(4), cp.Variable()
    likelihood = (X.T @ t) @ w + t.sum() * b - total(cp.logistic(X @ w + b))
    return cp.Problem(cp.Maximize(likelihood - squares(w)))


def softmax_with_intercepts() -> cp.Problem:
    W, b = cp.Variable((3, 3)), cp.Variable(3)
    Z = S @ W + np.ones((36, 1)) @ cp.reshape(b, (1, 3), order="F")
    likelihood = cp.trace(Y.T @ S @ W) + Y.sum(axis=0) @ b - total(cp.log_sum_exp(Z, axis=1))
    return cp.Problem(cp.Minimize(squares(W) - likelihood))


READ: dict[str, tuple[Callable[[], cp.Problem], str, str]] = {
    "a Gram matrix": (of(lambda w: form(w, G) - 2 * c @ w + 3 * cp.norm1(w)), "squared", "l1"),
    "half of one": (of(lambda w: 0.5 * form(w, cp.psd_wrap(G)) - c @ w), "squared", "zero"),
    "shifted": (of(lambda w: form(w - 1.0, G) + cp.norm1(w)), "squared", "l1"),
    "in a box": (
        of(lambda w: form(w, G) - 2 * c @ w, 5, lambda w: w >= -0.5, lambda w: w <= 1.0),
        "squared",
        "box",
    ),
    "expanded squares": (
        of(lambda w: squares(A @ w) - 2 * c @ w + 3 * cp.norm1(w)),
        "squared",
        "l1",
    ),
    "a proximal step": (of(lambda w: squares(w) - c @ w + cp.norm1(w)), "squared", "l1"),
    "labels": (
        of(lambda w: total(cp.logistic(X @ w)) - (X.T @ t) @ w + squares(w), 4),
        "logistic",
        "l2",
    ),
    "labels, an intercept": (logistic_with_intercept, "logistic", "l2"),
    "counts, nonnegative": (
        of(lambda w: total(cp.exp(C @ w)) - (C.T @ k) @ w, 3, lambda w: w >= 0.0),
        "poisson",
        "nonnegative",
    ),
    "more features than counts": (
        of(lambda w: total(cp.exp(WIDE @ w)) - (WIDE.T @ np.arange(6.0)) @ w + squares(w), 12),
        "poisson",
        "l2",
    ),
    "classes, intercepts": (softmax_with_intercepts, "softmax", "l2"),
}
TWINS = np.column_stack([A[:, :2], A[:, 0] + A[:, 1]])
HILBERT = 1.0 / (np.arange(8)[:, None] + np.arange(8) + 1.0)
NOT_READ: dict[str, tuple[Callable[[], cp.Problem], str]] = {
    "a singular matrix": (
        of(lambda w: form(w, cp.psd_wrap(WIDE.T @ WIDE)) + cp.norm1(w - 1.0), 12),
        "QuadForm",
    ),
    "singular to rounding": (
        of(lambda w: form(w, cp.psd_wrap(HILBERT)) - total(w), 8),
        "QuadForm",
    ),
    "two forms": (of(lambda w: form(w, G) + form(w - 1.0, G + np.ones((5, 5)))), "QuadForm"),
    "no labels": (
        of(lambda w: total(cp.logistic(X @ w)) - 20 * (X.T @ t) @ w + 8 * squares(w), 4),
        "linear",
    ),
    "no counts": (
        of(lambda w: total(cp.exp(np.abs(C) @ w)) + (np.abs(C).T @ k) @ w + squares(w), 3),
        "linear",
    ),
    "another direction": (
        of(lambda w: squares(WIDE @ w) + np.arange(12.0) @ w + cp.norm1(w), 12),
        "linear",
    ),
    "a direction that nothing holds": (
        of(lambda w: squares(TWINS @ w) - (TWINS.T @ target) @ w, 3),
        "linear",
    ),
    "classes without a penalty": (
        of(lambda W: total(cp.log_sum_exp(S @ W, axis=1)) - cp.trace(Y.T @ S @ W), (3, 3)),
        "nothing else holds",
    ),
    "a line beside Huber's": (
        of(lambda w: total(cp.huber(A @ w - target)) - 0.1 * c @ w + squares(w)),
        "linear",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_it_is_read_solved_and_filled(name: str) -> None:
    build, loss, penalty = READ[name]
    found = cml.recognize(build(), explain=True)
    assert found is not None
    assert found.loss is not None, found.why
    assert found.penalty is not None
    assert (found.loss.name, found.penalty.name) == (loss, penalty)
    assert list(wrong(build, tuple(range(len(build().constraints))))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_the_conic_certificate_agrees(name: str) -> None:
    assert list(in_doubt(READ[name][0])) == []


@pytest.mark.parametrize("name", NOT_READ)
def test_what_has_no_targets_or_no_factor_is_declined(name: str) -> None:
    build, culprit = NOT_READ[name]
    found = cml.recognize(build(), explain=True)
    assert found is not None
    assert not found
    assert culprit in found.why


@pytest.mark.parametrize("seed", [15, 51])
def test_counts_are_found_where_sums_only_round_at_the_end(seed: int) -> None:
    """Newton's last steps change a likelihood by less than its rounding, up or down."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    y = rng.poisson(np.exp(0.3 * X.sum(axis=1))).astype(float)
    w, b = cp.Variable(3), cp.Variable()
    cost = total(cp.exp(X @ w + b)) - (X.T @ y) @ w - y.sum() * b + squares(w)
    found = cml.recognize(cp.Problem(cp.Minimize(cost)))
    assert found is not None
    parts = found.problem.objective_parts
    assert parts.loss.name == "poisson"
    assert X.T @ parts.y == pytest.approx(X.T @ y, rel=1e-12)
    assert parts.y.sum() == pytest.approx(y.sum(), rel=1e-12)


def test_labels_that_are_determined_are_found() -> None:
    y = np.array([0.0, 3.0, 1.0, 7.0, 0.0, 2.0])
    w = cp.Variable(12)
    cost = total(cp.exp(WIDE @ w)) - (WIDE.T @ y) @ w + squares(w)
    found = cml.recognize(cp.Problem(cp.Minimize(cost)))
    assert found is not None
    assert found.problem is not None
    assert np.array_equal(found.problem.objective_parts.y, y)


def test_what_a_factor_leaves_of_a_form_is_bounded_and_priced() -> None:
    rng, w = np.random.default_rng(0), cp.Variable(5)
    reading = read_objective(cp.Problem(cp.Minimize(form(w, G) + cp.norm1(w))))
    found = factored(reading)
    assert found is not None
    (each,) = found.squares.affine.maps.values()
    L = [[Fraction(x) for x in row] for row in each.matrix]
    for _ in range(10):
        a = [Fraction(x) for x in rng.normal(size=5) * 10.0 ** rng.uniform(-3, 3, 5)]
        exact = sum(Fraction(G[i, j]) * a[i] * a[j] for i in range(5) for j in range(5))
        mine = sum(sum(x * y for x, y in zip(row, a, strict=True)) ** 2 for row in L)
        assert 0 < abs(exact - mine) <= Fraction(found.loose) * mine
    assert found.loose < 1e-12


@pytest.mark.parametrize("loose", [1e-3, 0.1])
def test_the_price_holds_wherever_it_could_be_better(loose: float) -> None:
    a = np.linspace(-20.0, 20.0, 400001)
    for y in (0.0, 0.3, 2.0):
        for value in (0.5 * y * y, y * y + 1.0):
            price = FactoredForm(None, loose).price(y, value)  # type: ignore[arg-type]
            as_good = (a - y) ** 2 - loose * a**2 <= value
            assert price >= (1.0 - 1e-4) * loose * np.max(a[as_good] ** 2, initial=0.0)
