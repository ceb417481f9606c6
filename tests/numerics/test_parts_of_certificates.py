"""The certificate of several independent problems: sums, the worst part, and one judge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from convexml.certificates.certificate import Certificate, Verdict
from convexml.certificates.judge import bounded, judge
from convexml.formulas import worst
from convexml.sklearn.fitted import certify_parts

TOL = 1e-6


@dataclass(frozen=True)
class Known:
    """A part with a certificate that is given."""

    name: str
    found: Certificate

    @property
    def value(self) -> float:
        return self.found.primal_objective

    def certify(self, tol: float) -> Certificate:
        return self.found


def part(name: str, primal: float, gap: float, **facts: Any) -> Known:
    """A certified part, unless its gap or its facts say otherwise."""
    rows = [worst("a", "complementary_slackness", gap)]
    found = judge(bounded(primal, primal - gap, rows, TOL, scale=primal, **facts))
    return Known(name, found)


def test_sums_and_the_worst_part() -> None:
    parts = [part("one", 1e6, 0.5, rounding=0.25), part("two", 2.0, 1e-6)]
    found = certify_parts(parts, TOL)
    assert found.verdict is Verdict.CERTIFIED
    assert found.primal_objective == 1e6 + 2.0
    whole = 0.75 + parts[1].found.gap
    assert whole <= found.gap <= whole * (1.0 + 1e-14)  # rounded up
    assert found.rounding == 0.25
    assert found.relative_gap == pytest.approx(7.5e-7)
    assert found.scale == 1e6
    assert [row.name for row in found.conditions] == ["one: a", "two: a"]
    assert [row.scale for row in found.conditions] == [1e6, 2.0]  # of their own parts


def test_bounds_of_a_sum_are_rounded_up() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        parts = [part(str(k), 1.0, 10.0 ** rng.uniform(-12, -6)) for k in range(9)]
        parts = [Known(one.name, replace(one.found, proved_gap=one.found.gap)) for one in parts]
        found = certify_parts(parts, TOL)
        exactly = sum((Fraction(one.found.gap) for one in parts), Fraction(0))
        assert exactly <= Fraction(found.gap) <= exactly * (1 + Fraction(1, 10**14))
        assert found.proved_gap == found.gap


def test_a_sum_is_proved_if_all_of_it_is() -> None:
    one, two = part("one", 1.0, 1e-9), part("two", 1.0, 1e-9, unproved="why")
    one = Known("one", replace(one.found, proved_gap=one.found.gap))
    found = certify_parts([one, two], TOL)
    assert found.proved_gap == np.inf
    assert found.unproved == "two: why"


def test_a_small_part_cannot_hide_behind_a_large_one() -> None:
    found = certify_parts([part("large", 1e9, 0.0), part("small", 1.0, 1e-3)], TOL)
    assert found.verdict is Verdict.UNDECIDED
    assert found.reason.startswith("small: ")
    assert found.relative_gap == pytest.approx(1e-3)


def test_a_refuted_part_refutes_the_sum() -> None:
    wrong = part("wrong", 1.0, 0.5)
    wrong = Known(
        "wrong", replace(wrong.found, verdict=Verdict.REFUTED, reason="why", witness={"w": 1.0})
    )
    found = certify_parts([part("open", 1.0, 0.1), wrong, part("right", 1.0, 0.0)], TOL)
    assert (found.verdict, found.reason) == (Verdict.REFUTED, "wrong: why")
    assert found.witness == {"part": "wrong", "w": 1.0}
