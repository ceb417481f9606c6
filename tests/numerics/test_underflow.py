"""Numbers whose squares or products are below float64: no bound may come out as 0 for it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from support.exact.exact_numbers import dot, exact, row

import convexml as cml
from convexml import Verdict, losses, penalties
from convexml.certificates.learning.repair import repair_dual
from convexml.data import as_design
from convexml.numerics import lengths
from convexml.problem import Objective

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 5)), np.where(RNG.random(12) < 0.5, -1.0, 1.0)


def products(X: np.ndarray, u: np.ndarray) -> list:
    """X'u."""
    return [dot(row(x), row(u)) for x in X.T]


def exact_length(x: np.ndarray) -> float:
    """|x|_2, by squares in fractions."""
    top = Fraction(float(np.abs(x).max()))
    square = sum((Fraction(a) / top) ** 2 for a in x.tolist())
    return float(Fraction(np.sqrt(float(square))) * top)


def posed(size: float = 1.0, c: float = 1.0, lam: float = 1.0) -> Objective:
    weights = np.full(12, c)
    return Objective(as_design(size * X), Y, losses.Hinge(), penalties.L2(lam), weights, False)


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1.0, 1e300])
def test_lengths_are_those_of_fractions(size):
    told = lengths(size * X, 0)
    wanted = [exact_length(column) for column in (size * X).T]
    np.testing.assert_allclose(told, wanted, rtol=1e-14 if size > 1e-300 else 1e-3)


@pytest.mark.parametrize("size", [1e-290, 1e-167, 1.0])
def test_the_reach_of_a_vector_bounds_its_product(size):
    u = size * Y
    found = posed(1e139).column_reach(u)
    for reach, product in zip(row(found), products(1e139 * X, u), strict=True):
        assert abs(product) <= reach
    assert (posed(1e139).column_reach(Y) * size * 1.01 >= found).all()


@pytest.mark.parametrize("first", [1e-263, 1e-190, 1.0])
@pytest.mark.parametrize("then", [1e-200, 1e-167, 1e-290])
def test_no_product_is_taken_for_that_of_another_vector(first, then):
    objective = posed(1e139)
    objective.design.__dict__.pop("_last_product", None)
    large = Objective(objective.design, Y, objective.loss, objective.penalty, np.ones(12), False)
    repair_dual(large, -first * Y * RNG.random(12))
    found = repair_dual(large, -then * Y * RNG.random(12))
    true = products(1e139 * X, found.u)
    for told, error, product in zip(row(found.v), row(found.error), true, strict=True):
        assert abs(told + product) <= error


@pytest.mark.parametrize("step", [2.0**990, 2.0**-30, 2.0**-600])
def test_a_product_below_float64_is_not_multiplied_by_what_it_lost(step):
    """Predictions of w, and those of a power of two times w that are remembered from them."""
    w = np.array([2.0**-990, 3.0 * 2.0**-1020, 0.0, 1.0 * 2.0**-985, 0.0])
    objective = posed(2.0**-45)
    objective.predict(w)
    found, own = objective.predict(step * w), step * w
    sizes = products(np.abs(2.0**-45 * X.T), np.abs(own))
    for z, true, size in zip(row(found), products(2.0**-45 * X.T, own), sizes, strict=True):
        assert abs(z - true) <= exact(1e-14) * size + 12 * exact(5e-324)


@pytest.mark.parametrize(("penalty", "w"), [
    (penalties.L2(1e308), np.full(3, 1e-165)),
    (penalties.NonnegativeElasticNet(1e308, 0.0), np.full(3, 1e-165)),
])  # fmt: skip
def test_a_square_below_float64_counts_where_its_strength_is_large(penalty, w):
    wanted = Fraction(1e308) * sum(Fraction(x) ** 2 for x in w.tolist()) / 2
    assert penalty.value(w) == pytest.approx(float(wanted), rel=1e-12, abs=0.0)
    assert float(wanted) > 0.0


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-150, 1e200])
def test_norms_of_balls_and_groups_do_not_vanish_or_overflow(size):
    v = size * np.array([3.0, 4.0, 0.0, 0.0])
    ball, groups = penalties.L2Ball(1.0), penalties.GroupL2(1.0, [0, 0, 1, 1], [1.0, 1.0])
    assert ball.dual_norm(v) == pytest.approx(5.0 * size, rel=1e-14, abs=0.0)
    assert ball.conjugate_bound(v, 0.0 * v) >= 5.0 * size
    assert groups.value(v) == pytest.approx(5.0 * size, rel=1e-14, abs=0.0)
    tight = penalties.GroupL2(4.0 * size, [0, 0, 1, 1], [1.0, 1.0])
    assert tight.conjugate(v) == np.inf
    assert tight.conjugate_bound(v, 0.0 * v) == np.inf
    small = np.append(v[:2], [1.0, 1.0])  # beside a group of another size
    assert groups.value(small) == pytest.approx(5.0 * size + np.sqrt(2.0), rel=1e-14, abs=0.0)
    assert penalties.GroupL2(1.0, [0, 0, 1, 1], [4.0 * size, 2.0]).conjugate(small) == np.inf


def svm(X, y, C, weight):
    weights = np.append(weight, RNG.uniform(0.5, 2.0, len(y) - 1))
    return cml.SoftMarginSVM(X, y, C, fit_intercept=False, sample_weight=weights)


@pytest.mark.parametrize("seed", range(1))
@pytest.mark.parametrize(("size", "weight"), [(1e199, 1e97), (1e250, 1e20), (1e161, 1.0)])
def test_what_an_svm_of_almost_no_strength_proves_is_true(size, weight, seed):
    rng = np.random.default_rng(seed)
    X, y = size * rng.normal(size=(12, 11)), np.where(rng.random(12) < 0.5, -1, 1)
    problem = svm(X, y, 5e-324, weight)
    certificate = problem.solve().certificate
    u, c = certificate.dual["u"], problem.objective_parts.c
    assert all(0 <= -a * b <= s for a, b, s in zip(y, u, c, strict=True))
    v = products(X, u)
    bound = -dot(row(u), row(y)) - dot(v, v) / 2
    if certificate.verdict is Verdict.CERTIFIED:
        assert exact(certificate.primal_objective) - bound <= exact(1e-6) * exact(certificate.scale)


def test_a_gap_below_float64_is_no_gap_of_0():
    """Of w = 0 a tenth too much, in numbers of two digits."""
    problem = cml.SoftMarginSVM(
        np.array([[1e161], [-2e161]]), np.array([1, -1]), 5e-324, fit_intercept=False
    )
    # alpha = C: |X'u|^2 / 2 is a third of C, so that P* is far from P(0) = 2 C
    certificate = problem.certify(np.zeros(1), 0.0)
    alpha = Fraction(5e-324)
    step = Fraction(2e161) * alpha
    better = step * step / 2 + alpha * max(0, 1 - Fraction(2e161) * step)
    better += alpha * max(0, 1 - Fraction(1e161) * step)
    assert better < Fraction(certificate.primal_objective)
    assert certificate.verdict is not Verdict.CERTIFIED
    assert certificate.gap > 0.0
