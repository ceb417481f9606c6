"""The convex atoms that losses and penalties are written with, one reader for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics import Array
from .affine import Affine
from .declined import Declined, named
from .kinds import MOVING
from .lines import emit, maximum, minimum
from .matrices import diagonal_of

NONNEGATIVE = ("abs", "norm1", "norm_inf", "Pnorm", "PnormApprox")
Reader = Callable[[Any, Any, Array], None]
"""(collector, atom, what each of its entries counts for)."""


def elementwise(kind: str) -> Reader:
    """The reader of an atom of each entry."""

    def read(collector: Any, atom: Any, weight: Array) -> None:
        emit(collector, kind, weight, atom.args[0], atom)

    return read


def along(atom: Any, weight: Array) -> Array:
    """What each entry of the argument counts for."""
    shape = atom.args[0].shape
    if atom.axis is None:
        return np.full(atom.args[0].size, float(weight[0]))
    kept = weight.reshape(atom.shape, order="F")
    kept = kept if atom.keepdims else np.expand_dims(kept, atom.axis)
    return np.broadcast_to(kept, shape).ravel(order="F")


def groups_of(atom: Any) -> Array:
    """The number, in CVXPY's order, of the entry of the atom that each entry goes into."""
    return along(atom, np.arange(atom.size, dtype=float)).astype(int)


def norm1(collector: Any, atom: Any, weight: Array) -> None:
    """Also of what is >= 0 by its kind: the sum of norms."""
    if type(atom.args[0]).__name__ in NONNEGATIVE:
        return collector.add(atom.args[0], along(atom, weight))
    return emit(collector, "abs", along(atom, weight), atom.args[0], atom)


def pnorm(collector: Any, atom: Any, weight: Array) -> None:
    """Of a group of entries, or of several."""
    if float(atom.p) != 2.0:
        raise Declined(f"{named(atom)} is a {atom.p}-norm")
    if atom.args[0].size == 1:
        return emit(collector, "abs", weight, atom.args[0], atom)
    return emit(collector, "norm", weight, atom.args[0], atom, groups=groups_of(atom))


def norm_inf(collector: Any, atom: Any, weight: Array) -> None:
    """Of one entry, or of all of them."""
    if atom.args[0].size != atom.size and atom.size > 1:
        raise Declined(f"{named(atom)}: a largest size is no loss or penalty that is known")
    emit(collector, "abs" if atom.args[0].size == 1 else "largest", weight, atom.args[0], atom)


def largest(collector: Any, atom: Any, weight: Array) -> None:
    """Of one entry: what CVXPY makes of the 1-norm of a column; or of sizes."""
    if type(atom.args[0]).__name__ == "abs" and atom.size == 1 < atom.args[0].size:
        return emit(collector, "largest", weight, atom.args[0].args[0], atom)
    if atom.args[0].size != 1:
        raise Declined(f"{named(atom)}: a largest entry is no loss or penalty that is known")
    return collector.add(atom.args[0], weight)


def huber(collector: Any, atom: Any, weight: Array) -> None:
    """CVXPY's, twice Huber's own."""
    level = float(collector.walker.entries(atom.M)[0])
    if not 0.0 < level < np.inf:
        raise Declined(f"{named(atom)}: M = {level:g}")
    emit(collector, "huber", weight, atom.args[0], atom, level=level)


def log_sum_exp(collector: Any, atom: Any, weight: Array) -> None:
    """Of the scores of each sample; of 0 and a line it is log(1 + e^a)."""
    groups = groups_of(atom)
    if atom.args[0].size == 2 * atom.size and collector.walker.is_affine(atom.args[0]):
        pairs = np.argsort(groups, kind="stable").reshape(-1, 2)
        affine = collector.walker.affine(atom.args[0])
        for zero, other in (pairs.T, pairs.T[::-1]):
            base, line = affine.taken(zero), affine.taken(other)
            if all(each.is_zero for each in base.maps.values()):
                collector.reading.constant += float(weight @ base.offset)
                maps = {key: each for key, each in line.maps.items() if not each.is_zero}
                rest = Affine(line.size, maps, line.offset - base.offset)
                flat = atom.args[0].flatten(order="F")
                return emit(collector, "logistic", weight, rest, atom, flat[other] - flat[zero])
    return emit(collector, "log_sum_exp", weight, atom.args[0], atom, groups=groups)


def quad_over_lin(collector: Any, atom: Any, weight: Array) -> None:
    """A sum of squares, over a number."""
    inner, divisor = atom.args
    if not collector.walker.is_constant(divisor):
        raise Declined(f"{named(atom)} divides by what varies")
    by = float(collector.walker.entries(divisor)[0])
    if not by > 0.0:
        raise Declined(f"{named(atom)} divides by {by:g}")
    squared(collector, inner, along(atom, weight) / by, atom)


def quad_form(collector: Any, atom: Any, weight: Array) -> None:
    """Of a diagonal matrix, or whole."""
    inner, matrix = atom.args
    if not collector.walker.is_constant(matrix):
        raise Declined(f"{named(atom)} has a matrix that varies")
    value = collector.walker.constant(matrix)
    diagonal = diagonal_of(value)
    if diagonal is None:
        return emit(collector, "form", weight, inner, atom, matrix=value)
    return squared(collector, inner, weight[0] * diagonal, atom)


def power(collector: Any, atom: Any, weight: Array) -> None:
    """The square of each entry."""
    p = float(collector.walker.entries(atom.p)[0])
    if p == 1.0:
        return collector.add(atom.args[0], weight)
    if p != 2.0:
        raise Declined(f"{named(atom)} is a power of {p:g}")
    return squared(collector, atom.args[0], weight, atom)


def squared(collector: Any, inner: Any, weight: Array, said: Any) -> None:
    """Add the squares of an expression's entries."""
    kind = type(inner).__name__
    if collector.walker.is_affine(inner):
        return emit(collector, "square", weight, inner, said)
    if kind in ("abs", "NegExpression"):
        return squared(collector, inner.args[0], weight, said)
    if kind in ("Pnorm", "PnormApprox") and float(inner.p) == 2.0:
        return squared(collector, inner.args[0], along(inner, weight), said)
    if kind in ("norm1", "norm_inf") and inner.args[0].size == inner.size:
        return squared(collector, inner.args[0], weight, said)
    if kind in MOVING:
        for each, share in collector.shares(inner, weight):
            squared(collector, each, share, said)
        return None
    if kind == "multiply" and collector.walker.is_constant(inner.args[0]):
        factors = collector.walker.factors(inner.args[0], inner)
        if inner.args[1].shape == inner.shape and np.all(factors >= 0.0):
            return squared(collector, inner.args[1], weight * factors**2, said)
    if kind == "maximum":
        return maximum(collector, inner, weight, "squared ", said)
    raise Declined(f"{named(said)}: the square of {named(inner)} is not read")


ATOMS: dict[str, Reader] = {
    "abs": elementwise("abs"),
    "logistic": elementwise("logistic"),
    "exp": elementwise("exp"),
    "maximum": maximum,
    "max": largest,
    "minimum": minimum,
    "norm1": norm1,
    "norm_inf": norm_inf,
    "Pnorm": pnorm,
    "PnormApprox": pnorm,
    "huber": huber,
    "log_sum_exp": log_sum_exp,
    "quad_over_lin": quad_over_lin,
    "QuadForm": quad_form,
    "Power": power,
    "PowerApprox": power,
    "power": power,
}
