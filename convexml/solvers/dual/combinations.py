"""The generalized lasso by interior points of its dual, ended on the combinations that are 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from ...certificates.shape.generalized import Generalized
from ...numerics import Array
from ..exact.without_combinations import smallest_box, without_combinations
from .coupled_box import CoupledBox
from .inside_box import inner_points

EDGE = 1.0 - 1e-9
"""Share of the smallest lam for which A w = 0 from which on it is taken for 0."""
CLOSE = 1e-4
"""Relative gap from which on the combinations that are 0 are guessed."""

Step = tuple[Array, Array, float]
"""w with the intercept, s, and the relative gap that is expected of them."""


def combination_steps(program: Generalized) -> Iterator[Step]:
    """Yield points of a generalized lasso; the first is the last where it is the best A w = 0."""
    stack, q, lam = program.stack, program.side, program.lam
    m = stack.A.shape[0]
    if lam == 0.0 or not np.any(q):
        yield program.told(_least_squares(program)), np.zeros(m), 0.0
        return
    flat = without_combinations(stack, q)
    if flat is not None and lam >= EDGE * np.linalg.norm(flat[1]) / np.sqrt(m):
        v, s = flat
        if np.max(np.abs(s)) > lam:
            s = smallest_box(stack.A, s)
        if EDGE * np.max(np.abs(s)) <= lam:
            yield program.told(v), s, 0.0
            return
    start = stack.regular or stack.solver(np.full(m, stack.kappa**2))
    if start is None:
        return
    box = CoupledBox(stack.gram, q, stack.A, start.solve(q), stack.solver)
    promise = np.inf
    for s in inner_points(box, m, lam):
        before, promise = promise, program.promise(box.w, s)
        if not promise < before:
            promise = 0.0  # rounding is reached: each point is judged from here on
        settled = _settled(program, box.w, s) if promise < CLOSE else None
        if settled is not None:
            yield program.told(settled), s, promise
        yield program.told(box.w), s, promise


def promising(steps: Iterator[Step], most: float) -> Iterator[tuple[Array, Array]]:
    """(w, s) of the steps that expect a relative gap of at most ``most``, and of the last."""
    last: Step | None = None
    for w, s, promise in steps:
        last = None if promise <= most else (w, s, promise)
        if last is None:
            yield w, s
    if last is not None:
        yield last[:2]


def _least_squares(program: Generalized) -> Array:
    B = program.stack.B
    B = B.toarray() if sparse.issparse(B) else B
    side = np.sqrt(program.c) * (program.y - program.centre)
    return np.asarray(np.linalg.lstsq(B, side, rcond=None)[0])


def _settled(program: Generalized, v: Array, s: Array) -> Array | None:
    """The best point whose combinations are 0 where s is far from its ends, else of their signs."""
    stack, lam = program.stack, program.lam
    z = stack.A @ v
    room, size = 1.0 - np.abs(s) / lam, np.abs(z) / (float(np.max(np.abs(z))) or 1.0)
    zero = room > size
    q = program.side - lam * (stack.A[~zero].T @ np.sign(z[~zero]))
    if not np.any(zero):
        return None if stack.regular is None else np.asarray(stack.regular.solve(q))
    found = without_combinations(replace(stack, A=stack.A[zero]), q)
    return None if found is None else found[0]
