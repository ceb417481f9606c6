"""Squared losses from a sample of the rows: corrected by slopes of all of them, never misled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.design import DenseDesign
from convexml.numerics import Array
from convexml.solvers.coordinate.sampled_support import gram_of
from convexml.solvers.second_order.sampled_gram import secant

N, D, SAMPLE = 13_000, 8, 800


def rows(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    """Data on which a sample may say little, with the arguments that pose them."""
    X = rng.normal(size=(N, D))
    truth = np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.1])
    y = X @ truth + rng.normal(size=N)
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
    """Models of the squared loss on these data, and what solves them."""
    spread = float(np.median(given["X"].std(axis=0)))
    lam, groups = 0.03 * spread, np.arange(given["X"].shape[1]) // 2
    return [
        (cml.Ridge(lam=1e-2 * spread**2, **given), "normal_equations"),
        (cml.Lasso(lam=lam, **given), "working_set"),
        (cml.ElasticNet(lam=lam, l1_ratio=0.5, **given), "working_set"),
        (cml.GroupLasso(lam=lam, groups=groups, **given), "working_set"),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_helps_or_is_left(kind: str) -> None:
    for problem, solver in problems(rows(kind, np.random.default_rng(3))):
        exact = problem.solve(solver, tol=1e-9)
        fast, again = (problem.solve(solver, sample=SAMPLE) for _ in range(2))
        assert fast.status == exact.status == "optimal"
        assert fast.objective - exact.objective <= 1e-6 * exact.objective
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


@pytest.mark.parametrize("seed", range(10))
def test_slopes_fall_where_p_is_at_its_minimum_to_rounding(seed: int) -> None:
    """The gap is of first order in them: one more pass, and no Gram matrix of all rows."""
    problem, solver = problems(rows("plain", np.random.default_rng(seed)))[1]
    tight = problem.solve(solver, sample=SAMPLE, tol=1e-10)
    assert tight.status == "optimal"
    assert tight.passes < 7


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_the_gram_matrix_of_some_columns_is_right_about_its_centre(offset: float) -> None:
    """Against longer numbers; single precision has lost the centre of columns that are far."""
    rng = np.random.default_rng(6)
    X, c = rng.normal(size=(9_001, 5)) + offset, rng.random(9_001)
    for order in "CF":
        parts = cml.Lasso(np.asarray(X, order=order), X @ np.ones(5), 0.1, sample_weight=c)
        index, h = np.array([0, 3, 4]), parts.objective_parts.c.astype(np.longdouble)
        own = X[:, index].astype(np.longdouble)
        own = own - (h @ own) / h.sum()
        exact = (own * h[:, None]).T @ own
        off = np.abs(gram_of(parts.objective_parts, index) - exact).max()
        assert off <= max(1e-6, 1e-15 * offset**2)


def test_a_secant_update_is_exact_along_its_step_and_stays_definite() -> None:
    rng = np.random.default_rng(7)
    true = np.cov(rng.normal(size=(5, 50)))
    gram = np.cov(rng.normal(size=(5, 50)))
    for _ in range(4):
        s = rng.normal(size=5)
        secant(gram, s, true @ s)
        assert np.allclose(gram @ s, true @ s, rtol=1e-12)
        assert np.linalg.eigvalsh(gram)[0] > 0.0
    before = gram.copy()
    secant(gram, s, -s)  # no curvature along it
    assert np.array_equal(gram, before)
