"""The machine with nu has an intercept: what is true of X is true of X + c."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import NuSVC as Peer

import convexml as cml
from convexml import Verdict, kernels
from convexml.certificates.learning.machines.functions import OfFeatures, OfSamples
from convexml.kernels.matrix import KernelMatrix
from convexml.numerics import Array

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(size=(40, 5)) * 1024.0) / 1024.0  # X + c is exact
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=40) > 0.0, 1, -1)
NOTHING = {"w": np.zeros(5), "rho": 0.0, "b": 0.0}
FAR = [1e2, 1e5, 1e6, 2.0**40]


@pytest.mark.parametrize("far", [0.0, 1e4, 1.7e9])
def test_four_points_far_away_have_the_hulls_of_four_near(far: float) -> None:
    x = np.array([[0.0], [1.0], [2.0], [3.0]]) + far
    found = cml.NuSVC(x, [0, 0, 1, 1], 0.5).solve()  # the hulls end at 1 and 2: w = 1
    assert (found.status, found.primal["w"].tolist()) == ("optimal", pytest.approx([1.0]))
    assert found.objective == pytest.approx(-0.5, rel=1e-6)
    assert found.predict(x).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("far", FAR[:3])
def test_the_optimum_moves_with_the_samples(far: float) -> None:
    near = cml.NuSVC(X, Y, 0.3).solve()
    problem = cml.NuSVC(X + far, Y, 0.3)
    found = problem.solve()
    assert found.objective == pytest.approx(near.objective, rel=2e-6)
    assert found.status == "optimal"
    assert found.certificate.verdict is Verdict.CERTIFIED
    moved = {"w": near.primal["w"], "rho": near.primal["rho"]}
    moved["b"] = near.primal["b"] - far * near.primal["w"].sum()
    assert problem.objective(**moved) == pytest.approx(near.objective, rel=3e-4)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("far", FAR)
def test_nothing_is_not_certified_however_far(far: float, make: Any) -> None:
    problem = cml.NuSVC(make(X + far), Y, 0.3)
    found = problem.certify(**NOTHING)
    assert found.verdict is not Verdict.CERTIFIED
    if make is np.array:
        assert found.verdict is Verdict.REFUTED
        assert found.witness is not None
        told = found.witness["objective"]
        assert problem.objective(**{k: found.witness[k] for k in NOTHING}) == pytest.approx(told)
    solved = problem.solve()
    if solved.status == "optimal":
        assert solved.objective == pytest.approx(-1.2435, rel=1e-3)


@pytest.mark.parametrize("far", [1e2, 1e5])
def test_the_machine_of_scikit_learn_is_judged_about_its_centre(far: float) -> None:
    with np.errstate(all="ignore"):
        peer = Peer(kernel="linear", nu=0.3, tol=1e-10).fit(X, Y)
        assert cml.certify(peer, X, Y).verdict is Verdict.CERTIFIED
        moved = Peer(kernel="linear", nu=0.3, max_iter=1000).fit(X + far, Y)
    moved.dual_coef_, moved.support_ = peer.dual_coef_, peer.support_
    moved.support_vectors_, moved._n_support = X[peer.support_] + far, peer._n_support
    moved._dual_coef_, shift = peer._dual_coef_, far * float(peer.coef_.sum())
    moved.intercept_, moved._intercept_ = peer.intercept_ - shift, peer._intercept_ - shift
    if far < 1e3:  # beyond, libsvm's q do not add up to 0 as nearly as that
        assert cml.certify(moved, X + far, Y).verdict is Verdict.CERTIFIED
    moved.dual_coef_, moved._dual_coef_ = 1e-9 * peer.dual_coef_, 1e-9 * peer._dual_coef_
    assert cml.certify(moved, X + far, Y).verdict is not Verdict.CERTIFIED


def exact_spread(A: Array, s: Array) -> float:
    """sum_i s_i |a_i - m|^2 / S in fractions."""
    rows = [[Fraction(v) for v in row] for row in A.tolist()]
    weights = [Fraction(v) for v in s.tolist()]
    total, found = sum(weights), Fraction(0)
    for column in zip(*rows, strict=True):
        m = sum(w * v for w, v in zip(weights, column, strict=True)) / total
        found += sum(w * (v - m) ** 2 for w, v in zip(weights, column, strict=True))
    return float(found / total)


@pytest.mark.parametrize("far", [0.0, 1e3, 1e6, 1e9])
def test_the_spread_is_that_of_fractions(far: float) -> None:
    s = RNG.integers(1, 5, size=40) / 8.0
    A = X + far
    A[:, 1] = np.where(X[:, 1] > 0.5, X[:, 1], 0.0)  # a column with zeros
    A[:, 2] = far
    spread = exact_spread(A, s)
    assert OfFeatures(A).spread(s) == pytest.approx(spread, rel=1e-12)
    assert OfFeatures(sparse.csr_array(A)).spread(s) == pytest.approx(spread, rel=1e-12)
    found = OfSamples(KernelMatrix("", kernels.Linear(), A)).spread(s)
    assert 0.0 <= found <= spread * (1.0 + 1e-12)
    if far < 1e4:
        assert found == pytest.approx(spread, rel=1e-4)
