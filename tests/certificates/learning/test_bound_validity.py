"""The bound is a bound: gap >= P - P* at any point, and close to it near every optimum.

P* comes from ``oracle.py``: an exactly feasible point found by CVXPY, whose P bounds P* from above,
so that nothing but the rounding of sums is allowed for.
"""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.cases import (
    COMBINATIONS,
    SPREAD,
    Kind,
    Reference,
    combination_name,
    make,
    reference,
    scales,
)
from support.catalogue import LOSSES, D
from support.oracles.oracle import Oracle

from convexml import LearningProblem
from convexml.certificates import certify_objective
from convexml.certificates.learning.points.dual_repair import repair_dual
from convexml.losses import Loss
from convexml.numerics import EPS, Array
from convexml.objective import Objective
from convexml.penalties import L2, Penalty

ROUNDING = 64 * EPS
NEAR = (1e-2, 1e-3, 1e-4, 1e-6, 0.0)
ORACLE = 1e-9
"""To what the oracle knows P*, relative; 1e-11 absolute, where P* = 0 and the data are O(1)."""

each_loss = pytest.mark.parametrize("loss", LOSSES, ids=combination_name)

kinds = st.builds(
    Kind,
    seed=st.integers(0, 2**16),
    n=st.sampled_from([4, 18]),
    is_sparse=st.booleans(),
    intercept=st.booleans(),
    weighted=st.booleans(),
    badly_scaled=st.booleans(),
    ties=st.booleans(),
)


def rounding(objective: Objective, X: Array, at: Reference, u: Array, size: float) -> float:
    """What the sums behind P and D may lose: X'u = 0 holds to rounding, and w* multiplies it."""
    terms = abs(u) @ (abs(X) @ abs(at.w) + abs(at.b) + abs(objective.y))
    return ROUNDING * (size + terms)


def solved(problem: LearningProblem) -> Reference:
    """The oracle's answer, which must be feasible."""
    found = reference(problem)
    assert Oracle.of(problem.objective_parts).primal_violation(found.w, found.b) <= 1e-9
    return found


def drawn(problem: LearningProblem) -> Reference:
    """As ``solved``, but for draws of which no w of a set meets all equations."""
    parts, found = problem.objective_parts, reference(problem)
    if parts.loss.is_indicator and parts.penalty.is_constraint:
        assume(Oracle.of(parts).primal_violation(found.w, found.b) <= 1e-9)
    return solved(problem)


def points(problem: LearningProblem, rng: np.random.Generator) -> list[tuple[Array, float]]:
    """Zero, ties, and random points near and far; some outside the penalty's set."""
    largest = abs(Oracle.of(problem.objective_parts).X).max(axis=0)
    units = np.where(largest > 0.0, largest, 1.0)
    shift = 1.0 if problem.objective_parts.fit_intercept else 0.0
    size = 10.0 ** rng.uniform(-3, 2)
    return [
        (np.zeros(D), 0.0),
        (np.round(rng.normal(size=D)) / units, shift),
        (size * rng.normal(size=D) / units, shift * rng.normal()),
    ]


# -- gap >= P(w) - P*, always ----------------------------------------------------------------


@settings(max_examples=40)
@given(st.sampled_from(COMBINATIONS), kinds)
def test_the_gap_bounds_the_suboptimality(pair: tuple[Loss, Penalty], kind: Kind) -> None:
    problem = make(*pair, kind)
    objective, oracle = problem.objective_parts, Oracle.of(problem.objective_parts)
    best = drawn(problem)
    for w, b in points(problem, np.random.default_rng(kind.seed)):
        certificate = certify_objective(objective, w, b, refute=False)
        value, dual = certificate.primal_objective, certificate.dual_objective
        if certificate.gap == np.inf:
            assert "No bound" in certificate.reason or "is violated" in certificate.reason
            continue
        u = certificate.dual["u"]
        allowed = rounding(objective, oracle.X, best, u, abs(value) + abs(dual))
        assert certificate.gap >= value - best.upper - allowed
        assert oracle.dual_violation(u) <= ROUNDING
        assert dual == pytest.approx(oracle.dual(u), rel=1e-11, abs=1e-12)
        if certificate.repaired == 0.0:
            assert value == pytest.approx(oracle.primal(w, b), rel=1e-11, abs=1e-12)


# -- weak duality, and the identity behind it ------------------------------------------------


@settings(max_examples=40)
@given(st.sampled_from(COMBINATIONS), kinds, st.sampled_from([1e-3, 0.3, 1.0, 5.0]))
def test_every_repaired_u_bounds_p_from_below(
    pair: tuple[Loss, Penalty], kind: Kind, size: float
) -> None:
    problem = make(*pair, kind)
    objective, oracle = problem.objective_parts, Oracle.of(problem.objective_parts)
    best, rng = drawn(problem), np.random.default_rng(kind.seed)
    for raw in (rng.normal(size=objective.n), np.round(rng.normal(size=objective.n))):
        point = repair_dual(objective, size * objective.c * raw)
        assert np.isfinite(point.value)
        assert oracle.dual_violation(point.u) <= ROUNDING
        assert point.value == pytest.approx(oracle.dual(point.u), rel=1e-11, abs=1e-12)
        sizes = abs(point.value) + abs(best.upper)
        allowed = rounding(objective, oracle.X, best, point.u, sizes)
        assert point.value <= best.upper + allowed
        check_identity(objective, oracle, best, point.u)


def check_identity(objective: Objective, oracle: Oracle, at: Reference, u: Array) -> None:
    """The Fenchel-Young terms are >= 0 and sum to P - D."""
    z, v = oracle.X @ at.w + at.b, -oracle.X.T @ u
    if objective.loss.is_indicator and np.any(objective.loss.violation(objective.y, z) > 0.0):
        return
    samples, features = objective.sample_terms(z, u), objective.feature_terms(at.w, v)
    gap = oracle.primal(at.w, at.b) - oracle.dual(u)
    allowed = rounding(objective, oracle.X, at, u, abs(oracle.dual(u)) + abs(at.upper))
    # The conjugates are sums of terms of the size of y^2, c and log c, which may cancel.
    allowed += 1e-14 * float(objective.c @ (10.0 + objective.y**2))
    assert samples.sum() + features.sum() == pytest.approx(gap, abs=2.0 * allowed)
    assert min(samples.min(), features.min()) >= -allowed


# -- near the optimum the gap is what is lost -------------------------------------------------


def attained(loss: Loss, penalty: Penalty, kind: Kind) -> tuple[LearningProblem, Reference]:
    """A problem of this kind whose minimiser exists: separable labels are drawn again."""
    while True:
        problem = make(loss, penalty, kind)
        best = solved(problem)
        largest = np.max(abs(problem.objective_parts.predict(best.w, best.b)))
        if largest < 12.0 or loss.name not in ("logistic", "exponential", "poisson"):
            return problem, best
        kind = replace(kind, seed=kind.seed + 1)


@pytest.mark.parametrize(("loss", "penalty"), SPREAD, ids=combination_name)
def test_the_gap_is_tight_near_the_optimum(loss: Loss, penalty: Penalty) -> None:
    seed = crc32(repr((loss, penalty)).encode())
    flags = np.random.default_rng(seed).random(5) < 0.4
    kind = Kind(seed, 18, *(bool(flag) for flag in flags))
    problem, best = attained(loss, penalty, kind)
    objective, rng = problem.objective_parts, np.random.default_rng(seed + 1)
    units = scales(penalty) if kind.badly_scaled else np.ones(D)
    for near in NEAR:
        w = best.w + near * rng.normal(size=D) * (abs(best.w) + 0.1 / units)
        w = objective.penalty.project(w)
        b = best.b * (1.0 + near * rng.normal())
        if loss.name == "interpolation":
            w, b = best.w, best.b  # any other point is infeasible
        if loss.name == "hard_margin":
            margin = min(1.0, float(np.min(objective.y * objective.predict(w, b))))
            if penalty.is_constraint and margin < 1.0:
                continue
            w, b = w / margin, b / margin
        certificate = certify_objective(objective, w, b, refute=False)
        if loss.name == "interpolation" and not np.isfinite(certificate.gap):
            assert "down to rounding only" in certificate.reason  # more equations than unknowns
            return
        assert np.isfinite(certificate.gap), certificate.reason
        value = certificate.primal_objective
        scale = max(abs(value), abs(certificate.dual_objective))
        lost = value - best.lower
        assert certificate.gap <= 1.5 * lost + (1e-9 + ORACLE) * scale + 1e-11, near


@pytest.mark.parametrize(
    ("w", "b"), [([1.0, 0.0], 0.0), ([-1.0, 0.0], 0.0)], ids=["wrong side", "other side"]
)
def test_a_gap_of_inf_has_its_reason(w: list[float], b: float) -> None:
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 1.0], [0.5, -2.0]])
    problem = make_margin(X, np.array([1.0, 1.0, -1.0, -1.0]))
    certificate = problem.certify(w, b)
    assert certificate.gap == np.inf
    assert certificate.verdict.value == "refuted"
    assert "'y_i z_i >= 1' is violated by" in certificate.reason


def make_margin(X: Array, y: Array) -> LearningProblem:
    from convexml.losses import HardMargin

    return LearningProblem(X, y, HardMargin(), L2(1.0), fit_intercept=False, loss_scale="sum")
