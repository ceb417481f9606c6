"""Every loss of the catalogue: the laws of convex analysis, and what CVXPY sees."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.catalogue import LOSSES, corners, judge, minimise, name, parameters, samples

from convexml.losses import Exponential, Logistic, Loss
from convexml.numerics import Array

REACH = 60.0
"""Brute force looks for the best prediction this far from the label."""
STEPS = st.sampled_from([1e-3, 0.3, 1.0, 7.0, 100.0])
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=name)
few = settings(max_examples=14)


def feasible(loss: Loss, y: Array, reach: float = REACH) -> tuple[Array, Array]:
    """The predictions near y at which the loss is finite."""
    if loss.name == "hard_margin":
        return np.where(y > 0, 1.0, -reach), np.where(y > 0, reach, -1.0)
    if loss.name == "interpolation":
        return y, y
    centre = np.zeros_like(y) if loss.labels == "count" else y  # a log link
    return centre - reach, centre + reach


def into_domain(loss: Loss, y: Array, v: Array) -> Array:
    return np.clip(v, *loss.domain(y))


def smooth_at(loss: Loss, y: Array, z: Array, radius: float) -> Array:
    """Where no kink is near, and the loss is finite around z."""
    near = [np.abs(z - kink) <= radius for kink in loss.kinks(y)]
    return ~np.any([np.zeros_like(z, dtype=bool), loss.violation(y, z) > 0.0, *near], axis=0)


# -- the laws: each raises AssertionError for a loss that breaks it -----------------------------
def law_derivative(loss: Loss, y: Array, z: Array) -> None:
    if loss.is_indicator:
        return
    h = 1e-5
    slope = (loss.value(y, z + h) - loss.value(y, z - h)) / (2 * h)
    size = 1.0 + np.abs(loss.value(y, z)) + np.abs(loss.derivative(y, z))
    where = smooth_at(loss, y, z, 2 * h)
    assert np.all(np.abs(slope - loss.derivative(y, z))[where] <= 1e-5 * size[where])


def law_subgradient_at_corners(loss: Loss, y: Array, z: Array) -> None:
    """At a kink: the element of least magnitude between the one-sided slopes."""
    if loss.is_indicator:
        return
    for kink in corners(loss, y):
        h = 1e-6 * (1.0 + np.abs(kink))
        left = (loss.value(y, kink) - loss.value(y, kink - h)) / h
        right = (loss.value(y, kink + h) - loss.value(y, kink)) / h
        best = np.clip(0.0, left, right)
        expected = np.where(left > right, 0.5 * (left + right), best)
        slope = loss.derivative(y, kink)
        # Computed kinks carry a rounding: one of the two sides may be returned.
        distance = np.minimum(np.abs(slope - expected), np.abs(slope - np.array([left, right])))
        assert np.all(distance.min(axis=0) <= 1e-4 * (1.0 + np.abs(slope)))


def law_curvature(loss: Loss, y: Array, z: Array) -> None:
    """The mean curvature over [z - h, z + h] lies between its least and largest value."""
    h = 1e-4
    mean = (loss.derivative(y, z + h) - loss.derivative(y, z - h)) / (2 * h)
    around = np.array([loss.curvature(y, z + t) for t in (-h, 0.0, h)])
    tolerance = 1e-7 * (1.0 + np.abs(loss.derivative(y, z)) + np.abs(around).max(axis=0))
    inside = (mean >= around.min(axis=0) - tolerance) & (mean <= around.max(axis=0) + tolerance)
    assert np.all(inside | ~smooth_at(loss, y, z, 2 * h))


def law_curvature_bound(loss: Loss, y: Array, z: Array) -> None:
    assert np.all(loss.curvature(y, z) >= 0.0)
    assert np.all(loss.curvature(y, z) <= loss.curvature_bound)
    other = np.roll(z, 1)
    rise = np.abs(loss.derivative(y, z) - loss.derivative(y, other))
    if np.isfinite(loss.curvature_bound):
        assert np.all(rise <= loss.curvature_bound * np.abs(z - other) * (1 + 1e-12) + 1e-12)


def law_conjugate(loss: Loss, y: Array, v: Array) -> None:
    v = into_domain(loss, y, v)
    lo, hi = feasible(loss, y)
    best = minimise(lambda z: loss.value(y, z) - v * z, lo, hi)
    ends = [v * z - loss.value(y, z) for z in (lo, best, hi)]
    supremum, claimed = np.max(ends, axis=0), loss.conjugate(y, v)
    assert np.all(np.isfinite(claimed))
    assert np.all(np.abs(claimed - supremum) <= 1e-9 * (1.0 + np.abs(v * best) + np.abs(claimed)))


def law_domain(loss: Loss, y: Array, v: Array) -> None:
    """Finite on the closed interval, inf beyond it, where the supremum grows without end."""
    lo, hi = loss.domain(y)
    assert np.all((lo <= 0.0) & (hi >= 0.0))
    for side, end in ((-1.0, lo), (1.0, hi)):
        bounded = np.isfinite(end)
        at = np.where(bounded, end, 0.0)
        assert np.all(np.isfinite(loss.conjugate(y, at)))
        assert np.all(loss.conjugate(y, np.nextafter(at, side * np.inf))[bounded] == np.inf)
        beyond = at + side * 0.1
        near, far = (
            beyond * end - loss.value(y, end)
            for end in (
                np.where(bounded, feasible(loss, y, r)[side > 0], y) for r in (150.0, 300.0)
            )
        )
        assert np.all((far - near)[bounded] >= 0.05 * 150.0)
        far_out = at + side * 1e3
        assert np.all(np.isfinite(loss.conjugate(y, far_out))[~bounded])


def law_fenchel_young(loss: Loss, y: Array, z: Array, v: Array) -> None:
    v = into_domain(loss, y, v)
    lo, hi = feasible(loss, y)
    z = np.clip(z, lo, hi)
    size = 1.0 + np.abs(loss.value(y, z)) + np.abs(loss.conjugate(y, v)) + np.abs(v * z)
    size += np.abs(v * y)
    assert np.all(loss.value(y, z) + loss.conjugate(y, v) - v * z >= -1e-14 * size)
    slope = loss.derivative(y, z)
    size = 1.0 + np.abs(loss.value(y, z)) + np.abs(slope) * (1.0 + np.abs(z) + np.abs(y))
    gap = loss.value(y, z) + loss.conjugate(y, into_domain(loss, y, slope)) - slope * z
    assert np.all(np.abs(slope - into_domain(loss, y, slope)) <= 1e-15 * (1 + np.abs(slope)))
    assert np.all(np.abs(gap) <= 1e-13 * size)


def law_prox(loss: Loss, y: Array, z: Array, step: float) -> None:
    """The prox is optimal: (z - p) / step is a subgradient at p, and no other point is better."""
    p = loss.prox(y, z, step)
    assert np.all(np.isfinite(p))
    assert np.all(loss.violation(y, p) == 0.0)

    def cost(x: Array) -> Array:
        return step * loss.value(y, x) + 0.5 * (x - z) ** 2

    lo, hi = feasible(loss, y)
    best = minimise(cost, np.maximum(lo, p - 1.0), np.maximum(np.minimum(hi, p + 1.0), lo))
    assert np.all(cost(p) <= cost(best) + 1e-12 * (1.0 + cost(best)))


def law_moreau(loss: Loss, y: Array, z: Array, step: float) -> None:
    """z = prox_{step l}(z) + step v, v = prox_{l* / step}(z / step), both found separately."""
    v = (z - loss.prox(y, z, step)) / step
    inside = into_domain(loss, y, v)
    rounding = 1e-14 * (1.0 + np.abs(z) + np.abs(y)) / step  # of v
    assert np.all(np.abs(v - inside) <= rounding)

    def cost(x: Array) -> Array:
        return loss.conjugate(y, x) / step + 0.5 * (x - z / step) ** 2

    lo, hi = (into_domain(loss, y, inside + t) for t in (-1.0, 1.0))
    best = minimise(cost, lo, hi)
    tolerance = 1e-12 * (1.0 + np.abs(cost(best))) + rounding * (1.0 + np.abs(z) + np.abs(y)) / step
    assert np.all(cost(inside) <= cost(best) + tolerance)


def law_nonexpansive(loss: Loss, y: Array, z: Array, step: float) -> None:
    """Firmly: (p - q)^2 <= (p - q)(z - x)."""
    x = np.roll(z, 1)
    moved = loss.prox(y, z, step) - loss.prox(y, x, step)
    assert np.all(moved**2 <= moved * (z - x) + 1e-12 * (1.0 + (z - x) ** 2))


LAWS: dict[str, Callable] = {
    "derivative": lambda loss, y, z, v, step: law_derivative(loss, y, z),
    "corners": lambda loss, y, z, v, step: law_subgradient_at_corners(loss, y, z),
    "curvature": lambda loss, y, z, v, step: law_curvature(loss, y, z),
    "curvature bound": lambda loss, y, z, v, step: law_curvature_bound(loss, y, z),
    "conjugate": lambda loss, y, z, v, step: law_conjugate(loss, y, v),
    "domain": lambda loss, y, z, v, step: law_domain(loss, y, v),
    "Fenchel-Young": lambda loss, y, z, v, step: law_fenchel_young(loss, y, z, v),
    "prox": lambda loss, y, z, v, step: law_prox(loss, y, z, step),
    "Moreau": lambda loss, y, z, v, step: law_moreau(loss, y, z, step),
    "nonexpansive": lambda loss, y, z, v, step: law_nonexpansive(loss, y, z, step),
}


@cache
def drawn(loss: Loss) -> list[tuple[Array, Array, Array, float]]:
    """(y, z, v, step): the samples on which every law of a loss is judged, drawn once."""
    found, strategy = [], samples(loss)

    @few
    @given(sample=strategy, slope=strategy, step=STEPS)
    def collect(sample: tuple[Array, Array], slope: tuple[Array, Array], step: float) -> None:
        found.append((*sample, slope[1], step))

    collect()
    return found


@each_loss
@pytest.mark.parametrize("law", LAWS)
def test_law(loss: Loss, law: str) -> None:
    assert len(drawn(loss)) >= 14
    judge(LAWS[law], loss, drawn(loss))


@each_loss
def test_extreme_predictions_give_no_warning_and_no_nan(loss: Loss) -> None:
    rng = np.random.default_rng(0)
    labels = {"real": [0.0, 1.0, -1.0, 4.7], "binary": [-1.0, 1.0], "count": [0.0, 1.0, 100.0]}
    y, z = rng.choice(labels[loss.labels], 200), rng.choice([-800.0, 800.0, 0.0], 200)
    z = np.where(rng.random(200) < 0.3, corners(loss, y)[-1], z)
    # A far subgradient underflows to 0, as it should; nothing else may be signalled.
    with np.errstate(all="raise", under="ignore"):
        value, slope = loss.value(y, z), loss.derivative(y, z)
        curvature, moved = loss.curvature(y, z), loss.prox(y, z, 0.5)
        conjugate = loss.conjugate(y, into_domain(loss, y, z))
    for result in (value, slope, curvature, moved, conjugate):
        assert result.shape == y.shape
        assert result.dtype == np.float64
        assert not np.any(np.isnan(result))
    assert np.all(value >= 0.0)
    far = {"exponential": -y * z, "poisson": z, "linex": y - z}.get(loss.name)
    overflows = None if far is None else far > 709.0
    overflows = loss.violation(y, z) > 0.0 if loss.is_indicator else overflows
    infinite = np.zeros(len(y), dtype=bool) if overflows is None else overflows
    assert np.array_equal(np.isinf(value), infinite)
    assert np.all(np.isfinite(moved) & np.isfinite(conjugate))
    if not loss.is_indicator and overflows is None:
        assert np.all(np.abs(slope) <= loss.value(y, z + np.sign(slope)) + 1.0)


@each_loss
def test_predicates_say_what_they_imply(loss: Loss) -> None:
    y = {"real": np.zeros(9), "binary": np.ones(9), "count": np.arange(9.0)}[loss.labels]
    z = np.linspace(-3.0, 3.0, 9)
    assert loss.is_smooth == (loss.kinks(y) == ())
    assert not (loss.is_indicator and loss.is_smooth)
    if np.isfinite(loss.curvature_bound):
        assert loss.is_smooth
        steepest = max(loss.curvature(y, t + y).max() for t in np.linspace(-3, 3, 61))
        assert steepest == pytest.approx(loss.curvature_bound, rel=1e-3)
    if loss.is_strictly_convex:
        assert np.all(loss.curvature(y, z) > 0.0)
    if not loss.is_smooth:
        assert loss.curvature_bound == np.inf
        assert np.all(loss.curvature(y, z) == 0.0)


piecewise_linear = [loss for loss in LOSSES if not loss.is_smooth and not loss.is_indicator]


def sample(loss: Loss) -> tuple[Array, Array]:
    """Labels, and predictions at which the loss is finite, a kink among them."""
    rng = np.random.default_rng(7)
    y = {
        "real": rng.normal(size=10),
        "binary": rng.choice([-1.0, 1.0], size=10),
        "count": rng.integers(0, 5, size=10).astype(float),
    }[loss.labels]
    z = 1.5 * rng.normal(size=10)
    z[0] = y[0]
    return y, loss.prox(y, z, 1.0) if loss.is_indicator else z


@each_loss
def test_an_excess_covers_the_neighbourhood_that_it_is_told(loss: Loss) -> None:
    """c l(y, z') + c l*(y, u'/c) - z' u' at ends of |z' - z| <= e and |u' - u| <= h."""
    (y, z), rng = sample(loss), np.random.default_rng(0)
    for v in domain_points(loss, y):
        c, slope = rng.uniform(0.5, 3.0, 10), into_domain(loss, y, loss.derivative(y, z))
        e, h = rng.choice([0.0, 0.1], 10), c * rng.choice([0.0, 1e-3], 10)
        for own in (v, 0.99 * slope):  # where nothing else is left
            most = loss.excess(y, c, z, e, c * own, h)
            assert np.any(most < np.inf)
            for a, b in [(a, b) for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)]:
                at, pull = z + a * e, own + b * h / c
                value = 0.0 * z if loss.is_indicator else loss.value(y, at)
                least = c * (value + loss.conjugate(y, pull) - at * pull)
                size = c * (np.abs(value) + np.abs(at * pull))
                assert np.all((least <= most + 1e-14 * size) | (most == np.inf))


def domain_points(loss: Loss, y: Array) -> list[Array]:
    """Points inside the domain of the conjugate, one of them 0."""
    lo, hi = (np.clip(end, -4.0, 4.0) for end in loss.domain(y))
    return [0.999 * (lo + t * (hi - lo)) for t in (0.0, 0.2, 0.5, 0.9, 1.0)] + [np.zeros_like(y)]


@each_loss
def test_expression_has_the_value_of_the_loss(loss: Loss) -> None:
    y, at = sample(loss)
    z = cp.Variable(len(y))
    terms = loss.expression(y, z, parameters(loss))
    assert terms.value.shape == y.shape
    problem = cp.Problem(cp.Minimize(cp.sum(terms.value)), [z == at, *terms.constraints.values()])
    assert problem.is_dcp(dpp=True)
    problem.solve(solver="CLARABEL")
    np.testing.assert_allclose(terms.value.value, loss.value(y, at), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.is_indicator], ids=name)
def test_expression_is_infeasible_where_the_loss_is_infinite(loss: Loss) -> None:
    y, at = sample(loss)
    z = cp.Variable(len(y))
    terms = loss.expression(y, z, {})
    moved = at - 0.1 * y
    assert np.any(loss.violation(y, moved) > 0.0)
    problem = cp.Problem(cp.Minimize(0.0), [z == moved, *terms.constraints.values()])
    problem.solve(solver="CLARABEL")
    assert problem.status == "infeasible"


def conjugate_value(loss: Loss, y: Array, v: Array, c: Any, scale: Array) -> Array:
    """Value of the CVXPY conjugate at u = c v; inf where a constraint is violated."""
    u = cp.Variable(len(y), value=scale * v)
    terms = loss.conjugate_expression(y, u, c, parameters(loss))
    constraints = dict(terms.constraints)
    if "entropy" in constraints:  # an epigraph: its least point is the left-hand side
        least, epigraph = constraints.pop("entropy").args
        epigraph.value = least.value
    violation = max((np.max(g.violation()) for g in constraints.values()), default=0.0)
    return terms.value.value if violation <= 1e-12 else np.full_like(y, np.inf)


@each_loss
def test_conjugate_expression_has_the_value_of_the_conjugate(loss: Loss) -> None:
    y, _ = sample(loss)
    c = np.linspace(0.1, 2.0, len(y))
    for v in domain_points(loss, y):
        expected = c * loss.conjugate(y, v)
        assert np.all(np.isfinite(expected))
        found = conjugate_value(loss, y, v, c, c)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@each_loss
def test_conjugate_expression_ends_where_the_domain_ends(loss: Loss) -> None:
    y, _ = sample(loss)
    c = np.linspace(0.1, 2.0, len(y))
    for sign, end in zip((-1.0, 1.0), loss.domain(y), strict=True):
        for i in np.flatnonzero(np.isfinite(end)):
            v = np.zeros_like(y)
            v[i] = end[i] + 1e-3 * sign
            found = conjugate_value(loss, y, v, c, c)
            assert not np.isfinite(found[i])


@each_loss
def test_conjugate_expression_is_dpp(loss: Loss) -> None:
    y, _ = sample(loss)
    u = cp.Variable(len(y))
    terms = loss.conjugate_expression(y, u, np.full(len(y), 0.1), parameters(loss))
    problem = cp.Problem(cp.Maximize(-cp.sum(terms.value)), list(terms.constraints.values()))
    assert problem.is_dcp(dpp=True)


@pytest.mark.parametrize("loss", piecewise_linear, ids=name)
def test_piecewise_linear_conjugates_accept_a_parameter_as_scale(loss: Loss) -> None:
    y, _ = sample(loss)
    weights = np.linspace(0.5, 1.5, len(y))
    c = cp.Parameter(nonneg=True, value=2.0) * weights
    for v in domain_points(loss, y):
        found = conjugate_value(loss, y, v, c, 2.0 * weights)
        expected = 2.0 * weights * loss.conjugate(y, v)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    u = cp.Variable(len(y))
    terms = loss.conjugate_expression(y, u, c, loss.hyperparameters())
    problem = cp.Problem(cp.Maximize(-cp.sum(terms.value)), list(terms.constraints.values()))
    assert problem.is_dcp(dpp=True)


@pytest.mark.parametrize("loss", [Logistic(), Exponential()], ids=name)
def test_the_dual_keeps_its_value_where_samples_are_far_from_the_boundary(loss: Loss) -> None:
    """There u_i is nearly 0, and solvers return some of the wrong sign, outside the entropy."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2)) * np.array([30.0, 1.0])
    y = np.where(x[:, 0] + rng.normal(size=200) > 0.0, 1.0, -1.0)
    c, lam = np.full(200, 1.0 / 200), 1e-2
    w, u = cp.Variable(2), cp.Variable(200)
    primal = loss.expression(y, x @ w, {})
    ridge = 0.5 * lam * cp.sum_squares(w)
    least = cp.Problem(cp.Minimize(c @ primal.value + ridge)).solve(solver="CLARABEL")
    terms = loss.conjugate_expression(y, u, c, {})
    value = -cp.sum(terms.value) - cp.sum_squares(x.T @ u) / (2.0 * lam)
    dual = cp.Problem(cp.Maximize(value), list(terms.constraints.values()))
    assert dual.solve(solver="CLARABEL") == pytest.approx(least, rel=1e-6)
