"""What P, D, losses, penalties and the gap are rounded by, against balls of 120 digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support.exact.exact_gap import Case, Kind, conjugate, simplex_conjugate, softmax_value
from support.exact.exact_losses import labels
from support.exact.exact_numbers import ball, below, dot, exact, row

from convexml.certificates import certify_objective, rounding
from convexml.certificates.certificate import Certificate
from convexml.certificates.learning.repair import box_inside
from convexml.data import as_design

ACCOUNTED: list[tuple[Any, ...]] = [
    ("squared",), ("absolute",), ("pinball", 0.3), ("huber", 0.7), ("epsilon_insensitive", 0.1),
    ("hinge",), ("squared_hinge",), ("logistic",), ("exponential",), ("poisson",),
]  # fmt: skip


def judged(case: Case, w: np.ndarray, b: float, u: np.ndarray | None = None) -> Certificate:
    return certify_objective(case.objective, w, b, u, refute=False)


def as_fractions(u: np.ndarray) -> list[Fraction]:
    return [Fraction(float(x)) for x in u]


def test_a_margin_is_met_by_a_point_that_exists() -> None:
    """P of a hard margin is that of the smallest multiple of (w, b) that meets it exactly."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(12, 3)) * 10.0 ** rng.uniform(-4, 4, size=3)
        y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
        case = Case(X, y, np.ones(12), ("hard_margin",), ("l2", 1.0))
        w = np.array([1.0, 0.0, 0.0]) / np.abs(X[:, 0]).min() * (1.0 - 1e-16)
        certificate = judged(case, w, 0.0)
        assert certificate.proved_gap < np.inf
        assert below(case.primal(w, 0.0) - case.dual(certificate.dual["u"]), certificate.gap)


def test_a_balanced_vector_adds_up_to_exactly_nothing() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 40))
        u = rng.normal(size=n) * 10.0 ** rng.uniform(-8, 8, size=n)
        size = np.abs(u) + 10.0 ** rng.uniform(-8, 8, size=n)
        u[-1] -= u.sum()
        lo, hi = -np.append(size[:-1], np.inf), np.append(size[:-1], np.inf)
        found = rounding.balanced(u, lo, hi)
        assert found is not None
        assert sum(as_fractions(found)) == 0
        assert np.all((lo <= found) & (found <= hi))
        missing = abs(float(sum(as_fractions(u))))
        assert np.abs(found - u).max() <= missing + n * np.spacing(np.abs(u).max())


def test_what_is_at_an_end_of_its_box_moves_inward_or_not_at_all() -> None:
    found = rounding.balanced(np.array([1.0, 1.0, -2.0 + 2.0**-50]), np.full(3, -2.0), np.ones(3))
    assert found is not None
    assert found.sum() == 0.0
    assert found.max() <= 1.0
    # 1 and 1 cannot be taken up by what is at most 1 below 0.
    assert rounding.balanced(np.ones(3), np.array([1.0, 1.0, -1.0]), np.ones(3)) is None


def test_compensated_products_are_as_exact_as_they_say() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        n, d = int(rng.integers(1, 30)), int(rng.integers(1, 30))
        X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, size=(n, d))
        w, u = rng.normal(size=d), rng.normal(size=n)
        cases = (
            (rounding.compensated_matvec(as_design(X), w), X, w),
            (rounding.compensated_rmatvec(as_design(X), u), X.T, u),
        )
        for found, M, x in cases:
            allowed = rounding.compensated_error(found, len(x), np.abs(M) @ np.abs(x))
            for value, line, room in zip(found, M, allowed, strict=True):
                true = dot(row(line), row(x))
                assert abs(exact(value) - true) <= 2 * exact(room)


def test_a_product_of_pure_cancellation_keeps_its_digits() -> None:
    x = np.array([[1e16, 1.0, -1e16, 2.0**-30]])
    assert rounding.compensated_dot(x, np.array([1.0, 1.0, 1.0, 1.0]))[0] == 1.0 + 2.0**-30


def test_what_a_long_vector_lacks_is_shared_by_all_that_have_room() -> None:
    rng = np.random.default_rng(0)
    u = rng.normal(size=5001)
    u -= u.mean()
    free = rounding.balanced(u, -np.inf, np.inf)
    boxed = rounding.balanced(u, np.full(5001, -9.0), np.full(5001, 9.0))
    tight = rounding.balanced(u, np.minimum(u, 0.0), np.maximum(u, 0.0))  # each is at an end
    for found in (free, boxed, tight):
        assert found is not None
        grid = 2.0**-60
        assert sum(int(x / grid) for x in found.tolist()) == 0
        assert np.max(np.abs(found - u)) <= 1e-12
    assert np.all((tight - np.minimum(u, 0.0) >= 0.0) & (tight - np.maximum(u, 0.0) <= 0.0))


HARD: list[Kind] = [*ACCOUNTED, ("squared_epsilon_insensitive", 0.1)]
SIZES = np.array([1e-30, 1e-16, 1e-8, 1e-3, 0.3, 1.0, 3.0])


def case_of(loss: Kind, y: np.ndarray, c: np.ndarray | None = None) -> Case:
    c = np.ones(len(y)) if c is None else c
    return Case(np.ones((len(y), 1)), y, c, loss, ("l2", 1.0), False)


def parameters(rng: np.random.Generator, loss: Kind) -> Kind:
    """The loss with any parameter instead of its own."""
    return loss if len(loss) == 1 else (loss[0], float(rng.uniform(0.0, 1.0)))


def targets(rng: np.random.Generator, loss: Kind, n: int) -> np.ndarray:
    if labels(loss) == "binary":
        return np.where(np.arange(n) % 2, 1.0, -1.0)
    y = rng.choice([1e-8, 0.1, 1.0, 7.0, 1e5], n) * rng.uniform(0.5, 1.0, n)
    return np.where(rng.random(n) < 0.1, 0.0, y) if labels(loss) == "count" else y


def near(rng: np.random.Generator, ends: np.ndarray) -> np.ndarray:
    """Numbers next to ``ends``, on either side, at all distances."""
    size = rng.choice(SIZES, len(ends)) * np.maximum(np.abs(ends), rng.choice([0.0, 1.0]))
    return ends + size * rng.uniform(-1.0, 1.0, len(ends))


@pytest.mark.parametrize("loss", HARD, ids=lambda kind: kind[0])
def test_the_value_of_a_loss_is_as_exact_as_it_says(loss: Kind) -> None:
    rng = np.random.default_rng(0)
    for _ in range(15):
        kind = parameters(rng, loss)
        y = targets(rng, kind, 24)
        case = case_of(kind, y)
        own = case.parts[0]
        kinks = own.kinks(y) or (np.log(np.maximum(y, 1e-3)), np.zeros(24))
        z = near(rng, np.concatenate([k[:12] for k in kinks])[:24])[: len(y)]
        z = np.resize(z, 24)
        found = own.value(y, z)
        room = own.value_rounding(y, z, found)
        for i in range(24):
            true = case._loss(y[i], exact(z[i]))
            assert below(abs(true - ball(found[i])), room[i] + 1e-290), (kind, y[i], z[i])


@pytest.mark.parametrize("loss", HARD, ids=lambda kind: kind[0])
def test_the_conjugate_of_a_loss_is_as_exact_as_it_says(loss: Kind) -> None:
    rng = np.random.default_rng(1)
    for _ in range(15):
        kind = parameters(rng, loss)
        y = targets(rng, kind, 24)
        c = 10.0 ** rng.uniform(-6, 6, 24)
        case = case_of(kind, y, c)
        own, (lo, hi) = case.parts[0], box_inside(case.objective)
        ends = [np.where(np.isfinite(end), end, 0.0) for end in (lo, hi, 0.5 * lo)]
        u = near(rng, np.choose(rng.integers(0, 3, 24), ends))
        u = np.clip(u, lo, hi)
        v = np.clip(u / c, *own.domain(y))
        found = own.conjugate(y, v)
        room = own.conjugate_rounding(y, v, found)
        for i in range(24):
            true = ball(0)  # l*(0) = -inf l, without the radius of balls that cancel
            if u[i] != 0.0:
                true = ball(conjugate(kind, exact(y[i]), exact(u[i]) / exact(c[i])))
            assert true.is_finite(), (kind, y[i], u[i], c[i])
            assert below(abs(true - ball(found[i])), room[i] + 1e-290), (kind, y[i], u[i], c[i])


@pytest.mark.parametrize("loss", HARD, ids=lambda kind: kind[0])
def test_a_loss_is_as_steep_as_it_says_also_next_to_a_kink(loss: Kind) -> None:
    rng = np.random.default_rng(10)
    y = np.resize([1.0, -1.0], 64) if labels(loss) == "binary" else np.resize([1.0, 2.0, 3.0], 64)
    case = case_of(loss, y)
    own = case.parts[0]
    kinks = own.kinks(y) or (np.zeros(64),)
    for reach in 2.0**-54 * np.array([0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0]):
        z = kinks[0] + 2.0**-53 * rng.integers(-6, 7, 64)
        bound = own.slope_bound(y, z, reach)
        for i in range(64):
            for x in (exact(z[i]) - exact(reach), exact(z[i]) + exact(reach)):
                change = abs(case._loss(y[i], x) - case._loss(y[i], exact(z[i])))
                assert below(change, ball(reach) * ball(bound[i]) * ball(1 + 1e-6)), (z[i], reach)


def test_the_box_lies_inside_of_the_domain() -> None:
    """Also where 1 - tau is rounded up, and its product with c as well."""
    rng, y = np.random.default_rng(9), np.zeros(2000)
    for _ in range(5):
        tau = float(rng.uniform(0.4, 0.5))
        case = case_of(("pinball", tau), y, rng.uniform(0.9, 1.1, 2000))
        for u, c in zip(box_inside(case.objective)[1], case.c, strict=True):
            assert exact(u) <= exact(c) * (1 - exact(tau))


def test_the_softmax_loss_and_its_conjugate_are_as_exact_as_they_say() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        K = int(rng.integers(2, 6))
        y, z = np.array([float(rng.integers(K))]), rng.normal(size=(1, K))
        z = z * rng.choice([1e-9, 1.0, 30.0, 300.0]) + rng.choice([0.0, 1e3])
        own = case_of(("softmax",), np.arange(K)).parts[0]
        found, k = own.value(y, z), int(y[0])
        room = own.value_rounding(y, z, found)
        true = softmax_value(k, row(z))
        assert below(abs(true - ball(found[0])), room[0] + 1e-290), (y, z)
        # Entries of p that add up to 1 exactly, times a c that is no power of two.
        units = rng.integers(1, 2**40, K) >> rng.integers(0, 40, K)
        units[k] = -(units.sum() - units[k])
        u, c = units * 2.0**-41, 2.0**-41 * float(1 - units[k] + rng.integers(0, 9))
        v = u[None] / c
        found = own.conjugate(y, v)
        room = own.conjugate_rounding(y, v, found)
        true = simplex_conjugate(k, [exact(a) / exact(c) for a in u])
        assert true.is_finite()
        assert below(abs(true - ball(found[0])), room[0] + 1e-290), (y, u, c)


def test_penalties_are_as_exact_as_they_say() -> None:
    rng = np.random.default_rng(3)
    for kind in (("l2", 0.3), ("l1", 0.3), ("elastic_net", 0.3, 0.7), ("group", 0.1, [0, 1, 0, 1])):
        kind = (*kind, [0.3, 1.7]) if kind[0] == "group" else kind
        case = Case(np.ones((2, 4)), np.zeros(2), np.ones(2), ("squared",), kind, False)
        penalty = case.parts[1]
        for _ in range(60):
            w = rng.normal(size=4) * 10.0 ** rng.uniform(-9, 9, size=4)
            value = penalty.value(w)
            room = penalty.value_rounding(w, value)
            assert below(abs(case.omega(row(w)) - ball(value)), room), (kind, w)
            v = near(rng, rng.choice([-0.3, 0.21, 0.03, 0.17], 4))
            error = np.abs(v) * rng.choice([0.0, 1e-16, 1e-8])
            bound = penalty.conjugate_bound(v, error)
            for sign in (-1.0, 1.0):
                moved = [exact(a) + exact(sign * e) for a, e in zip(v, error, strict=True)]
                assert below(case.of_columns(moved), bound) or bound == np.inf, (kind, v)


@pytest.mark.parametrize("name", ["poisson", "linex"])
def test_small_dual_points_of_counts_are_rounded_by_a_share_of_theirs(name: str) -> None:
    """No term of the conjugate is larger than a few |v|: an exact fit has no gap at all."""
    rng = np.random.default_rng(4)
    y = np.zeros(300) if name == "linex" else 10.0 ** rng.uniform(-8.0, 8.0, 300)
    case = case_of((name,), y)
    unit = 1.0 if name == "linex" else y
    v = unit * rng.choice([-1.0, 1.0], 300) * 0.499 * 10.0 ** -rng.uniform(0.0, 18.0, 300)
    found = case.parts[0].conjugate(y, v)
    room = case.parts[0].conjugate_rounding(y, v, found)
    for i in range(300):
        true = ball(conjugate((name,), exact(y[i]), exact(v[i])))
        assert below(abs(true - ball(found[i])), room[i] + 1e-60)
    assert not case.parts[0].conjugate_rounding(y, 0.0 * v, 0.0 * v).any()
