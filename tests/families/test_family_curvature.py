"""Curvature on the user's word: what is assumed to be convex is checked before it is certified."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from support.draws.families import sampled
from support.exact.exact_judging import Tally, Truth
from support.exact.exact_numbers import ball, dot, row, table
from support.exact.exact_program import OPTIMAL, solve_program

import convexml as cml
from convexml import Verdict

SEEDS = sampled(12, 36)


def boxed(P: np.ndarray, q: np.ndarray, size: float) -> tuple[cp.Problem, cp.Variable]:
    """min x'Px/2 + q'x on a box, P taken for positive semidefinite."""
    x = cp.Variable(q.size)
    objective = 0.5 * cp.quad_form(x, P, assume_PSD=True) + q @ x
    return cp.Problem(cp.Minimize(objective), [x <= size, x >= -size]), x


def judged(problem: cp.Problem) -> cml.Certificate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cml.certify(problem)


def test_a_saddle_is_not_certified() -> None:
    x = cp.Variable(2)
    form = cp.quad_form(x, np.diag([1.0, -1.0]), assume_PSD=True)
    problem = cp.Problem(cp.Minimize(form), [x <= 100.0, x >= -100.0])
    x.save_value(np.zeros(2))
    found = judged(problem)  # P* = -10000 at (0, 100)
    assert found.verdict is not Verdict.CERTIFIED
    assert "eigenvalue" in found.reason


def indefinite(rng: np.random.Generator) -> np.ndarray:
    """A positive semidefinite matrix, singular along v, less a share 2^-20 ... 1 of vv'."""
    n = int(rng.integers(1, 4))
    v = rng.integers(1, 4, n).astype(float)
    M = rng.integers(-3, 4, (n, n)).astype(float) @ (v @ v * np.eye(n) - np.outer(v, v))
    P = M.T @ M
    size = 2.0 ** np.round(np.log2(max(np.trace(P), 1.0)))
    P = P - np.outer(v, v) * size * 2.0 ** -rng.integers(0, 21)
    lines, along = table(P), row(v)
    assert dot(along, [dot(line, along) for line in lines]) < 0
    return P * 2.0 ** rng.integers(-20, 21)


@pytest.mark.parametrize("seeds", SEEDS)
def test_no_indefinite_form_is_certified(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        P = indefinite(rng)
        q = np.zeros(len(P))
        problem, x = boxed(P, q, 10.0)
        x.save_value(np.zeros(q.size))  # the only point that a solver would call stationary
        found = judged(problem)
        assert found.verdict is not Verdict.CERTIFIED, seed
        x.save_value(rng.uniform(-10.0, 10.0, q.size))
        assert judged(problem).verdict is not Verdict.CERTIFIED, seed


@pytest.mark.parametrize("seeds", SEEDS)
def test_semidefinite_forms_stay_certified(seeds: range) -> None:
    tally, certified = Tally(), 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 4))
        M = rng.integers(-3, 4, (int(rng.integers(1, n + 1)), n)).astype(float)
        P, q = M.T @ M * 2.0 ** rng.integers(-10, 11), rng.integers(-3, 4, n).astype(float)
        known = solve_program(q, lower=np.full(n, -10.0), upper=10.0, P=P)
        assert known.status == OPTIMAL
        problem, x = boxed(P, q, 10.0)
        cml.solve(problem)
        found = judged(problem)
        certified += found.verdict is Verdict.CERTIFIED
        at, lines = row(x.value), table(P)
        value = dot(row(q), at) + dot(at, [dot(line, at) for line in lines]) / 2
        inside = all(abs(t) <= 10 for t in at)
        # On the box; where q = 0 the form alone has a size: P* = 0.
        size = 10.0 * np.abs(q).sum() if np.any(q) else 50.0 * np.abs(P).sum()
        truth = Truth(OPTIMAL, known.value, ball(size * 1e-3))
        tally.point(found, truth, value, f"seed {seed}", feasible=inside)
    assert not tally.crimes, tally.crimes
    assert certified >= len(seeds) - 1
