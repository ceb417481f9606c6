"""The samples of an objective as plain arrays and numbers, which compiled loops can read.

The variable is x = (w, b), b last and 0 where there is no intercept. The mean of the functions
f_i(x) = n c_i l(y_i, x_i.w + b) + Omega(w), i = 0 ... n-1, is P.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard

import numpy as np
from scipy import sparse

from ... import penalties
from ...compiled import ByHand, LoopArgument, compiled
from ...data import Design
from ...losses import Loss
from ...numerics import Array
from ...penalties import Penalty
from ...problem import Objective

STEP, ENTRY = 30.0, 5.0
"""Microseconds of plain Python for one sample, and for one entry of it where that is a loop."""


class PlainSamples(NamedTuple):
    """The rows of X one after another, with loss and penalty as numbers.

    Row i is ``values[starts[i] : starts[i + 1]]``, in the columns ``columns[...]`` where X is
    sparse; these may be some of the n = ``total`` samples.
    Omega(w) = sum_j l1_j |w_j| + l2_j w_j^2 / 2 on lo <= w <= hi and on |w| <= radius.
    """

    values: Array
    columns: Array
    starts: Array
    total: int
    is_sparse: bool
    intercept: bool
    y: Array
    scale: Array
    derivative: Any
    level: float
    l1: Array
    l2: Array
    lo: Array
    hi: Array
    radius: float

    def entries(self, draws: Array) -> int:
        """Entries of these samples."""
        return int((self.starts[draws + 1] - self.starts[draws]).sum())

    def for_loops(self) -> PlainSamples:
        """With the slope as a value that compiled loops call."""
        return self._replace(derivative=self.derivative.pointer)


LoopArgument.register(PlainSamples)


class OwnSamples(ByHand):
    """The same where the loss or the penalty cannot be compiled."""

    def __init__(self, rows: dict[str, Any], loss: Loss, penalty: Penalty) -> None:
        vars(self).update(rows)
        self.loss, self.penalty = loss, penalty


def samples(objective: Objective) -> PlainSamples | OwnSamples:
    """The samples of an objective, ready for a loop; X itself is shared where it can be."""
    return samples_of(
        objective.design,
        objective.y,
        objective.n * objective.c,
        SharedTerms.of(objective),
    )


@dataclass(frozen=True)
class SharedTerms:
    """What is the same for all samples: the loss, the penalty, whether b is free, and n."""

    loss: Loss
    penalty: Penalty
    intercept: bool
    total: int

    @classmethod
    def of(cls, objective: Objective) -> SharedTerms:
        return cls(objective.loss, objective.penalty, objective.fit_intercept, objective.n)


def samples_of(
    rows: Design, y: Array, scale: Array, terms: SharedTerms
) -> PlainSamples | OwnSamples:
    """Some of the samples, of which n c_i is the ``scale``."""
    X, (n, d) = rows.constant, rows.shape
    if sparse.issparse(X):
        X = X.tocsr()
        columns, starts, values = X.indices.astype(np.int64), X.indptr.astype(np.int64), X.data
    else:
        columns, starts = np.empty(0, np.int64), d * np.arange(n + 1)
        values = np.ravel(X)
    values = values.view()
    values.flags.writeable = False  # one kind of array to compile for
    known: dict[str, Any] = {
        "values": values,
        "columns": columns,
        "starts": starts,
        "is_sparse": bool(sparse.issparse(X)),
        "total": terms.total,
        "intercept": terms.intercept,
        "y": np.asarray(y, dtype=float),
        "scale": scale,
    }
    loop, numbers = terms.loss.compiled_slope, _penalty(terms.penalty, d)
    if loop is None or numbers is None:
        return OwnSamples(known, terms.loss, terms.penalty)
    level = float(next(iter(terms.loss.hyperparameters().values()), 0.0))
    return PlainSamples(**(known | numbers), derivative=loop, level=level)


def _penalty(penalty: Any, d: int) -> dict[str, Any] | None:
    ones, numbers = np.ones(d), {"l1": np.zeros(d), "l2": np.zeros(d), "radius": np.inf}
    numbers |= {"lo": np.full(d, -np.inf), "hi": np.full(d, np.inf)}
    match type(penalty):
        case penalties.Zero:
            return numbers
        case penalties.L1:
            return numbers | {"l1": penalty.subgradient(ones)}
        case penalties.L2:
            return numbers | {"l2": penalty.gradient(ones)}
        case penalties.ElasticNet:
            shares = penalty.hyperparameters()
            return numbers | {name: shares[name] * ones for name in ("l1", "l2")}
        case penalties.L2Ball:
            return numbers | {"radius": penalty.t}
        case penalties.Box | penalties.Nonnegative:
            return numbers | {"lo": penalty.lo + 0.0 * ones, "hi": penalty.hi + 0.0 * ones}
    return None


# What stochastic methods do with one sample: predict, differentiate, step; compiled.


@compiled
def predict(S: PlainSamples, i: int, x: Array) -> float:
    """x_i.w + b."""
    row = S.values[S.starts[i] : S.starts[i + 1]]
    if S.is_sparse:
        return row @ x[S.columns[S.starts[i] : S.starts[i + 1]]] + x[-1]
    return row @ x[:-1] + x[-1]


@compiled
def add(S: PlainSamples, i: int, x: Array, scale: float) -> None:
    """x += scale (x_i, 1); without an intercept b stays 0."""
    row = S.values[S.starts[i] : S.starts[i + 1]]
    if S.is_sparse:
        x[S.columns[S.starts[i] : S.starts[i + 1]]] += scale * row
    else:
        x[:-1] += scale * row
    if S.intercept:
        x[-1] += scale


@compiled(by_hand=lambda S, i, z: S.scale[i] * S.loss.derivative(S.y[i : i + 1], np.array([z]))[0])
def slope(S: PlainSamples, i: int, z: float) -> float:
    """n c_i l'(y_i, z); 0 at a kink where 0 is a subgradient."""
    return S.scale[i] * S.derivative(S.y[i], z, S.level)


def _own_decay(S: OwnSamples, x: Array, step: float) -> None:
    x[:-1] -= step * S.penalty.subgradient(x[:-1])


@compiled(by_hand=_own_decay)
def decay(S: PlainSamples, x: Array, step: float) -> None:
    """w -= step v, v a subgradient of Omega at w (of its finite part)."""
    w = x[:-1]
    w -= step * (S.l1 * np.sign(w) + S.l2 * w)


def _own_shrink(S: OwnSamples, x: Array, step: float) -> None:
    x[:-1] = S.penalty.prox(x[:-1], step)


@compiled(by_hand=_own_shrink)
def shrink(S: PlainSamples, x: Array, step: float) -> None:
    """w = argmin over w' of step Omega(w') + |w' - w|^2 / 2."""
    w = x[:-1]
    w[:] = np.sign(w) * np.maximum(np.abs(w) - step * S.l1, 0.0) / (1.0 + step * S.l2)
    w[:] = np.minimum(np.maximum(w, S.lo), S.hi)
    if S.radius < np.inf:
        w *= min(1.0, S.radius / max(np.sqrt(w @ w), 1e-300))


# Steps that cost the nonzeros of a row: what happens to all of w alike is done when it is read.
#
# Between two steps that meet w_j it moves by a rule of its own, known in closed form: w_j shrinks
# by common factors (``scaled``: w = a v, one number a for all), or takes proximal steps along a
# gradient that stands still (``later``).


FULL = 0.2
"""Rows with a larger share of nonzeros than this are as fast with w as a whole."""
LOW, HIGH = 2.0**-10, 2.0**10
"""Outside of these a is multiplied into v, which costs d: the sums A v + r lose three digits."""


def is_thin(S: PlainSamples | OwnSamples) -> TypeGuard[PlainSamples]:
    """Whether the rows are known as numbers and have few nonzeros."""
    return (
        isinstance(S, PlainSamples) and S.is_sparse and len(S.values) <= FULL * len(S.y) * len(S.l2)
    )


def is_scalable(S: PlainSamples | OwnSamples) -> bool:
    """Whether decay changes all of w by one factor, where nothing restricts it."""
    return is_thin(S) and not np.any(S.l1) and not np.ptp(S.l2) > 0.0


# -- w = a v, and the sum of all w so far is A v + r -----------------------------------------------


@compiled
def product(S: PlainSamples, i: int, v: Array) -> Any:
    """x_i.v."""
    here = slice(S.starts[i], S.starts[i + 1])
    return S.values[here] @ v[S.columns[here]]


@compiled
def push(S: PlainSamples, i: int, v: Array, r: Array, A: float, scale: float) -> None:
    """v += scale x_i, past sums as they are."""
    here = slice(S.starts[i], S.starts[i + 1])
    v[S.columns[here]] += scale * S.values[here]
    r[S.columns[here]] -= A * scale * S.values[here]


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
