"""The samples of an objective as plain arrays and numbers, which compiled loops can read.

The variable is x = (w, b), b last and 0 where there is no intercept. The mean of the functions
f_i(x) = n c_i l(y_i, x_i.w + b) + Omega(w), i = 0 ... n-1, is P.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ... import penalties
from ...compiled import ByHand, LoopArgument
from ...design import Design
from ...losses import Loss
from ...numerics import Array
from ...objective import Objective
from ...penalties import Penalty

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
