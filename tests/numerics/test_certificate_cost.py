"""What a certificate asks of X: products, and one Gram matrix where columns are unpenalised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from convexml import LearningProblem
from convexml.certificates import certify_objective
from convexml.data import DenseDesign
from convexml.losses import Huber, Logistic, Loss, Pinball, Poisson, Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2, Penalty, Zero
from convexml.problem import Objective, frame_of

ROWS, COLUMNS = 6000, 30
LOSSES = (Squared(), Logistic(), Huber(1.0), Pinball(0.3), Poisson())
IN_W_ALONE = (Squared, Huber, Poisson)
"""Losses that say their slope: the gradient of P at w is a row, and a product unless u is it."""
NEARLY_NONE = 0.2  # of a product: a few rows, to see where the columns are


@dataclass(frozen=True, eq=False)
class CountingDesign(DenseDesign):
    """Counts the entries that each kind of product passes over, in units of all entries."""

    whole: int = 1
    seen: Counter[str] = field(default_factory=Counter)

    def _count(self, name: str) -> None:
        self.seen[name] += self.array.size / self.whole  # type: ignore[assignment]

    def _part(self, array: Array) -> CountingDesign:
        return CountingDesign(array, whole=self.whole, seen=self.seen)

    def _count_gram(self, weights: Array | None) -> None:
        used = 1.0 if weights is None else float(np.mean(weights != 0.0))
        self.seen["gram"] += used * self.array.size / self.whole  # type: ignore[assignment]

    def gram(self, weights: Array | None = None) -> Array:
        self._count_gram(weights)
        return super().gram(weights)

    def bordered_gram(self, weights: Array | None = None) -> Array:
        self._count_gram(weights)
        return super().bordered_gram(weights)

    def _weighted_squares(self, weights: Array) -> Array:
        self._count("column_squares")  # those of equal weights are kept
        return super()._weighted_squares(weights)

    def columns(self, index: Array) -> CountingDesign:
        return self._part(self.array[:, index])

    def rows(self, index: Array) -> CountingDesign:
        self._count("rows")
        return self._part(self.array[index])

    def row_blocks(self, size: int) -> Iterator[tuple[slice, CountingDesign]]:
        for start in range(0, self.shape[0], size):
            block = slice(start, start + size)
            yield block, self._part(self.array[block])


def counted(name: str) -> Any:
    """A product of the design that counts as one pass over its entries."""

    def product(self: CountingDesign, *given: Any) -> Any:
        self._count(name)
        return getattr(DenseDesign, name)(self, *given)

    return product


for _name in ("matvec", "rmatvec", "abs_matvec", "abs_rmatvec", "row_squares", "dense"):
    setattr(CountingDesign, _name, counted(_name))


def solved(loss: Loss, penalty: Penalty) -> tuple[Objective, Array, float, Array]:
    """An objective whose design counts, and its solution."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(ROWS, COLUMNS))
    z = X @ rng.normal(size=COLUMNS) / np.sqrt(COLUMNS)
    y = {
        "binary": np.where(z > rng.normal(size=ROWS), 1.0, -1.0),
        "count": rng.poisson(np.exp(0.5 * z)).astype(float),
    }.get(loss.labels, z + rng.normal(size=ROWS))
    problem = LearningProblem(X, y, loss, penalty)
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    parts = replace(problem.objective_parts, design=CountingDesign(X, whole=X.size))
    return parts, solution.primal["w"], float(solution.primal["b"]), solution.dual["u"]


def costs(parts: Objective, w: Array, b: float, u: Array) -> tuple[float, float]:
    """(products, Gram matrices) of one certificate, which must be CERTIFIED."""
    seen = parts.design.seen  # type: ignore[attr-defined]
    seen.clear()
    for last in ("_last_scores", "_last_product"):  # as of a point that nobody has asked for yet
        vars(parts.design).pop(last, None)
    for last in ("_last_repaired", "_last_point"):
        vars(frame_of(parts, always=True).objective).pop(last, None)
    certificate = certify_objective(parts, w, b, u)
    assert str(certificate.verdict) == "certified"
    assert certificate.proved_gap == certificate.gap < np.inf  # the proof costs nothing more
    return sum(seen.values()) - seen["gram"], seen["gram"]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_one_product_each_way_and_a_gram_of_some_rows_of_unpenalised_columns(loss: Loss) -> None:
    for penalty, grams in ((L2(0.1), 0.0), (Zero(), 0.5)):
        parts, w, b, u = solved(loss, penalty)
        first, matrices = costs(parts, w, b, u)  # the norms of the columns as well
        assert first <= 5.0
        assert matrices <= grams
        later, matrices = costs(parts, w, b, u)
        most = 3.0 if isinstance(loss, IN_W_ALONE) else 2.0
        assert 2.0 <= later <= most + NEARLY_NONE
        assert matrices <= grams


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
@pytest.mark.parametrize("size", [1e-9, 1e-5])
def test_a_dual_point_that_needs_a_correction_shares_its_gram_with_the_price(
    loss: Loss, size: float
) -> None:
    parts, w, b, u = solved(loss, Zero())
    u = u * (1.0 + size * np.random.default_rng(2).normal(size=ROWS))
    costs(parts, w, b, u)
    products, matrices = costs(parts, w, b, u)
    assert products <= 5.0
    assert matrices == 1.0


def test_a_point_that_was_asked_for_last_costs_no_product_again() -> None:
    parts, w, b, u = solved(Squared(), L1(0.05))
    first = certify_objective(parts, w, b, u)
    seen = parts.design.seen  # type: ignore[attr-defined]
    seen.clear()
    again = certify_objective(parts, w, b, u)
    assert (again.gap, again.dual_objective) == (first.gap, first.dual_objective)
    assert not seen


def test_a_lasso_pays_for_no_absolute_products() -> None:
    parts, w, b, u = solved(Squared(), L1(0.05))
    costs(parts, w, b, u)
    assert costs(parts, w, b, u) == (2.0, 0.0)
