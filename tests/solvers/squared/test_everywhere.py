"""A path that holds at every parameter between its ends, against optima known otherwise."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.certificates.learning.between import (
    Tangent,
    chord,
    crossing,
    gap_between,
    relative_gap_at,
    worst_between,
)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 8))
Y = X[:, 0] - 2.0 * X[:, 1] + 0.5 * X[:, 2] + 0.4 * RNG.normal(size=60)
LABELS = np.where(Y > 0.3 * RNG.normal(size=60), 1.0, -1.0)


def soft(x: np.ndarray, lam: float) -> np.ndarray:
    return np.sign(x) * np.maximum(np.abs(x) - lam, 0.0)


def orthogonal() -> tuple[Any, Any]:
    """A lasso whose optimum is known for every lam: X'X = n I, no intercept."""
    Q = np.linalg.qr(RNG.normal(size=(64, 6)))[0] * 8.0
    y = Q @ np.array([3.0, -1.0, 0.5, 0.2, 0.0, 0.01]) + 0.1 * RNG.normal(size=64)
    at_zero = Q.T @ y / 64.0

    def optimum(lam: float) -> float:
        return 0.5 * float(np.mean(y**2)) - 0.5 * float(np.sum(soft(at_zero, lam) ** 2))

    return cml.Lasso(Q, y, 1.0, fit_intercept=False), optimum


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5])
def test_every_lam_is_within_tol_of_a_known_optimum(tol: float) -> None:
    problem, optimum = orthogonal()
    high, low = 1.5 * problem.lam_max, 0.01 * problem.lam_max
    path = problem.path((high, low), everywhere=tol)
    assert path.holds
    assert path.worst_gap <= tol
    assert (path.lams[0], path.lams[-1]) == (high, low)
    missed, bounds = [], []
    for lam in np.append(np.geomspace(low, high, 400)[1:-1], [low, high, *path.lams]):
        problem.lam = lam
        value, best = problem.objective(path.at(lam).primal["w"]), optimum(lam)
        missed.append((value - best) / value)
        bounds.append(path.gap_at(lam))
    assert np.all(np.array(missed) <= np.array(bounds) + 1e-14)
    assert max(bounds) <= path.worst_gap
    assert max(missed) >= 0.3 * tol  # the grid is no finer than it has to be


MODELS: dict[str, Any] = {
    "ridge": lambda: cml.Ridge(X, Y, 1.0),
    "elastic net": lambda: cml.ElasticNet(X, Y, 1.0, 0.5),
    "group lasso": lambda: cml.GroupLasso(X, Y, 1.0, np.arange(8) // 2),
    "logistic": lambda: cml.LogisticRegression(X, LABELS, 1.0),
    "softmax": lambda: cml.SoftmaxRegression(X, np.digitize(Y, [-1.0, 1.0]), 1.0),
    "quantile": lambda: cml.QuantileRegression(X, Y, 0.3, 1.0),
    "hinge": lambda: cml.SoftMarginSVM(X, LABELS, 1.0, sample_weight=np.arange(60.0)),
    "tube": lambda: cml.SVR(X, Y, 1.0, 0.1),
}


@pytest.mark.parametrize("name", MODELS)
def test_another_solver_finds_nothing_better_in_between(name: str) -> None:
    problem = MODELS[name]()
    parameter = "C" if hasattr(type(problem), "C") else "lam"
    path = problem.path((0.5, 0.02), everywhere=1e-3)
    assert path.holds
    assert getattr(problem, parameter) == 1.0
    for value in np.geomspace(0.021, 0.49, 6):
        found, bound = path.at(value), path.gap_at(value)
        setattr(problem, parameter, value)
        best = problem.solve("clarabel", tol=1e-8)
        P = problem.objective(found.primal["w"], found.primal["b"])
        assert P - best.objective <= bound * P
        assert P - best.dual_objective <= bound * P + 1e-7 * P
        assert bound <= path.worst_gap <= 1e-3
        assert P >= best.dual_objective


def test_the_bound_is_that_of_exact_arithmetic() -> None:
    """Two lines above a concave function, and the largest gap below them, in fractions."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        slopes, shifts = rng.integers(1, 40, 6), rng.integers(10, 90, 6)
        at = sorted(rng.uniform(0.1, 5.0, 2), reverse=True)

        def exact(t: Fraction, slopes: Any = slopes, shifts: Any = shifts) -> Fraction:
            lines = zip(slopes, shifts, strict=True)
            return min(Fraction(int(b)) + Fraction(int(a)) * t for a, b in lines)

        lines = []
        for t in at:
            k = int(np.argmin(shifts + slopes * t))
            value = float(shifts[k] + slopes[k] * t)
            lines.append(Tangent(t, value * 1.001, value * 0.999, float(slopes[k]), 0.0, 1.0))
        first, second = lines
        places = [Fraction(t) for t in (*np.linspace(*at, 50), crossing(first, second))]
        places = [t for t in places if Fraction(at[1]) <= t <= Fraction(at[0])]
        ratios = []
        for t in places:
            upper = min(
                Fraction(line.value) + Fraction(line.slope) * (t - Fraction(line.at))
                for line in lines
            )
            share = (t - Fraction(at[0])) / (Fraction(at[1]) - Fraction(at[0]))
            lower = (1 - share) * Fraction(first.lower) + share * Fraction(second.lower)
            assert float(lower) <= float(exact(t))
            assert chord(first, second, float(t)) == pytest.approx(float(lower), rel=1e-12)
            assert gap_between(first, second, float(t)) >= float(upper - lower) * (1 - 1e-12)
            ratios.append(float((upper - lower) / upper))
            assert relative_gap_at(first, second, float(t)) >= ratios[-1] * (1.0 - 1e-12)
        worst = worst_between(first, second)
        assert max(ratios) * (1.0 - 1e-12) <= worst <= max(ratios) * (1.0 + 1e-9)


def test_no_bound_where_none_is_known() -> None:
    known = Tangent(2.0, 1.0, 1.0, 1.0, 0.0, 5.0)
    for broken in (
        Tangent(1.0, np.inf, -np.inf, 1.0, 0.0, 5.0),
        Tangent(1.0, 1.0, -np.inf, 1.0, 0.0, 5.0),
        Tangent(1.0, np.nan, np.nan, 1.0, 0.0, 5.0),
        Tangent(1.0, 1.0, 1.0, 1.0, np.inf, 5.0),
    ):
        assert worst_between(known, broken) == worst_between(broken, known) == np.inf


def test_a_bound_within_a_radius_bounds_nothing_elsewhere() -> None:
    certificate = cml.Lasso(X, Y, 0.1).solve().certificate
    assert np.isfinite(Tangent.of(certificate, 0.1, 1.0, 0.0, 1.0).lower)
    near = dataclasses.replace(certificate, within=10.0)
    assert Tangent.of(near, 0.1, 1.0, 0.0, 1.0).lower == -np.inf


def test_what_is_off_at_the_ends_shows() -> None:
    """A point that was not solved leaves a gap that is told, and no endless grid."""
    problem, _ = orthogonal()
    ends = (problem.lam_max, 0.1 * problem.lam_max)
    path = problem.path(ends, everywhere=1e-4, solver="fista", max_iter=2, tol=1e-3)
    assert not path.holds
    assert path.worst_gap > 1e-4
    assert len(path) < 200


KERNEL_RIDGE = cml.KernelRidge(X, Y, 1.0, cml.kernels.Gaussian(1.0))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cml.Lasso(X, Y, 1.0).path((1.0, 0.1, 0.01), everywhere=1e-3), "two ends"),
        (lambda: cml.Lasso(X, Y, 1.0).path((1.0, 1.0), everywhere=1e-3), "two different finite"),
        (lambda: cml.Lasso(X, Y, 1.0).path((1.0, 0.0), everywhere=1e-3), "numbers > 0"),
        (lambda: cml.Lasso(X, Y, 1.0).path((1.0, np.nan), everywhere=1e-3), "numbers > 0"),
        (lambda: cml.Lasso(X, Y, 1.0).path((1.0, 0.1), everywhere=0.0), "everywhere"),
        (lambda: cml.ConstrainedLasso(X, Y, 1.0).path((1.0, 0.1), everywhere=0.1), "not linear"),
        (lambda: KERNEL_RIDGE.path((1.0, 0.1), everywhere=0.1), "functions of kernels"),
        (lambda: cml.Lasso(X, Y, 1.0).path((1.0, 0.1), everywhere=0.1).at(2.0), "from 0.1 to 1"),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises(cml.errors.InputError, match=words):
        call()


def test_ends_in_either_order() -> None:
    problem, _ = orthogonal()
    path = problem.path((0.1, 1.0), everywhere=1e-2)
    assert [len(path), path.lams[0], path.lams[-1]] == [len(list(path)), 1.0, 0.1]
    assert "worst gap" in repr(path)
