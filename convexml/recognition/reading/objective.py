"""The objective as a sum of atoms: read from the top down, with what each entry counts for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array
from .affine import Affine
from .atoms import ATOMS, along
from .declined import Declined, named
from .kinds import MOVING, PRODUCTS, WRAPPED
from .terms import LinearTerm, Reading
from .walker import Walker

TAKEN_APART = {"multiply", "DivExpression", "NegExpression", "Sum", "Trace", "Promote", *WRAPPED}


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


class Collector:
    """Takes an expression apart; ``weight`` is what each of its entries counts for."""

    def __init__(self, reading: Reading) -> None:
        self.reading, self.walker = reading, reading.walker

    def add(self, expression: Any, weight: Array) -> None:
        """Count ``weight . expression`` in."""
        if self.walker.is_constant(expression):
            self.reading.constant += float(weight @ self.walker.entries(expression))
            return
        affine = self.walker.is_affine(expression)
        if affine and self._is_base(expression):
            self.add_affine(weight, self.walker.affine(expression), expression)
            return
        kind = type(expression).__name__
        if kind == "AddExpression":
            for each in expression.args:
                self.add(each, folded(weight, expression.shape, each.shape))
        elif kind == "NegExpression":
            self.add(expression.args[0], -weight)
        elif kind in PRODUCTS:
            self._product(expression, weight, kind)
        elif kind == "Sum":
            self.add(expression.args[0], along(expression, weight))
        elif kind == "Trace":
            *several, side = expression.args[0].shape[:-1]
            own = weight.reshape((*several, 1, 1), order="F") * np.eye(side)
            self.add(expression.args[0], own.ravel(order="F"))
        elif kind in MOVING or kind in WRAPPED:
            for each, share in self.shares(expression, weight):
                self.add(each, share)
        elif kind in ATOMS and not affine:
            ATOMS[kind](self, expression, weight)
        elif affine:
            self.add_affine(weight, self.walker.affine(expression), expression)
        else:
            raise Declined(f"{named(expression)}: {kind} is no loss or penalty that is known")

    def add_affine(self, weight: Array, affine: Affine, source: Any) -> None:
        """Count entries of an affine expression in."""
        self.reading.linear.append(LinearTerm(weight, affine, source))

    def _is_base(self, expression: Any) -> bool:
        """Whether an affine expression is to be kept whole: a prediction, or entries of w."""
        kind = type(expression).__name__
        if not expression.args:
            return True
        if kind == "AddExpression":
            return bool(expression.size > 1) or self._is_sample(expression)
        if kind in TAKEN_APART:
            return False
        # Of y @ (X @ w) the entries of X @ w are counted.
        varying = [each for each in expression.args if not self.walker.is_constant(each)]
        return not any(self._predicts(each) for each in varying)

    def _is_sample(self, expression: Any) -> bool:
        """Whether a number is the prediction of one sample, x @ w + b."""
        varying = [each for each in expression.args if not self.walker.is_constant(each)]
        rest = [each for each in varying if not self._predicts(each)]
        return len(varying) == len(rest) + 1 and not any(each.args for each in rest)

    def _predicts(self, expression: Any) -> bool:
        maps = self.walker.affine(expression).maps.values()
        return not all(each.is_selection for each in maps)

    def _product(self, expression: Any, weight: Array, kind: str) -> None:
        left, right = expression.args
        if kind == "DivExpression":
            shared = weight * self.walker.shares(right, expression)
            self.add(left, folded(shared, expression.shape, left.shape))
            return
        fixed, moving = (left, right) if self.walker.is_constant(left) else (right, left)
        if not self.walker.is_constant(fixed):
            raise Declined(f"{named(expression)} is a product of two expressions that vary")
        if kind == "multiply" or not (fixed.ndim and moving.ndim):
            shared = weight * self.walker.factors(fixed, expression)
            self.add(moving, folded(shared, expression.shape, moving.shape))
            return
        if expression.ndim > 2 or moving.ndim > 2 or fixed.ndim > 2:
            raise Declined(f"{named(expression)} multiplies arrays of more than two dimensions")
        matrix = self.walker.constant(fixed)
        matrix = matrix.toarray() if sparse.issparse(matrix) and matrix.size == 1 else matrix
        if fixed is left:
            matrix = matrix if matrix.ndim == 2 else matrix[None, :]
            counts = matrix.T @ weight.reshape(matrix.shape[0], -1, order="F")
        else:
            matrix = matrix if matrix.ndim == 2 else matrix[:, None]
            counts = (matrix @ weight.reshape(-1, matrix.shape[1], order="F").T).T
        self.add(moving, np.asarray(counts).ravel(order="F"))

    def shares(self, expression: Any, weight: Array) -> list[tuple[Any, Array]]:
        """The arguments of an atom that moves entries, and what each of their entries counts."""
        if type(expression).__name__ in WRAPPED:
            return [(expression.args[0], weight)]
        numbers, start = [], 1
        for each in expression.args:
            stop = start + each.size
            numbers.append(np.arange(start, stop, dtype=float).reshape(each.shape, order="F"))
            start = stop
        places = np.asarray(expression.numeric(numbers)).ravel(order="F").astype(int)
        counts, begin, found = np.bincount(places, weight, minlength=start), 1, []
        for each in expression.args:
            found.append((each, counts[begin : begin + each.size]))
            begin += each.size
        return found


def folded(weight: Array, shape: tuple[int, ...], part: tuple[int, ...]) -> Array:
    """What each entry of a part counts for, that is broadcast to ``shape``."""
    if shape == part:
        return weight
    size = int(np.prod(part, dtype=int))
    numbers = np.broadcast_to(np.arange(size).reshape(part, order="F"), shape).ravel(order="F")
    return np.bincount(numbers, weight, minlength=size)
