"""Definite systems in an order that is cheap to find: solutions, and when it is not taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from convexml.certificates.algebra.definite import (
    FILL,
    Cholesky,
    Factored,
    by_degree,
    definite_factor,
    definite_solver,
)
from convexml.certificates.eliminated import SizeEquations
from convexml.certificates.logarithms import log_system


def arrow(n: int, heads: int) -> Any:
    """Pairs of unknowns, and a few that all of them share: definite."""
    rng = np.random.default_rng(0)
    shared = 5e-3 * sparse.csr_array(rng.standard_normal((heads, n)))
    pairs = sparse.kron(sparse.eye_array(n // 2), np.array([[2.0, 1.0], [1.0, 2.0]]))
    return sparse.block_array([[pairs, shared.T], [shared, sparse.eye_array(heads)]], format="csc")


def grid(k: int) -> Any:
    """The Laplacian of a k x k grid, and a little: its factor fills whatever the order."""
    line = sparse.diags_array([np.full(k - 1, -1.0), np.full(k - 1, -1.0)], offsets=[-1, 1])
    both = sparse.kron(line, sparse.eye_array(k)) + sparse.kron(sparse.eye_array(k), line)
    return sparse.csc_array(both + 4.1 * sparse.eye_array(k * k))


@pytest.mark.parametrize("G", [arrow(1400, 3), grid(12), grid(50)])
def test_the_solution_is_the_solution(G: Any) -> None:
    x = np.random.default_rng(1).standard_normal((G.shape[0], 2))
    solver = definite_solver(G)
    assert solver is not None
    assert np.allclose(solver.solve(G @ x), x, rtol=1e-9, atol=1e-9)
    assert np.allclose(solver.solve(G @ x[:, 0]), x[:, 0], rtol=1e-9, atol=1e-9)


def test_the_order_by_degree_keeps_to_its_bound() -> None:
    G = arrow(3000, 4)
    order, factor = by_degree(G), definite_factor(G)
    assert order is not None
    assert factor is not None
    assert np.array_equal(np.sort(order), np.arange(G.shape[0]))
    assert set(order[-4:]) == set(range(3000, 3004))
    assert factor.lu.L.nnz <= FILL


def test_what_would_fill_is_ordered_by_minimum_degree() -> None:
    assert by_degree(grid(60)) is None
    assert definite_factor(grid(60)) is not None


def test_crowded_matrices_are_dense_and_singular_ones_are_none() -> None:
    B = np.random.default_rng(2).standard_normal((300, 250))
    assert isinstance(definite_solver(sparse.csc_array(B.T @ B)), Cholesky)
    assert isinstance(definite_solver(arrow(1400, 3)), Factored)
    assert definite_solver(sparse.csc_array((3, 3))) is None


@pytest.mark.parametrize("n", [300, 800])
def test_units_of_a_chain_are_those_of_least_squares(n: int) -> None:
    rng = np.random.default_rng(3)
    sizes = [np.exp(rng.standard_normal(k)) for k in (n - 1, n - 1, n - 1, n, n, n - 1)]
    A = sparse.diags_array(sizes[:2], offsets=[0, 1], shape=(n - 1, n), format="csc")
    P = sparse.diags_array(sizes[4:], offsets=[0, 1], shape=(n, n), format="csc")
    groups = sparse.eye_array(n - 1, format="csr")
    system, _ = log_system(A, sizes[2], sizes[3], P, groups)
    assert isinstance(system.matrix, SizeEquations)
    every = np.ones(system.side.size)
    fit = system.solve(every, every > 0.0)
    # x_j - h_i, -h_i, x_j - V and x_j + x_k - V are minus the logarithms of A, b, c and P.
    x, h, V = np.split(np.eye(2 * n), [n, 2 * n - 1])
    M = np.vstack([x[:-1] - h, x[1:] - h, -h, x - V, 2 * x - V, x[1:] + x[:-1] - V])
    u = np.linalg.solve(M.T @ M, M.T @ -np.log(np.concatenate(sizes)))
    assert fit.is_determined()
    assert np.allclose(fit.found, u, rtol=0.0, atol=1e-8)
