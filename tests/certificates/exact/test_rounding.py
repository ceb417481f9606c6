"""The account of rounding, against P and D in rationals and in balls of 120 digits."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from support.exact.exact_gap import Case, Kind
from support.exact.exact_losses import as_objects, labels
from support.exact.exact_numbers import above, ball, below
from support.sizes import each_seed

from convexml.certificates import certify_objective
from convexml.certificates.certificate import Certificate
from convexml.certificates.learning import evaluation
from convexml.certificates.learning.points.dual_point import kinked_candidates, newton_candidates
from convexml.certificates.learning.points.primal_repair import repair_primal
from convexml.certificates.rounding import (
    balanced,
    compensated_dot,
    compensated_error,
    compensated_matvec,
    compensated_rmatvec,
)
from convexml.design import as_design
from convexml.losses import HardMargin
from convexml.objective import Objective
from convexml.penalties import L1

LOSSES: list[tuple[Any, ...]] = [
    ("squared",),
    ("absolute",),
    ("pinball", 0.3),
    ("huber", 0.7),
    ("epsilon_insensitive", 0.1),
    ("hinge",),
    ("squared_hinge",),
    ("logistic",),
    ("exponential",),
    ("poisson",),
]
GROUP: Kind = ("group", 0.125, [0, 0, 1], [1.0, 2.0])
PENALTIES: list[tuple[Any, ...]] = [("l2", 0.3), ("l1", 0.1), ("elastic_net", 0.2, 0.4), GROUP]


def draw(seed: int, scale: float = 0.0, offset: float = 0.0) -> Case:
    """A random problem of 3 columns, in units up to 10^scale apart."""
    rng = np.random.default_rng(seed)
    loss, penalty = LOSSES[seed % len(LOSSES)], PENALTIES[seed // len(LOSSES) % len(PENALTIES)]
    n = int(rng.integers(4, 12))
    X = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-scale, scale, size=3) + offset
    y = rng.normal(size=n) * 10.0 ** rng.uniform(-0.5 * scale, 0.5 * scale)
    if labels(loss) == "binary":
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
    if labels(loss) == "count":
        y = rng.poisson(3.0, size=n).astype(float)
    c = 10.0 ** rng.uniform(-0.3 * scale, 0.3 * scale, size=n) / n
    return Case(X, y, c, loss, penalty)


def points(case: Case, seed: int) -> list[tuple[np.ndarray, float, np.ndarray | None]]:
    """Random points, with a dual point of its own or another one, and a near-optimal one."""
    rng, objective = np.random.default_rng(seed), case.objective
    units = np.abs(case.X).max(axis=0)
    w, b = rng.normal(size=3) / units, float(rng.normal())
    passed = objective.loss_derivative(objective.predict(0.1 * w, b))
    found: list[tuple[np.ndarray, float, np.ndarray | None]] = [(w, b, None), (0.1 * w, b, passed)]
    steps = newton_candidates if objective.loss.is_smooth else kinked_candidates
    for _ in range(4):
        near = next(iter(steps(objective, repair_primal(objective, w, b))), None)
        if near is not None and np.all(np.isfinite(near.w)) and abs(near.b) < 50.0:
            w, b = near.w, float(near.b)
    return [*found, (w, b, None)]


def judged(case: Case, w: np.ndarray, b: float, u: np.ndarray | None = None) -> Certificate:
    return certify_objective(case.objective, w, b, u, refute=False)


def as_fractions(u: np.ndarray) -> list[Fraction]:
    return [Fraction(float(x)) for x in u]


# -- the gap is never below P - D, and never far above it ------------------------------------


@each_seed(range(160))
def test_the_gap_is_never_below_that_of_its_own_points(seed: int) -> None:
    scale, offset = [(0.0, 0.0), (6.0, 0.0), (0.0, 1e5), (3.0, 1e3)][seed % 4]
    case = draw(seed // 4, scale, offset)
    for w, b, u in points(case, seed):
        certificate = judged(case, w, b, u)
        u = certificate.dual["u"]
        assert sum(as_fractions(u)) == 0
        value, bound = case.primal(w, b), case.dual(u)
        assert bound.is_finite()
        assert below(value - bound, certificate.gap)
        if np.isfinite(certificate.gap):
            assert certificate.proved_gap == certificate.gap


@each_seed(range(60))
def test_the_account_is_close_where_conditioning_is_good(seed: int) -> None:
    case = draw(seed)
    for w, b, _ in points(case, seed)[::2]:  # what a repair of u gains is not credited
        certificate = judged(case, w, b)
        size = max(abs(certificate.primal_objective), abs(certificate.dual_objective))
        true = case.primal(w, b) - case.dual(certificate.dual["u"])
        assert below(certificate.gap, true + 1e-9 * ball(size))


def test_without_the_account_the_gap_would_be_too_small() -> None:
    """The draws above are hard enough to notice an account of nothing."""
    missed = 0
    for seed in range(80):
        case = draw(seed, offset=1e5)
        for w, b, u in points(case, seed):
            certificate = judged(case, w, b, u)
            true = case.primal(w, b) - case.dual(certificate.dual["u"])
            missed += above(true, certificate.gap - certificate.rounding)
    assert missed >= 5


def test_without_a_margin_u_would_not_be_feasible(monkeypatch: pytest.MonkeyPatch) -> None:
    def missed() -> int:
        count = 0
        for seed in range(120):
            case = draw(seed)
            if case.penalty[0] in ("l1", "group"):
                w, b, _ = points(case, seed)[-1]
                count += not case.dual(judged(case, w, b).dual["u"]).is_finite()
        return count

    assert missed() == 0
    monkeypatch.setattr(evaluation, "with_margin", lambda objective, point, **_: point)
    assert missed() >= 5


def test_a_margin_is_met_by_a_point_that_exists() -> None:
    """P of a hard margin is that of the smallest multiple of (w, b) that meets it exactly."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(12, 3)) * 10.0 ** rng.uniform(-4, 4, size=3)
        y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
        case = Case(X, y, np.ones(12), ("hard_margin",), ("l2", 1.0))
        objective = case.objective
        w = np.array([1.0, 0.0, 0.0]) / np.abs(X[:, 0]).min() * (1.0 - 1e-16)
        certificate = judged(case, w, 0.0)
        margin = min(Fraction(s) * a for s, a in zip(y, exact_scores(X, w), strict=True))
        value = sum(Fraction(float(v)) ** 2 for v in w) / (2 * min(margin, Fraction(1)) ** 2)
        bound = case.dual(certificate.dual["u"])
        assert isinstance(objective.loss, HardMargin)
        assert certificate.proved_gap < np.inf
        assert below(exact_arb(value) - bound, certificate.gap)


def exact_scores(X: np.ndarray, w: np.ndarray) -> list[Fraction]:
    return [
        sum(
            (Fraction(float(a)) * Fraction(float(v)) for a, v in zip(line, w, strict=True)),
            Fraction(0),
        )
        for line in X
    ]


def exact_arb(x: Fraction) -> arb:
    return arb(x.numerator) / arb(x.denominator)


# -- the arithmetic itself -------------------------------------------------------------------


def test_a_balanced_vector_adds_up_to_exactly_nothing() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 40))
        u = rng.normal(size=n) * 10.0 ** rng.uniform(-8, 8, size=n)
        size = np.abs(u) + 10.0 ** rng.uniform(-8, 8, size=n)
        u[-1] -= u.sum()
        lo, hi = -np.append(size[:-1], np.inf), np.append(size[:-1], np.inf)
        found = balanced(u, lo, hi)
        assert found is not None
        assert sum(as_fractions(found)) == 0
        assert np.all((lo <= found) & (found <= hi))
        missing = abs(float(sum(as_fractions(u))))
        assert np.abs(found - u).max() <= missing + n * np.spacing(np.abs(u).max())


def test_what_is_at_an_end_of_its_box_moves_inward_or_not_at_all() -> None:
    found = balanced(np.array([1.0, 1.0, -2.0 + 2.0**-50]), np.full(3, -2.0), np.ones(3))
    assert found is not None
    assert found.sum() == 0.0
    assert found.max() <= 1.0
    # 1 and 1 cannot be taken up by what is at most 1 below 0.
    assert balanced(np.ones(3), np.array([1.0, 1.0, -1.0]), np.ones(3)) is None


def test_compensated_products_are_as_exact_as_they_say() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        n, d = int(rng.integers(1, 30)), int(rng.integers(1, 30))
        X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, size=(n, d))
        w, u = rng.normal(size=d), rng.normal(size=n)
        cases = (
            (compensated_matvec(as_design(X), w), X, w),
            (compensated_rmatvec(as_design(X), u), X.T, u),
        )
        for found, M, x in cases:
            allowed = compensated_error(found, len(x), np.abs(M) @ np.abs(x))
            for value, line, room in zip(found, M, allowed, strict=True):
                true = sum(
                    Fraction(float(a)) * Fraction(float(v)) for a, v in zip(line, x, strict=True)
                )
                assert abs(Fraction(float(value)) - true) <= Fraction(float(room)) * 2


def test_a_product_of_pure_cancellation_keeps_its_digits() -> None:
    x = np.array([[1e16, 1.0, -1e16, 2.0**-30]])
    assert compensated_dot(x, np.array([1.0, 1.0, 1.0, 1.0]))[0] == 1.0 + 2.0**-30


# -- what is not a number, or too large for one ----------------------------------------------


def test_an_overflow_is_never_certified() -> None:
    import convexml as cml

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 3)), rng.normal(size=8)
    for problem in (
        cml.GroupLasso(X * 1e170, y, 0.1, groups=[0, 0, 1]),
        cml.Lasso(np.where(X > 1.0, 1.7e308, X), y, 0.1),
        cml.Lasso(X, y * 1e200, 0.1),
    ):
        certificate = problem.certify(rng.normal(size=3), 0.0)
        assert certificate.verdict.value != "certified" or certificate.gap < np.inf
        assert not certificate.gap < 0.0


def test_a_dual_point_outside_a_small_box_has_no_bound() -> None:
    X, y = np.ones((3, 1)), np.array([0.0, 1.0, 2.0])
    loss = as_objects(("huber", 1e-14), ("none",))[0]
    objective = Objective(as_design(X), y, loss, L1(1.0), np.ones(3), True)
    assert objective.loss_conjugate(np.array([1e-14, -1e-14, 0.0])) < np.inf
    assert objective.loss_conjugate(np.array([1.1e-14, -1.1e-14, 0.0])) == np.inf
