"""What a CVXPY problem is made of, and whether anything of it has changed since."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import is_
from typing import Any, Self

import numpy as np
from scipy import sparse

from .reading.walker import Walker

MOST = 500_000
"""Numbers of a problem, above which none are copied to be compared later."""
STORED = ("data", "indices", "indptr", "row", "col", "offsets")
"""The arrays of sparse matrices, by their formats."""


@dataclass(frozen=True)
class Piece:
    """An expression, constraint or objective: what it is made of, and its numbers."""

    source: Any
    inside: tuple[Any, ...]
    numbers: Any

    def is_made_of(self, inside: tuple[Any, ...]) -> bool:
        """Whether these are the objects that it was made of."""
        return len(inside) == len(self.inside) and all(map(is_, inside, self.inside))


@dataclass(frozen=True)
class SeenProblem:
    """A problem as it was: every expression in it by identity, all of its numbers as copies.

    Constants and Parameters may be written to in place, lists of arguments changed: whatever is
    not found as it was makes the problem another one.
    """

    objective: Any
    constraints: list[Any]
    parts: list[Piece]
    _depending: dict[frozenset[int], set[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Any) -> Self | None:
        """What there is; None where it is large."""
        parts, visited, count = [], set(), 0
        waiting = [problem.objective, *problem.constraints]
        while waiting:
            source = waiting.pop()
            if id(source) in visited:
                continue
            visited.add(id(source))
            inside, numbers = _taken_apart(source)
            count += _count(numbers)
            if count > MOST:
                return None
            parts.append(Piece(source, inside, _copied(numbers)))
            waiting += inside
        return cls(problem.objective, list(problem.constraints), parts)

    def changes(self, problem: Any) -> set[int] | None:
        """The Parameters, by id, whose values have changed; None where anything else has."""
        constraints = problem.constraints
        if problem.objective is not self.objective or len(constraints) != len(self.constraints):
            return None
        if any(a is not b for a, b in zip(constraints, self.constraints, strict=True)):
            return None
        found: set[int] = set()
        for part in self.parts:
            inside, numbers = _taken_apart(part.source)
            if not part.is_made_of(inside):
                return None
            if not _alike(part.numbers, numbers):
                if not _is_parameter(part.source):
                    return None
                found.add(part.source.id)
        return found

    def depending_on(self, parameters: set[int]) -> set[int]:
        """The expressions, by ``id()``, in which one of these Parameters stands."""
        key = frozenset(parameters)
        if key not in self._depending:
            self._depending[key] = self._reached_by(parameters)
        return self._depending[key]

    def _reached_by(self, parameters: set[int]) -> set[int]:
        """From the Parameters up: whatever has one of what was found inside of it."""
        users: dict[int, list[Piece]] = {}
        for part in self.parts:
            for each in part.inside:
                users.setdefault(id(each), []).append(part)
        waiting = [
            part
            for part in self.parts
            if _is_parameter(part.source) and part.source.id in parameters
        ]
        found: set[int] = set()
        while waiting:
            part = waiting.pop()
            if id(part.source) not in found:
                found.add(id(part.source))
                waiting += users.get(id(part.source), [])
        return found


def _is_parameter(source: Any) -> bool:
    return Walker.is_leaf(source) and bool(source.parameters())


def _taken_apart(source: Any) -> tuple[tuple[Any, ...], Any]:
    """What stands inside, and numbers.

    Inside are arguments, the two sides of a constraint as one, and expressions among the settings;
    numbers are the value of a constant or Parameter, attributes of a variable, settings of an atom.
    """
    if Walker.is_leaf(source):
        if source.is_constant():
            return (), source.value
        return (), [source.shape, *map(_plain, source.attributes.values())]
    inside, numbers = tuple(source.args), []
    whole = _whole(source) if hasattr(source, "dual_variables") else None
    if whole is not None:
        inside = *inside, whole
    for each in source.get_data() or ():
        if hasattr(each, "is_constant"):
            inside = *inside, each
        else:
            numbers.append(each)
    return inside, numbers


def _whole(constraint: Any) -> Any:
    """The two sides as one; None of cones, which CVXPY refuses to name one expression of."""
    try:
        return constraint.expr
    except ValueError:
        return None


def _plain(attribute: Any) -> Any:
    """An attribute as numbers: bounds may be expressions."""
    if attribute is None or attribute is False:
        return attribute
    if isinstance(attribute, list | tuple):
        return [_plain(each) for each in attribute]
    return attribute.value if hasattr(attribute, "is_constant") else attribute


def _count(numbers: Any) -> int:
    if sparse.issparse(numbers):
        return int(numbers.nnz)
    if isinstance(numbers, list | tuple):
        return sum(_count(each) for each in numbers)
    return int(np.size(numbers)) if isinstance(numbers, np.ndarray) else 1


def _copied(numbers: Any) -> Any:
    if isinstance(numbers, list | tuple):
        return type(numbers)(_copied(each) for each in numbers)
    if sparse.issparse(numbers) or isinstance(numbers, np.ndarray):
        return numbers.copy()
    return numbers


def _alike(one: Any, other: Any) -> bool:
    """Whether numbers are those that were copied, bit by bit but for the sign of 0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if sparse.issparse(one):
        if one.format != other.format or one.shape != other.shape:
            return False
        names = [name for name in STORED if hasattr(one, name)]
        return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return one is other or bool(one == other)
