"""The bound is a bound: gap >= P - P* at any point, close to it near optima, whatever is mutated.

P* comes from ``support.oracles``: an exactly feasible point found by CVXPY, whose P bounds P* from
above, so that nothing but the rounding of sums is allowed for.
"""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.cases import COMBINATIONS, Kind, Reference, combination_name, make, reference, scales
from support.catalogue import LOSSES, PENALTIES, D
from support.oracles.oracle import Oracle

from convexml import LearningProblem
from convexml.certificates import certify_objective
from convexml.losses import Loss, Squared
from convexml.numerics import EPS, Array
from convexml.penalties import L1, L2, Penalty, Zero
from convexml.problem import Objective

ROUNDING = 64 * EPS
NEAR = (1e-2, 1e-3, 1e-4, 1e-6, 0.0)
ORACLE = 1e-9
"""To what the oracle knows P*, relative; 1e-11 absolute, where P* = 0 and the data are O(1)."""
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


@settings(max_examples=25)
@given(st.sampled_from(COMBINATIONS), kinds)
def test_the_gap_bounds_the_suboptimality(pair: tuple[Loss, Penalty], kind: Kind) -> None:
    problem = make(*pair, kind)
    objective, oracle = problem.objective_parts, Oracle.of(problem.objective_parts)
    best = drawn(problem)
    rng = np.random.default_rng(kind.seed)
    raw = 10.0 ** rng.uniform(-3, 1) * objective.c * rng.normal(size=objective.n)
    for (w, b), passed in zip(points(problem, rng), (None, raw, raw), strict=True):
        certificate = certify_objective(objective, w, b, passed, refute=False)
        value, dual = certificate.primal_objective, certificate.dual_objective
        if certificate.gap == np.inf:
            assert "No bound" in certificate.reason or "is violated" in certificate.reason
            continue
        u = certificate.dual["u"]
        allowed = rounding(objective, oracle.X, best, u, abs(value) + abs(dual))
        assert certificate.gap >= value - best.upper - allowed
        assert oracle.dual_violation(u) <= ROUNDING
        known = pytest.approx(oracle.dual(u), rel=1e-11, abs=1e-12)
        assert dual == known or (passed is not None and dual < oracle.dual(u))
        check_identity(objective, oracle, best, u)
        if certificate.repaired == 0.0:
            assert value == pytest.approx(oracle.primal(w, b), rel=1e-11, abs=1e-12)


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


PAIRS = COMBINATIONS[::16]
PAIRS += [pytest.param(*pair, marks=pytest.mark.slow) for pair in COMBINATIONS[4::9]]


def attained(loss: Loss, penalty: Penalty, kind: Kind) -> tuple[LearningProblem, Reference]:
    """A problem of this kind whose minimiser exists: separable labels are drawn again."""
    while True:
        problem = make(loss, penalty, kind)
        best = solved(problem)
        largest = np.max(abs(problem.objective_parts.predict(best.w, best.b)))
        if largest < 12.0 or loss.name not in ("logistic", "exponential", "poisson"):
            return problem, best
        kind = replace(kind, seed=kind.seed + 1)


@pytest.mark.parametrize(("loss", "penalty"), PAIRS, ids=combination_name)
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


@pytest.mark.parametrize("loss", LOSSES[::3], ids=combination_name)
def test_a_column_in_other_units_changes_no_verdict(loss: Loss) -> None:
    problem = make(loss, Zero(), Kind(seed=3))
    o = problem.objective_parts
    best = solved(problem)
    units = np.array([1.0, 1e8, 1.0, 1e-8, 1.0])
    other = LearningProblem(o.design.constant * units, o.y, loss, Zero())
    u = certify_objective(o, best.w, best.b).dual["u"]
    for w in (best.w, best.w * (1.0 + 1e-3), np.zeros(D)):
        for passed in (None, u, np.roll(u, 1)):
            one = problem.certify(w, best.b, passed)
            two = other.certify(w / units, best.b, passed)
            assert one.verdict is two.verdict
            if passed is u:
                assert one.dual_objective == pytest.approx(two.dual_objective, rel=1e-9, abs=1e-12)


def test_rounding_is_no_residual_and_a_residual_is_no_rounding() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, D)) * np.array([1.0, 1e8, 1.0, 1e-8, 1.0]), rng.normal(size=30)
    for penalty in (Zero(), L2(1.0, weights=np.array([0.0, 0.0, 1.0, 0.0, 1.0]))):
        problem = LearningProblem(X, y, Squared(), penalty)
        solution = problem.solve()
        u = solution.dual["u"]
        assert np.any(X.T @ u)  # 6e-17 and the like: rounding
        assert problem.dual_objective(u) == pytest.approx(solution.objective, rel=1e-12)
        for column in (0, 1, 3):
            wrong = u + 1e-10 * abs(u).max() * np.sign(X[:, column]) * (np.arange(30) % 2)
            assert problem.dual_objective(wrong) == -np.inf
        assert problem.dual_objective(u + 1e-12 * abs(u).max()) == -np.inf


@pytest.mark.parametrize("penalty", PENALTIES[::3], ids=combination_name)
def test_an_unbalanced_u_is_repaired_or_refused_never_believed(penalty: Penalty) -> None:
    problem = make(Squared(), penalty, Kind(seed=5))
    best = solved(problem)
    u = problem.certify(best.w, best.b).dual["u"]
    for size in (1e-9, 1e-3):
        wrong = u + size * abs(u).max()
        assert problem.dual_objective(wrong) == -np.inf
        certificate = problem.certify(best.w, best.b, wrong)
        assert certificate.repaired > 0.1 * size * abs(u).max()
        assert certificate.dual_objective <= best.upper * (1.0 + 1e-12)
        assert certificate.holds(1e-6) == (size < 1e-6)


def test_l1_at_lam_max_has_a_tight_bound_at_zero() -> None:
    problem = make(Squared(), L1(0.8), Kind(seed=2))
    level = problem.lam_max
    o = problem.objective_parts
    at = LearningProblem(o.design.constant, o.y, Squared(), L1(level))
    assert at.certify(np.zeros(D)).holds(1e-9)
