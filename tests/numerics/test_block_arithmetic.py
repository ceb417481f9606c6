"""Arithmetic on blocks of rows: visits, what is kept and sent, sums of one tree, float32."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import cloudpickle
import numpy as np
import pytest
from scipy import sparse
from support.models.in_blocks import MODELS, NAMED, Data

import convexml as cml
from convexml import data
from convexml.data.cluster import added, shared_out
from convexml.data.executor import tree_sum
from convexml.errors import InputError
from convexml.solvers.first_order import admm as consensus
from convexml.solvers.registry import ALGORITHMS

RNG = np.random.default_rng(7)
X = RNG.standard_normal((60, 3))
U = RNG.standard_normal(60)
CUTS = [10, 11, 40]


def of(values: Any, executor: data.Here) -> data.BlockArray:
    return data.BlockArray(executor.placed(np.split(values, CUTS)), executor)


def design(executor: data.Here) -> data.BlockedDesign:
    return data.BlockedDesign.of([data.as_design(part) for part in np.split(X, CUTS)], executor)


# -- visits ----------------------------------------------------------------------------------------


def test_sums_are_one_visit_and_what_is_held_is_not_computed_again() -> None:
    here = data.Here()
    blocked = design(here)
    z = blocked.matvec(np.ones(3))
    loss = np.exp(-z) + z * z
    assert blocked.visits.count == 0
    assert loss.sum() == pytest.approx(np.sum(np.exp(-X.sum(axis=1)) + X.sum(axis=1) ** 2))
    assert blocked.visits.count == 1
    np.testing.assert_allclose(np.concatenate(z.blocks()), X.sum(axis=1))
    assert blocked.visits.count == 1  # z was held: it was kept in the visit of the sum
    other = design(here)
    u = np.tanh(other.matvec(np.ones(3)))
    pull, gram = other._asked("rmatvec", u), other._asked("gram")
    data.together(pull, gram)
    np.testing.assert_allclose(here.total(pull.parts), X.T @ np.tanh(X.sum(axis=1)))
    np.testing.assert_allclose(here.total(gram.parts), X.T @ X)
    assert other.visits.count == 1


def test_what_is_written_to_an_array_does_not_reach_what_was_noted_down_before() -> None:
    values = of(U, data.Here())
    twice, other = 2.0 * values, values.copy()
    values += 1.0
    values[values > 0.0] = 0.0
    np.testing.assert_array_equal(np.concatenate(twice.blocks()), 2.0 * U)
    np.testing.assert_array_equal(np.concatenate(other.blocks()), U)
    np.testing.assert_array_equal(np.concatenate(values.blocks()), np.minimum(U + 1.0, 0.0))


def test_vectors_beyond_the_memory_lie_in_files_that_go_with_them() -> None:
    values = RNG.standard_normal(40_000)  # 20,000 numbers a block: above what is not counted
    here = data.Here(memory=200_000.0)
    blocks = data.BlockArray(here.placed(np.split(values, 2)), here)
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


def test_threads_and_files_change_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.sign(X @ [1.0, -1.0, 0.5] + RNG.standard_normal(60) * 0.1)
    pieces = list(zip(np.split(X, CUTS), np.split(y, CUTS), strict=True))
    calm, hurried = data.Here(threads=1), data.Here(memory=0.0, threads=3)
    found = []
    for executor in (calm, hurried):
        if executor is hurried:  # every block is worth a thread, and every vector a file
            monkeypatch.setattr("convexml.data.executor.WORTHWHILE", -1.0)
            monkeypatch.setattr("convexml.data.executor.SMALL", -1)
        blocks = cml.RowBlocks(pieces)
        blocks.executor = executor
        found.append(cml.LogisticRegression(blocks, lam=0.1).solve(tol=1e-10))
    assert calm.keeper.folder is None
    assert hurried.keeper.folder is not None
    assert found[0].certificate.gap == found[1].certificate.gap
    np.testing.assert_array_equal(found[0].primal["w"], found[1].primal["w"])


# -- sums of one tree ------------------------------------------------------------------------------

COUNTS = [1, 2, 3, 5, 7, 8, 50, 97]


@pytest.mark.parametrize("groups", [1, 2, 3, 8])
def test_partial_sums_in_any_order_end_at_the_sum_of_the_tree(groups: int) -> None:
    for count in COUNTS:
        values = RNG.standard_normal(count) * 10.0 ** RNG.integers(-8, 8, count)
        shares = shared_out(count, groups)
        assert shares == sorted(shares)
        sizes = np.bincount(shares)
        assert len(sizes) == min(count, groups)
        assert sizes.min() >= 0.75 * count / len(sizes) - 1
        assert sizes.max() <= 1.25 * count / len(sizes) + 1
        for own in (RNG.integers(0, groups, count), np.array(shares)):
            sums = [
                added({(0, k): values[k] for k in np.flatnonzero(own == home)}, count)
                for home in range(groups)
            ]
            known: dict[tuple[int, int], float] = {}
            for k in RNG.permutation(groups):
                known = added(known | sums[k], count)
            [total] = known.values()
            assert total == tree_sum(values)
    other = np.array([1.0, 1e16, -1e16, 1.0])
    assert tree_sum(other) != sum(other)  # another order would be noticed


# -- single precision, against whole numbers, which are exact --------------------------------------

N, D = 5000, 40
WHOLE = RNG.integers(-50, 50, (N, D))
W, V, H = RNG.integers(-9, 9, D), RNG.integers(-9, 9, N), RNG.integers(0, 4, N) ** 2
TWO = np.stack([V, H], axis=1)
SINGLE = data.SingleDesign(WHOLE.astype(np.float32))
ONES = np.column_stack([WHOLE, np.ones(N, dtype=int)])
EXACT: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "matvec": (WHOLE @ W, (W,)),
    "rmatvec": (WHOLE.T @ TWO, (TWO,)),
    "abs_matvec": (np.abs(WHOLE) @ np.abs(W), (W,)),
    "abs_rmatvec": (np.abs(WHOLE).T @ np.abs(V), (V,)),
    "gram": (WHOLE.T @ (WHOLE * H[:, None]), (H,)),
    "bordered_gram": (ONES.T @ (ONES * H[:, None]), (H,)),
    "column_squares": ((WHOLE**2).T @ H, (H,)),
    "squares_in": (((2 * WHOLE) ** 2).sum(axis=0), (np.full(D, 2),)),
    "row_squares": ((WHOLE**2).sum(axis=1), ()),
    "column_counts": (np.full(D, N), ()),
    "dense": (WHOLE, ()),
}


@pytest.mark.parametrize("method", EXACT)
def test_products_are_exact_where_float64_holds_them(method: str) -> None:
    expected, arguments = EXACT[method]
    found = getattr(SINGLE, method)(*(np.asarray(x, dtype=float) for x in arguments))
    assert np.array_equal(found, expected)
    assert np.asarray(found).dtype == (int if method == "column_counts" else float)


def test_a_sum_is_off_by_no_more_than_its_chain_of_additions_allows() -> None:
    rows = RNG.standard_normal((N, 3)).astype(np.float32)
    single, u = data.SingleDesign(rows), RNG.standard_normal(N)
    eps, found = Fraction(1, 2**53), single.rmatvec(u)
    assert single.chain < N
    for j in range(3):
        terms = [Fraction(float(a)) * Fraction(t) for a, t in zip(rows[:, j], u, strict=True)]
        allowed = (single.chain + 1) * eps * sum(map(abs, terms))
        assert abs(Fraction(float(found[j])) - sum(terms)) <= allowed


# -- consensus ADMM and SAGA -----------------------------------------------------------------------

DATA, WIDE, FEW = Data.drawn(160, 6), Data.drawn(40, 90), [1, 4, 60, 60, 159]


def steps(problem: Any, solver: str, count: int, **options: Any) -> list[Any]:
    """The first iterates, from seed 5."""
    objective = problem.objective_parts
    run = ALGORITHMS[solver].start(objective, np.zeros(objective.d), 0.0, 5, options)
    return list(islice(run, count))


def test_blocks_cut_alike_take_the_same_steps_in_memory_and_where_they_lie() -> None:
    case, cuts = NAMED["logistic l1"], [10, 20, 30]  # fewer rows than columns
    known = steps(case.of(WIDE), "admm", 12, blocks=4)
    one, two = (steps(case.in_blocks(WIDE, cuts), "admm", 12) for _ in range(2))
    for at, again, expected in zip(one[1:], two[1:], known[1:], strict=True):
        assert np.array_equal(at.w, again.w)
        np.testing.assert_allclose(at.w, expected.w, rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(data.in_memory(at.u), expected.u, rtol=0.0, atol=1e-11)
        assert at.facts["rho"] == expected.facts["rho"]


def test_what_admm_and_saga_cannot_do_over_blocks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = NAMED["lasso"].in_blocks(DATA, FEW)
    with pytest.raises(InputError, match=r"rows lie in 5 blocks.* leave out blocks, got 3"):
        problem.solve("admm", blocks=3)
    audit = problem.solve("admm", max_iter=3).rate_audit()
    assert "the copies stay with their blocks" in str(audit)
    saga = NAMED["ridge"].in_blocks(DATA, FEW).solve("saga", max_iter=1)
    assert "samples are not drawn from all of them" in str(saga.rate_audit(seeds=2))
    monkeypatch.setattr(consensus, "LARGEST", 3)
    with pytest.raises(InputError, match=r"block 2 has 56 rows .*blocks of at most 3 rows"):
        problem.solve("admm")


def by_hand(X: Any, y: Any, c: Any, level: float, eta: float) -> Iterator[Any]:
    """Block after block, in another order each time, as many draws of each as it has samples."""
    n, rng = len(y), np.random.default_rng(5)
    A, blocks = np.column_stack([X, np.ones(n)]), np.split(np.arange(n), FEW)
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
    rows = DATA.X * (np.abs(DATA.X) > 1.5)
    weights, y = 0.5 + np.random.default_rng(3).integers(0, 3, 160), DATA.targets["real"]
    arrays = [np.split(each, FEW) for each in (rows, y, weights)]
    blocks = [(kind(part), *more) for part, *more in zip(*arrays, strict=True)]
    found = steps(cml.Lasso(cml.RowBlocks(blocks), lam=0.1), "saga", 4, step=0.02)
    assert len(found[-1].u.lengths) == 5  # an empty block is left out
    expected = by_hand(rows, y, weights / weights.sum(), 0.1, 0.02)
    for one, (x, u) in zip(found, expected, strict=False):
        np.testing.assert_allclose(np.append(one.w, one.b), x, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(data.in_memory(one.u), u, rtol=1e-10, atol=1e-12)


# -- what travels ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Elsewhere:
    value: Any


class Weighed:
    """Computes on blocks as if they were elsewhere, and weighs what would travel."""

    is_full = False

    def __init__(self) -> None:
        self.weights: list[int] = []

    def weigh(self, thing: Any) -> None:
        self.weights.append(len(cloudpickle.dumps(thing)))

    def map(
        self, function: Callable[..., tuple[Any, ...]], columns: Sequence[Sequence[Any]], count: int
    ) -> list[list[Any]]:
        self.weigh(function)
        results = []
        for row in zip(*columns, strict=True):
            for each in row:
                if not isinstance(each, Elsewhere):
                    self.weigh(each)
            found = function(*(a.value if isinstance(a, Elsewhere) else a for a in row))
            results.append([Elsewhere(value) for value in found])
        return [list(each) for each in zip(*results, strict=True)]

    def placed(self, values: Iterable[Any]) -> list[Any]:
        given = list(values)
        for each in given:
            self.weigh(each)
        return [Elsewhere(value) for value in given]

    def values(self, handles: Sequence[Any]) -> list[Any]:
        for handle in handles:
            self.weigh(handle.value)
        return [handle.value for handle in handles]

    def total(self, handles: Sequence[Any]) -> Any:
        found = tree_sum(handle.value for handle in handles)
        self.weigh(found)
        return found


GATHERED = (
    "convexml.data.array.FEW",
    "convexml.problem.objective.MANY",
    "convexml.certificates.uniqueness.SMALL",
    "convexml.certificates.learning.unpenalised.EXACTLY",
)
"""Up to so many numbers are brought together, however many there are."""


@pytest.mark.parametrize("name", [
    "logistic l2",
    "least squares",
    *(pytest.param(k, marks=pytest.mark.slow) for k in ("SVM", "lasso")),
])  # fmt: skip
def test_no_vector_of_n_numbers_leaves_its_blocks(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    weighed, case, given = Weighed(), MODELS[name], Data.drawn(4000, 4)
    monkeypatch.setattr("convexml.models.row_blocks.active_executor", lambda: weighed)
    for limit in GATHERED:
        monkeypatch.setattr(limit, 150)
    arrays = [np.split(a, [1000, 2000, 3000]) for a in (given.X, given.targets[case.target])]
    loaders = [lambda piece=piece: piece for piece in zip(*arrays, strict=True)]
    problem = case.pose(cml.RowBlocks(loaders))
    weighed.weights.clear()  # what is passed is sent
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    w, b = solution.primal["w"], solution.primal["b"]
    for u in (None, solution.dual["u"]):
        assert problem.certify(w, b, u=u, tol=1e-9).verdict is cml.Verdict.CERTIFIED
    assert max(weighed.weights) < 8 * 1000  # bytes that a block has of a vector
    assert len(np.concatenate(list(solution.dual["u"]))) == 4000
    assert max(weighed.weights) > 8 * 1000
