"""The larger of lines: ramps, kinks and tubes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array
from .affine import Affine
from .declined import Declined, named
from .terms import Term


def emit(
    collector: Any,
    kind: str,
    weight: Array,
    source: Any,
    said: Any,
    written: Any = None,
    **more: Any,
) -> None:
    """Add a term of an affine expression, or of an ``Affine`` that was derived.

    What was derived is compared with what is ``written``, an expression of the same value.
    """
    if not (weight >= 0.0).all():
        raise Declined(f"{named(said)} counts with a negative weight")
    if isinstance(source, Affine):
        affine, source = source, written
    else:
        if not collector.walker.is_affine(source):
            raise Declined(f"{named(said)}: {named(source)} is not affine")
        affine = collector.walker.affine(source)
    collector.reading.terms.append(Term(kind, weight, affine, source, said, **more))


def maximum(collector: Any, atom: Any, weight: Array, square: str = "", said: Any = None) -> None:
    """The larger of two lines: one of them, and by how much the other is above it."""
    said = atom if said is None else said
    walker, flat = collector.walker, []
    for each in atom.args:
        if each.shape != atom.shape and each.size != 1:
            raise Declined(f"{named(atom)} broadcasts {named(each)}")
        flat.append(each)
    fixed = [each for each in flat if walker.is_constant(each)]
    moving = [each for each in flat if not walker.is_constant(each)]
    floor = np.full(atom.size, -np.inf)
    for each in fixed:
        floor = np.maximum(floor, np.broadcast_to(walker.entries(each), (atom.size,)))
    if not fixed and len(moving) == 2 and not square:
        if not all(collector.walker.is_affine(each) for each in moving):
            raise Declined(f"{named(atom)} is not of lines")
        one, two = (_as_large(walker.affine(each), atom.size) for each in moving)
        collector.add_affine(weight, two, moving[1] if moving[1].size == atom.size else None)
        above = moving[0] - moving[1] if moving[0].shape == moving[1].shape == atom.shape else None
        return emit(collector, "ramp", weight, one + two.scaled(-1.0), said, above)
    if not fixed or not np.isfinite(floor).all():
        raise Declined(f"{named(atom)} is not the larger of two lines")
    if square and floor.any():
        raise Declined(f"{named(said)}: the square of {named(atom)} is not read")
    if len(moving) == 2 and not square and all(collector.walker.is_affine(each) for each in moving):
        one, two = (_as_large(walker.affine(each), atom.size) for each in moving)
        _two_ramps(collector, weight, one, two, floor, said)
    elif len(moving) != 1:
        raise Declined(f"{named(atom)} is of more than two lines")
    elif collector.walker.is_affine(moving[0]):
        line, written = moving[0], None
        if floor.any() or line.size != atom.size:
            line = _as_large(walker.affine(line), atom.size) + Affine(atom.size, {}, -floor)
            if moving[0].shape == atom.shape:
                written = moving[0] - floor.reshape(atom.shape, order="F")
        emit(collector, square + "ramp", weight, line, said, written)
    else:
        inner, level = _tube(collector, moving[0], floor)
        emit(collector, square + "tube", weight, inner, said, level=level)
    collector.reading.constant += float(weight @ floor)
    return None


def _two_ramps(
    collector: Any, weight: Array, one: Affine, two: Affine, floor: Array, said: Any
) -> None:
    """max(a, b, c) = c + (a - c)_+ + (b - c)_+ where never both are above c."""
    base = Affine(one.size, {}, -floor)
    both = one + two + base + base
    flat = all(not np.any(each.scale) for each in both.maps.values())
    if not flat or not (both.offset <= 0.0).all():
        raise Declined(f"{named(said)} is of more than two lines")
    emit(collector, "ramp", weight, one + base, said)
    emit(collector, "ramp", weight, two + base, said)


def _tube(collector: Any, inner: Any, floor: Array) -> tuple[Any, float]:
    """r and epsilon of |r| - epsilon, all of them equal."""
    parts = inner.args if type(inner).__name__ == "AddExpression" else [inner]
    moving = [each for each in parts if not collector.walker.is_constant(each)]
    level = floor.astype(float)
    for each in parts:
        if collector.walker.is_constant(each):
            level = level - np.broadcast_to(collector.walker.entries(each), level.shape)
    known = len(moving) == 1 and type(moving[0]).__name__ == "abs"
    if not known or moving[0].size != level.size:
        raise Declined(f"{named(inner)} is neither a line nor the size of one, less a constant")
    if not (level >= 0.0).all() or not (level == level[0]).all():
        raise Declined(f"{named(inner)}: the tube is not of one width >= 0")
    return moving[0].args[0], float(level[0])


def _as_large(affine: Affine, size: int) -> Affine:
    return affine if affine.size == size else affine.taken(np.zeros(size, dtype=int))


def minimum(collector: Any, atom: Any, weight: Array) -> None:
    """Minus the smaller of lines is the larger of their negatives."""
    import cvxpy as cp

    maximum(collector, cp.maximum(*[-each for each in atom.args]), -weight, said=atom)
