"""The generalized lasso over folds, beside the lasso."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import convexml as cml
from convexml import Verdict

X = load_diabetes().data[:80, [0, 2, 3, 8, 9]] * 20.0
Y = load_diabetes().target[:80] / 20.0


def test_folds_of_the_identity_are_those_of_the_lasso() -> None:
    lams = [1.0, 0.1, 0.01]
    weights = np.linspace(1.0, 2.0, 80)
    problem = cml.GeneralizedLasso(X, Y, 0.1, np.eye(5), sample_weight=weights)
    found = problem.cross_validate(lams, folds=3, tol=1e-9)
    theirs = cml.Lasso(X, Y, 0.1, sample_weight=weights).cross_validate(lams, folds=3, tol=1e-9)
    np.testing.assert_allclose(found.scores, theirs.scores, rtol=1e-6)
    assert found.is_certified
    assert found.certificate(1, 2).verdict is Verdict.CERTIFIED
    assert found.solution.objective == pytest.approx(theirs.solution.objective, rel=1e-8)
    assert (problem.lam, len(problem.solve().primal["w"])) == (0.1, 5)
