"""What a grade says, refuses and takes: calls, words, the descent lemma, biased batches."""

from __future__ import annotations

import numpy as np
import pytest
from support.lasso_students import admm_student
from support.students import gradient_student, shrink, slope_of

import convexml as cml
from convexml.errors import InputError

RNG = np.random.default_rng(3)
X = RNG.normal(size=(30, 2))
Y = X @ [2.0, -1.0] + 0.3 * RNG.normal(size=30)
RIDGE = cml.Ridge(X, Y, 0.1)
LOGISTIC = cml.LogisticRegression(X, np.where(Y > 0.0, 1.0, -1.0), 0.1)
LASSO = cml.Lasso(X, Y, 0.1, fit_intercept=False)


def test_a_step_above_2_over_L_is_told_by_the_descent_lemma() -> None:
    def gradient_descent(X, y, lam):
        w, b = np.zeros(2), 0.0
        while True:
            yield w, b
            r = X @ w + b - y
            w, b = w - 3.0 * (X.T @ r / 30 + lam * w), b - 3.0 * r.mean()

    found = cml.grade(gradient_descent, RIDGE)
    assert found.mistakes[0] == "step above 2/L"
    rows = np.column_stack([X, np.ones(30)])
    L = np.linalg.eigvalsh(rows.T @ rows / 30 + np.diag([0.1, 0.1, 0.0]))[-1]
    assert f"L here is {L:.3g}, your step 3" in str(found) or f"L here is {L:.3g}" in str(found)


def test_other_momentum_is_right_as_long_as_the_theorem_holds() -> None:
    """(t - 1) / (t + 2) in place of theta: another page, and no mistake."""

    def fista(X, y, lam, step):
        w = v = np.zeros(2)
        for t in range(1, 10**6):
            yield w
            new = shrink(v - step * X.T @ (X @ v - y) / 30, step * lam)
            v, w = new + (t - 1) / (t + 2) * (new - w), new

    found = cml.grade(fista, LASSO)
    assert found.passed
    assert "not those of the page" in str(found)


def test_steps_that_break_the_rate_are_wrong() -> None:
    def fista(X, y, lam, step):
        w = np.array([5.0, 5.0])
        while True:
            yield w
            w = w - 1e-9 * np.sign(w)

    assert cml.grade(fista, LASSO).mistakes == ("theorem",)


def test_a_biased_batch_is_told() -> None:
    def sgd(X, y, lam, step, rng):
        w, b = np.zeros(2), 0.0
        while True:
            yield w, b
            i = rng.integers(15, size=5)  # the first half alone
            r = slope_of("logistic", X[i] @ w + b, y[i])
            w, b = w - step * (X[i].T @ r / 5 + lam * w), b - step * r.mean()

    order = np.argsort(Y)
    sides = np.where(Y > 0.0, 1.0, -1.0)[order]
    found = cml.grade(sgd, cml.LogisticRegression(X[order], sides, 0.1))
    assert found.mistakes == ("biased",)


def test_a_step_of_ones_own_is_declared_or_refused() -> None:
    """Half of 1/L is right; undeclared it would look like a mistake."""

    def proximal_gradient(X, y, lam):
        w, s = np.zeros(2), 0.1
        while True:
            yield w
            w = shrink(w - s * X.T @ (X @ w - y) / 30, s * lam)

    with pytest.raises(InputError, match="the step of proximal_gradient is not known"):
        cml.grade(proximal_gradient, LASSO)
    assert cml.grade(proximal_gradient, LASSO, step=0.1).passed


def test_batches_by_an_undeclared_step_are_not_accused() -> None:
    def sgd(X, y, lam, rng):
        w, b = np.zeros(2), 0.0
        while True:
            yield w, b
            i = rng.integers(30, size=5)
            r = slope_of("logistic", X[i] @ w + b, y[i])
            w, b = w - 0.01 * (X[i].T @ r / 5 + lam * w), b - 0.01 * r.mean()

    assert cml.grade(sgd, LOGISTIC).passed
    found = cml.grade(sgd, LOGISTIC, step=0.01)
    assert found.passed
    assert not any(each.name == "other starts" for each in found.findings)


def test_rho_is_declared_or_refused() -> None:
    def admm(X, y, lam):
        yield from admm_student("not centred")(X, y, lam, 2.0)

    with pytest.raises(InputError, match="parameter step or rho: it gets"):
        cml.grade(admm, LASSO)
    assert cml.grade(admm, LASSO, step=2.0).passed
    assert "not those of the page" in str(cml.grade(admm, LASSO, step=1.0))


def test_what_nobody_can_judge_does_not_pass() -> None:
    """Coordinates of ridge, for the lasso: no page, no theorem, and another limit."""

    def coordinate_descent(X, y, lam):
        w, t = np.zeros(2), 0
        while True:
            yield w.copy()
            j, size = t % 2, X[:, t % 2] @ X[:, t % 2] / 30
            c = X[:, j] @ (y - X @ w) / 30 + size * w[j]
            w[j], t = c / (size + lam), t + 1

    found = cml.grade(coordinate_descent, LASSO)
    assert found.mistakes == ()
    assert not found.passed
    assert str(found).startswith("coordinate_descent: not decided")


def test_an_objective_that_leaves_the_floats_is_told() -> None:
    def gradient_descent(X, y, lam, step):
        w, b = np.zeros(2), 0.0
        while True:
            yield w, b
            r = X @ w + b - y
            w, b = w - 9.0 * step * (X.T @ r / 30 + lam * w), b - 9.0 * step * r.mean()

    found = cml.grade(gradient_descent, RIDGE, iterations=240)
    assert "diverges" in found.mistakes


def test_a_missing_b_is_told() -> None:
    def admm(X, y, lam, rho):
        yield from admm_student()(X, y, lam, rho)

    assert "yield (w, b)" in str(cml.grade(admm, cml.Lasso(X, Y + 3.0, 0.1)))


def test_starts_that_differ_are_no_bias() -> None:
    def sgd(X, y, lam, step, rng):
        w, b = rng.normal(size=2), 0.0
        while True:
            yield w, b
            i = rng.integers(30, size=5)
            r = slope_of("logistic", X[i] @ w + b, y[i])
            w, b = w - step * (X[i].T @ r / 5 + lam * w), b - step * r.mean()

    found = cml.grade(sgd, LOGISTIC)
    assert found.passed
    assert any(each.name == "other starts" for each in found.findings)


def test_a_solver_that_raises_or_stops_is_told() -> None:
    def gradient_descent(X):
        yield np.zeros(2)
        raise ZeroDivisionError("by lam")

    found = cml.grade(gradient_descent, RIDGE)
    assert found.mistakes == ("raised", "no steps") or found.mistakes == ("raised",)
    assert "ZeroDivisionError: by lam" in str(found)


@pytest.mark.parametrize(
    ("solver", "kind", "words"),
    [
        (lambda X: iter(()), None, "kind must be one of"),
        (gradient_student(), "fista", "parameter"),
        (lambda X: 3.0, "gradient_descent", "must be a generator"),
        (lambda X: iter([np.zeros(7)]), "gradient_descent", "2 numbers"),
        (lambda Xs: iter(()), "gradient_descent", "'Xs'"),
    ],
)
def test_what_cannot_be_graded_is_refused(solver, kind, words: str) -> None:
    if kind == "fista":
        solver = lambda nothing: iter(())  # noqa: E731
    with pytest.raises(InputError, match=words):
        cml.grade(solver, RIDGE, kind=kind)


def test_a_kind_that_does_not_suit_is_refused() -> None:
    with pytest.raises(InputError, match="newton needs"):
        cml.grade(lambda X: iter(()), LASSO, kind="newton")
