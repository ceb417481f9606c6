"""Separable logistic, complete, quasi, with sign constraints; hard margin on inseparable data.

"unattained" with a verified direction and lam > 0 suggested; "infeasible" with the point that both
hulls share, an infeasible ball or box with it, and the soft margin offered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from support.hard.every_model import ROWS, kind
from support.model_cases import binary, samples, separable

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.losses import HardMargin, Logistic
from convexml.numerics import Array
from convexml.penalties import (
    L1,
    L2,
    Box,
    L1Ball,
    L2Ball,
    Nonnegative,
    NonnegativeElasticNet,
    Penalty,
)

A, LABELS = separable()
"""A nonnegative normal separates them."""


def quasi() -> tuple[Array, Array]:
    """Two samples of unlike labels at one point of the plane; the others are apart."""
    X = np.vstack([A * (LABELS[:, None] * A > 0.0), np.zeros((2, 5))])
    return X, np.append(LABELS, [1.0, -1.0])


UNPENALISED: dict[str, Callable[[Array, Array], Any]] = {
    "no penalty": lambda X, y: cml.LogisticRegression(X, y, 0.0, None),
    "l2 at 0": lambda X, y: cml.LogisticRegression(X, y, 0.0),
    "l1 at 0": lambda X, y: cml.LogisticRegression(X, y, 0.0, "l1"),
    "softmax": lambda X, y: cml.SoftmaxRegression(X, y, 0.0),
    "w >= 0": lambda X, y: LearningProblem(X, y, Logistic(), Nonnegative()),
    "w >= 0, no b": lambda X, y: LearningProblem(
        X, y, Logistic(), Nonnegative(), fit_intercept=False
    ),
    "0 <= w, w_0 <= 0": lambda X, y: LearningProblem(
        X * [-1.0, 1, 1, 1, 1], y, Logistic(), Box([-np.inf, 0, 0, 0, 0], [0.0, *[np.inf] * 4])
    ),
}


@pytest.mark.parametrize("name", UNPENALISED)
@pytest.mark.parametrize("data", [separable, quasi], ids=["complete", "quasi"])
def test_separable_classes_have_no_minimiser(name: str, data: Callable[[], Any]) -> None:
    X, y = data()
    if name == "w >= 0, no b":  # of these b is a part of what separates them
        X = X * (y[:, None] * X >= 0.0)
    problem = UNPENALISED[name](X, y)
    solution = problem.solve()
    assert solution.status == "unattained"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    assert "A penalty on w, with lam > 0, keeps it from going there." in solution.certificate.reason
    w, b = solution.evidence["w"], solution.evidence["b"]
    signs = [-1.0, 1.0, 1.0, 1.0, 1.0] if "w_0" in name else np.ones(5)
    z = (X * signs) @ w + b
    z = z if w.ndim == 1 else z[:, 1] - z[:, 0]
    assert np.min(y * z) >= -1e-12
    assert np.max(y * z) > 0.1
    if w.ndim == 1:
        assert np.all(signs * w >= 0.0) or not problem.objective_parts.penalty.is_constraint
        values = [problem.objective(t * w, t * float(b)) for t in (0.0, 1.0, 10.0, 100.0)]
        assert np.all(np.diff(values) < 0.0)


@pytest.mark.parametrize(
    "penalty", [L2(0.1), L1(0.01), NonnegativeElasticNet(0.01), L2Ball(3.0), L1Ball(2.0)], ids=repr
)
def test_what_is_suggested_does(penalty: Penalty) -> None:
    for X, y in (separable(), quasi()):
        assert LearningProblem(X, y, Logistic(), penalty).solve().status == "optimal"


def test_counts_that_are_0_are_told_what_helps() -> None:
    X, _ = samples("count")
    solution = cml.PoissonRegression(X, np.zeros(len(X)), 0.1).solve()
    assert solution.status == "unattained"
    assert "lam > 0" not in solution.certificate.reason
    assert "fit_intercept=False does." in solution.certificate.reason
    assert cml.PoissonRegression(X, np.zeros(24), 0.1, fit_intercept=False).solve().status == (
        "optimal"
    )


# -- hard margins ---------------------------------------------------------------------------------

MARGINS: dict[str, Callable[..., Any]] = {
    "HardMarginSVM": cml.HardMarginSVM,
    "HalfspaceLP": lambda X, y: cml.HalfspaceLP(X, y, fit_intercept=True),
    "a ball": lambda X, y: LearningProblem(X, y, HardMargin(), L2Ball(2.0)),
    "an l1 ball": lambda X, y: LearningProblem(X, y, HardMargin(), L1Ball(2.0)),
    "a box": lambda X, y: LearningProblem(X, y, HardMargin(), Box(-1.0, 1.0)),
    "signs": lambda X, y: LearningProblem(X, y, HardMargin(), Nonnegative()),
}


def in_hull(point: Array, X: Array) -> float:
    """How far a point is from the convex hull of rows: by a linear program, in the largest norm."""
    n, d = X.shape
    columns = np.column_stack([X.T, -np.ones(d)]), np.column_stack([-X.T, -np.ones(d)])
    found = optimize.linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.vstack(columns),
        b_ub=np.concatenate([point, -point]),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
    )
    return float(found.fun)


@pytest.mark.parametrize("name", MARGINS)
def test_inseparable_classes_share_a_point(name: str) -> None:
    X, y = binary()
    solution = MARGINS[name](X, y).solve()
    assert solution.status == "infeasible"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    assert (
        "SoftMarginSVM pays for samples on the wrong side instead." in solution.certificate.reason
    )
    if "shared" in solution.evidence:
        shared = solution.evidence["shared"]
        assert "their hulls share the point (" in solution.certificate.reason
        assert f"({shared[0]:.4g}, {shared[1]:.4g}, " in solution.certificate.reason
        for label in (1.0, -1.0):
            assert in_hull(shared, X[y == label]) <= 1e-9
    assert ("shared" in solution.evidence) or name == "signs"
    alpha = solution.evidence["alpha"]
    assert np.all(alpha >= 0.0)
    assert alpha @ y == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "penalty", [L2Ball(0.01), L1Ball(0.01), Box(-0.01, 0.01), Box(-np.inf, 0.0)], ids=repr
)
def test_a_constraint_on_w_may_be_what_is_in_the_way(penalty: Penalty) -> None:
    solution = LearningProblem(A, LABELS, HardMargin(), penalty).solve()
    assert solution.status == "infeasible"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    assert "shared" not in solution.evidence
    reason = solution.certificate.reason
    assert "no w of the constraint has a margin above" in reason
    assert "Widen the constraint. SoftMarginSVM pays for samples" in reason


def test_what_is_offered_solves() -> None:
    assert cml.SoftMarginSVM(*binary()).solve().status == "optimal"


def test_every_classifier_answers_for_both() -> None:
    """Separable and not: whatever the model, "optimal" or a verified claim."""
    for case in ROWS:
        if kind(case) == "two":
            for data in (separable(), binary(), quasi()):
                solution = case.make(*data).solve()
                assert solution.status in ("optimal", "unattained", "infeasible")
                assert solution.certificate.verdict is Verdict.CERTIFIED
