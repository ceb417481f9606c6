"""Drawn problems of all families, judged at many points by exact numbers: no false verdict."""

from __future__ import annotations

import pytest
from support.draws.families import FAMILIES, assert_honest, judged

HONEST = {
    "learning: ordinary": (range(5), 5, 0.1),
    "learning: offsets": (range(3), 5, 0.1),
    "learning: units": (range(3), 5, 0.1),
    "learning: rank": (range(3), 5, 0.1),
    "linear: multipliers that may grow": (range(6), 5, 0.1),
    "linear: far points": (range(6), 5, 0.1),
    "linear: other units": (range(4), 5, 0.1),
    "linear: anything": (range(6), 5, 0.1),
    "CVXPY: regression": (range(1, 9, 2), 3, 0.01),  # the odd seeds are logistic
    "CVXPY: however tiny": (range(2), 3, 0.2),
    "CVXPY: open ended": (range(2), 3, 0.01),
    "CVXPY: rays": (range(2), 3, 0.01),
    "CVXPY: hardly curved": (range(2), 3, 0.01),
    "CVXPY: hyperbolas": (range(2), 3, 0.01),
    "CVXPY: multipliers without end": (range(2), 8, 0.0),
}
"""Seeds, points of each problem, and the least share that is certified."""


@pytest.mark.parametrize("name", HONEST)
def test_no_false_verdict(name: str) -> None:
    seeds, few, least = HONEST[name]
    tally = assert_honest(name, seeds, few)
    assert tally.judged > 2 * len(seeds)
    assert tally.counts["certified"] >= least * tally.judged
    if name.startswith("linear"):
        assert tally.counts["status inaccurate"] + tally.counts["status failed"] <= 1


DRAWS = {"learning": 60, "linear": 40, "CVXPY": 20}
"""By the first word of the family, at the seeds of benchmarks/judged_points.py --seed 2000."""
FIRST = 20_000_000_000


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_every_point_of_more_draws(name: str) -> None:
    tally = judged(name, range(FIRST, FIRST + DRAWS[name.split(":")[0]]))
    assert not tally.crimes, tally.crimes[:5]
