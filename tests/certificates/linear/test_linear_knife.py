"""Linear programs whose dual is an interval of a few units in the last place, or just empty."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from convexml import LinearProgram


def drawn(seed: int) -> tuple[LinearProgram, bool]:
    """Minimise a x - b z where q z <= p x, and whether that is bounded: a q >= b p, exactly."""
    rng = np.random.default_rng(seed)
    p, q, a = (float(v) / 10.0 for v in rng.integers(1, 60, size=3))
    b = a * q / p
    b = float(np.nextafter(b, rng.choice([-1.0, 1.0]) * np.inf)) if rng.random() < 0.5 else b
    rows = [[0.0, -p, q]] + [[0.0] * 3] * int(rng.integers(0, 2))
    bounded = Fraction(a) * Fraction(q) >= Fraction(b) * Fraction(p)
    return LinearProgram([float(seed % 2), a, -b], rows, [0.0] * len(rows)), bounded


@pytest.mark.parametrize("block", [range(0, 100), range(100, 200)])
def test_bounded_ones_are_certified_and_no_others(block: range) -> None:
    seen = set()
    for seed in block:
        problem, bounded = drawn(seed)
        assert problem.certify([0.0] * 3).holds() == bounded, seed
        if bounded or True not in seen or False not in seen:
            status = problem.solve().status
            assert status == "optimal" if bounded else status in ("unbounded", "inaccurate"), seed
        seen.add(bounded)
    assert seen == {True, False}


def test_cases_that_were_found() -> None:
    rows = [[0.0, 0.0, 0.0], [0.0, -3.0, 0.9]]
    assert LinearProgram([0.0, 2.0, -0.6], rows, [0.0, 0.0]).solve().status == "optimal"
    rows = [[-3.0, 2.0, -0.6], [0.0, -3.0, 0.9], [0.0, 0.0, 0.0]]
    assert LinearProgram([1.0, 2.0, -0.6], rows, [0.0] * 3).solve().status == "optimal"
