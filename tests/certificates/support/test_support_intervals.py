"""Intervals of w, u and b for each loss and penalty, and what they rest on."""

from __future__ import annotations

from fractions import Fraction
from zlib import crc32

import numpy as np
import pytest
from support.cases import COMBINATIONS, Kind, combination_name, make, reference
from support.catalogue import LOSSES, PENALTIES, D

import convexml as cml
from convexml.certificates import certify_objective
from convexml.losses import Loss
from convexml.numerics import Array
from convexml.penalties import Penalty

# -- every loss with every penalty -----------------------------------------------------------


SOME = [pair for pair in COMBINATIONS if crc32(repr(pair).encode()) % 6 == 0]


@pytest.mark.parametrize(("loss", "penalty"), SOME, ids=combination_name)
def test_the_intervals_hold_the_oracles_solution(loss: Loss, penalty: Penalty) -> None:
    problem = make(loss, penalty, Kind(seed=7, weighted=True, ties=True))
    parts, at = problem.objective_parts, reference(problem)
    exact = certify_objective(parts, at.w, at.b, refute=False)
    if exact.relative_gap > 1e-8:
        return  # the oracle's point is no minimiser: there may be none
    rng = np.random.default_rng(7)
    for size in (1e-1, 1e-3, 0.0):
        w = at.w + size * rng.normal(size=parts.d)
        found = problem.certified_support(w, at.b, exact.dual["u"] * (1.0 + size))
        for value, (low, high) in ((at.w, found.w_interval), (at.b, found.b_interval)):
            room = 1e-4 * max(1.0, float(np.max(np.abs(value))))  # sqrt of the oracle's gap
            assert np.all(np.array(low) - room <= value)
            assert np.all(value <= np.array(high) + room)


# -- what the labels rest on, for each loss and penalty ---------------------------------------


@pytest.mark.parametrize(
    "loss", [loss for loss in LOSSES if loss.labels != "classes"], ids=combination_name
)
def test_the_curvature_floor_is_a_lower_bound(loss: Loss) -> None:
    rng = np.random.default_rng(0)
    y = {"binary": np.sign(rng.normal(size=500)), "count": rng.poisson(2.0, size=500) * 1.0}.get(
        loss.labels, rng.normal(size=500)
    )
    lo = rng.normal(size=500) * 3.0
    hi = lo + rng.exponential(size=500)
    floor = loss.curvature_floor(y, lo, hi)
    for share in np.linspace(0.0, 1.0, 21):
        assert np.all(floor <= loss.curvature(y, lo + share * (hi - lo)) * (1.0 + 1e-12))


@pytest.mark.parametrize("penalty", PENALTIES, ids=combination_name)
def test_blocks_vanish_below_their_level_and_only_there(penalty: Penalty) -> None:
    rng = np.random.default_rng(1)
    blocks = penalty.zero_blocks(D)
    for v in rng.normal(size=(20, D)) * 2.0:
        w = penalty.conjugate_gradient(v)
        if w is not None:  # Fenchel-Young holds with equality
            assert penalty.value(w) + penalty.conjugate(v) == pytest.approx(w @ v, abs=1e-12)
        if blocks is not None:
            index, levels = blocks
            norms = np.sqrt(np.bincount(index, v**2))
            is_zero = np.bincount(index, np.abs(penalty.prox(v, 1.0))) == 0.0
            assert np.array_equal(is_zero, norms <= levels)


# -- rounding, against exact arithmetic ------------------------------------------------------


def exact_solution(A: Array, right: Array) -> list[Fraction]:
    """Gauss-Jordan elimination in rational numbers."""
    rows = [[Fraction(float(x)) for x in (*row, end)] for row, end in zip(A, right, strict=True)]
    for i in range(len(rows)):
        pivot = next(r for r in range(i, len(rows)) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(len(rows)):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


@pytest.mark.parametrize("seed", range(5))
def test_the_intervals_of_a_vertex_hold_its_exact_coordinates(seed: int) -> None:
    """A quantile regression ends at a vertex, which rational arithmetic knows exactly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 5)) * 10.0 ** rng.integers(-3, 4, size=5)
    y = X @ rng.normal(size=5) + rng.normal(size=40)
    found = cml.QuantileRegression(X, y, 0.4, 1e-3).solve(tol=1e-9).certified_support()
    assert found.unique.answer == "yes"
    kept = np.flatnonzero(found.coordinates != "zero")
    fitted = np.flatnonzero(found.samples == "free")
    assert len(fitted) == len(kept) + 1
    vertex = exact_solution(
        np.hstack([X[np.ix_(fitted, kept)], np.ones((len(fitted), 1))]), y[fitted]
    )
    ends = zip(found.w_interval, found.b_interval, strict=True)
    low, high = (np.append(end[kept], b) for end, b in ends)
    for k, value in enumerate(vertex):
        assert Fraction(float(low[k])) <= value <= Fraction(float(high[k]))
        assert high[k] - low[k] <= 1e-6 * abs(float(value))
