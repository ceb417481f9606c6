"""Sums of whole numbers of 53 digits are exact, as integers and as floats, however long."""

import math
from fractions import Fraction

import numpy as np
import pytest

from convexml.certificates.algebra import rationals
from convexml.certificates.algebra.rationals import exact_sum
from convexml.certificates.rounding import balanced

TOP = 2**53


@pytest.mark.parametrize("n", [1, 7, 1001, 20_000])
@pytest.mark.parametrize("many", [10, 2**25])
def test_sums_are_those_of_integers(n: int, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rationals, "MANY", many)
    rng = np.random.default_rng(n)
    for low in (-TOP, TOP - 10):  # plain sums in floats, or in 64 digits, would not do
        k = rng.integers(low, TOP + 1, n)
        assert exact_sum(k) == exact_sum(k.astype(float)) == sum(k.tolist())


def test_what_a_long_vector_lacks_is_shared_by_all_that_have_room() -> None:
    rng = np.random.default_rng(0)
    u = rng.normal(size=5001)
    u -= u.mean()
    free = balanced(u, -np.inf, np.inf)
    boxed = balanced(u, np.full(5001, -9.0), np.full(5001, 9.0))
    tight = balanced(u, np.minimum(u, 0.0), np.maximum(u, 0.0))  # each is at an end
    for found in (free, boxed, tight):
        assert found is not None
        grid = 2.0**-60
        assert sum(int(x / grid) for x in found.tolist()) == 0
        assert np.max(np.abs(found - u)) <= 1e-12
    assert np.all((tight - np.minimum(u, 0.0) >= 0.0) & (tight - np.maximum(u, 0.0) <= 0.0))


def test_what_is_inside_its_box_takes_up_what_is_missing() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        size = rng.integers(1, 9, size=24) / 8.0
        u = np.append(size[:10], -size[:10])
        u = np.append(u, rng.uniform(-0.1, 0.1, size=4))
        u[-1] -= math.fsum(u) + rng.normal() * 1e-13
        size[10:20], size[20:] = size[:10], 1.0
        found = balanced(u, -size, size)
        assert found is not None
        assert sum(map(Fraction, found.tolist())) == 0
        assert np.array_equal(found[:20], u[:20])
        assert np.abs(found - u).max() <= 1e-12
