"""Verified evidence that a problem with K classes has no minimiser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ....design import rows_in_blocks
from ....numerics import ROUNDING, Array
from ....objective import frame_of
from ....objective.outputs.multiclass import MulticlassObjective
from ...algebra.sums import exact_residual
from .evidence import SMALL_ENOUGH, at_zero, furthest

NEAR = 1e-7
"""Margins below this share of the largest are taken for 0 where rationals are asked."""


def separating_scores(
    objective: MulticlassObjective, w: Array | None = None, b: Any = 0.0
) -> dict[str, Any] | None:
    """Return scores that put no class above a sample's own, and some below; None if none is known.

    Along them the loss decreases for ever. They may use the unpenalised entries of W and b. Signs
    are decided exactly. A given (w, b) is tried first, then a linear program decides. Where rows
    lie in blocks none is known.
    """
    if rows_in_blocks(objective):
        return None
    frame = frame_of(objective)
    inner = frame.objective
    assert isinstance(inner, MulticlassObjective)
    free = inner.penalty.free(inner.d)
    if not free.any():
        return None  # every class has a sample, so that b alone separates nothing
    given = None
    if w is not None:
        own, shift, _ = frame.inside(w, np.broadcast_to(np.asarray(b, float), inner.w_shape[1:]))
        given = np.where(free, own, 0.0).reshape(inner.w_shape), np.asarray(shift, dtype=float)
    for (W, c), may_move in _candidates(inner, free, given):
        found = _verified(inner, W, c, may_move)
        if found is not None:
            W, c, margins = found
            scale = 1.0 / float(np.max(margins))
            w, b = frame.outside(scale * W.ravel(), scale * c)
            return {"w": w.reshape(W.shape), "b": b, "z": objective.predict(w, b)}
    return None


def _candidates(
    objective: MulticlassObjective, free: Array, given: tuple[Array, Array] | None
) -> Iterator[tuple[tuple[Array, Array], bool]]:
    """Directions, and whether those may be moved to others that are exact."""
    if given is not None:
        yield given, False
    n, K, d = objective.n, objective.classes, objective.design.base.shape[1]
    if n * K * (d + 2) <= SMALL_ENOUGH:
        found = _by_linear_program(objective, free)
        if found is not None:
            yield found, True


def _rows(objective: MulticlassObjective) -> Array:
    """[X, 1] where there is an intercept, else X."""
    X = objective.design.base.dense()
    return np.column_stack([X, np.ones(len(X))]) if objective.fit_intercept else X


def _by_linear_program(objective: MulticlassObjective, free: Array) -> tuple[Array, Array] | None:
    """Maximise sum t with 0 <= t <= 1 and t <= z_y - z_k: all margins that can be > 0 are."""
    K, X = objective.classes, sparse.csr_array(_rows(objective))
    parts = []
    for k in range(K):
        rows = np.flatnonzero(objective.y != k)
        signs = objective.labels[rows] - np.eye(K)[k]
        parts.append(sparse.hstack([sparse.diags_array(signs[:, j]) @ X[rows] for j in range(K)]))
    margins = sparse.vstack(parts, format="csr")
    # The unknowns are stacked class by class here, feature by feature elsewhere.
    allowed = free.reshape(objective.w_shape).T
    if objective.fit_intercept:
        allowed = np.hstack([allowed, np.ones((K, 1), dtype=bool)])
    kept = np.flatnonzero(allowed.ravel())
    none = sparse.csr_array((0, kept.size))
    found = furthest(-margins[:, kept], none, [(None, None)] * kept.size)
    if found is None:
        return None
    full = np.zeros(allowed.size)
    full[kept] = found
    scores = full.reshape(allowed.shape).T
    d = objective.w_shape[0]
    return scores[:d], scores[d] if objective.fit_intercept else np.zeros(K)


def _verified(
    objective: MulticlassObjective, W: Array, b: Array, may_move: bool
) -> tuple[Array, Array, Array] | None:
    """(W, b, margins) with all margins >= 0 for certain, for these scores or exact ones nearby."""
    scores = np.vstack([W, b[None, :]]) if objective.fit_intercept else W
    E = _rows(objective)
    margins, slack = _margins(objective, E, scores)
    for i, k in np.argwhere(~(np.abs(margins) > slack) & (objective.labels == 0.0)):
        y = int(objective.y[i])
        pair = np.concatenate([E[i], E[i]])[None, :]
        margins[i, k] = exact_residual(pair, np.concatenate([scores[:, y], -scores[:, k]]))[0]
    size = float(np.max(np.abs(margins), initial=0.0))
    if not 0.0 < size < np.inf:
        return None
    if np.all(margins >= 0.0):
        return W, b, margins
    near = (np.abs(margins) <= NEAR * size) & (objective.labels == 0.0)
    if not (may_move and np.all(near | (margins >= 0.0))):
        return None
    exact = _held(objective, E, scores, near)
    if exact is None:
        return None
    margins, slack = _margins(objective, E, exact)
    margins = np.where(near, 0.0, margins)  # exactly 0 for scores that these are, rounded
    others = ~near & (objective.labels == 0.0)
    if not np.all(margins[others] > slack[others]) or not np.any(others):
        return None
    return exact[: len(W)], exact[len(W)] if objective.fit_intercept else b, margins


def _margins(objective: MulticlassObjective, E: Array, scores: Array) -> tuple[Array, Array]:
    """(z_y - z_k, its rounding), (n, K); 0 for a sample's own class."""
    z, terms = E @ scores, np.abs(E) @ np.abs(scores)
    own = (objective.labels * z).sum(axis=1, keepdims=True)
    sizes = terms + (objective.labels * terms).sum(axis=1, keepdims=True)
    slack = ROUNDING * (1.0 + len(scores) / 32.0) * sizes
    return np.where(objective.labels > 0.0, 0.0, own - z), slack


def _held(objective: MulticlassObjective, E: Array, scores: Array, near: Array) -> Array | None:
    """Scores next to these whose margins ``near`` are exactly 0, rounded."""
    k = E.shape[1]
    used = np.flatnonzero(np.abs(scores.T.ravel()) > 1e-9 * float(np.max(np.abs(scores))))
    pairs = np.argwhere(near)
    rows = np.zeros((len(pairs), scores.size))
    for row, (i, other) in zip(rows, pairs, strict=True):
        own = int(objective.y[i])
        row[own * k : (own + 1) * k] = E[i]
        row[other * k : (other + 1) * k] = -E[i]
    start = scores.T.ravel()
    found = at_zero(rows[:, used], start[used])
    if found is None:
        return None
    exact = np.zeros(scores.size)
    exact[used] = found
    return exact.reshape(scores.shape[::-1]).T
