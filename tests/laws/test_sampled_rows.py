"""Solvers that begin on a sample of the rows: corrected by slopes of all, and never misled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.data import DenseDesign
from convexml.losses import Huber
from convexml.numerics import Array
from convexml.penalties import L2

N, D, SAMPLE = 13_000, 8, 800
TRUTH = np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.1])


def rows(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    """Data on which a sample may say little, with the arguments that pose them."""
    X = rng.normal(size=(N, D))
    y = X @ TRUTH + rng.normal(size=N)
    given: dict[str, Any] = {"X": X, "y": y}
    if kind == "sorted":
        order = np.argsort(y)
        given |= {"X": np.asfortranarray(X[order]), "y": y[order]}
    elif kind == "scaled":
        given["X"] = X * np.logspace(-3, 3, D)
    elif kind == "tiny":
        given["X"] = 1e-30 * X  # squares that single precision does not know
    elif kind == "far":  # of which seven digits say nothing about the centre
        given["X"] = X + 1e6 * rng.normal(size=D)
    elif kind == "heavy":
        given["X"] = np.asfortranarray(rng.standard_cauchy(size=(N, D)))
    elif kind == "duplicates":
        given["X"] = np.column_stack([X, X[:, 0]])
    elif kind == "rare":  # a column that few rows know, and so few samples
        X[:, 0] = 0.0
        X[:5, 0] = 100.0
    elif kind == "weights":
        given["sample_weight"] = np.where(rng.random(N) < 0.01, 100.0, 0.01)
    elif kind == "no intercept":
        given["fit_intercept"] = False
    return given


KINDS = [*"plain sorted scaled tiny far heavy duplicates rare weights".split(), "no intercept"]


def problems(given: dict[str, Any]) -> list[tuple[Any, str]]:
    """Models on these data, and what solves them."""
    spread = float(np.median(given["X"].std(axis=0)))
    lam, groups = 0.03 * spread, np.arange(given["X"].shape[1]) // 2
    sides = np.where(given["y"] > np.median(given["y"]) + 0.3, 1.0, -1.0)
    return [
        (cml.Ridge(lam=1e-2 * spread**2, **given), "normal_equations"),
        (cml.Lasso(lam=lam, **given), "working_set"),
        (cml.ElasticNet(lam=lam, l1_ratio=0.5, **given), "working_set"),
        (cml.GroupLasso(lam=lam, groups=groups, **given), "working_set"),
        (cml.LogisticRegression(**(given | {"y": sides}), lam=1e-4 * spread**2), "newton"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_helps_or_is_left(kind: str) -> None:
    posed = problems(rows(kind, np.random.default_rng(3)))
    some = posed if kind == "plain" else [posed[k] for k in (0, 1 + KINDS.index(kind) % 3, 4)]
    for problem, solver in some:
        exact = problem.solve(solver, tol=1e-9)
        fast = problem.solve(solver, sample=SAMPLE)
        assert fast.status == exact.status == "optimal"
        assert fast.objective - exact.objective <= 1e-6 * exact.objective
        if kind == "plain":
            again = problem.solve(solver, sample=SAMPLE)
            assert np.array_equal(fast.primal["w"], again.primal["w"])


def test_the_theorems_hold_from_a_sample_on() -> None:
    given = rows("plain", np.random.default_rng(4))
    given = {name: array[:1500] for name, array in given.items()}
    for problem, solver in problems(given):
        audit = problem.solve(solver, sample=300, tol=1e-9).rate_audit()
        assert audit.holds, audit.first_violation


def test_no_gram_matrix_of_all_rows_is_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the columns that matter meet all rows, where the penalty is a norm."""
    seen: list[int] = []
    bordered = DenseDesign.bordered_gram

    def counted(design: DenseDesign, weights: Array | None = None) -> Array:
        seen.append(design.shape[0])
        return bordered(design, weights)

    monkeypatch.setattr(DenseDesign, "bordered_gram", counted)
    for problem, solver in problems(rows("plain", np.random.default_rng(5)))[:2]:
        solution = problem.solve(solver, sample=SAMPLE)
        assert solution.status == "optimal"
        assert solution.passes < 12
    assert seen == [SAMPLE, SAMPLE]


def test_gradients_of_all_rows_are_worth_their_hessian() -> None:
    problem, _ = problems(rows("plain", np.random.default_rng(4)))[4]
    solution = problem.solve("newton", sample=N // 10, tol=1e-6)
    assert solution.status == "optimal"
    assert solution.passes < 18  # of which the sample's own Gram matrices are half


@pytest.mark.parametrize("seed", range(3))
def test_slopes_fall_where_p_is_at_its_minimum_to_rounding(seed: int) -> None:
    """The gap is of first order in them: one more pass, and no Gram matrix of all rows."""
    problem, solver = problems(rows("plain", np.random.default_rng(seed)))[1]
    tight = problem.solve(solver, sample=SAMPLE, tol=1e-10)
    assert tight.status == "optimal"
    assert tight.passes < 7


def test_p_never_increases_from_the_sample_on() -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_t(2, size=(N, D))
    y = X @ rng.normal(size=D) + rng.standard_t(1, size=N)
    problem = cml.LearningProblem(X, y, Huber(0.1), L2(1e-3))
    solution = problem.solve("newton", sample=500, tol=1e-12, polish=False)
    run = solution.recorded
    values = [run.objective.primal(point.w, point.b) for point in run.iterates()]
    assert len(values) > 2
    assert np.all(np.diff(values) <= 1e-12 * values[0])


def test_a_sample_that_misleads_is_not_followed() -> None:
    """A start that is better than what a sample says is kept: P never rises."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    problem = cml.LogisticRegression(X, X[:, 0] + rng.logistic(size=400) > 0.0, 1e-4)
    best = problem.solve(tol=1e-12)
    near = problem.solve("newton", sample=8, w0=best.primal["w"], tol=1e-14)
    values = [record.objective for record in near.trace]
    assert max(values) <= values[0] * (1.0 + 1e-12)
