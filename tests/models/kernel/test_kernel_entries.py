"""Entries of K are rounded: what a certificate says holds of the kernel, in 120 digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat
from support.exact.exact_kernels import Balls, balls, draw, kernel_table, times
from support.exact.exact_numbers import ball, below, dot
from support.sizes import sizes

import convexml as cml
from convexml.certificates.learning import beside_kernel
from convexml.kernels import Gaussian, Kernel, Precomputed, Product
from convexml.kernels.matrix import KernelMatrix
from convexml.losses import HardMargin
from convexml.numerics import Array


def is_between(found: cml.Certificate, primal: arb, dual: arb) -> bool:
    """Whether [D - rounding, P + rounding] holds D and P of the kernel."""
    if not found.rounding < np.inf:
        return True
    rounding = ball(found.rounding)
    above = below(primal, ball(found.primal_objective) + rounding)
    return above and below(ball(found.dual_objective) - rounding, dual)


def ridge_is_true(seed: int) -> bool:
    """Of points near the minimiser: P and D of the kernel are where the certificate has them.

    P - P*, with P* from (K + lam / c) q = y, is at most the gap.
    """
    rng = np.random.default_rng(seed)
    X, y, weights, kernel, lam = draw(rng)
    problem = cml.KernelRidge(X, y, lam, kernel, sample_weight=weights)
    K, n, strength = kernel_table(kernel, X), len(y), ball(lam)
    total = sum(balls(weights), arb(0))
    c, targets = [s / total for s in balls(weights)], balls(y)

    def primal(q: Balls) -> arb:
        f = times(K, q)
        squares = [(a - b) ** 2 for a, b in zip(f, targets, strict=True)]
        return dot(c, squares) / 2 + strength / 2 * dot(q, f)

    def dual(u: Balls) -> arb:
        own = [v * v / (2 * s) + v * t for v, s, t in zip(u, c, targets, strict=True)]
        return -sum(own, arb(0)) - dot(u, times(K, u)) / (2 * strength)

    shifted = [[K[i][j] + (strength / c[i] if i == j else 0) for j in range(n)] for i in range(n)]
    best = arb_mat(shifted).solve(arb_mat([[t] for t in targets])).entries()
    least = primal(best)
    q = np.array([float(v) for v in best]) * (1.0 + rng.choice([0.0, 1e-7]) * rng.normal(size=n))
    found, reached = problem.certify(q), primal(balls(q))
    true = found.gap == np.inf or below(reached - least, found.gap)
    return true and is_between(found, reached, dual(balls(found.dual["u"])))


def machine_is_true(seed: int) -> bool:
    """P and D of solved support vector machines, C small and large."""
    rng = np.random.default_rng(seed)
    X, _, weights, kernel, _ = draw(rng)
    signs, C = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0), 10.0 ** rng.uniform(-4.0, 6.0)
    found = cml.KernelSVM(X, signs, C, kernel, sample_weight=weights).solve()
    K, costs = kernel_table(kernel, X), [ball(C) * s for s in balls(weights)]
    q, u, labels = balls(found.primal["q"]), balls(found.dual["u"]), balls(signs)
    f, b = times(K, q), ball(float(found.primal["b"]))
    slacks = [(1 - t * (v + b)).max(arb(0)) for t, v in zip(labels, f, strict=True)]
    dual = -dot(labels, u) - dot(u, times(K, u)) / 2
    return is_between(found.certificate, dot(costs, slacks) + dot(q, f) / 2, dual)


def uncharged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the entries of K for those of the kernel."""

    def nothing(matrix: KernelMatrix, q: Array, u: Array) -> Array:
        return np.zeros((2, len(q)))

    monkeypatch.setattr(beside_kernel, "_entries_off", nothing)


@pytest.mark.parametrize("count", sizes(150, 800))
def test_p_and_d_of_the_kernel_are_where_the_certificate_has_them(count: int) -> None:
    assert [seed for seed in range(count) if not ridge_is_true(seed)] == []
    assert [seed for seed in range(count // 5) if not machine_is_true(seed)] == []


def test_without_the_charge_they_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = 6, 25, 43, 46, 53, 77
    assert all(ridge_is_true(seed) for seed in seeds)
    uncharged(monkeypatch)
    assert not any(ridge_is_true(seed) for seed in seeds)


@pytest.mark.parametrize("count", sizes(60, 400))
def test_entries_are_as_near_to_the_kernel_as_is_said(count: int) -> None:
    """And the bound is no cover for all: some entry uses more than a hundredth of it."""
    used = 0.0
    for seed in range(count):
        X, *_, kernel, _ = draw(np.random.default_rng(seed))
        matrix = KernelMatrix("K", kernel, X)
        bound, K = matrix.entry_errors, kernel_table(kernel, X)
        assert bound is not None
        for i, j in np.ndindex(bound.shape):
            off = abs(K[i][j] - ball(matrix.dense[i, j]))
            assert below(off, bound[i, j]), (seed, i, j)
            used = max(used, float(off / ball(bound[i, j])))
    assert used > 0.01


class Unknown(Gaussian):
    """A kernel that does not say what its entries may be off by."""

    def rounding(self, A: Any) -> float:
        return np.inf

    def with_errors(self, A: Any) -> None:  # type: ignore[override]
        return None


def test_machines_with_nu_say_it_too() -> None:
    X, *_ = draw(np.random.default_rng(0))
    unknown = cml.OneClassSVM(X, 0.5, kernel=Unknown(1.0)).solve().certificate
    assert "for the matrix as computed, not for the kernel" in unknown.reason
    problem = cml.OneClassSVM(X, 0.5, kernel=Wide(1.0))
    charged = problem.solve().certificate
    assert charged.reason == ""
    assert charged.gap >= 1e-9 * (0.5 * len(X)) ** 2  # sum alpha_i = nu n, of P and of D


class Wide(Unknown):
    """A kernel whose entries may be off by 1e-9, and without a theorem that it is semidefinite."""

    def with_errors(self, A: Any) -> Any:
        K = self(A, A)
        return K, np.full(K.shape, 1e-9)


@pytest.mark.parametrize("kernel", [Unknown(1.0), Product(Unknown(1.0), Gaussian(1.0))], ids=str)
def test_what_is_not_known_of_a_kernel_is_said(kernel: Kernel) -> None:
    X, y, *_ = draw(np.random.default_rng(0))
    found = cml.KernelRidge(X, y, 0.1, kernel).solve().certificate
    assert found.verdict is cml.Verdict.CERTIFIED
    assert "for the matrix as computed, not for the kernel" in found.reason
    assert found.proved_gap == np.inf
    assert "for the matrix as computed" in found.unproved
    known = cml.KernelRidge(X, y, 0.1, Gaussian(1.0)).solve().certificate
    assert (known.reason, known.proved_gap < np.inf) == ("", True)


def test_a_matrix_that_is_given_is_the_problem() -> None:
    X, y, *_ = draw(np.random.default_rng(0))
    K = Gaussian(1.0)(X, X)
    found = cml.KernelRidge(K, y, 0.1, Precomputed()).solve().certificate
    assert found.verdict is cml.Verdict.CERTIFIED
    assert found.reason == "This is said for the matrix as given."
    assert found.proved_gap < np.inf


def test_a_margin_pays_for_what_f_may_be_off_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a margin m - off counts f / (m - off): P is larger by the square of that."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    problem = cml.KernelProblem(X, np.sign(X[:, 0] * X[:, 1]), HardMargin(), 1.0, Gaussian(0.5))
    q, b = (problem.solve().primal[name] for name in ("q", "b"))
    before = problem.certify(q, b)
    matrix = problem.kernel_parts.matrix
    matrix.__dict__["entry_errors"] = np.full((12, 12), 1e-6)
    after, off = problem.certify(q, b), 1e-6 * np.abs(q).sum()
    value = after.primal_objective
    assert after.gap - before.gap >= value * ((1.0 - off) ** -2 - 1.0) * (1.0 - 1e-6)
    matrix.__dict__["entry_errors"] = np.full((12, 12), 1.0)
    assert problem.certify(q, b).gap == np.inf
