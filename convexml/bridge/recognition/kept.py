"""What was read of a CVXPY problem, kept for its next solve, and whether anything has changed."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from operator import is_
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse

from .affine import Walker
from .answers import ReadProblem
from .atoms import read_objective
from .duals import PosedDual, pose_dual
from .maps import Declined, equal
from .posing import PosedReading, pose
from .softmax import PosedScores, pose_scores
from .terms import Reading
from .trends import PosedTrend, pose_trend

# What a CVXPY problem is made of, and whether anything of it has changed since.


MOST = 500_000
"""Numbers of a problem, above which none are copied to be compared later."""


@dataclass(frozen=True)
class Piece:
    """An expression, constraint or objective: what it is made of, and its numbers."""

    source: Any
    inside: tuple[Any, ...]
    numbers: Any


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
            inside, numbers = _taken_apart(source)
            count += _count(numbers)
            if count > MOST:
                return None
            parts.append(Piece(source, inside, deepcopy(numbers)))
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
            # Whether these are the objects that it was made of.
            if not (len(inside) == len(part.inside) and all(map(is_, inside, part.inside))):
                return None
            if not _alike(part.numbers, numbers):
                if not _is_parameter(part.source):
                    return None
                found.add(part.source.id)
        return found

    def depending_on(self, parameters: set[int]) -> set[int]:
        """The expressions, by ``id()``, in which one of these Parameters stands."""
        # From the Parameters up: whatever has one of what was found inside of it.
        users: dict[int, list[Any]] = {}
        for part in self.parts:
            for each in part.inside:
                users.setdefault(id(each), []).append(part.source)
        sources = [part.source for part in self.parts]
        waiting = [each for each in sources if _is_parameter(each) and each.id in parameters]
        found: set[int] = set()
        while waiting:
            source = waiting.pop()
            if id(source) not in found:
                found.add(id(source))
                waiting += users.get(id(source), [])
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
    if isinstance(numbers, list | tuple):
        return sum(_count(each) for each in numbers)
    return int(numbers.nnz if sparse.issparse(numbers) else np.size(numbers))


def _alike(one: Any, other: Any) -> bool:
    """Whether numbers are those that were copied, but for the sign of 0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if sparse.issparse(one) or isinstance(one, np.ndarray):
        return one.dtype == other.dtype and equal(one, other)
    return one is other or bool(one == other)


# What was read of a problem, kept for the next time that it is solved.
#
# A problem is solved again and again with other values of a Parameter. Where nothing at all has
# changed since it was read (``seen``), what was read and verified holds. Where only Parameters
# have, an objective is read, posed and compared as at first; expressions in which they do not stand
# are not walked again, and samples that are the same keep what is known of them. Anything else is
# read anew. Only problems that are solved a second time are kept.


@dataclass(frozen=True)
class Kept:
    """What was read, but for the problem itself, which would live as long as what is kept of it.

    The walker of ``posed`` knows what was read of each expression.
    """

    posed: ReadProblem
    seen: SeenProblem

    @classmethod
    def of(cls, posed: ReadProblem, seen: SeenProblem) -> Kept:
        """What is read of a problem that was seen when it was read."""
        return cls(posed.of(replace(posed.reading, problem=None)), seen)

    def again(self, problem: Any) -> ReadProblem | None:
        """The problem as it is now; None where it has to be read anew."""
        changed = self.seen.changes(problem)
        if changed is None:
            return None
        # A walker of its own looks numbers up anew: what is overlooked here, the answer shows.
        anew = Walker()
        if not changed:
            return self.posed.of(replace(self.posed.reading, problem=problem, walker=anew))
        known = self.posed.reading.walker.but_for(self.seen.depending_on(changed))
        try:
            posed = POSED_AGAIN[type(self.posed)](read_objective(problem, known))
            if posed is not None:
                posed = posed.resumed(self.posed)
                posed.verify()
                posed.reading.walker = anew
        except Declined:  # reading it anew says why
            return None
        return posed


POSED_AGAIN: dict[type[ReadProblem], Callable[[Reading], ReadProblem | None]] = {
    PosedReading: pose,
    PosedScores: pose_scores,
    PosedDual: pose_dual,
    PosedTrend: pose_trend,
}
KEPT: WeakKeyDictionary[Any, Kept | SeenProblem | None] = WeakKeyDictionary()
"""By problem; None after the first time, what was seen of one that was declined twice."""


def kept_reading(problem: Any, read: Callable[[Any], ReadProblem | None]) -> ReadProblem | None:
    """What a problem was read as before, as it is now; else ``read`` of it, kept for the next time.

    None where it is declined, and where it was twice and only values of Parameters have changed.
    """
    kept = KEPT.get(problem)
    if isinstance(kept, SeenProblem) and kept.changes(problem) is not None:
        return None
    again = kept.again(problem) if isinstance(kept, Kept) else None
    if again is not None:
        return again
    posed = read(problem)
    seen = SeenProblem.of(problem) if problem in KEPT else None
    KEPT[problem] = seen if seen is None or posed is None else Kept.of(posed, seen)
    return posed
