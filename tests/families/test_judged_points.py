"""Some 10,000 judged points of all families: no crime. What the family tests sample.

``benchmarks/judged_points.py`` judges 100,000 and more.
"""

from __future__ import annotations

import pytest
from support.draws.families import FAMILIES, judged

DRAWS = {"learning": 60, "linear": 40, "CVXPY": 20}
"""By the first word of the family; some 13, 14 and 8 points each."""
FIRST = 20_000_000_000
"""The seeds of the benchmark with --seed 2000, beyond those of the other tests."""
BLOCK = 20


def blocks() -> list[tuple[str, int]]:
    """(family, first seed)."""
    return [
        (name, FIRST + first)
        for name in FAMILIES
        for first in range(0, DRAWS[name.split(":")[0]], BLOCK)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first"), blocks())
def test_no_crime(name: str, first: int) -> None:
    tally = judged(name, range(first, first + BLOCK))
    assert not tally.crimes, tally.crimes[:5]
