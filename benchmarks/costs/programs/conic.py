"""Cone programs: max-cut, portfolios and logistic regression, as people pose them in CVXPY."""

from __future__ import annotations

from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np

from .row import Case, Row, posed


def max_cut(n: int) -> Case:
    """The semidefinite relaxation on a random graph of n nodes."""
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((n, n)) < 0.3, 1) * rng.integers(1, 6, (n, n)).astype(float)
    L = np.diag((W + W.T).sum(axis=1)) - W - W.T
    X = cp.Variable((n, n), PSD=True)
    return posed(cp.Problem(cp.Maximize(cp.trace(L @ X) / 4.0), [cp.diag(X) == 1.0]))


def portfolio(n: int, k: int, *, cone: bool = False) -> Case:
    """Return against a factor model's risk, which is a penalty or, as a ``cone``, bounded."""
    rng = np.random.default_rng(0)
    mu, F, d = np.abs(rng.normal(size=n)), rng.normal(size=(n, k)), rng.random(n)
    w = cp.Variable(n)
    parts: list[Any] = [F.T @ w, cp.multiply(np.sqrt(d), w)]
    rows = [cp.sum(w) == 1.0, w >= 0.0]
    if cone:
        risk = cp.norm(cp.hstack(parts), 2)
        return posed(cp.Problem(cp.Maximize(mu @ w), [*rows, risk <= 0.5]))
    squares = sum(cp.sum_squares(part) for part in parts)
    return posed(cp.Problem(cp.Maximize(mu @ w - squares), rows))


def logistic(n: int, d: int, *, sparse: bool = False) -> Case:
    """Logistic regression with l2, or l1 where the weights are to be ``sparse``."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.sign(X @ rng.normal(size=d) / np.sqrt(d) + rng.normal(size=n))
    w, b = cp.Variable(d), cp.Variable()
    loss = cp.sum(cp.logistic(-cp.multiply(y, X @ w + b))) / n
    penalty = cp.norm1(w) if sparse else cp.sum_squares(w)
    return posed(cp.Problem(cp.Minimize(loss + 0.01 * penalty)))


ROWS = [
    *(Row(f"max-cut {n}", partial(max_cut, n)) for n in (30, 40, 50)),
    Row("portfolio 500x20", partial(portfolio, 500, 20)),
    Row("portfolio 500x20, cone", partial(portfolio, 500, 20, cone=True)),
    Row("logistic 1000x20, l2", partial(logistic, 1000, 20)),
    Row("logistic 1000x20, l1", partial(logistic, 1000, 20, sparse=True)),
]
