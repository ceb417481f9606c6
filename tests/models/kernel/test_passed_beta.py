"""beta = s - alpha of a machine with nu, where it was passed: it is judged, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import Verdict

X = np.array([[1.0, 0.5], [-0.5, 1.0], [2.0, -1.0], [0.0, 1.5], [-1.5, -0.5], [0.5, 2.0]])
SIGNS = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])


@pytest.mark.parametrize("problem", [cml.OneClassSVM(X, 0.5), cml.NuSVC(X, SIGNS, 0.5)])
def test_a_wrong_beta_does_not_hold(problem: Any) -> None:
    solution = problem.solve()
    point, alpha, beta = solution.primal, solution.dual["alpha"], solution.dual["beta"]
    for right in ({"alpha": alpha}, {"beta": 1.0 - alpha}, {"alpha": alpha, "beta": 1.0 - alpha}):
        found = problem.certify(**point, **right)
        assert (found.verdict, found.multipliers) == (Verdict.CERTIFIED, "hold")
    for factor in (-1.0, 0.0, 2.0):
        for wrong in ({"beta": factor * beta}, {"alpha": alpha, "beta": factor * beta}):
            found = problem.certify(**point, **wrong)
            assert found.multipliers == "do not hold"
            assert not found.holds()
    assert problem.certify(**point).multipliers == "not passed"
