"""Values of problems posed in CVXPY, judged against the exact optimum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import convexml as cml
from convexml import Verdict
from support.draws.conic_draws import Conic, Random
from support.exact.exact_judging import CRASH, FALSE_ABSENCE, Tally
from support.exact.exact_numbers import row


def points(rng: Random, drawn: Conic) -> Iterator[str]:
    """Set values and dual values of the problem, one after the other; yield what was set."""
    x, duals = drawn.x, [d for c in drawn.problem.constraints for d in c.dual_variables]
    solved = x.value is not None
    start = np.array(x.value, dtype=float) if solved else np.zeros(x.shape)
    kept = [None if d.value is None else np.array(d.value, dtype=float) for d in duals]

    def put(value: np.ndarray, share: float | None = 1.0, noise: float = 0.0) -> None:
        x.save_value(np.asarray(value, dtype=float).reshape(x.shape))
        for leaf, old in zip(duals, kept, strict=True):
            if share is None or old is None:
                leaf.save_value(None)
                continue
            leaf.save_value(share * (old + noise * rng.choice([0.0, 1.0], old.shape)))

    if solved:
        put(start)
        yield "solved"
    if drawn.best is not None:
        start = drawn.best
        put(start)
        yield "the optimum"
        put(start, None)
        yield "the optimum, no duals"
    step = 10.0 ** rng.uniform(-14, 1)
    size = np.maximum(np.abs(start), 1e-3 * np.max(np.abs(start), initial=1e-3))
    put(start + step * size * rng.normal(size=x.shape))
    yield "near"
    put(start, 1.0, 10.0 ** rng.uniform(-6, 15))
    yield "multipliers moved"
    put(start, 2.0 ** rng.integers(-4, 40))
    yield "multipliers scaled"
    put(start * 10.0 ** rng.uniform(-3, 12))
    yield "far"


def judge_conic(
    rng: Random, drawn: Conic, where: str, tol: float = 1e-6, few: int | None = None
) -> Tally:
    """``cml.solve``, then ``cml.certify`` of many values, compared with the exact optimum."""
    tally, truth = Tally(), drawn.truth
    try:
        found = cml.solve(drawn.problem, tol=tol)
    except Exception as error:
        tally.blame(CRASH, f"{where}: solve: {type(error).__name__}: {error}")
        return tally
    if found.claim != "optimal" or drawn.x.value is None:
        tally.judged += 1
        tally.counts[str(found.verdict)] += 1
        if found.verdict is Verdict.CERTIFIED and found.claim != truth.status:
            tally.blame(FALSE_ABSENCE, f"{where}: {found!r}, truth {truth.status}")
    else:
        judge_values(tally, drawn, found, f"{where}, solve")
    drawn.problem._status = None
    for k, name in enumerate(points(rng, drawn)):
        if few is not None and k >= 2 and rng.random() > few / 8.0:
            continue
        try:
            found = cml.certify(drawn.problem, tol=tol)
        except Exception as error:
            tally.blame(CRASH, f"{where}, {name}: {type(error).__name__}: {error}")
            continue
        judge_values(tally, drawn, found, f"{where}, {name}")
    return tally


def judge_values(tally: Tally, drawn: Conic, found: Any, where: str) -> None:
    """Judge the certificate of the values that stand in the variable."""
    at = row(drawn.x.value)
    tally.point(found, drawn.truth, drawn.value(at), where, feasible=drawn.feasible(at))
