"""Steps that cost the nonzeros of a row: what happens to all of w alike is done when it is read.

Between two steps that meet w_j it moves by a rule of its own, known in closed form: w_j shrinks by
common factors (``scaled``: w = a v, one number a for all), takes proximal steps along a gradient
that stands still (``later``), or steps of one length towards 0 and about it (``sunk``).
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from ...compiled import compiled
from ...numerics import Array
from .samples import OwnSamples, PlainSamples

FULL = 0.2
"""Rows with a larger share of nonzeros than this are as fast with w as a whole."""
LOW, HIGH = 2.0**-10, 2.0**10
"""Outside of these a is multiplied into v, which costs d: the sums A v + r lose three digits."""


def is_thin(S: PlainSamples | OwnSamples) -> TypeGuard[PlainSamples]:
    """Whether the rows are known as numbers and have few nonzeros."""
    return (
        isinstance(S, PlainSamples) and S.is_sparse and len(S.values) <= FULL * len(S.y) * len(S.l2)
    )


def is_scalable(S: PlainSamples | OwnSamples, ball: float = np.inf) -> bool:
    """Whether decay and projections change all of w by one factor, and bounds where w_j moves."""
    if not is_thin(S) or np.any(S.l1) or np.ptp(S.l2) > 0.0:
        return False
    bounded = bool(np.any(np.isfinite(S.lo)) or np.any(np.isfinite(S.hi)))
    return not bounded or (ball == S.radius == np.inf and not np.any(S.l2))


def is_sinkable(S: PlainSamples | OwnSamples, ball: float) -> bool:
    """Whether nothing but an l1 norm moves the w_j that are not met, each in its own way.

    A decay l2 w beside it, or a ball, would ask for |w| at each step, a sum of d terms.
    """
    if not is_thin(S) or np.any(S.l2) or not np.any(S.l1) or not ball == S.radius == np.inf:
        return False
    return not (np.any(np.isfinite(S.lo)) or np.any(np.isfinite(S.hi)))


# -- w = a v, and the sum of all w so far is A v + r -----------------------------------------------


@compiled
def product(S: PlainSamples, i: int, v: Array) -> Any:
    """x_i.v."""
    here = slice(S.starts[i], S.starts[i + 1])
    return S.values[here] @ v[S.columns[here]]


@compiled
def push(S: PlainSamples, i: int, v: Array, r: Array, A: float, scale: float) -> Any:
    """v += scale x_i within the bounds, past sums as they are; returns the change of |v|^2."""
    here = slice(S.starts[i], S.starts[i + 1])
    at = S.columns[here]
    old = v[at]
    new = np.minimum(np.maximum(old + scale * S.values[here], S.lo[at]), S.hi[at])
    v[at] = new
    r[at] -= A * (new - old)
    return (new - old) @ (new + old)


@compiled
def settle(v: Array, r: Array, a: float, A: float) -> None:
    """Begin again with a = 1 and A = 0."""
    r += A * v
    v *= a


# -- proximal steps along a gradient that stands still ---------------------------------------------


@compiled
def along(w: float, move: float, count: int, bend: float, rate: float) -> float:
    """w after ``count`` steps w <- (w - move) / (1 + bend); ``rate`` is log(1 + bend)."""
    if count == 1 or bend == 0.0:
        return (w - count * move) / (1.0 + bend)
    lost = -np.expm1(-count * rate)
    return w * (1.0 - lost) - lost * move / bend


@compiled
def later(w: float, slope: float, count: int, level: float, bend: float, rate: float) -> float:
    """w after ``count`` steps w <- soft(w - slope, level) / (1 + bend).

    On either side of 0 that is one affine map, and 0 is crossed once at most: the step that does
    is found by bisection.
    """
    while count > 0 and (w != 0.0 or abs(slope) > level):
        sign = 1.0 if w > 0.0 or (w == 0.0 and slope < 0.0) else -1.0
        move = slope + sign * level
        end = along(w, move, count, bend, rate)
        if level == 0.0 or not (sign * end < 0.0):
            return end
        before, after = 0, count
        while after - before > 1:
            middle = (before + after) // 2
            if sign * along(w, move, middle, bend, rate) > 0.0:
                before = middle
            else:
                after = middle
        w = along(w, move, before, bend, rate) - slope
        w = np.sign(w) * max(abs(w) - level, 0.0) / (1.0 + bend)
        count -= after
    return w


# -- subgradient steps of the l1 norm --------------------------------------------------------------


@compiled
def sunk(w: float, count: int, level: float) -> Any:
    """w after ``count`` steps w <- w - level sign(w), their sum, and that of |w| before each.

    Once it has crossed 0, by ``over``, w is -over and level - over in turn.
    """
    size, sign = abs(w), np.sign(w)
    if level == 0.0 or size == 0.0:
        return w, count * w, count * size
    down = count if size >= count * level else int(np.ceil(size / level))
    if size > down * level and down < count:  # the quotient was rounded
        down += 1
    over, rest = down * level - size, count - down
    total = down * size - 0.5 * level * down * (down + 1)
    before = total + level * down
    if rest == 0 or over == 0.0:
        return -sign * over, sign * total, before
    pairs, single = rest // 2, rest % 2
    total += pairs * (level - 2.0 * over) + single * (level - over)
    before += pairs * level + single * over
    return sign * (single * level - over), sign * total, before
