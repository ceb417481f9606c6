"""Certificates of several classes: a weighted sum of problems, and what the data say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...conditions import Condition, worst
from ...numerics import EPS, Array
from ..certificate import Certificate
from ..judge import bounded, judge_sum


def summed(found: Sequence[tuple[str, float, Certificate]], tol: float) -> Certificate:
    """The certificate of sum_k share_k P_k, from a name, the share and a certificate each.

    P, D and the gap are sums; the relative gap is the worst of any, so that a class with a small
    share does not hide. ``dual`` has the "W" of all.
    """
    if not found:
        raise ValueError("summed: there is nothing to add.")

    def total(name: str) -> float:
        return float(sum(share * getattr(one, name) for _, share, one in found))

    up = 1.0 + (len(found) + 8) * EPS  # a sum of bounds is no less than they are
    judged = [(name, one) for name, _, one in found]
    worst_one = max((one for _, one in judged), key=lambda one: one.relative_gap)
    marked = [
        replace(row, name=": ".join(filter(None, (name, row.name))))
        for name, one in judged
        for row in one.conditions
    ]
    whole = bounded(
        total("primal_objective"),
        total("dual_objective"),
        marked,
        tol,
        scale=worst_one.scale,
        rounding=total("rounding"),
        dual={"W": np.array([one.dual["W"] for _, one in judged])},
        dual_source=worst_one.dual_source,
        repaired=max(one.repaired for _, one in judged),
    )
    gap, proved = up * total("gap"), up * total("proved_gap")
    whole = whole.but(gap=gap, proved_gap=proved, relative_gap=worst_one.relative_gap)
    if len(judged) == 1:
        one = judged[0][1]
        return whole.but(verdict=one.verdict, reason=one.reason, witness=one.witness)
    return judge_sum(whole, judged)


def data_row(name: str, held: Array, known: Array, size: Any) -> Condition:
    """What a point holds of the data must be what the data say."""
    return worst(name, "primal_feasibility", held - known, size, 8.0 * EPS * np.abs(known))
