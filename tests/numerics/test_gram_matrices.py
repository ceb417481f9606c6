"""Gram matrices that grow, factors of nearby supports, products that are remembered."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import linalg
from support.exact.exact_numbers import exact, row

import convexml as cml
from convexml.certificates.learning.repair import ColumnGram, product_error, repair_dual
from convexml.data import as_design
from convexml.losses import Squared
from convexml.penalties import L1
from convexml.problem import Objective
from convexml.solvers.coordinate.working_set import gram_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 200)) * (RNG.random((60, 200)) < 0.3) + 3.0
X[:, 7] = 0.1  # constant


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_the_gram_matrix_of_some_columns_is_right_about_its_centre(offset: float) -> None:
    """Against longer numbers; single precision has lost the centre of columns that are far."""
    rng = np.random.default_rng(6)
    X, c = rng.normal(size=(9_001, 5)) + offset, rng.random(9_001)
    for order in "CF":
        parts = cml.Lasso(np.asarray(X, order=order), X @ np.ones(5), 0.1, sample_weight=c)
        index, h = np.array([0, 3, 4]), parts.objective_parts.c.astype(np.longdouble)
        own = X[:, index].astype(np.longdouble)
        own = own - (h @ own) / h.sum()
        exact = (own * h[:, None]).T @ own
        off = np.abs(gram_of(parts.objective_parts, index) - exact).max()
        assert off <= max(1e-6, 1e-15 * offset**2)


COUNT, COLUMNS = 50, 220


def data(n: int = COUNT, d: int = COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 1))
    return X, X[:, :4] @ np.array([2.0, -1.0, 1.5, 0.7]) + 0.3 * rng.normal(size=n)


def test_a_remembered_product_is_used_only_within_its_error() -> None:
    X, y = data()
    rng = np.random.default_rng(3)
    for scale, times in product((0.0, 1e-17, 1e-14, 1e-9, 1e-3), (1.0, 0.25, 0.3, 1.0 / 3.0)):
        objective = Objective(
            as_design(X), y, Squared(), L1(1e3), np.full(COUNT, 1.0 / COUNT), False
        )
        u = rng.normal(size=COUNT)
        repair_dual(objective, u)
        near = times * (u + scale * rng.normal(size=COUNT))
        found = repair_dual(objective, near)
        terms = X.T.astype(np.longdouble) * found.u.astype(np.longdouble)
        exact = -terms.sum(axis=1).astype(float)
        assert np.all(np.abs(found.v - exact) <= found.error)
        assert np.all(found.error <= 3.0 * product_error(objective, found.u))


@pytest.mark.parametrize(
    "power", [2, 10, 22, 31, 40, 43]
)  # beyond 24 the Gram matrix tells nothing
def test_the_least_singular_value_of_two_columns_is_bounded(power: int) -> None:
    """Of a and a + 2^-power e: no more than |sqrt(H) E v| / |v| at v = (1, -1) in its units."""
    a, e = np.random.default_rng(power).integers(-(2**20), 2**20, (2, 12)) / 2.0**20
    b, h = a + 2.0**-power * e, np.arange(12) % 5 / 4.0
    units, sigma = ColumnGram(as_design(np.column_stack([a, b])), h, False).regularity
    apart = sum(c * (x - z) ** 2 for c, x, z in zip(row(h), row(a), row(b), strict=True))
    most = float(apart / sum(1 / exact(unit) ** 2 for unit in units))
    assert 0.25 * most < sigma**2 <= most


def test_columns_whose_decomposition_fails_are_not_corrected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As those that overflow."""
    gram = ColumnGram(as_design(np.eye(3)[:, :2]), np.ones(3), True)
    assert gram.combination(np.ones(2), 1.0).any()

    def fails(*args: Any, **options: Any) -> Any:
        raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")

    monkeypatch.setattr(linalg, "lstsq", fails)
    assert not gram.combination(np.ones(2), 1.0).any()
    monkeypatch.undo()
    assert not gram.combination(np.array([1.0, np.inf]), 1.0).any()
