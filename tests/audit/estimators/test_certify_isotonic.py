"""IsotonicRegression is judged as the monotone fit that it is."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import convexml as cml
from convexml.errors import InputError

RNG = np.random.default_rng(5)
X = np.round(RNG.uniform(0.0, 4.0, 40), 1)  # with ties
Y = np.sin(X) + 0.3 * RNG.normal(size=40)
S = RNG.integers(0, 4, 40).astype(float)


def least(s: np.ndarray, sign: float) -> float:
    """The minimum by a conic solver, f as one variable for each x."""
    kept = s > 0.0
    values, place = np.unique(X[kept], return_inverse=True)
    f = cp.Variable(values.size)
    squares = cp.multiply(s[kept], cp.square(Y[kept] - f[place]))
    problem = cp.Problem(cp.Minimize(cp.sum(squares)), [sign * cp.diff(f) >= 0.0])
    return float(problem.solve(solver="CLARABEL"))


@pytest.mark.parametrize("level", [0.0, 1e6])
@pytest.mark.parametrize("increasing", [True, False])
@pytest.mark.parametrize("s", [None, S], ids=["", "weighted"])
def test_its_fit_is_certified(s: np.ndarray | None, increasing: bool, level: float) -> None:
    fitted = IsotonicRegression(increasing=increasing).fit(X, Y + level, sample_weight=s)
    found = cml.certify(fitted, X, Y + level, sample_weight=s)
    assert found.verdict == "certified"
    best = least(np.ones(40) if s is None else s, 1.0 if increasing else -1.0)
    assert found.primal_objective == pytest.approx(best, rel=1e-5)
    assert found.gap < 1e-6 * found.primal_objective


def test_a_fit_that_is_off_is_refuted_with_a_better_one() -> None:
    fitted = IsotonicRegression().fit(X, Y)
    fitted.f_ = lambda x, f=fitted.f_: 1.01 * f(x)
    found = cml.certify(fitted, X, Y)
    assert found.verdict == "refuted"
    assert found.witness["objective"] == pytest.approx(least(np.ones(40), 1.0), rel=1e-5)
    fitted = IsotonicRegression().fit(X, Y)
    assert cml.certify(fitted, X, Y + np.linspace(0.0, 1.0, 40)).verdict == "refuted"


def test_a_column_is_taken_as_a_vector_is_and_bounds_are_refused() -> None:
    fitted = IsotonicRegression().fit(X[:, None], Y)
    assert cml.certify(fitted, X[:, None], Y).holds()
    assert cml.certify(fitted, X, Y).holds()
    with pytest.raises(InputError, match="IsotonicRegression: the bounds y_min and y_max"):
        cml.certify(IsotonicRegression(y_min=0.0).fit(X, Y), X, Y)


def test_without_weights_it_is_the_monotone_regression() -> None:
    order = np.argsort(X + 1e-3 * np.arange(40))
    apart = X + 1e-3 * np.arange(40)
    fitted = IsotonicRegression().fit(apart, Y)
    posed = cml.MonotoneRegression(Y[order]).solve()
    np.testing.assert_allclose(fitted.predict(apart)[order], posed.primal["w"], atol=1e-12)
    assert cml.certify(fitted, apart, Y).primal_objective == pytest.approx(80.0 * posed.objective)
