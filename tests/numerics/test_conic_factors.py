"""Factors, singular values and cones: bounds that rationals confirm."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support.exact.exact_numbers import (
    ball,
    dot,
    rank,
    row,
    solve_consistent,
    table,
)
from support.sizes import each_seed

from convexml.certificates import scale
from convexml.certificates.algebra.polyhedron import independent_rows, kept_rows, slacks_of
from convexml.certificates.conic.prices import dense_factor
from convexml.numerics import Array
from convexml.problem import cones


def slack_system(seed: int) -> tuple[Array, Array, Array, Array]:
    """E z = e with more slacks than equations without, a few columns that do not move."""
    rng = np.random.default_rng(seed)
    own, rest, n = int(rng.integers(62, 80)), int(rng.integers(0, 4)), int(rng.integers(4, 9))
    body = rng.normal(size=(own + rest, n)) * (rng.random((own + rest, n)) < 0.8)
    slacks = np.vstack(
        [np.diag(rng.choice([-1.0, 1.0], own) * rng.uniform(0.1, 3.0, own)), np.zeros((rest, own))]
    )
    E = np.hstack([body, slacks])[rng.permutation(own + rest)]
    moving = np.ones(E.shape[1], dtype=bool)
    moving[rng.integers(0, n, size=int(rng.integers(0, 2)))] = False
    z = rng.normal(size=E.shape[1])
    return E, E @ z, moving, z


@each_seed(range(12))
def test_the_bound_is_below_the_least_singular_value(seed: int) -> None:
    E, side, moving, z = slack_system(seed)
    rows = sparse.csr_array(E)
    kept, sigma = kept_rows(rows, side, moving, z, slacks_of(rows, moving))
    true = np.linalg.svd(E[:, moving], compute_uv=False)[-1]
    assert 0.0 <= sigma <= true * (1.0 + 1e-12)
    if true > 1e-6:
        assert kept.size == side.size
        assert sigma > 0.0


@pytest.mark.parametrize("thin", [1e-6, 1e-9])
def test_a_norm_by_a_dense_inverse_is_bounded_where_it_is_ill_conditioned(thin: float) -> None:
    """By rationals: G = B'B exactly, of integers times powers of two."""
    rng = np.random.default_rng(2)
    unit = 2.0 ** np.rint(np.log2(thin))
    for _ in range(10):
        B = np.round(8.0 * rng.normal(size=(5, 4))) / 8.0
        B[:, 3] = B[:, 0] + unit * B[:, 3]
        factor = dense_factor(sparse.csc_array(B), sparse.csc_array((4, 4)))
        assert factor is not None
        r, columns = rng.normal(size=4), table(B.T)
        g = solve_consistent([[dot(a, b) for b in columns] for a in columns], row(r))
        norm = float(ball(dot(row(r), g))) ** 0.5
        assert norm <= factor.norm(r, 0.0) * (1.0 + 1e-12)


def dependent(rng: np.random.Generator) -> tuple[Any, Any]:
    """Twelve rows, of which four are whole combinations of two or three others."""
    E = rng.integers(-3, 4, (8, 14)) * (rng.random((8, 14)) < 0.5)
    mixes = np.zeros((4, 8), dtype=int)
    for mix in mixes:
        mix[rng.choice(8, 3, replace=False)] = rng.integers(1, 4, 3)
    E = np.vstack([E, mixes @ E]).astype(float)
    order = rng.permutation(12)
    return E[order], (E @ rng.integers(-4, 5, 14))[order]


@pytest.mark.parametrize("dense", [True, False])
def test_equations_of_sizes_are_solved_by_elimination(
    dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the whole matrix: the unknowns 3 to 7 have a diagonal block."""
    monkeypatch.setattr(scale, "ELIMINATED_DENSE", 10**6 if dense else 0)
    rng = np.random.default_rng(7)
    M = rng.normal(size=(20, 9))
    M[:, 3:8] *= np.eye(5)[rng.integers(5, size=20)]
    right, normal = rng.normal(size=9), M.T @ M
    found = scale.eliminated(sparse.csr_array(normal), slice(3, 8), 0.1)(right)
    np.testing.assert_allclose(found, np.linalg.solve(normal + 0.1 * np.eye(9), right), rtol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_rows_that_are_kept_have_the_rank_of_all_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    E, e = dependent(rng)
    moving = rng.random(14) < 0.9
    z = np.round(rng.normal(size=14))
    side = e - E[:, ~moving] @ (np.round(z) - z)[~moving]  # as it is: z is whole
    kept = independent_rows(sparse.csr_array(E), side, moving, z)
    whole = np.column_stack([E[:, moving], side - E[:, ~moving] @ z[~moving]])
    if rank(table(whole)) > rank(table(E[:, moving])):
        assert kept is None
    else:
        assert kept is not None
        assert kept.size == rank(table(whole[kept])) == rank(table(whole))


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_contradict_one_another_by_one_unit_are_never_kept(seed: int) -> None:
    E, e = dependent(np.random.default_rng(seed))
    everything = np.ones(14, dtype=bool)
    last = [
        i for i in range(12) if rank(table(np.delete(E, i, 0))) == rank(table(E)) and e[i] != 0.0
    ]
    e[last[0]] = np.nextafter(e[last[0]], np.inf)
    assert independent_rows(sparse.csr_array(E), e, everything, np.zeros(14)) is None


CONES = [
    cones.ZeroCone(2), cones.NonnegativeCone(3), cones.SecondOrder(1), cones.SecondOrder(4),
    cones.Semidefinite(6), cones.ExponentialCone(), cones.Power(3, (0.3, 0.7)),
    cones.Power(4, (0.2, 0.5, 0.3)),
]  # fmt: skip
SIZES = [0.0, 1.0, -1.0, 1e-8, -1e-8, 0.5, -3.0, 800.0, -800.0, 1e4]


def points(cone: cones.Cone) -> st.SearchStrategy[np.ndarray]:
    entry = st.one_of(st.floats(-10.0, 10.0), st.sampled_from(SIZES))
    return st.lists(entry, min_size=cone.dim, max_size=cone.dim).map(np.array)


@pytest.mark.parametrize("cone", CONES, ids=repr)
@settings(max_examples=20)
@given(st.data())
def test_moreau_splits_every_point(cone: cones.Cone, data: st.DataObject) -> None:
    s = data.draw(points(cone))
    size = 1.0 + np.abs(s).max()
    inside, polar = cone.project(s), cone.project_dual(-s)
    np.testing.assert_allclose(inside - polar, s, atol=1e-12 * size)
    assert abs(inside @ polar) <= 1e-10 * size**2
    assert cone.distance(inside).max() <= 1e-12 * size
    assert np.abs(polar - cone.project_dual(polar)).max() <= 1e-12 * size
    other = cone.project(data.draw(points(cone)))
    assert other @ polar >= -1e-10 * size * (1.0 + np.abs(other).max())


def member_constraints(cone: cones.Cone, x: object) -> list[object]:
    match cone:
        case cones.ZeroCone():
            return [x == 0]
        case cones.NonnegativeCone():
            return [x >= 0]
        case cones.SecondOrder():
            return [cp.SOC(x[0], x[1:])] if cone.dim > 1 else [x >= 0]
        case cones.ExponentialCone():
            return [cp.constraints.ExpCone(x[0], x[1], x[2])]
        case cones.Power():
            return [cp.geo_mean(x[:-1], cone.alphas) >= cp.abs(x[-1])]
        case cones.Semidefinite():
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
def test_projections_agree_with_cvxpy(cone: cones.Cone) -> None:
    rng = np.random.default_rng(0)
    for _ in range(2):
        s = 2.0 * rng.normal(size=cone.dim)
        x = cp.Variable(cone.dim)
        distance = cp.Problem(cp.Minimize(cp.norm(x - s)), member_constraints(cone, x))
        distance.solve(solver="CLARABEL")
        assert np.linalg.norm(cone.project(s) - s) == pytest.approx(distance.value, abs=1e-6)


def test_the_exponential_cone_at_its_ends() -> None:
    cone = cones.ExponentialCone()
    np.testing.assert_allclose(cone.project(np.array([1.0, -1000.0, 5.0])), [0.0, 0.0, 5.0])
    np.testing.assert_allclose(cone.project(np.array([-1.0, -1.0, -1.0])), [-1.0, 0.0, 0.0])
    far = cone.project(np.array([1000.0, 1.0, 1.0]))
    assert np.all(np.isfinite(far))
    assert far[1] * np.exp(far[0] / far[1]) == pytest.approx(far[2])
