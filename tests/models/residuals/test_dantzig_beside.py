"""A point beside the constraints of the Dantzig selector: REFUTED, and no gap is told of it."""

from __future__ import annotations

import numpy as np

import convexml as cml
from convexml import Verdict


def test_a_point_beside_the_constraint_has_no_gap() -> None:
    """Columns of 1e20 that differ by 1e8: HiGHS finds nothing, and w = 0 misses lam."""
    X = (np.random.default_rng(0).integers(-3, 4, (4, 3)) + 1e12) * 1e8
    y = np.random.default_rng(1).integers(-3, 4, 4).astype(float)
    problem = cml.DantzigSelector(X, y, 0.0, fit_intercept=True)
    problem.lam = 1e-9 * problem.lam_max
    found = problem.solve()
    assert found.status == "optimal" or found.gap == np.inf
    judged = problem.certify(np.zeros(3))
    assert (judged.verdict, judged.gap) == (Verdict.REFUTED, np.inf)
    assert "is violated by" in judged.reason
