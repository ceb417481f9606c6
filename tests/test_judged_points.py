"""More than 100,000 judged points of all families: no crime. What the family tests sample."""

from __future__ import annotations

import pytest
from families import FAMILIES, judged

DRAWS = {"learning": 660, "linear": 600, "CVXPY": 340}
"""By the first word of the family; some 14, 15 and 8 points each."""
BLOCK = 20


def blocks() -> list[tuple[str, int]]:
    """(family, first seed), beyond the seeds of the other tests."""
    return [
        (name, 1000 + first)
        for name in FAMILIES
        for first in range(0, DRAWS[name.split(":")[0]], BLOCK)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first"), blocks())
def test_no_crime(name: str, first: int) -> None:
    tally = judged(name, range(first, first + BLOCK))
    assert not tally.crimes, tally.crimes[:5]
