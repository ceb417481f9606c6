"""CVXPY problems that differ by powers of two: one program inside, one certificate."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import support.draws.linear_draws as linear_draws

import convexml as cml
from convexml import Verdict
from convexml.audit.cvxpy.reading.point import pose


def posed(each: linear_draws.Linear) -> tuple[cp.Problem, cp.Variable]:
    v = cp.Variable(each.c.size)
    pairs = [each.A_ub @ v <= each.b_ub, each.A_eq @ v == each.b_eq]
    rows = [row for row, b in zip(pairs, (each.b_ub, each.b_eq), strict=True) if len(b)]
    top = np.isfinite(each.upper)
    rows += [v >= each.lower] + ([v[top] <= each.upper[top]] if top.any() else [])
    return cp.Problem(cp.Minimize(each.c @ v), rows), v


@pytest.mark.parametrize("seeds", [range(20), range(20, 40)])
def test_linear_programs(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        one = linear_draws.solvable(rng)
        found, inside = [], []
        for each in (one, linear_draws.rescaled(rng, one)):
            problem, v = posed(each)
            v.save_value(np.array([float(t) for t in each.optimum.x]))
            found.append(cml.certify(problem))
            inside.append(pose(problem).fit.program)
        first, second = inside
        assert np.array_equal(first.A.toarray(), second.A.toarray()), seed
        assert np.array_equal(first.b, second.b), seed
        assert np.array_equal(first.q, second.q), seed
        assert found[0].verdict is found[1].verdict, seed
        assert found[0].relative_gap == pytest.approx(found[1].relative_gap, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("kind", ["quadratic", "cone"])
def test_curved_programs(kind: str) -> None:
    for seed in range(8):
        rng = np.random.default_rng(seed)
        A, b = rng.normal(size=(6, 3)), rng.normal(size=6)
        unit, row = 2.0 ** rng.integers(-20, 21, 3), 2.0 ** rng.integers(-20, 21)
        best = None
        for column, side in ((np.ones(3), 1.0), (unit, row)):
            v = cp.Variable(3)
            left = (side * A * column) @ v - side * b
            cost = cp.sum_squares(left) if kind == "quadratic" else cp.norm(left)
            problem = cp.Problem(cp.Minimize(cost), [cp.multiply(column, v) >= -0.3])
            if best is None:
                problem.solve(solver=cp.CLARABEL)
                best = v.value
                first = cml.certify(problem)
                continue
            v.save_value(best / column)
            second = cml.certify(problem)
            assert first.verdict is second.verdict is Verdict.CERTIFIED, seed
