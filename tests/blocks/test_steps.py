"""Steps are noted down, computed in one visit, kept where somebody holds them, in files if many."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.blocks import BlockArray, Here, dear, rowwise, together
from convexml.design import BlockedDesign, as_design

RNG = np.random.default_rng(7)
X = RNG.standard_normal((60, 3))
U = RNG.standard_normal(60)


def of(values: Any, executor: Here) -> BlockArray:
    return BlockArray(executor.placed(np.split(values, [10, 11, 40])), executor)


def design(executor: Here) -> BlockedDesign:
    return BlockedDesign.of([as_design(part) for part in np.split(X, [10, 11, 40])], executor)


def test_all_that_a_sum_needs_is_one_visit_and_what_is_held_is_not_computed_again() -> None:
    here = Here()
    blocked = design(here)
    z = blocked.matvec(np.ones(3))
    loss = np.exp(-z) + z * z
    assert blocked.visits.count == 0
    assert loss.sum() == pytest.approx(np.sum(np.exp(-X.sum(axis=1)) + X.sum(axis=1) ** 2))
    assert blocked.visits.count == 1
    np.testing.assert_allclose(np.concatenate(z.blocks()), X.sum(axis=1))
    assert blocked.visits.count == 1  # z was held: it was kept in the visit of the sum


def test_several_sums_are_asked_in_one_visit() -> None:
    here = Here()
    blocked = design(here)
    u = np.tanh(blocked.matvec(np.ones(3)))
    pull, gram = blocked._asked("rmatvec", u), blocked._asked("gram")
    together(pull, gram)
    np.testing.assert_allclose(here.total(pull.parts), X.T @ np.tanh(X.sum(axis=1)))
    np.testing.assert_allclose(here.total(gram.parts), X.T @ X)
    assert blocked.visits.count == 1


def test_what_is_written_to_an_array_does_not_reach_what_was_noted_down_before() -> None:
    values = of(U, Here())
    twice, other = 2.0 * values, values.copy()
    values += 1.0
    values[values > 0.0] = 0.0
    np.testing.assert_array_equal(np.concatenate(twice.blocks()), 2.0 * U)
    np.testing.assert_array_equal(np.concatenate(other.blocks()), U)
    np.testing.assert_array_equal(np.concatenate(values.blocks()), np.minimum(U + 1.0, 0.0))


def test_errors_of_arithmetic_are_told_as_where_it_was_written() -> None:
    zero = of(np.zeros(60), Here())
    with np.errstate(divide="ignore"):
        quiet = 1.0 / zero
    assert quiet.max() == np.inf
    with np.errstate(divide="raise"):
        loud = 1.0 / zero
    with pytest.raises(FloatingPointError):
        loud.max()


def test_vectors_beyond_the_memory_lie_in_files_that_go_with_them() -> None:
    values = RNG.standard_normal(40_000)  # 20,000 numbers a block: above what is not counted
    here = Here(memory=200_000.0)
    blocks = BlockArray(here.placed(np.split(values, 2)), here)
    more = np.exp(blocks)
    assert more.sum() == pytest.approx(np.exp(values).sum(), rel=1e-14)
    np.testing.assert_array_equal(np.concatenate(more.blocks()), np.exp(values))
    folder = here.keeper.folder
    assert folder is not None
    assert len(list(folder.iterdir())) == 3
    del blocks, more
    gc.collect()
    assert not list(folder.iterdir())
    assert here.keeper._bytes == 0


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_and_files_change_no_digit(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.sign(X @ [1.0, -1.0, 0.5] + RNG.standard_normal(60) * 0.1)
    pieces = list(zip(np.split(X, [10, 11, 40]), np.split(y, [10, 11, 40]), strict=True))
    calm, hurried = Here(threads=1), Here(memory=0.0, threads=threads)
    found = []
    for executor in (calm, hurried):
        if executor is hurried:  # every block is worth a thread, and every vector a file
            monkeypatch.setattr("convexml.blocks.executor.WORTHWHILE", -1.0)
            monkeypatch.setattr("convexml.blocks.keeping.SMALL", -1)
        blocks = cml.RowBlocks(pieces)
        blocks.executor = executor
        found.append(cml.LogisticRegression(blocks, lam=0.1).solve(tol=1e-10))
    assert calm.keeper.folder is None
    assert hurried.keeper.folder is not None
    assert found[0].certificate.gap == found[1].certificate.gap
    np.testing.assert_array_equal(found[0].primal["w"], found[1].primal["w"])


def test_sums_and_both_ends_are_asked_once_of_numbers_that_do_not_change() -> None:
    looks: list[int] = []

    def seen(part: Any) -> Any:
        looks.append(len(part))
        return part.copy()

    values = of(U, Here())
    found = values.mapped(seen)
    assert found.max() == U.max()
    assert found.min() == U.min()
    assert found.max(initial=0.0) == max(U.max(), 0.0)
    assert found.sum() == found.sum() == pytest.approx(U.sum())
    assert len(looks) == 4
    found += 1.0
    assert found.sum() == pytest.approx(U.sum() + 60.0)
    assert found.min() == U.min() + 1.0


def test_ends_of_what_is_no_number_are_none() -> None:
    values = of(np.where(np.arange(60) == 30, np.nan, U), Here())
    assert np.isnan(values.max())
    assert np.isnan(values.min())


@rowwise
def cheap(x: Any) -> Any:
    return CALLS.append(len(x)) or x + 1.0


@rowwise
@dear
def long(x: Any) -> Any:
    return CALLS.append(len(x)) or x + 1.0


CALLS: list[int] = []


@pytest.mark.parametrize(("function", "times"), [(cheap, 2), (long, 1)])
def test_what_is_dear_is_kept_though_memory_is_full(function: Any, times: int) -> None:
    big = np.arange(40_000.0)
    here = Here(memory=2.0 * big.nbytes, threads=1)
    values = BlockArray(here.placed(np.split(big, 4)), here)
    filling = BlockArray(here.placed([big]), here)
    assert here.is_full
    CALLS.clear()
    found = function(values)
    assert found.sum() == np.sum(big + 1.0)
    assert (found * found).sum() == np.sum((big + 1.0) ** 2)
    assert CALLS.count(10_000) == 4 * times
    assert len(filling.blocks()) == 1
