"""Which w a constraint contains, how far it may be stretched, what room it has: exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from convexml.certificates.learning.existence import attainable
from convexml.certificates.learning.existence.attainable import met_exactly, met_within
from convexml.certificates.learning.existence.evidence import consistent
from convexml.losses import HardMargin, Interpolation, Loss
from convexml.models import LearningProblem
from convexml.numerics import Array
from convexml.penalties import L2, Box, L1Ball, L2Ball, Nonnegative, NonnegativeElasticNet, Penalty
from convexml.solvers.rational import least_norm, of_few_digits

Vector = list[Fraction]


def inside(penalty: Penalty, w: Vector) -> bool:
    """By the definition, in fractions."""
    if isinstance(penalty, L2Ball):
        return sum(x * x for x in w) <= Fraction(penalty.t) ** 2
    if isinstance(penalty, L1Ball):
        return sum(abs(x) for x in w) <= Fraction(penalty.t)
    assert isinstance(penalty, Box)
    ends = zip(
        np.broadcast_to(penalty.lo, len(w)), np.broadcast_to(penalty.hi, len(w)), strict=True
    )
    return all(
        (lo == -np.inf or x >= Fraction(float(lo))) and (hi == np.inf or x <= Fraction(float(hi)))
        for x, (lo, hi) in zip(w, ends, strict=True)
    )


def drawn(seed: int) -> tuple[Penalty, Array]:
    """A constraint, and a w inside, on its boundary as floats have it, or outside by a hair."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    w = rng.normal(size=d) * (rng.random(d) < 0.8) * 10.0 ** rng.uniform(-3, 3)
    hair = float(rng.choice([-0.1, -(2.0**-50), 0.0, 2.0**-52, 2.0**-45, 0.1]))
    size = max(float(np.abs(w).max()), 1e-3)
    sets: list[Penalty] = [
        L2Ball(max(float(np.linalg.norm(w)), 1e-3) * (1.0 + hair)),
        L1Ball(max(float(np.abs(w).sum()), 1e-3) * (1.0 + hair)),
        Box(-size * (1.0 + hair), size),
        Box(np.abs(w) * (1.0 - hair), np.inf),
        Nonnegative(),
    ]
    kind = seed % len(sets)
    return sets[kind], np.abs(w) if kind >= 3 and rng.random() < 0.8 else w


@pytest.mark.parametrize("block", range(10))
def test_a_constraint_contains_what_its_definition_does(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        penalty, w = drawn(seed)
        exact = [Fraction(x) for x in w.tolist()]
        assert penalty.contains(w) == inside(penalty, exact), seed
        most = penalty.stretch(w)
        for s in {most, min(most, 1.0)} if most < np.inf and not isinstance(penalty, Box) else ():
            assert inside(penalty, [Fraction(s) * x for x in exact]), seed
        if isinstance(penalty, Box) and most > 0.0:
            for s in {1.0, most if most < np.inf else 1e6}:
                assert inside(penalty, [Fraction(s) * x for x in exact]), seed
        free = w != 0.0 if seed % 2 else np.ones(len(w), dtype=bool)
        room, rng = penalty.room(w, free), np.random.default_rng(seed)
        if room > 0.0 and free.any():
            away = rng.normal(size=len(w)) * free
            away *= (room if room < np.inf else 1.0) / np.linalg.norm(away) * (1.0 - 1e-9)
            near = [x + Fraction(t) for x, t in zip(exact, away.tolist(), strict=True)]
            assert inside(penalty, near), seed


@pytest.mark.parametrize("ratio", [1.0, 0.3, 0.0])
def test_nonnegative_coefficients_have_room_away_from_0_and_rise_by_their_slopes(
    ratio: float,
) -> None:
    penalty, w, by = NonnegativeElasticNet(2.0, ratio), np.array([0.5, 0.0, 3.0]), 0.25
    assert penalty.room(w) == 0.0
    assert penalty.room(w, w != 0.0) == 0.5
    # lam (rho 1'e + (1 - rho) (w'e + |e|^2 / 2)) at e = by 1
    most = 2.0 * (ratio * 0.75 + (1.0 - ratio) * (3.5 * 0.25 + 0.5 * 3 * 0.0625))
    assert penalty.rise(w, by) == pytest.approx(most, rel=1e-14)


def test_the_margin_or_the_equations_hold_exactly_or_not() -> None:
    X, y, t = np.array([[0.1, 0.2], [-0.1, 0.7]]), np.array([1.0, -1.0]), 0.1 + 0.2
    for loss, targets in ((HardMargin(), y), (Interpolation(), X @ [1.0, 1.0])):
        problem = LearningProblem(X, targets, loss, L1Ball(2.0), fit_intercept=False)
        exact = Fraction(0.1) + Fraction(0.2)
        met = exact == Fraction(t) and Fraction(0.7) - Fraction(0.1) == Fraction(float(targets[1]))
        assert not met
        assert not met_exactly(problem.objective_parts, np.array([1.0, 1.0]), 0.0)


@pytest.mark.parametrize("loss", [HardMargin(), Interpolation()], ids=["margins", "equations"])
def test_numbers_of_few_digits_meet_a_constraint_without_room(loss: Loss) -> None:
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0])
    parts = LearningProblem(X, y, loss, L1Ball(1.0)).objective_parts
    found = of_few_digits(parts, np.array([1.0 - 1e-12, 3e-13]), -2e-13)
    assert found is not None
    assert found[0].tolist() == [1.0, 0.0]
    assert found[1] == 0.0
    assert of_few_digits(parts, np.array([0.9, 0.1]), 0.0) is None
    assert of_few_digits(parts, np.zeros(2), 0.0) is None


def test_least_norm_in_rationals() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3, 5)), rng.normal(size=3)
    X, y = np.vstack([X, X[0] * 2.0]), np.append(y, 2.0 * y[0])  # a row that says nothing new
    for intercept in (False, True):
        if intercept:
            X, y = X[:3], y[:3]
        parts = LearningProblem(X, y, Interpolation(), L2(3.0), fit_intercept=intercept)
        found = least_norm(parts.objective_parts)
        assert found is not None
        w, b, u = found
        assert X @ w + b == pytest.approx(y, abs=1e-12)
        assert 3.0 * w == pytest.approx(-X.T @ u, abs=1e-12)
        assert (abs(u.sum()) < 1e-12) or not intercept
    assert least_norm(LearningProblem(X, y, Interpolation(), L1Ball(1.0)).objective_parts) is None


def test_residuals_are_summed_without_rounding() -> None:
    X, y = np.array([[1e16, 1.0, -1e16]]), np.array([1.0])
    parts = LearningProblem(X, y, Interpolation(), L2(1.0), fit_intercept=False).objective_parts
    found = met_within(parts, np.ones(3), 0.0, 1e-9)
    assert found is not None
    assert found[0].tolist() == [1.0]
    assert met_within(parts, np.array([1.0, 2.0, 1.0]), 0.0, 1e-9) is None


def test_whether_equations_have_a_solution_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(E: Array, y: Array) -> bool:
        asked.append(E.shape)
        return consistent(E, y)

    monkeypatch.setattr(attainable, "consistent", counted)
    X = np.array([[0.1, 0.3, 0.7], [0.2, 0.5, 0.9]])
    problem = LearningProblem(X, [0.1, 0.7], Interpolation(), L2(1.0), fit_intercept=False)
    w = problem.solve().primal["w"]
    for _ in range(3):
        assert str(problem.certify(w).verdict) == "certified"
    assert len(asked) == 1
