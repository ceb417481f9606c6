"""How far a constraint on w is violated does not depend on the units of X and y."""

import numpy as np
import pytest

import convexml as cml
from convexml.losses import Hinge, Squared
from convexml.penalties import Box, Nonnegative


@pytest.mark.parametrize("exponent", [-40, -20, 0, 20, 40])
@pytest.mark.parametrize("which", ["X", "y"])
def test_a_sign_constraint_is_measured_by_the_data(exponent: int, which: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = X @ np.array([1.0, -1e-9])
    unit = 2.0**exponent
    X, y, w = (X / unit, y, unit) if which == "X" else (X, y * unit, unit)
    problem = cml.LearningProblem(X, y, Squared(), Nonnegative(), fit_intercept=False)
    near = problem.certify(w * np.array([1.0, -1e-9]))
    rows = {row.name: row.relative for row in near.conditions}
    assert rows["w in dom Omega"] == pytest.approx(1e-9, rel=0.9)
    far = problem.certify(w * np.array([1.0, -1e-3]))
    assert far.verdict is cml.Verdict.REFUTED


def test_a_box_with_one_bound_at_zero_is_measured_by_the_other() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)), np.sign(rng.normal(size=20))
    problem = cml.LearningProblem(X, y, Hinge(), Box(0.0, 1e-6), fit_intercept=False)
    certificate = problem.certify(np.array([-1e-8, 0.0]))
    rows = {row.name: row.relative for row in certificate.conditions}
    assert rows["w in dom Omega"] == pytest.approx(1e-2)
