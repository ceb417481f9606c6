"""Claims of absence, and multipliers that grow, compared with what is true of a drawn problem."""

from __future__ import annotations

import numpy as np

import convexml as cml
from convexml import Verdict
from support.draws.conic_draws import Conic, judge_conic, judge_values
from support.exact.exact_judging import CRASH, FALSE_ABSENCE, Tally

Random = np.random.Generator


def judge_claims(
    rng: Random, drawn: Conic, where: str, tol: float = 1e-6, few: int | None = None
) -> Tally:
    """``judge_conic``, and what ``cml.certify`` makes of every claim of absence."""
    tally = judge_conic(rng, drawn, where, tol, few)
    leaves = [leaf for c in drawn.problem.constraints for leaf in c.dual_variables]
    cases = [(claim, passed) for claim in ("infeasible", "unbounded") for passed in (False, True)]
    for claim, passed in cases if few is None else [cases[int(rng.integers(4))]]:
        drawn.x.save_value(None)
        for leaf in leaves:
            leaf.save_value(rng.integers(0, 4, leaf.shape) * 1.0 if passed else None)
        drawn.problem._status = claim
        try:
            found = cml.certify(drawn.problem, tol=tol)
        except Exception as error:
            tally.blame(CRASH, f"{where}, {claim}: {type(error).__name__}: {error}")
            continue
        tally.judged += 1
        tally.counts[str(found.verdict)] += 1
        if found.verdict is Verdict.CERTIFIED and found.claim != drawn.truth.status:
            tally.blame(FALSE_ABSENCE, f"{where}, {claim}: {found!r}")
    drawn.problem._status = None
    return tally


def judge_multipliers(
    rng: Random, drawn: Conic, where: str, tol: float = 1e-6, few: int | None = None
) -> Tally:
    """Points with multipliers that are any few steps beside one another, at 1e3 ... 1e18."""
    tally = Tally()
    if drawn.best is None:
        return tally
    leaves = [leaf for c in drawn.problem.constraints for leaf in c.dual_variables]
    for k in range(few or 8):
        K, step = 10.0 ** rng.uniform(3, 18), rng.choice([0.0, 0.5, 1.0, 3.0])
        at = drawn.best + (k % 4 > 0) * rng.integers(0, 3, drawn.best.shape)
        at = at * 10.0 ** rng.uniform(0, 12) if k % 4 == 3 else at
        drawn.x.save_value(at)
        for leaf in leaves:
            picked = rng.choice([0.0, 1.0, 1.0], leaf.shape)
            leaf.save_value(picked * (K + step * rng.integers(0, 3, leaf.shape)))
        try:
            found = cml.certify(drawn.problem, tol=tol)
        except Exception as error:
            tally.blame(CRASH, f"{where}, {k}: {type(error).__name__}: {error}")
            continue
        judge_values(tally, drawn, found, f"{where}, {k}")
    return tally
