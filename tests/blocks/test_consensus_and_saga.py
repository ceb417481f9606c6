"""Solvers for more columns than a Gram matrix holds, over row blocks: consensus ADMM and SAGA."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.models.in_blocks import NAMED, Data

import convexml as cml
from convexml.blocks import Here, in_memory
from convexml.design import BlockedDesign, ScaledDesign, as_design
from convexml.errors import InputError
from convexml.solvers.first_order import consensus
from convexml.solvers.registry import ALGORITHMS
from convexml.theory.spectrum import row_squares

DATA = Data.drawn(160, 6)
CUTS = [1, 4, 60, 60, 159]
WEIGHTS = np.random.default_rng(3).integers(0, 3, 160).astype(float)
WIDE = Data.drawn(40, 90)


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("lasso", "admm"),
        ("SVM", "admm"),
        pytest.param("logistic l1", "saga", marks=pytest.mark.slow),
        ("Huber", "saga"),
    ],
)
def test_over_blocks_they_end_where_others_do(name: str, solver: str) -> None:
    whole = NAMED[name].of(DATA, sample_weight=WEIGHTS).solve(tol=1e-10)
    solution = NAMED[name].in_blocks(DATA, CUTS, WEIGHTS).solve(solver, tol=1e-7)
    assert (solution.status, solution.solver) == ("optimal", solver)
    assert solution.certificate.verdict is cml.Verdict.CERTIFIED
    assert solution.objective == pytest.approx(whole.objective, rel=2e-7)


def steps(problem: Any, solver: str, count: int, **options: Any) -> list[Any]:
    """The first iterates, from seed 5."""
    objective = problem.objective_parts
    run = ALGORITHMS[solver].start(objective, np.zeros(objective.d), 0.0, 5, options)
    return list(islice(run, count))


def test_blocks_cut_alike_take_the_same_steps_in_memory_and_where_they_lie() -> None:
    model, cuts = NAMED["logistic l1"], [10, 20, 30]  # fewer rows than columns
    known = steps(model.of(WIDE), "admm", 30, blocks=4)
    for found in (steps(model.in_blocks(WIDE, cuts), "admm", 30) for _ in range(2)):
        for one, other in zip(found[1:], known[1:], strict=True):
            np.testing.assert_allclose(one.w, other.w, rtol=0.0, atol=1e-11)
            np.testing.assert_allclose(in_memory(one.u), other.u, rtol=0.0, atol=1e-11)
            assert one.facts["rho"] == other.facts["rho"]
    again = steps(model.in_blocks(WIDE, cuts), "admm", 30)
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


# -- SAGA ------------------------------------------------------------------------------------------


def by_hand(X: Any, y: Any, c: Any, cuts: list[int], level: float, eta: float) -> Iterator[Any]:
    """Block after block, in another order each time, as many draws of each as it has samples."""
    n, rng = len(y), np.random.default_rng(5)
    A, blocks = np.column_stack([X, np.ones(n)]), np.split(np.arange(n), cuts)
    x, table = np.zeros(A.shape[1]), -n * c * y
    mean = A.T @ table / n
    while True:
        yield x, table / n
        for k in rng.permutation(np.flatnonzero([len(each) for each in blocks])):
            for i in blocks[k][rng.integers(len(blocks[k]), size=len(blocks[k]))]:
                change = n * c[i] * (A[i] @ x - y[i]) - table[i]
                x = x - eta * (mean + change * A[i])
                x[:-1] = np.sign(x[:-1]) * np.maximum(np.abs(x[:-1]) - eta * level, 0.0)
                mean = mean + change * A[i] / n
                table = table + change * (np.arange(n) == i)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_saga_draws_from_one_block_after_the_other(kind: Any) -> None:
    X = DATA.X * (np.abs(DATA.X) > 1.5)
    weights = 0.5 + WEIGHTS
    c = weights / weights.sum()
    y = DATA.targets["real"]
    arrays = [np.split(each, CUTS) for each in (X, y, weights)]
    blocks = [(kind(rows), *more) for rows, *more in zip(*arrays, strict=True)]
    found = steps(cml.Lasso(cml.RowBlocks(blocks), lam=0.1), "saga", 4, step=0.02)
    assert len(found[-1].u.lengths) == 5  # an empty block is left out
    for one, (x, u) in zip(found, by_hand(X, y, c, CUTS, 0.1, 0.02), strict=False):
        np.testing.assert_allclose(np.append(one.w, one.b), x, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(in_memory(one.u), u, rtol=1e-10, atol=1e-12)


def test_saga_on_one_block_is_saga_in_memory() -> None:
    model = NAMED["logistic l2"]
    pairs = zip(
        steps(model.in_blocks(DATA, []), "saga", 5), steps(model.of(DATA), "saga", 5), strict=True
    )
    for one, other in pairs:
        np.testing.assert_allclose(one.w, other.w, rtol=1e-12, atol=1e-14)
        assert one.facts == other.facts


def test_a_round_of_saga_is_one_visit_and_repeatable() -> None:
    pieces = list(zip(np.split(DATA.X, CUTS), np.split(DATA.targets["real"], CUTS), strict=True))
    runs = []
    for _ in range(2):
        blocks = cml.RowBlocks(pieces)
        objective = cml.Lasso(blocks, lam=0.1).objective_parts
        run = ALGORITHMS["saga"].start(objective, np.zeros(6), 0.0, 7, {})
        points, counts = zip(*((next(run), blocks.passes) for _ in range(4)), strict=True)
        np.testing.assert_array_equal(np.diff(counts), 1)
        runs.append([np.append(each.w, in_memory(each.u)) for each in points])
    np.testing.assert_array_equal(*runs)


def test_the_theorem_of_saga_says_nothing_of_draws_block_by_block() -> None:
    solution = NAMED["ridge"].in_blocks(DATA, CUTS).solve("saga", max_iter=1)
    assert "samples are not drawn from all of them" in str(solution.rate_audit(seeds=2))


def test_the_squares_of_rows_are_those_in_their_units() -> None:
    units = 2.0 ** np.arange(-2, 4)
    blocks = [as_design(part) for part in np.split(DATA.X.astype(np.float32), [50])]
    expected = ((DATA.X.astype(np.float32) * units) ** 2).sum(axis=1)
    for design in (as_design(DATA.X.astype(np.float32)), BlockedDesign.of(blocks, Here())):
        known = NAMED["ridge"].of(DATA, fit_intercept=False).objective_parts
        objective = replace(known, design=ScaledDesign(design, units))
        np.testing.assert_allclose(in_memory(row_squares(objective)), expected, rtol=1e-12)
