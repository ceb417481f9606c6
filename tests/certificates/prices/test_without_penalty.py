"""A penalty that is nothing beside the data: the gap against an exact dual point, in rationals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from certificates.exact.test_proved_gap import draw, judged
from support.exact.exact_gap import Case
from support.exact.exact_numbers import ONE, ZERO, Row, below, dot, row, solve_consistent, table

WITHOUT = "constructed without the penalty"
SEEDS = [1, 5, 8, 13, 22, 32, 54, 58, 72, 99, 121, 145, 166, 177, 486, 502, 514]


def freed(case: Case, u: Row) -> Row | None:
    """U with X'u = 0 and 1'u = 0 exactly, moved by squared room at samples inside their box."""
    ends = [np.clip(end, -1e6, 1e6) for end in case.objective.dual_bounds()]
    lo, hi = (row(np.broadcast_to(end, len(u))) for end in ends)
    weight = [max(min(a - b, c - a), ZERO) ** 2 for a, b, c in zip(u, lo, hi, strict=True)]
    columns = [list(x) for x in zip(*table(case.X), strict=True)]
    columns += [[ONE] * len(u)] * case.intercept
    scaled = [[w * a for w, a in zip(weight, column, strict=True)] for column in columns]
    gram = [[dot(a, b) for b in columns] for a in scaled]
    step = solve_consistent(gram, [-dot(column, u) for column in columns])
    if step is None:
        return None
    return [a + dot(step, [line[i] for line in scaled]) for i, a in enumerate(u)]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_gap_without_the_penalty_is_never_below_the_true_one(seed: int) -> None:
    """P - D(u) of a u that needs no price, near to the one reported."""
    case, _ = draw(seed)
    name, lam, *rest = case.penalty
    case = replace(case, penalty=(name, 1e-40 * lam, *rest))
    solution = case.posed.solve(tol=1e-9)
    w, b = solution.primal["w"], solution.primal.get("b", 0.0)
    found = judged(case, w, b if case.intercept else 0.0)
    assert found.dual_source == WITHOUT
    u = freed(case, row(found.dual["u"]))
    assert u is not None
    bound = case.dual(u)
    assert bound.is_finite()
    assert below(case.primal(w, b if case.intercept else 0.0) - bound, found.proved_gap)
