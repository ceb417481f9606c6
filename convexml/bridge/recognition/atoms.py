"""The objective as a sum of atoms: read from the top down, with what each entry counts for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...modelling import cp
from ...numerics import Array
from .affine import ADDED, SUMS, TAKEN_APART, WRAPPED, Affine, Walker
from .maps import Declined, LinearMap, diagonal_of, named, transposed
from .terms import LinearTerm, Reading, Term

# The larger of lines: ramps, kinks and tubes.


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
    walker, floor = collector.walker, np.full(atom.size, -np.inf)
    fixed: list[Any] = []
    moving: list[Any] = []
    for each in atom.args:
        if each.shape != atom.shape and each.size != 1:
            raise Declined(f"{named(atom)} broadcasts {named(each)}")
        (fixed if walker.is_constant(each) else moving).append(each)
    for each in fixed:
        floor = np.maximum(floor, np.broadcast_to(walker.entries(each), (atom.size,)))
    two = None
    if len(moving) == 2 and not square and all(map(walker.is_affine, moving)):
        one, two = (_as_large(walker.affine(each), atom.size) for each in moving)
    if two is not None and not fixed:
        collector.add_affine(weight, two, moving[1] if moving[1].size == atom.size else None)
        above = moving[0] - moving[1] if moving[0].shape == moving[1].shape == atom.shape else None
        return emit(collector, "ramp", weight, one + two.scaled(-1.0), said, above)
    if not fixed or not np.isfinite(floor).all():
        raise Declined(f"{named(atom)} is not the larger of two lines")
    if square and floor.any():
        raise Declined(f"{named(said)}: the square of {named(atom)} is not read")
    if two is not None:
        # max(a, b, c) = c + (a - c)_+ + (b - c)_+ where never both are above c.
        base = Affine(one.size, {}, -floor)
        both = one + two + base + base
        constant = all(not np.any(each.scale) for each in both.maps.values())
        if not constant or not (both.offset <= 0.0).all():
            raise Declined(f"{named(said)} is of more than two lines")
        emit(collector, "ramp", weight, one + base, said)
        emit(collector, "ramp", weight, two + base, said)
    elif len(moving) != 1:
        raise Declined(f"{named(atom)} is of more than two lines")
    elif walker.is_affine(moving[0]):
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
    maximum(collector, cp.maximum(*[-each for each in atom.args]), -weight, said=atom)


# The convex atoms that losses and penalties are written with, one reader for each.


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
    if kind == "abs":
        return squared(collector, inner.args[0], weight, said)
    if kind in ("Pnorm", "PnormApprox") and float(inner.p) == 2.0:
        return squared(collector, inner.args[0], along(inner, weight), said)
    if kind in ("norm1", "norm_inf") and inner.args[0].size == inner.size:
        return squared(collector, inner.args[0], weight, said)
    if kind == "maximum":
        return maximum(collector, inner, weight, "squared ", said)
    read = None if kind in ATOMS else collector.atoms.affine(inner)
    used = np.zeros(inner.size)
    for each in {} if read is None else read.maps.values():
        used += np.abs(np.sign(each.scales)) if each.is_selection else np.inf
    if read is None or read.offset.any() or (used > 1.0).any():
        raise Declined(f"{named(said)}: the square of {named(inner)} is not read")
    for key, each in read.maps.items():  # multiples of entries
        share = np.bincount(each.index, weight * each.scales**2, each.width)
        squared(collector, collector.atoms.leaves[key], share, said)
    return None


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


def read_objective(problem: Any, walker: Walker | None = None) -> Reading:
    """The terms of a problem's objective; its constraints wait in the answer.

    A ``walker`` may know some of its expressions already.

    Raises
    ------
    Declined
        Naming the expression that is none of the terms that are known.
    """
    sign = -1.0 if type(problem.objective).__name__ == "Maximize" else 1.0
    walker = Walker() if walker is None else walker
    reading = Reading(problem, walker, sign, constraints=list(problem.constraints))
    Collector(reading).add(problem.objective.args[0], np.array([sign]))
    read_attributes(reading)
    return reading


def read_attributes(reading: Reading) -> None:
    """Bounds from the attributes of the variables; other attributes are declined."""
    for key, variable in reading.variables.items():
        for name, value in variable.attributes.items():
            if value is None or value is False or (isinstance(value, list) and not value):
                continue
            low, high = -np.inf, np.inf
            if name in ("nonneg", "pos"):
                low = 0.0
            elif name in ("nonpos", "neg"):
                high = 0.0
            elif name == "bounds":
                low, high = value
            else:
                raise Declined(f"{variable.name()} is declared {name}")
            for bounds, bound, closer in (
                (reading.lower, low, np.maximum),
                (reading.upper, high, np.minimum),
            ):
                bound = bound.value if hasattr(bound, "value") else bound
                entries = np.broadcast_to(np.asarray(bound, dtype=float), variable.shape)
                entries = entries.ravel(order="F")
                if np.isfinite(entries).any():
                    bounds[key] = closer(bounds[key], entries) if key in bounds else entries


OPENED = {"multiply", "DivExpression", "NegExpression", "Promote", *SUMS, *WRAPPED}
"""Affine atoms whose argument is counted, not they."""


class AtomReader(Walker):
    """Reads expressions as affine ones of their atoms, which are ``leaves`` by their keys.

    Leaves are atoms in ``ATOMS`` and affine expressions that are kept whole; what is known of
    constants is that of a ``walker``.
    """

    def __init__(self, walker: Walker) -> None:
        vars(self).update(vars(walker))
        self.walker, self._affine, self.leaves = walker, {}, dict[int, Any]()

    def _read(self, expression: Any) -> Affine:
        kind, size = type(expression).__name__, expression.size
        if self.is_affine(expression):
            known = self.is_constant(expression)
            is_leaf = not known and (kind not in TAKEN_APART or self._is_base(expression))
        else:
            is_leaf = kind in ATOMS
            if kind not in ATOMS.keys() | ADDED:
                raise Declined(f"{named(expression)}: {kind} is no loss or penalty that is known")
        if not is_leaf:
            return super()._read(expression)
        self.leaves[-id(expression)] = expression
        return Affine(size, {-id(expression): LinearMap(size, size)}, np.zeros(size))

    def _is_base(self, expression: Any) -> bool:
        """Whether an affine expression is to be kept whole: a prediction, or entries of w."""
        kind = type(expression).__name__
        if kind == "AddExpression":
            return bool(expression.size > 1) or self._is_sample(expression)
        if kind in OPENED:
            return False
        # Of y @ (X @ w) the entries of X @ w are counted.
        varying = [each for each in expression.args if not self.is_constant(each)]
        return not any(self._predicts(each) for each in varying)

    def _is_sample(self, expression: Any) -> bool:
        """Whether a number is the prediction of one sample, x @ w + b."""
        varying = [each for each in expression.args if not self.is_constant(each)]
        rest = [each for each in varying if not self._predicts(each)]
        return len(varying) == len(rest) + 1 and not any(each.args for each in rest)

    def _predicts(self, expression: Any) -> bool:
        maps = self.walker.affine(expression).maps.values()
        return not all(each.is_selection for each in maps)


class Collector:
    """Takes an expression apart; ``weight`` is what each of its entries counts for."""

    def __init__(self, reading: Reading) -> None:
        self.reading, self.walker = reading, reading.walker
        self.atoms = AtomReader(reading.walker)

    def add(self, expression: Any, weight: Array) -> None:
        """Count ``weight . expression`` in."""
        read = self.atoms.affine(expression)
        self.reading.constant += float(weight @ read.offset)
        for key, each in read.maps.items():
            self.count(self.atoms.leaves[key], transposed(each, weight))

    def count(self, leaf: Any, weight: Array) -> None:
        """Count a leaf in."""
        if self.walker.is_affine(leaf):
            self.add_affine(weight, self.walker.affine(leaf), leaf)
        else:
            ATOMS[type(leaf).__name__](self, leaf, weight)

    def add_affine(self, weight: Array, affine: Affine, source: Any) -> None:
        """Count entries of an affine expression in."""
        self.reading.linear.append(LinearTerm(weight, affine, source))
