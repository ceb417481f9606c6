"""Cones: projections against CVXPY, Moreau's decomposition, the ends of the exponential cone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convexml.certificates.algebra.least_change import least_change
from convexml.objective.conic.cones import (
    Cone,
    NonnegativeCone,
    SecondOrder,
    Semidefinite,
    ZeroCone,
)
from convexml.objective.conic.curved import ExponentialCone, Power

CONES = [
    ZeroCone(2),
    NonnegativeCone(3),
    SecondOrder(1),
    SecondOrder(4),
    Semidefinite(6),
    ExponentialCone(),
    Power(3, (0.3, 0.7)),
    Power(4, (0.2, 0.5, 0.3)),
]
SIZES = [0.0, 1.0, -1.0, 1e-8, -1e-8, 0.5, -3.0, 800.0, -800.0, 1e4]


def points(cone: Cone) -> st.SearchStrategy[np.ndarray]:
    entry = st.one_of(st.floats(-10.0, 10.0), st.sampled_from(SIZES))
    return st.lists(entry, min_size=cone.dim, max_size=cone.dim).map(np.array)


@pytest.mark.parametrize("cone", CONES, ids=repr)
@settings(max_examples=60)
@given(st.data())
def test_moreau_splits_every_point(cone: Cone, data: st.DataObject) -> None:
    s = data.draw(points(cone))
    size = 1.0 + np.abs(s).max()
    inside, polar = cone.project(s), cone.project_dual(-s)
    np.testing.assert_allclose(inside - polar, s, atol=1e-12 * size)
    assert abs(inside @ polar) <= 1e-10 * size**2
    assert cone.distance(inside).max() <= 1e-12 * size
    assert cone.distance_dual(polar).max() <= 1e-12 * size
    other = cone.project(data.draw(points(cone)))
    assert other @ polar >= -1e-10 * size * (1.0 + np.abs(other).max())


def member_constraints(cone: Cone, x: object) -> list[object]:
    import cvxpy as cp

    match cone:
        case ZeroCone():
            return [x == 0]
        case NonnegativeCone():
            return [x >= 0]
        case SecondOrder():
            return [cp.SOC(x[0], x[1:])] if cone.dim > 1 else [x >= 0]
        case ExponentialCone():
            return [cp.constraints.ExpCone(x[0], x[1], x[2])]
        case Power():
            return [cp.geo_mean(x[:-1], cone.alphas) >= cp.abs(x[-1])]
        case Semidefinite():
            s = np.sqrt(0.5)
            rows = [
                [x[0], s * x[1], s * x[3]],
                [s * x[1], x[2], s * x[4]],
                [s * x[3], s * x[4], x[5]],
            ]
            return [cp.bmat(rows) >> 0]
    raise AssertionError(cone)


# The weights of the test are multiples of 1/10: CVXPY's "approximation" by cones is exact.
@pytest.mark.filterwarnings("ignore:geo_mean is being approximated")
@pytest.mark.parametrize("cone", CONES, ids=repr)
def test_projections_agree_with_cvxpy(cone: Cone) -> None:
    import cvxpy as cp

    rng = np.random.default_rng(0)
    for _ in range(4):
        s = 2.0 * rng.normal(size=cone.dim)
        x = cp.Variable(cone.dim)
        distance = cp.Problem(cp.Minimize(cp.norm(x - s)), member_constraints(cone, x))
        distance.solve(solver="CLARABEL")
        assert np.linalg.norm(cone.project(s) - s) == pytest.approx(distance.value, abs=1e-6)


def test_the_exponential_cone_at_its_ends() -> None:
    cone = ExponentialCone()
    np.testing.assert_allclose(cone.project(np.array([1.0, -1000.0, 5.0])), [0.0, 0.0, 5.0])
    np.testing.assert_allclose(cone.project(np.array([-1.0, -1.0, -1.0])), [-1.0, 0.0, 0.0])
    far = cone.project(np.array([1000.0, 1.0, 1.0]))
    assert np.all(np.isfinite(far))
    assert far[1] * np.exp(far[0] / far[1]) == pytest.approx(far[2])


@pytest.mark.parametrize("dense", [True, False])
def test_the_least_change_is_the_weighted_pseudoinverse(
    dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scipy import sparse

    rng = np.random.default_rng(0)
    M, r, w = rng.normal(size=(4, 9)), rng.normal(size=4), rng.uniform(0.1, 2.0, 9)
    w[3] = 0.0
    if not dense:
        for name in ("SMALL", "DENSE_ROWS"):
            monkeypatch.setattr(f"convexml.certificates.algebra.least_change.{name}", 0)
    step = least_change(M if dense else sparse.csr_array(M), r, w)
    expected = w**2 * (M.T @ np.linalg.solve(M * w**2 @ M.T, r))
    np.testing.assert_allclose(step, expected, atol=1e-12)
