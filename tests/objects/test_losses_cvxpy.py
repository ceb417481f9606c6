"""CVXPY sees the same losses and conjugates as NumPy does, and sees them as DPP."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.catalogue import LOSSES, name

from convexml.losses import Exponential, Logistic, Loss
from convexml.numerics import Array

each_loss = pytest.mark.parametrize("loss", LOSSES, ids=name)
piecewise_linear = [loss for loss in LOSSES if not loss.is_smooth and not loss.is_indicator]


def parameters(loss: Loss) -> dict[str, Any]:
    return {
        key: cp.Parameter(nonneg=True, value=value) for key, value in loss.hyperparameters().items()
    }


def sample(loss: Loss) -> tuple[Array, Array]:
    """Labels, and predictions at which the loss is finite, a kink among them."""
    rng = np.random.default_rng(7)
    y = {
        "real": rng.normal(size=10),
        "binary": rng.choice([-1.0, 1.0], size=10),
        "count": rng.integers(0, 5, size=10).astype(float),
    }[loss.labels]
    z = 1.5 * rng.normal(size=10)
    z[0] = y[0]
    return y, loss.prox(y, z, 1.0) if loss.is_indicator else z


def domain_points(loss: Loss, y: Array) -> list[Array]:
    """Points inside the domain of the conjugate, one of them 0."""
    lo, hi = (np.clip(end, -4.0, 4.0) for end in loss.domain(y))
    return [0.999 * (lo + t * (hi - lo)) for t in (0.0, 0.2, 0.5, 0.9, 1.0)] + [np.zeros_like(y)]


@each_loss
def test_expression_has_the_value_of_the_loss(loss: Loss) -> None:
    y, at = sample(loss)
    z = cp.Variable(len(y))
    terms = loss.expression(y, z, parameters(loss))
    assert terms.value.shape == y.shape
    problem = cp.Problem(cp.Minimize(cp.sum(terms.value)), [z == at, *terms.constraints.values()])
    assert problem.is_dcp(dpp=True)
    problem.solve(solver="CLARABEL")
    np.testing.assert_allclose(terms.value.value, loss.value(y, at), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.is_indicator], ids=name)
def test_expression_is_infeasible_where_the_loss_is_infinite(loss: Loss) -> None:
    y, at = sample(loss)
    z = cp.Variable(len(y))
    terms = loss.expression(y, z, {})
    moved = at - 0.1 * y
    assert np.any(loss.violation(y, moved) > 0.0)
    problem = cp.Problem(cp.Minimize(0.0), [z == moved, *terms.constraints.values()])
    problem.solve(solver="CLARABEL")
    assert problem.status == "infeasible"


def conjugate_value(loss: Loss, y: Array, v: Array, c: Any, scale: Array) -> Array:
    """Value of the CVXPY conjugate at u = c v; inf where a constraint is violated."""
    u = cp.Variable(len(y), value=scale * v)
    terms = loss.conjugate_expression(y, u, c, parameters(loss))
    constraints = dict(terms.constraints)
    if "entropy" in constraints:  # an epigraph: its least point is the left-hand side
        least, epigraph = constraints.pop("entropy").args
        epigraph.value = least.value
    violation = max((np.max(g.violation()) for g in constraints.values()), default=0.0)
    return terms.value.value if violation <= 1e-12 else np.full_like(y, np.inf)


@each_loss
def test_conjugate_expression_has_the_value_of_the_conjugate(loss: Loss) -> None:
    y, _ = sample(loss)
    c = np.linspace(0.1, 2.0, len(y))
    for v in domain_points(loss, y):
        expected = c * loss.conjugate(y, v)
        assert np.all(np.isfinite(expected))
        found = conjugate_value(loss, y, v, c, c)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@each_loss
def test_conjugate_expression_ends_where_the_domain_ends(loss: Loss) -> None:
    y, _ = sample(loss)
    c = np.linspace(0.1, 2.0, len(y))
    for sign, end in zip((-1.0, 1.0), loss.domain(y), strict=True):
        for i in np.flatnonzero(np.isfinite(end)):
            v = np.zeros_like(y)
            v[i] = end[i] + 1e-3 * sign
            found = conjugate_value(loss, y, v, c, c)
            assert not np.isfinite(found[i])


@each_loss
def test_conjugate_expression_is_dpp(loss: Loss) -> None:
    y, _ = sample(loss)
    u = cp.Variable(len(y))
    terms = loss.conjugate_expression(y, u, np.full(len(y), 0.1), parameters(loss))
    problem = cp.Problem(cp.Maximize(-cp.sum(terms.value)), list(terms.constraints.values()))
    assert problem.is_dcp(dpp=True)


@pytest.mark.parametrize("loss", piecewise_linear, ids=name)
def test_piecewise_linear_conjugates_accept_a_parameter_as_scale(loss: Loss) -> None:
    y, _ = sample(loss)
    weights = np.linspace(0.5, 1.5, len(y))
    c = cp.Parameter(nonneg=True, value=2.0) * weights
    for v in domain_points(loss, y):
        found = conjugate_value(loss, y, v, c, 2.0 * weights)
        expected = 2.0 * weights * loss.conjugate(y, v)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    u = cp.Variable(len(y))
    terms = loss.conjugate_expression(y, u, c, loss.hyperparameters())
    problem = cp.Problem(cp.Maximize(-cp.sum(terms.value)), list(terms.constraints.values()))
    assert problem.is_dcp(dpp=True)


@pytest.mark.parametrize("loss", [Logistic(), Exponential()], ids=name)
def test_the_dual_keeps_its_value_where_samples_are_far_from_the_boundary(loss: Loss) -> None:
    """There u_i is nearly 0, and solvers return some of the wrong sign, outside the entropy."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2)) * np.array([30.0, 1.0])
    y = np.where(x[:, 0] + rng.normal(size=200) > 0.0, 1.0, -1.0)
    c, lam = np.full(200, 1.0 / 200), 1e-2
    w, u = cp.Variable(2), cp.Variable(200)
    primal = loss.expression(y, x @ w, {})
    ridge = 0.5 * lam * cp.sum_squares(w)
    least = cp.Problem(cp.Minimize(c @ primal.value + ridge)).solve(solver="CLARABEL")
    terms = loss.conjugate_expression(y, u, c, {})
    value = -cp.sum(terms.value) - cp.sum_squares(x.T @ u) / (2.0 * lam)
    dual = cp.Problem(cp.Maximize(value), list(terms.constraints.values()))
    assert dual.solve(solver="CLARABEL") == pytest.approx(least, rel=1e-6)
