"""Solvers for more columns than a Gram matrix holds, over row blocks: consensus ADMM."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from support.models.in_blocks import NAMED, Data

import convexml as cml
from convexml.blocks import in_memory
from convexml.errors import InputError
from convexml.solvers.first_order import consensus
from convexml.solvers.registry import ALGORITHMS

DATA = Data.drawn(160, 6)
CUTS = [1, 4, 60, 60, 159]
WEIGHTS = np.random.default_rng(3).integers(0, 3, 160).astype(float)
WIDE = Data.drawn(40, 90)


@pytest.mark.parametrize("name", ["lasso", "logistic l2", "SVM"])
def test_admm_over_blocks_ends_where_others_do(name: str) -> None:
    whole = NAMED[name].of(DATA, sample_weight=WEIGHTS).solve(tol=1e-10)
    solution = NAMED[name].in_blocks(DATA, CUTS, WEIGHTS).solve("admm", tol=1e-7)
    assert (solution.status, solution.solver) == ("optimal", "admm")
    assert solution.certificate.verdict is cml.Verdict.CERTIFIED
    assert solution.objective == pytest.approx(whole.objective, rel=2e-7)


def steps(problem: Any, count: int, **options: Any) -> list[Any]:
    """The first iterates of admm."""
    objective = problem.objective_parts
    run = ALGORITHMS["admm"].start(objective, np.zeros(objective.d), 0.0, 0, options)
    return list(islice(run, count))


def test_blocks_cut_alike_take_the_same_steps_in_memory_and_where_they_lie() -> None:
    model, cuts = NAMED["logistic l1"], [10, 20, 30]  # fewer rows than columns
    known = steps(model.of(WIDE), 30, blocks=4)
    for found in (steps(model.in_blocks(WIDE, cuts), 30) for _ in range(2)):
        for one, other in zip(found[1:], known[1:], strict=True):
            np.testing.assert_allclose(one.w, other.w, rtol=0.0, atol=1e-11)
            np.testing.assert_allclose(in_memory(one.u), other.u, rtol=0.0, atol=1e-11)
            assert one.facts["rho"] == other.facts["rho"]
    again = steps(model.in_blocks(WIDE, cuts), 30)
    assert all(np.array_equal(one.w, other.w) for one, other in zip(again, found, strict=True))


def test_a_step_of_admm_visits_each_block_once() -> None:
    pieces = list(zip(np.split(DATA.X, CUTS), np.split(DATA.targets["real"], CUTS), strict=True))
    blocks = cml.RowBlocks(pieces)
    objective = cml.Lasso(blocks, lam=0.1).objective_parts
    rows = consensus.rows_of(objective, None)
    v = np.zeros(7)
    at, before = rows.begin(v), blocks.passes
    for k in range(1, 4):
        at, sums = rows.step(at, v, 0.5 * at.p)
        assert sums.shape == (9,)
        assert blocks.passes == before + k


def test_what_admm_cannot_do_over_blocks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = NAMED["lasso"].in_blocks(DATA, CUTS)
    with pytest.raises(InputError, match=r"rows lie in 5 blocks.* leave out blocks, got 3"):
        problem.solve("admm", blocks=3)
    audit = problem.solve("admm", max_iter=3).rate_audit()
    assert "the copies stay with their blocks" in str(audit)
    monkeypatch.setattr(consensus, "LARGEST", 3)
    with pytest.raises(InputError, match=r"block 2 has 56 rows .*blocks of at most 3 rows"):
        problem.solve("admm")
