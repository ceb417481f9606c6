"""Consensus ADMM: any loss, any number of blocks, residuals that vanish."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from support.model_cases import parts, pose_parts, samples

import convexml as cml
from convexml import penalties
from convexml.solvers.first_order.admm import admm


@pytest.mark.parametrize("loss", [p[0] for p in parts() if p[1].name == "l2"], ids=lambda x: x.name)
def test_admm_with_any_loss(loss: Any) -> None:
    problem = pose_parts(loss, penalties.L2(0.3))
    if loss.name == "interpolation":
        assert not cml.solvers.supports("admm", problem)[0]
        return
    solution = problem.solve("admm", tol=1e-5)
    assert solution.status == "optimal"
    assert solution.rate_audit().holds


@pytest.mark.parametrize("blocks", [1, 3, 100])
def test_admm_with_any_number_of_blocks(blocks: int) -> None:
    X, y = samples("real")
    problem = cml.Lasso(X, y, 0.2)
    solution = problem.solve("admm", tol=1e-8, blocks=blocks)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(problem.solve().objective, rel=1e-8)


def test_the_residuals_of_admm_go_to_zero() -> None:
    parts_ = cml.SoftMarginSVM(*samples("binary"), 1.0).objective_parts
    facts = [each.facts for each in islice(admm(parts_, np.zeros(5), 0.0), 3000)][1:]
    assert facts[-1]["primal"] <= 1e-10 * facts[0]["primal"]
    assert facts[-1]["dual"] <= 1e-10 * facts[0]["dual"]
