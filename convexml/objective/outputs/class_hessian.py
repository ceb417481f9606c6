"""The Hessian of the loss of K classes: a sum over the rows, for one visit of these."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...blocks import BlockArray, together
from ...blocks.array import blockwise
from ...design import Design, by_blocks, cached_rows, in_blocks
from ...numerics import Array


def class_sums(base: Any, u: Array, c: Array, p: Array, ones: bool) -> tuple[Array, Array]:
    """X'u, as a vector row by row, and the Hessian of the loss: of blocks of rows in one visit.

    sum_i c_i (diag p_i - p_i p_i') x (x_i x_i'), shape (m, K, m, K), ``ones`` behind x_i.
    """
    found = _noted(base, c, p, ones)
    if not base.shape[1]:
        return np.zeros(0), _added(found) if isinstance(found, BlockArray) else found
    if not isinstance(found, BlockArray):
        return base.rmatvec(u).ravel(), found
    pull = by_blocks(_pull, base, u)
    together(pull, found)
    return _added(pull).ravel(), _added(found)


def both_pulls(base: Any, u: Array) -> tuple[Array, Array]:
    """X'u and |X|'|u|, as vectors row by row: of blocks of rows in one visit."""
    found = by_blocks(_pulls, base, u) if in_blocks(base) else None
    pull, size = _pulls(base, u) if found is None else _added(found)
    return pull.ravel(), size.ravel()


def _added(found: BlockArray) -> Array:
    total: Array = found.executor.total(found.parts)
    return total


def _noted(base: Any, c: Array, p: Array, ones: bool) -> Any:
    """The Hessian; noted down where rows lie in blocks, which are not read for no columns."""
    if not in_blocks(base):
        return _of_rows(base, c, p, ones) if base.shape[1] else _of_shares(c, p, ones)
    if base.shape[1]:
        return by_blocks(_of_rows, base, c, p, ones)
    return blockwise(_of_shares, c, p, ones)


def _pull(rows: Design, u: Array) -> Array:
    return rows.rmatvec(u)


def _pulls(rows: Design, u: Array) -> Array:
    return np.stack([rows.rmatvec(u), rows.abs_rmatvec(u)])


def _of_shares(c: Array, p: Array, ones: bool) -> Array:
    """That of the intercepts alone."""
    if not ones:
        return np.zeros((0, p.shape[1]) * 2)
    weighed = c[:, None] * p
    return (np.diag(weighed.sum(axis=0)) - weighed.T @ p)[None, :, None, :]


def _of_rows(rows: Design, c: Array, p: Array, ones: bool) -> Array:
    """Of rows that are in memory: dense ones are brought to the cache once for all pairs."""
    K, m = p.shape[1], rows.shape[1]
    blocks = np.zeros((m + ones, K, m + ones, K))
    if rows.is_sparse:
        parts = iter([(slice(None), rows)])
    else:
        parts = rows.row_blocks(cached_rows(m))
    for some, part in parts:
        for k in range(K):
            for other in range(k + 1):
                _add_pair(blocks, part, c[some], p[some], k, other, ones)
    for k in range(K):
        for other in range(k):
            blocks[:, other, :, k] = blocks[:, k, :, other]
    return blocks


def _add_pair(
    blocks: Array, rows: Design, c: Array, p: Array, k: int, other: int, ones: bool
) -> None:
    """Add X'diag(h) X for h = c p_k (1 - p_k), or minus that for h = c p_k p_other."""
    same = k == other
    h = c * p[:, k] * (1.0 - p[:, k] if same else p[:, other])
    gram = rows.bordered_gram(h) if ones else rows.gram(h)
    blocks[:, k, :, other] += gram if same else -gram
