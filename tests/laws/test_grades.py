"""Mistakes that students make are told by name; right solutions are not accused."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from support import students
from support.lasso_students import admm_student, coordinate_student, mean_student, pegasos_student

import convexml as cml
from convexml.errors import InputError
from convexml.grading.mistakes import MISTAKES, SLIPS

N = 40


@cache
def problem(name: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=N) + 1.0
    sides = np.where(y + rng.normal(size=N) > 1.0, 1.0, -1.0)
    return {
        "ridge": lambda: cml.Ridge(X, y, 0.2),
        "ridge without b": lambda: cml.Ridge(X, y, 0.2, fit_intercept=False),
        "logistic": lambda: cml.LogisticRegression(X, sides, 0.2),
        "lasso": lambda: cml.Lasso(X, y, 0.9),
        "mild lasso": lambda: cml.Lasso(X, y, 0.1),
        "lasso without b": lambda: cml.Lasso(X, y, 0.2, fit_intercept=False),
        "ball": lambda: cml.ConstrainedRidge(X, y, 1.0),
        "wide ball": lambda: cml.ConstrainedRidge(X, y, 9.0),
        "svm": lambda: cml.SoftMarginSVM(X, sides, 0.1),
        "svm without b": lambda: cml.SoftMarginSVM(X, sides, 0.1, fit_intercept=False),
    }[name]()


def falling(t: int) -> float:
    return 0.2 / np.sqrt(t + 1.0)


def slow(t: int) -> float:
    return 0.1 / np.sqrt(t + 1.0)


MISTAKEN: list[tuple[str, Any, dict[str, Any], str]] = [
    # a problem, who makes the mistake, settings, the names of the mistakes
    ("ridge", students.gradient_student, {},
     "sign; sum; mean; no penalty; penalty twice; half the penalty; penalty / n; "
     "n times the penalty; sign of the penalty; square without 1/2; half the loss; "
     "sign of the loss; b penalised; b fixed; b summed; b averaged twice; sign of b; w before b; "
     "half the data; last sample; first sample; stale gradient; step doubled; step halved; "
     "step times n; step / n; step 1/t; step 1/sqrt(t)"),
    ("logistic", partial(students.gradient_student, loss="logistic"), {},
     "labels 0 and 1; labels swapped; p - y; no penalty; sum"),
    ("lasso", students.proximal_student, {},
     "no prox; threshold without step; threshold twice; half the threshold; hard threshold; "
     "penalty in both; prox first"),
    ("ball", students.ball_student, {}, "no prox; clipped"),
    ("mild lasso", students.proximal_student, {}, "b thresholded"),
    ("wide ball", students.ball_student, {}, "onto the sphere"),
    ("ridge without b", students.fast_student, {},
     "no momentum; momentum of the other sign; momentum too late; momentum 1; gradient at x"),
    ("lasso without b", partial(students.fast_student, lasso=True), {}, "no momentum"),
    ("logistic", students.newton_student, {},
     "Hessian without lam; Hessian of the sum; Hessian of p; diagonal Hessian; no Hessian; "
     "Hessian at 0; sign; step halved"),
    ("svm", partial(students.subgradient_student, rule=falling), {"step": falling},
     "margin reversed; no margin; no penalty; b penalised; step constant; step of the next; "
     "averaged"),
    ("logistic", students.sgd_student, {},
     "all samples; mean; sum; sign of the loss; no penalty; penalty / n; step doubled; sign"),
    *(("mild lasso", partial(coordinate_student, sweeps=sweeps), {},
       "no threshold; threshold without 1/|x_j|^2; not divided; own part; stale residual; "
       "threshold twice; half the threshold; sum; not centred") for sweeps in (False, True)),
    *(("mild lasso", partial(admm_student, shown=shown), {},
       "no threshold; threshold without rho; threshold times rho; no dual update; "
       "sign of the dual update; sign of q; q left out; wrong rho; sum; not centred")
      for shown in "vw"),
    ("svm without b", pegasos_student, {},
     "step without lam; step 1/(n lam t); step constant; step 1/sqrt(t); margin reversed; "
     "no margin; no penalty; summed"),
    ("svm without b", partial(pegasos_student, mean="mean"), {}, "no penalty"),
    ("svm without b", mean_student, {"step": slow},
     "not averaged; averaged by halves; summed; no penalty"),
    ("ridge without b", partial(mean_student, drawn=True), {"step": 0.05},
     "not averaged; averaged by halves; summed; no penalty"),
]  # fmt: skip
DRAWS = {"half": "not uniform", "in order": "in order", "shuffled": "reshuffled"}
PLANTED = [
    *((n, student(b), given, b) for n, student, given, bugs in MISTAKEN for b in bugs.split("; ")),
    *(("logistic", students.sgd_student(draws=drawn), {}, bug) for drawn, bug in DRAWS.items()),
]


def test_at_least_sixty_are_planted() -> None:
    assert len(PLANTED) >= 60
    assert {bug for *_, bug in PLANTED} >= {*MISTAKES, *(bug for s in SLIPS.values() for bug in s)}


@pytest.mark.parametrize(
    ("name", "student", "settings", "bug"), PLANTED, ids=[f"{n}-{b}" for n, *_, b in PLANTED]
)
def test_a_mistake_is_told_by_name(name: str, student: Any, settings: Any, bug: str) -> None:
    found = cml.grade(student, problem(name), iterations=30, **settings)
    assert found.mistakes[:1] == (bug,), str(found)
    assert not found.passed
    assert "mistake was found" in str(found)


RIGHT = [
    ("ridge", students.gradient_student(), {}),
    ("ridge", students.gradient_student(), {"step": 0.01}),
    ("logistic", students.gradient_student(loss="logistic"), {}),
    ("ridge without b", students.gradient_student(intercept=False), {}),
    ("lasso", students.proximal_student(), {}),
    ("ball", students.ball_student(), {}),
    ("ridge without b", students.fast_student(), {}),
    ("lasso without b", students.fast_student(lasso=True), {}),
    ("logistic", students.newton_student(), {}),
    ("svm", students.subgradient_student(), {}),
    ("svm", students.subgradient_student(rule=falling), {"step": falling}),
    ("logistic", students.sgd_student(), {}),
    ("logistic", students.sgd_student(batch=8), {}),
    ("logistic", students.sgd_student(draws="shuffled"), {"draws": "shuffled"}),
    *(
        (name, coordinate_student(raw, order=order), {})
        for name, raw in (("lasso", ""), ("lasso without b", "not centred"))
        for order in ("cyclic", "random")
    ),
    ("mild lasso", coordinate_student(sweeps=True), {}),
    ("lasso without b", admm_student("not centred"), {}),
    ("mild lasso", admm_student(shown="w"), {"step": 2.0}),
    *(
        ("svm without b", pegasos_student(form=form, ball=ball, mean=mean), {})
        for form, ball in (("1/t", False), ("1/(t + 1)", False), ("1/t", True))
        for mean in ("", "mean")
    ),
    ("svm without b", mean_student(), {"step": slow}),
    ("svm without b", mean_student(start=False), {"step": slow}),
    ("ridge without b", mean_student(drawn=True), {"step": 0.05}),
    ("ridge without b", mean_student(drawn=True), {}),
]


def accused(seed: int) -> list[str]:
    """What is said of right solutions that are told to be wrong."""
    grades = [
        cml.grade(student, problem(name, seed), iterations=30, seed=seed, **settings)
        for name, student, settings in RIGHT
    ]
    return [str(found) for found in grades if not found.passed]


def test_right_solutions_are_not_accused() -> None:
    assert accused(0) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 15))
def test_two_hundred_right_solutions_are_not_accused(seed: int) -> None:
    assert accused(seed) == []


RNG = np.random.default_rng(3)
X = RNG.normal(size=(30, 2))
Y = X @ [2.0, -1.0] + 0.3 * RNG.normal(size=30)
RIDGE = cml.Ridge(X, Y, 0.1)
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
            new = students.shrink(v - step * X.T @ (X @ v - y) / 30, step * lam)
            v, w = new + (t - 1) / (t + 2) * (new - w), new

    found = cml.grade(fista, LASSO)
    assert found.passed
    assert "not those of the page" in str(found)


def test_a_biased_batch_is_told() -> None:
    def sgd(X, y, lam, step, rng):
        w, b = np.zeros(2), 0.0
        while True:
            yield w, b
            i = rng.integers(15, size=5)  # the first half alone
            r = students.slope_of("logistic", X[i] @ w + b, y[i])
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
            w = students.shrink(w - s * X.T @ (X @ w - y) / 30, s * lam)

    with pytest.raises(InputError, match="the step of proximal_gradient is not known"):
        cml.grade(proximal_gradient, LASSO)
    assert cml.grade(proximal_gradient, LASSO, step=0.1).passed


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


def test_a_solver_that_raises_or_stops_is_told() -> None:
    def gradient_descent(X):
        yield np.zeros(2)
        raise ZeroDivisionError("by lam")

    found = cml.grade(gradient_descent, RIDGE)
    assert found.mistakes == ("raised", "no steps") or found.mistakes == ("raised",)
    assert "ZeroDivisionError: by lam" in str(found)


@pytest.mark.parametrize(("solver", "kind", "words"), [
    (lambda X: iter(()), None, "kind must be one of"),
    (students.gradient_student(), "fista", "parameter"),
    (lambda X: 3.0, "gradient_descent", "must be a generator"),
    (lambda X: iter([np.zeros(7)]), "gradient_descent", "2 numbers"),
    (lambda Xs: iter(()), "gradient_descent", "'Xs'"),
])  # fmt: skip
def test_what_cannot_be_graded_is_refused(solver, kind, words: str) -> None:
    if kind == "fista":
        solver = lambda nothing: iter(())  # noqa: E731
    with pytest.raises(InputError, match=words):
        cml.grade(solver, RIDGE, kind=kind)


def test_a_kind_that_does_not_suit_is_refused() -> None:
    with pytest.raises(InputError, match="newton needs"):
        cml.grade(lambda X: iter(()), LASSO, kind="newton")
