"""The perceptron."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...compiled import compiled
from ...errors import InputError
from ...numerics import Array
from ...objective import Objective
from ...validation import positive_integer
from ..composite import Composite
from ..driver import Iterate
from .sample_steps import add, predict
from .samples import PlainSamples, samples


def perceptron(
    objective: Objective, w: Array, b: float, *, max_passes: int = 1000
) -> Iterator[Iterate]:
    """Add y_i (x_i, 1) wherever y_i (w.x_i + b) <= 0, from 0, until there is no mistake.

    On separable data that takes at most (max|x_i|^2 + 1)(|w|^2 + b^2) updates, for any (w, b) with
    y_i (w.x_i + b) >= 1 (Novikoff, 1962). One iterate for each update; the last one, without a
    mistake, is scaled to margin 1. After ``max_passes`` over the data with a mistake in each the
    data are taken for inseparable: the model then looks for multipliers that prove it.
    """
    if np.any(w):
        raise InputError("perceptron: it starts from 0, do not pass w0.")
    max_passes = positive_integer(max_passes, "perceptron", "max_passes")
    P, S, n = Composite(objective), samples(objective), objective.n
    x, seen, updates = np.zeros(objective.d + 1), 0, 0
    yield P.iterate(x.copy(), updates=0)
    correct = next_mistake(S, x, 0)
    while correct < n and seen < max_passes * n:
        seen += correct + 1
        i = (seen - 1) % n
        add(S, i, x, objective.y[i])
        updates += 1
        correct = next_mistake(S, x, seen % n)
        P.passes += (correct + 1.0) / n
        if correct == n:
            w, b = P.split(x)
            yield P.iterate(x / np.min(objective.y * objective.predict(w, b)), updates=updates)
            return
        yield P.iterate(x.copy(), updates=updates)


@compiled(work=lambda S, x, start: 5.0 * len(S.y))
def next_mistake(S: PlainSamples, x: Array, start: int) -> int:
    """How many samples from ``start`` on, round the data, are right before the first mistake."""
    n = len(S.y)
    for k in range(n):
        i = (start + k) % n
        if S.y[i] * predict(S, i, x) <= 0.0:
            return k
    return n
