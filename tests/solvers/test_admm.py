"""Consensus ADMM: any loss, any number of blocks, residuals that vanish."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import parts, pose_parts, samples

import convexml as cml
from convexml import penalties
from convexml.design import as_design
from convexml.errors import InputError
from convexml.solvers.first_order import consensus
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


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("n", [0, 1, 4, 5, 9])
@pytest.mark.parametrize("free_b", [0.0, 1.0])
def test_a_block_projects_on_the_graph_of_its_rows(n: int, free_b: float, kind: Any) -> None:
    """Least squares in x: rows X~ and sqrt(tau), whether there are more rows or more columns."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 4)) * (rng.uniform(size=(n, 4)) < 0.7)
    metric = consensus.CopyMetric(rng.uniform(0.1, 3.0, 5), free_b)
    near, goal = rng.standard_normal(5), rng.standard_normal(n)
    rows = as_design(kind(X))
    factor = consensus.factor(rows, metric)
    x, p = consensus.projected(rows, factor, metric, near, goal)
    A, weight = np.column_stack([X, np.full(n, free_b)]), np.sqrt(metric.tau)
    known = np.linalg.lstsq(
        np.vstack([A, np.diag(weight)]), np.append(goal, weight * near), rcond=None
    )[0]
    np.testing.assert_allclose(x, known, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(p, A @ known, rtol=0.0, atol=1e-12)
    assert len(factor) == (5 if n > 4 else n)


def test_blocks_too_large_for_their_matrix_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consensus, "LARGEST", 3)
    problem = cml.Lasso(*samples("real"), 0.2)
    with pytest.raises(InputError, match=r"admm: block 0 has .* rows and 5 columns.*more blocks"):
        problem.solve("admm", blocks=1)
