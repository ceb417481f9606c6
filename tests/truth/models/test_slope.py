"""SLOPE: equal strengths are the lasso, clusters have one size, bounds in the order of sizes."""

from __future__ import annotations

import numpy as np
import pytest

import convexml as cml
from convexml import Verdict

RNG = np.random.default_rng(8)
NEAR = RNG.normal(size=(30, 6)) @ (np.eye(6) + 0.5)
MIXED = NEAR @ [2.0, 2.0, -2.0, 0.5, 0.0, 0.0] + RNG.normal(size=30)
LAMS = np.array([1.0, 0.7, 0.5, 0.5, 0.2, 0.0])


def test_equal_strengths_are_the_lasso_and_clusters_have_one_size() -> None:
    ours, theirs = (
        cml.Slope(NEAR, MIXED, np.full(6, 0.3)).solve(),
        cml.Lasso(NEAR, MIXED, 0.3).solve(),
    )
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-9)
    sizes = np.abs(cml.Slope(NEAR, MIXED, LAMS).solve().primal["w"])
    assert len(set(sizes.tolist())) < np.count_nonzero(sizes) + (0.0 in sizes)


def test_lam_max_is_the_smallest_factor() -> None:
    top = cml.Slope(NEAR, MIXED, LAMS).lam_max
    assert not cml.Slope(NEAR, MIXED, top * (1 + 1e-12) * LAMS).solve().primal["w"].any()
    assert cml.Slope(NEAR, MIXED, 0.999 * top * LAMS).solve().primal["w"].any()


def test_a_dual_point_of_another_order_of_bounds_is_not_certified() -> None:
    problem = cml.Slope(NEAR, MIXED, LAMS)
    solution = problem.solve(tol=1e-9)
    w, b, u = solution.primal["w"], float(solution.primal["b"]), solution.dual["u"]
    assert problem.certify(w, b, u).verdict is Verdict.CERTIFIED
    pushed = np.abs(NEAR.T @ u)
    assert pushed.max() > LAMS[1:].max()  # more than the second strength: no bound entry by entry
    assert problem.certify(w, b, 1.01 * u).verdict is not Verdict.CERTIFIED
    for k in range(6):
        worse = w + 0.05 * np.eye(6)[k]
        found = problem.certify(worse, b)
        assert found.verdict is Verdict.REFUTED
        assert found.gap >= problem.objective(worse, b) - solution.objective
