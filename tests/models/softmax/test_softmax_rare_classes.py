"""Softmax regression where one class is far from the others: its column of u is small."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import convexml as cml
from convexml.design import StackedDesign, as_design
from convexml.losses import Softmax
from convexml.objective import MulticlassObjective
from convexml.objective.outputs.class_refit import refit
from convexml.penalties import L2


@pytest.mark.parametrize("seed", range(8))
def test_a_refit_balances_every_class_in_its_own_units(seed: int) -> None:
    """1'u = 0 relative to |u| by column, which differ by four orders of magnitude."""
    rng = np.random.default_rng(seed)
    y, c = np.repeat(np.arange(3.0), 20), np.full(60, 1e4)
    design = StackedDesign(as_design(rng.normal(size=(60, 2))), 3)
    objective = MulticlassObjective(design, y, Softmax(), L2(1.0), c)
    z = rng.normal(size=(60, 3))
    z[:, 0] += np.where(y == 0.0, 12.0, -12.0)
    z = log_softmax(z, axis=1)
    z = log_softmax(z + refit(objective, z, intercept_only=True)[1], axis=1)
    z = log_softmax(z + 1e-5 * np.array([1.0, -1.0, 0.0]), axis=1)  # near, but not balanced
    u = objective.loss_derivative(z + refit(objective, z, intercept_only=True)[1])
    size = np.abs(u).sum(axis=0)
    assert size[0] < 1e-3 * size[1]
    assert np.all(np.abs(u.sum(axis=0)) <= 1e-13 * size)


def test_a_large_C_with_a_class_apart_is_certified() -> None:
    X, y = load_iris(return_X_y=True)
    fitted = LogisticRegression(C=1e4, tol=1e-10, max_iter=5000).fit(X, y)
    certificate = cml.certify(fitted, X, y)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    assert certificate.relative_gap <= 1e-9
