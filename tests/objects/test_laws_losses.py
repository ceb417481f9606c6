"""The laws of convex analysis, for every loss of the catalogue, against independent formulas."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.catalogue import LOSSES, corners, judge, minimise, name, samples

from convexml.losses import Loss
from convexml.numerics import Array

REACH = 60.0
"""Brute force looks for the best prediction this far from the label."""

STEPS = st.sampled_from([1e-3, 0.3, 1.0, 7.0, 100.0])
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=name)
few = settings(max_examples=20)


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
    assert len(drawn(loss)) >= 20
    judge(LAWS[law], loss, drawn(loss))


@each_loss
@given(data=st.data())
@few
def test_extreme_predictions_give_no_warning_and_no_nan(loss: Loss, data: st.DataObject) -> None:
    y, z = data.draw(samples(loss, numbers=st.sampled_from([-800.0, 800.0, 0.0])))
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
