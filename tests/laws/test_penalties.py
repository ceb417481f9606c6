"""Every penalty of the catalogue: the laws of convex analysis, what CVXPY sees."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.catalogue import INF, PENALTIES, D, frozen, judge, name, parameters, vectors

from convexml import penalties
from convexml.formulas import Terms
from convexml.numerics import Array
from convexml.problem.terms import Multiple

STEPS = st.sampled_from([1e-2, 0.3, 1.0, 7.0, 100.0])
each_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=name)
few = settings(max_examples=25)


def into_domain(penalty: penalties.Penalty, v: Array) -> Array:
    """The end of the segment from 0 to v in the domain of the conjugate."""
    v = np.where(penalty.free(D), 0.0, v)
    return penalty.domain_scale(v) * v


def rounding(*vectors: Array) -> float:
    return 1e-14 * (1.0 + sum(float(np.abs(x).max()) for x in vectors)) ** 2


# -- the laws: each raises AssertionError for a penalty that breaks it ---------------------------
def law_fenchel_young(penalty: penalties.Penalty, w: Array, v: Array, step: float) -> None:
    """The terms are >= 0 and sum to Omega(w) + Omega*(v) - <w, v>."""
    w, v = penalty.project(w), into_domain(penalty, v)
    terms = penalty.terms(w, v)
    total = penalty.value(w) + penalty.conjugate(v, rounding(v)) - float(w @ v)
    size = 1.0 + penalty.value(w) + abs(penalty.conjugate(v, rounding(v))) + np.abs(w) @ np.abs(v)
    assert np.all(terms >= -1e-14 * size)
    assert abs(terms.sum() - total) <= 1e-13 * size


def law_equality_at_the_prox(penalty: penalties.Penalty, w: Array, v: Array, step: float) -> None:
    """Moreau: with p = prox(w), (w - p) / step is a subgradient at p."""
    p = penalty.prox(w, step)
    slope = (w - p) / step
    slack = 1e-14 * (1.0 + np.abs(w)) / step
    assert penalty.violation(p) <= 1e-15
    assert penalty.conjugate(slope, slack) < INF
    size = 1.0 + penalty.value(p) + np.abs(p) @ np.abs(slope)
    assert np.all(np.abs(penalty.terms(p, slope)) <= 1e-13 * size * (1.0 + 1.0 / step))


def law_nonexpansive(penalty: penalties.Penalty, w: Array, v: Array, step: float) -> None:
    """Firmly: |p - q|^2 <= <p - q, w - v>."""
    moved = penalty.prox(w, step) - penalty.prox(v, step)
    assert moved @ moved <= moved @ (w - v) + rounding(w, v)


def law_projection(penalty: penalties.Penalty, w: Array, v: Array, step: float) -> None:
    """Feasible, idempotent, and no feasible point is nearer: an obtuse angle at the projection."""
    p, x = penalty.project(w), penalty.project(v)
    assert penalty.violation(p) <= 1e-15
    assert np.allclose(penalty.project(p), p, rtol=1e-14, atol=0.0)
    assert (w - p) @ (x - p) <= rounding(w, v)
    if not penalty.restricts:
        assert np.array_equal(p, w)
    if penalty.violation(w) == 0.0:
        assert np.array_equal(p, w)


def law_domain_scale(penalty: penalties.Penalty, w: Array, v: Array, step: float) -> None:
    v = np.where(penalty.free(D), 0.0, v)
    scale = penalty.domain_scale(v)
    assert 0.0 <= scale <= 1.0
    assert penalty.conjugate(scale * v, rounding(v)) < INF
    if scale < 1.0:
        assert penalty.conjugate((scale + 1e-6) * v, 0.0) == INF
        room = (1.0 + 1e-12) * (1.0 - scale) * np.abs(v)
        assert penalty.domain_scale(v, room) == 1.0
        assert penalty.conjugate(v, room) < INF


def law_free(penalty: penalties.Penalty, w: Array, v: Array, step: float) -> None:
    """Free is a coordinate in which nothing but v_j = 0 has a finite conjugate."""
    for j, free in enumerate(penalty.free(D)):
        nudge = 1e-12 * np.eye(D)[j]
        conjugates = [penalty.conjugate(sign * nudge) for sign in (1.0, -1.0)]
        assert free == (min(conjugates) == INF)
        if free:
            moved = w + v[j] * np.eye(D)[j]
            assert abs(penalty.value(moved) - penalty.value(w)) <= rounding(w) * D
            assert penalty.prox(w, step)[j] == w[j]


def law_manifold(penalty: penalties.Penalty, w: Array, v: Array, step: float) -> None:
    """At p = prox(w) the manifold is that of p, and its gradient is the only subgradient there."""
    p = penalty.prox(w, step)
    slope = (w - p) / step
    m = penalty.manifold(p, slope, np.full(D, step))
    k = int(m.active.sum())
    assert m.gradient.shape == (k,)
    assert m.hessian.shape in {(k,), (k, k)}
    scale = 1.0 + np.abs(w).max() * (1.0 + 1.0 / step)
    assert np.allclose(np.where(m.active, p, m.fixed), p, rtol=0.0, atol=1e-14 * scale)
    assert np.allclose(m.gradient, slope[m.active], rtol=0.0, atol=1e-12 * scale)
    if m.normal is not None:
        assert m.normal.shape == (len(m.residual), k)
        assert np.all(np.abs(m.residual) <= 1e-13 * (1.0 + np.abs(p).sum()))


def law_curvature_of_the_manifold(
    penalty: penalties.Penalty, w: Array, v: Array, step: float
) -> None:
    """Along the manifold, values follow the quadratic model to third order."""
    p = penalty.prox(w, step)
    m = penalty.manifold(p, (w - p) / step, np.full(D, step))
    if m.normal is not None or not m.active.any():
        return
    h = 1e-3 * np.min(np.abs(p[m.active & (p != 0.0)]), initial=1.0)
    move = np.zeros(D)
    move[m.active] = h * np.cos(1.0 + np.arange(m.active.sum()))
    if np.any(penalty.project(p + move) != p + move):
        return
    s = move[m.active]
    bent = m.hessian * s if m.hessian.ndim == 1 else m.hessian @ s
    model = penalty.value(p) + m.gradient @ s + 0.5 * s @ bent
    tolerance = 1e-13 * (1.0 + penalty.value(p)) + 30.0 * h * h * 1e-3 * (
        1.0 + np.abs(bent).max() / h
    )
    assert abs(penalty.value(p + move) - model) <= tolerance


def law_strong_convexity(penalty: penalties.Penalty, w: Array, v: Array, step: float) -> None:
    w, v = penalty.project(w), penalty.project(v)
    chord = 0.5 * (penalty.value(w) + penalty.value(v)) - penalty.value(0.5 * (w + v))
    gap = w - v
    assert chord >= 0.125 * penalty.strong_convexity * (gap @ gap) - rounding(w, v) * 10


def law_conjugate_bound(penalty: penalties.Penalty, w: Array, v: Array, step: float) -> None:
    """It holds for every x as near to v as the error says, where x meets the rows of dom Omega*."""
    end = into_domain(penalty, v)
    for v, error in ((end, np.full(D, 1e-12)), (end, 1e-3 * np.abs(w)), (0.95 * end, np.abs(end))):
        for x in (v + np.copysign(error, v), v - np.copysign(error, v)):
            if not np.any(penalty.outside(x)):
                most, value = penalty.conjugate_bound(v, error), penalty.conjugate(x)
                assert most >= min(value * (1.0 - 1e-13), value * (1.0 + 1e-13))


LAWS: dict[str, Callable] = {
    "conjugate bound": law_conjugate_bound, "Fenchel-Young": law_fenchel_young,
    "prox": law_equality_at_the_prox, "nonexpansive": law_nonexpansive,
    "projection": law_projection, "domain scale": law_domain_scale, "free": law_free,
    "manifold": law_manifold, "curvature": law_curvature_of_the_manifold,
    "strong convexity": law_strong_convexity,
}  # fmt: skip


@cache
def drawn() -> list[tuple[Array, Array, float]]:
    """(w, v, step): the samples on which every law of every penalty is judged, drawn once."""
    found = []

    @few
    @given(w=vectors(), v=vectors(), step=STEPS)
    def collect(w: Array, v: Array, step: float) -> None:
        found.append((w, v, step))

    collect()
    return found


@each_penalty
@pytest.mark.parametrize("law", LAWS)
def test_law(penalty: penalties.Penalty, law: str) -> None:
    assert len(drawn()) >= 25
    judge(LAWS[law], penalty, drawn())


@each_penalty
def test_extreme_coefficients_give_no_warning_and_no_nan(penalty: penalties.Penalty) -> None:
    rng = np.random.default_rng(0)
    for _ in range(8):
        extreme(penalty, rng.choice([-800.0, 800.0, 0.0], D), rng.choice([0.0, 1.0, 25.0], D))


def extreme(penalty: penalties.Penalty, w: Array, v: Array) -> None:
    with np.errstate(all="raise", under="ignore"):
        results = [
            penalty.prox(w, 0.5),
            penalty.project(w),
            penalty.terms(w, into_domain(penalty, w)),
        ]
        manifold = penalty.manifold(w, v, np.full(D, 0.1))
        numbers = [penalty.value(w), penalty.violation(w), penalty.domain_scale(w)]
        conjugate = penalty.conjugate(w)
    results += [manifold.gradient, manifold.hessian, np.array(numbers)]
    assert all(np.all(np.isfinite(result)) for result in results)
    assert not np.isnan(conjugate)
    assert results[0].shape == results[1].shape == (D,)
    assert results[0].dtype == results[1].dtype == np.float64


@each_penalty
def test_gradient_belongs_to_the_smooth(penalty: penalties.Penalty) -> None:
    w = frozen(np.array([1.0, -2.0, 0.0, 0.5, 3.0]))
    if not penalty.is_smooth:
        with pytest.raises(TypeError, match="not differentiable"):
            penalty.gradient(w)
        return
    steps = 1e-5 * np.eye(D)
    slope = [(penalty.value(w + e) - penalty.value(w - e)) / 2e-5 for e in steps]
    np.testing.assert_allclose(penalty.gradient(w), slope, atol=1e-8)


NORMS: list[Callable[[float], penalties.Penalty]] = [
    penalties.L1,
    lambda lam: penalties.L1(lam, weights=np.array([1.0, 0.0, 2.0, 0.5, 1.0])),
    lambda lam: penalties.ElasticNet(lam, 0.3),
    lambda lam: penalties.ElasticNet(lam, 1.0),
    lambda lam: penalties.GroupL2(lam, ["a", "b", "a", "c", "b"]),
    lambda lam: penalties.GroupL2(lam, [3, 3, 1, 1, 1], weights=np.array([2.0, 0.0])),
]


@pytest.mark.parametrize("norm", NORMS, ids=lambda make: repr(make(1.0)))
def test_lam_max_is_where_zero_becomes_the_prox(norm: Callable[[float], penalties.Penalty]) -> None:
    v = np.array([1.0, -2.0, 0.7, 0.3, -0.1])
    lam = norm(1.0).lam_max(v)
    bound = ~norm(1.0).free(D)
    assert np.all(norm(lam * (1.0 + 1e-12)).prox(v, 1.0)[bound] == 0.0)
    assert np.any(norm(lam * (1.0 - 1e-9)).prox(v, 1.0)[bound] != 0.0)
    assert norm(1.0).lam_max(np.zeros(D)) == 0.0


@pytest.mark.parametrize(("penalty", "w", "expected"), [
    (penalties.L1Ball(2.0), [1.0, -3.0], 1.0), (penalties.L2Ball(2.5), [3.0, -4.0], 1.0),
    (penalties.L2Ball(5.0), [3.0, -4.0], 0.0), (penalties.Box(-2.0, 4.0), [5.0, -2.0], 0.25),
    (penalties.Box(-INF, 0.5), [0.75, -9.0], 0.5),
    (penalties.Nonnegative(), [-0.25, 7.0], 0.25), (penalties.L1(1.0), [-0.25, 7.0], 0.0),
])  # fmt: skip
def test_violation_is_relative_to_the_size(
    penalty: penalties.Penalty, w: list[float], expected: float
) -> None:
    assert penalty.violation(np.array(w)) == expected


W = np.array([1.0, -0.4, 0.0, 2.0, -0.7])
V = np.array([0.3, -1.2, 0.0, 0.5, 2.0])


def minimum(value: Any, terms: Terms, *more: Any) -> float:
    """The least value under the constraints of the terms; the problem must be DPP."""
    problem = cp.Problem(cp.Minimize(value), [*terms.constraints.values(), *more])
    assert problem.is_dcp(dpp=True)
    tight = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    problem.solve(solver="CLARABEL", **tight)
    return float(problem.value)


@each_penalty
def test_expression_has_the_value_of_the_penalty(penalty: penalties.Penalty) -> None:
    at = penalty.project(W)
    w = cp.Variable(D, value=at)
    terms = penalty.expression(w, parameters(penalty))
    value = terms.value if isinstance(terms.value, float) else terms.value.value
    assert value == pytest.approx(penalty.value(at), rel=1e-13)
    assert all(np.max(g.violation()) <= 1e-14 for g in terms.constraints.values())
    assert cp.Problem(cp.Minimize(terms.value), list(terms.constraints.values())).is_dcp(dpp=True)


@each_penalty
def test_prox_is_the_solution_of_its_problem(penalty: penalties.Penalty) -> None:
    w = cp.Variable(D)
    terms = penalty.expression(w, parameters(penalty))
    least = minimum(0.7 * terms.value + 0.5 * cp.sum_squares(w - W), terms)
    p = penalty.prox(W, 0.7)
    gap = 1e-8  # ten times what CLARABEL was asked for; the problem is 1-strongly convex
    assert 0.7 * penalty.value(p) + 0.5 * float((p - W) @ (p - W)) == pytest.approx(least, abs=gap)
    np.testing.assert_allclose(p, w.value, atol=np.sqrt(2.0 * gap))


@each_penalty
def test_conjugate_is_the_supremum(penalty: penalties.Penalty) -> None:
    v = 0.9 * into_domain(penalty, V)
    w = cp.Variable(D)
    terms = penalty.expression(w, parameters(penalty))
    supremum = -minimum(terms.value - v @ w, terms)
    assert penalty.conjugate(v) == pytest.approx(supremum, rel=1e-7, abs=1e-7)


@each_penalty
def test_conjugate_expression_has_the_value_of_the_conjugate(penalty: penalties.Penalty) -> None:
    v = 0.9 * into_domain(penalty, V)
    xtu = cp.Variable(D)
    terms = penalty.conjugate_expression(xtu, D, parameters(penalty))
    assert minimum(terms.value, terms, xtu == -v) == pytest.approx(
        penalty.conjugate(v), rel=1e-7, abs=1e-7
    )


@each_penalty
def test_conjugate_expression_ends_where_the_domain_ends(penalty: penalties.Penalty) -> None:
    for v in (30.0 * V, -30.0 * V):
        if penalty.conjugate(v) < np.inf:
            continue
        xtu = cp.Variable(D)
        terms = penalty.conjugate_expression(xtu, D, parameters(penalty))
        constraints = [xtu == -v, *terms.constraints.values()]
        problem = cp.Problem(cp.Minimize(terms.value), constraints)
        problem.solve(solver="CLARABEL")
        assert problem.status == "infeasible"


@each_penalty
def test_an_excess_covers_the_neighbourhood_that_it_is_told(penalty: penalties.Penalty) -> None:
    """Omega(w') + Omega*(v') - <w', v'> at ends of |w' - w| <= e and |v' - v| <= h, and 3 Omega."""
    rng, finite = np.random.default_rng(0), 0
    for k in range(40):
        t = (1.0, 3.0)[k % 2]
        w, v = penalty.project(rng.normal(size=D)), t * penalty.clip(rng.normal(size=D))
        e, h = (np.full(D, float(rng.choice([0.0, 0.1]))) for _ in range(2))
        v = rng.uniform() * v
        assert penalty.conjugate(v / t) < INF
        most = float(np.sum((Multiple(penalty, t) if k % 2 else penalty).excess(w, e, v, h)))
        finite += most < INF
        for near, pull in rng.choice([-1.0, 1.0], (20, 2, D)):
            at, there = w + near * e, v + pull * h
            if penalty.violation(at) > 0.0:
                continue  # what is violated has no say
            value = t * penalty.value(at)
            found = value + t * penalty.conjugate(there / t) - float(at @ there)
            size = value + float(np.abs(at) @ np.abs(there))
            assert found <= most + 1e-14 * size or most == INF
    assert finite
