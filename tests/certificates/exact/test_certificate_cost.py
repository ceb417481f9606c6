"""What a certificate asks of X: products, and one Gram matrix where columns are unpenalised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from convexml import Lasso, LearningProblem
from convexml.certificates import certify_objective
from convexml.certificates.learning.points import dual_repair
from convexml.design import DenseDesign, ScaledDesign, as_design
from convexml.losses import Huber, Logistic, Loss, Pinball, Poisson, Squared
from convexml.numerics import Array
from convexml.objective import Objective, frame_of
from convexml.penalties import L1, L2, Penalty, Zero

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

    def matvec(self, w: Array) -> Array:
        self._count("matvec")
        return super().matvec(w)

    def rmatvec(self, u: Array) -> Array:
        self._count("rmatvec")
        return super().rmatvec(u)

    def abs_matvec(self, w: Array) -> Array:
        self._count("abs_matvec")
        return super().abs_matvec(w)

    def abs_rmatvec(self, u: Array) -> Array:
        self._count("abs_rmatvec")
        return super().abs_rmatvec(u)

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

    def row_squares(self, weights: Array | None = None) -> Array:
        self._count("row_squares")
        return super().row_squares(weights)

    def dense(self) -> Array:
        self._count("dense")
        return super().dense()

    def columns(self, index: Array) -> CountingDesign:
        return self._part(self.array[:, index])

    def rows(self, index: Array) -> CountingDesign:
        self._count("rows")
        return self._part(self.array[index])

    def row_blocks(self, size: int) -> Iterator[tuple[slice, CountingDesign]]:
        for start in range(0, self.shape[0], size):
            block = slice(start, start + size)
            yield block, self._part(self.array[block])


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


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Poisson()], ids=repr)
@pytest.mark.parametrize("size", [1e-9, 1e-7, 1e-5])
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


def test_the_bordered_gram_is_that_of_x_and_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 3)) * (rng.random((2500, 3)) < 0.5)
    E = np.column_stack([X, np.ones(2500)])
    units = np.array([0.5, 4.0, 1.0])
    for weights in (None, rng.random(2500), (rng.random(2500) < 0.1).astype(float)):
        h = np.ones(2500) if weights is None else weights
        for design in (as_design(X), as_design(sparse.csr_array(X))):
            wanted = E.T @ (h[:, None] * E)
            np.testing.assert_allclose(design.bordered_gram(weights), wanted, atol=1e-10)
            np.testing.assert_allclose(design.gram(weights), wanted[:3, :3], atol=1e-10)
            both = np.append(units, 1.0)
            found = ScaledDesign(design, units).bordered_gram(weights)
            np.testing.assert_allclose(found, both[:, None] * wanted * both, atol=1e-9)


def test_a_dual_point_that_was_repaired_is_not_repaired_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repaired: Counter[str] = Counter()
    repair = dual_repair.restore_rows

    def counted(*arguments: Any) -> Any:
        repaired["u"] += 1
        return repair(*arguments)

    parts, w, b, u = solved(Squared(), L1(0.05))
    monkeypatch.setattr(dual_repair, "restore_rows", counted)
    seen = []
    for passed in (u, u, 2.0 * u, u):
        repaired.clear()
        certificate = certify_objective(parts, w, b, passed)
        seen.append((repaired["u"], certificate.dual_objective))
    assert [times for times, _ in seen] == [1, 0, 1, 1]
    assert seen[0] == seen[3] != seen[2]
    assert seen[1][1] == seen[0][1]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_only_a_loss_whose_conjugate_ends_has_a_box(loss: Loss) -> None:
    y = np.array([1.0, 1.0, 3.0])
    far = np.full(3, 1e6)
    ends = [np.isinf(loss.conjugate(y, far * side)).any() for side in (-1.0, 1.0)]
    targets = np.array([1.0, -1.0, 1.0]) if loss.labels == "binary" else y
    problem = LearningProblem(np.eye(3), targets, loss, L2(1.0))
    assert problem.objective_parts.is_unbounded == (not any(ends))


def test_a_lasso_repairs_a_dual_point_once_for_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    repaired: Counter[str] = Counter()
    balance = dual_repair.balanced

    def counted(*arguments: Any) -> Any:
        repaired["u"] += 1
        return balance(*arguments)

    monkeypatch.setattr(dual_repair, "balanced", counted)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(442, 10))
    solution = Lasso(X, X[:, 0] + rng.normal(size=442), 0.05).solve()
    assert solution.status == "optimal"
    # Clipped and scaled at each look; scaled once more, with a margin, by the certificate.
    assert repaired["u"] <= 2 * len(solution.trace) + 2
