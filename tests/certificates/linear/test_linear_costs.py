"""What makes certificates of linear programs cheap: exact answers where floats are not asked."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml import Verdict
from convexml.certificates import logarithms
from convexml.certificates.algebra.least_change import least_change
from convexml.certificates.algebra.polyhedron import relative_interior
from convexml.certificates.algebra.rows import independent_rows, onto
from convexml.certificates.linear.conditions import meets_rows
from convexml.certificates.linear.plausible import restored
from convexml.certificates.scale import program_units
from convexml.objective.linear.data import LinearData


def rank(rows: Any) -> int:
    """By Gauss in fractions, column after column."""
    left = [[Fraction(float(v)) for v in row] for row in rows]
    found = 0
    for j in range(len(left[0])):
        pivot = next((i for i in range(found, len(left)) if left[i][j]), None)
        if pivot is None:
            continue
        left[found], left[pivot] = left[pivot], left[found]
        for i in range(found + 1, len(left)):
            factor = left[i][j] / left[found][j]
            left[i] = [a - factor * b for a, b in zip(left[i], left[found], strict=True)]
        found += 1
    return found


def dependent(rng: np.random.Generator) -> tuple[Any, Any]:
    """Twelve rows, of which four are whole combinations of two or three others."""
    E = rng.integers(-3, 4, (8, 14)) * (rng.random((8, 14)) < 0.5)
    mixes = np.zeros((4, 8), dtype=int)
    for mix in mixes:
        mix[rng.choice(8, 3, replace=False)] = rng.integers(1, 4, 3)
    E = np.vstack([E, mixes @ E]).astype(float)
    order = rng.permutation(12)
    return E[order], (E @ rng.integers(-4, 5, 14))[order]


@pytest.mark.parametrize("seed", range(12))
def test_the_rows_that_are_kept_have_the_rank_of_all_in_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    E, e = dependent(rng)
    moving = rng.random(14) < 0.9
    z = np.round(rng.normal(size=14))
    side = e - E[:, ~moving] @ (np.round(z) - z)[~moving]  # as it is: z is whole
    kept = independent_rows(sparse.csr_array(E), side, moving, z)
    whole = np.column_stack([E[:, moving], side - E[:, ~moving] @ z[~moving]])
    if rank(whole) > rank(E[:, moving]):
        assert kept is None
    else:
        assert kept is not None
        assert kept.size == rank(whole[kept]) == rank(whole)


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_contradict_one_another_by_one_unit_are_never_kept(seed: int) -> None:
    E, e = dependent(np.random.default_rng(seed))
    everything = np.ones(14, dtype=bool)
    last = [i for i in range(12) if rank(np.delete(E, i, 0)) == rank(E) and e[i] != 0.0]
    e[last[0]] = np.nextafter(e[last[0]], np.inf)
    assert independent_rows(sparse.csr_array(E), e, everything, np.zeros(14)) is None


def test_a_row_that_depends_on_others_up_to_rounding_only_is_kept() -> None:
    rng = np.random.default_rng(0)
    E = rng.integers(1, 9, (2, 5)).astype(float)
    E = np.vstack([E, E.sum(axis=0)])
    E[2, 1] = np.nextafter(E[2, 1], np.inf)
    everything = np.ones(5, dtype=bool)
    kept = independent_rows(sparse.csr_array(E), np.zeros(3), everything, np.zeros(5))
    assert kept is not None
    assert list(kept) == [0, 1, 2]
    # No sigma is claimed that the matrix does not have.
    _, sigma = onto(sparse.csr_array(E), np.zeros(3), everything, np.zeros(5))
    assert sigma <= 1.01 * np.linalg.norm(E[2] - E[0] - E[1])


@pytest.mark.parametrize("seed", range(5))
def test_the_singular_value_from_a_sparse_gram_matrix_is_a_lower_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    E = rng.normal(size=(20, 40)) * (rng.random((20, 40)) < 0.2)
    moving = rng.random(40) < 0.9
    kept, sigma = onto(sparse.csr_array(E), rng.normal(size=20), moving, np.zeros(40))
    truth = np.linalg.svd(E[kept][:, moving], compute_uv=False)[-1]
    assert 0.9 * truth <= sigma <= truth


def vertex(m: int, n: int, seed: int) -> tuple[LinearData, Any]:
    """Rows and bounds of which n are active at x, bounds posed as rows of one entry."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.3)
    x = np.where(rng.random(n) < 0.5, 0.0, rng.random(n))
    b = A @ x + np.where(np.arange(m) < n // 3, 0.0, rng.random(m))
    rows = sparse.csr_array(np.vstack([A, -np.eye(n)]))
    E = rng.normal(size=(n // 4, n))
    infinite = np.full(n, np.inf)
    sides = np.concatenate([b, np.zeros(n)])
    data = LinearData(rng.normal(size=n), rows, sides, E, E @ x, -infinite, infinite)
    return data, np.maximum(x + 1e-9 * rng.normal(size=n), 1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_a_point_next_to_a_vertex_is_brought_to_its_rows(seed: int) -> None:
    data, x = vertex(60, 30, seed)
    assert not meets_rows(data, x)
    near = restored(data, x)
    assert near is not None
    assert meets_rows(data, near)
    assert np.max(np.abs(near - x)) < 1e-6


def test_no_point_is_brought_to_rows_that_contradict_one_another() -> None:
    data, x = vertex(60, 30, 0)
    contradiction = LinearData(
        data.c,
        sparse.vstack([data.A_ub, -data.A_ub[:1]], format="csr"),
        np.append(data.b_ub, -data.b_ub[0] - 1e-8),
        data.A_eq,
        data.b_eq,
        data.lower,
        data.upper,
    )
    assert restored(contradiction, x) is None


def test_no_second_program_is_solved_for_a_point_that_is_off_by_rounding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from scipy.optimize import linprog

    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(60, 20)), rng.random(20)
    active = np.arange(60) < 20
    b, c = A @ x + np.where(active, 0.0, 1.0), -A.T @ np.where(active, rng.random(60), 0.0)
    found = linprog(c, A, b, bounds=(None, None))
    program = cml.LinearProgram(c, A, b, bounds=(None, None))

    def refuse(*_: Any) -> None:
        raise AssertionError("a second program")

    monkeypatch.setattr("convexml.certificates.linear.plausible.primal_interior", refuse)
    moved = found.x + 1e-11 * rng.normal(size=20)
    given = {"lambda_ub": -found.ineqlin.marginals}
    assert program.certify(moved, given).verdict is Verdict.CERTIFIED


def test_a_large_polyhedron_has_its_point_inside_from_an_interior_point_method(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """x_1 + x_2 = 1, x >= 0, x_3 <= 0 <= x_3: room for the first two, none for the third."""
    monkeypatch.setattr("convexml.certificates.algebra.polyhedron.MANY", 0)
    data = LinearData(
        np.zeros(3),
        sparse.csr_array(np.array([[0.0, 0.0, -1.0]])),
        np.zeros(1),
        sparse.csr_array(np.array([[1.0, 1.0, 0.0]])),
        np.ones(1),
        np.array([0.0, 0.0, -np.inf]),
        np.array([np.inf, np.inf, 0.0]),
    )
    found = relative_interior(data)
    assert found is not None
    assert np.all(found.point[:2] > 1e-3)
    assert found.point[2] == 0.0
    assert list(found.fixed) == [False, False, True]


@pytest.mark.parametrize("consistent", [True, False])
def test_sparse_normal_equations_give_the_least_change(consistent: bool) -> None:
    rng = np.random.default_rng(1)
    M = rng.normal(size=(120, 200)) * (rng.random((120, 200)) < 0.1)
    M[-1] = M[0] - 2.0 * M[1]
    r = M @ rng.normal(size=200)
    if not consistent:
        r[-1] += 1.0
    weights = rng.uniform(0.5, 2.0, 200)
    step = least_change(sparse.csr_array(M), r, weights)
    expected = weights * np.linalg.lstsq(M * weights, r, rcond=1e-12)[0]
    np.testing.assert_allclose(step, expected, atol=1e-9)


@pytest.mark.parametrize("parts", [1, 2])
def test_units_of_a_long_chain_are_factored_like_those_of_a_short_one(parts: int) -> None:
    """x_1 = 1, x_i = 2 x_(i-1): the fit is exact, xi_i = 2^i; a second chain has no side."""
    n = 600 // parts
    chain = sparse.eye_array(n) - 2.0 * sparse.eye_array(n, k=-1)
    A = sparse.block_diag([chain] * parts, format="csr")
    b, c = np.eye(1, n * parts)[0], np.zeros(n * parts)
    c[n * (parts - 1) + 9] = 1.0  # of the last chain: without a side it has no unit
    units = program_units(A, b, c)
    expected = 2.0**9 if parts == 1 else 0.0
    assert units.size == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(np.diff(np.log2(units.columns[:n])), 1.0, atol=1e-6)


def test_units_do_not_depend_on_what_is_eliminated(monkeypatch: pytest.MonkeyPatch) -> None:
    """By dense normal equations, and with the units of rows eliminated; columns may be idle."""
    rng = np.random.default_rng(7)
    for _ in range(10):
        m, n = int(rng.integers(2, 12)), int(rng.integers(2, 12))
        A = np.exp2(rng.integers(-9, 10, (m, n))) * rng.normal(size=(m, n))
        A *= rng.random((m, n)) < 0.4
        b, c = rng.normal(size=m) * (rng.random(m) < 0.7), rng.normal(size=n)
        P = np.diag(np.where(rng.random(n) < 0.3, rng.random(n), 0.0))
        found = []
        for least in (10**9, -1):
            monkeypatch.setattr(logarithms, "DENSE_ALONE", least)
            found.append(program_units(sparse.csc_array(A), b, c, sparse.csc_array(P)))
        for name in ("size", "rows", "columns", "objective"):
            mine, theirs = (getattr(units, name) for units in found)
            assert mine == pytest.approx(theirs, rel=1e-9)
