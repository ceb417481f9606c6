"""PCA against eigenvalues, KMeans against the relaxation: what is certified, refuted, left open."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import convexml as cml
from convexml.errors import InputError

IRIS, WINE = load_iris().data, load_wine().data


@pytest.mark.parametrize("X", [IRIS, WINE], ids=["iris", "wine"])
@pytest.mark.parametrize("k", [1, 2, None])
def test_components_are_the_leading_eigenvectors(X: np.ndarray, k: int | None) -> None:
    fitted = PCA(k).fit(X)
    found = cml.certify(fitted, X, tol=1e-9)
    assert found.verdict is cml.Verdict.CERTIFIED, str(found)
    values = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    assert found.primal_objective == pytest.approx(-values[:k].sum(), rel=1e-9)
    assert found.proved_gap < 1e-9 * values[0]


def test_other_directions_are_refuted() -> None:
    fitted = PCA(2).fit(WINE)
    third = np.linalg.svd(WINE - WINE.mean(axis=0))[2][2]
    moved = copy.deepcopy(fitted)
    moved.components_ = np.vstack([fitted.components_[0], third])
    found = cml.certify(moved, WINE)
    assert found.verdict is cml.Verdict.REFUTED
    assert found.witness is not None
    assert found.gap >= fitted.explained_variance_[1] / 2.0
    for spoil in (1.01 * fitted.components_, fitted.components_[[0, 0]]):
        moved.components_ = spoil
        assert cml.certify(moved, WINE).verdict is not cml.Verdict.CERTIFIED


def test_turned_directions_and_other_variances_are_noticed() -> None:
    fitted = PCA(2).fit(IRIS)
    turned = copy.deepcopy(fitted)
    turn = np.array([[0.8, 0.6], [-0.6, 0.8]])
    turned.components_ = turn @ fitted.components_  # the same plane
    found = cml.certify(turned, IRIS)
    assert found.gap <= 1e-9
    assert found.verdict is not cml.Verdict.CERTIFIED
    assert "components_ S components_'" in found.reason
    other = copy.deepcopy(fitted)
    other.explained_variance_ = 1.001 * fitted.explained_variance_
    assert cml.certify(other, IRIS).verdict is not cml.Verdict.CERTIFIED


def test_a_rough_solver_has_an_honest_gap() -> None:
    X = np.random.default_rng(0).normal(size=(200, 40))
    rough = PCA(3, svd_solver="randomized", iterated_power=0, random_state=0).fit(X)
    best = -np.linalg.eigvalsh(np.cov(X.T, bias=True))[-3:].sum()
    found = cml.certify(rough, X)
    assert found.verdict is cml.Verdict.REFUTED
    assert found.gap == pytest.approx(found.primal_objective - best, rel=1e-6)


def test_separated_blobs_are_optimal() -> None:
    X = make_blobs(60, centers=3, cluster_std=0.2, random_state=1)[0]
    fitted = KMeans(3, n_init=3, random_state=0).fit(X)
    found = cml.certify(fitted, X)
    assert found.verdict is cml.Verdict.CERTIFIED, str(found)
    assert found.primal_objective == pytest.approx(fitted.inertia_, rel=1e-12)
    wrong = copy.deepcopy(fitted)
    wrong.cluster_centers_ = fitted.cluster_centers_ + 0.1
    worse = cml.certify(wrong, X)
    assert worse.verdict is cml.Verdict.REFUTED
    assert worse.primal_objective == pytest.approx(fitted.inertia_ + 60 * 2 * 0.01, rel=1e-9)
    assert worse.witness is not None
    assert worse.witness["objective"] == pytest.approx(fitted.inertia_, rel=1e-9)


def test_what_the_relaxation_leaves_open_is_undecided() -> None:
    X = IRIS[::3]
    fitted = KMeans(3, n_init=20, random_state=0).fit(X)
    found = cml.certify(fitted, X)
    assert found.verdict is cml.Verdict.UNDECIDED
    assert 0.0 < found.relative_gap < 0.15
    assert "none is better by more than" in found.reason
    assert found.dual_objective <= fitted.inertia_


def test_pipelines_and_refusals() -> None:
    chain = make_pipeline(StandardScaler(), PCA(2)).fit(WINE)
    assert cml.certify(chain, WINE).verdict is cml.Verdict.CERTIFIED
    fitted = PCA(2).fit(IRIS)
    with pytest.raises(InputError, match="its mean_ is not that of X"):
        cml.certify(fitted, IRIS + 1.0)
    with pytest.raises(InputError, match="X must be dense"):
        cml.certify(fitted, sparse.csr_array(IRIS))
    clusters = KMeans(3, n_init=1, random_state=0).fit(IRIS)
    with pytest.raises(InputError, match="with a sample_weight it is not judged"):
        cml.certify(clusters, IRIS, sample_weight=np.arange(150) + 1.0)
    many = np.tile(IRIS, (7, 1))
    with pytest.raises(InputError, match="X has 1050 rows; at most 1000 are judged"):
        cml.certify(KMeans(3, n_init=1, random_state=0).fit(many), many)
