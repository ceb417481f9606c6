"""What a CVXPY problem is made of, and whether anything of it has changed since."""

from __future__ import annotations

from dataclasses import dataclass
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

    def is_as_it_was(self) -> bool:
        """Whether it is made of the same objects."""
        now = _inside(self.source)
        return len(now) == len(self.inside) and all(
            one is other for one, other in zip(now, self.inside, strict=True)
        )


@dataclass(frozen=True)
class SeenProblem:
    """A problem as it was: every expression in it by identity, all of its numbers as copies.

    Constants and Parameters may be written to in place, lists of arguments changed: whatever is
    not found as it was makes the problem another one.
    """

    objective: Any
    constraints: list[Any]
    parts: list[Piece]

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
            numbers = _numbers(source)
            count += _count(numbers)
            if count > MOST:
                return None
            parts.append(Piece(source, _inside(source), _copied(numbers)))
            waiting += parts[-1].inside
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
            if not part.is_as_it_was():
                return None
            if not _alike(part.numbers, _numbers(part.source)):
                if not _is_parameter(part.source):
                    return None
                found.add(part.source.id)
        return found

    def depending_on(self, parameters: set[int]) -> set[int]:
        """The expressions, by ``id()``, in which one of these Parameters stands."""
        return {id(each.source) for each in self.parts if depends(each.source, parameters)}


def depends(source: Any, parameters: set[int]) -> bool:
    """Whether one of these Parameters stands in an expression."""
    return any(each.id in parameters for each in source.parameters())


def _is_parameter(source: Any) -> bool:
    return Walker.is_leaf(source) and bool(source.parameters())


def _inside(source: Any) -> tuple[Any, ...]:
    """Arguments, the two sides of a constraint as one, and expressions among the settings."""
    whole = getattr(source, "expr", None) if hasattr(source, "dual_variables") else None
    settings = [] if Walker.is_leaf(source) else (source.get_data() or [])
    more = [each for each in settings if hasattr(each, "is_constant")]
    return (*source.args, *([] if whole is None else [whole]), *more)


def _numbers(source: Any) -> Any:
    """The value of a constant or Parameter, attributes of a variable, settings of an atom."""
    if not Walker.is_leaf(source):
        return [each for each in source.get_data() or [] if not hasattr(each, "is_constant")]
    if source.is_constant():
        return source.value
    return [source.shape, *(_plain(each) for each in source.attributes.values())]


def _plain(attribute: Any) -> Any:
    """An attribute as numbers: bounds may be expressions."""
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
