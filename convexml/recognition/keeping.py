"""What was read of a problem, kept for the next time that it is solved.

A problem is solved again and again with other values of a Parameter. Where nothing at all has
changed since it was read (``seen``), what was read and verified holds. Where only Parameters have,
the objective is read again, and must be the same term by term but for the weights of penalties: no
argument of a term has one of these Parameters in it, so that what was verified of arguments and
losses holds; the objective as a whole is compared again at the points of ``verify``. Of a trend
filter the whole of what stands on Parameters is read and compared again. Anything else is read
anew. Only problems that are solved a second time are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..numerics import Array
from .posing.problem import PosedReading
from .posing.weights import with_weights
from .reading.declined import Declined
from .reading.objective import read_objective
from .reading.terms import LinearTerm, Reading, Term
from .reading.walker import Walker
from .recognizing import Posed, read
from .seen import SeenProblem
from .trends.posing import PosedTrend, pose_trend
from .trends.verifying import verify_trend
from .verifying import verify_weights


@dataclass(frozen=True)
class Kept:
    """What was read, but for the problem itself, which would live as long as what is kept of it.

    The walker of ``posed`` knows what was read of each expression.
    """

    posed: PosedReading | PosedTrend
    seen: SeenProblem

    @classmethod
    def of(cls, posed: PosedReading | PosedTrend, seen: SeenProblem) -> Kept:
        """What is read of a problem that was seen when it was read."""
        alone = posed.of(replace(posed.reading, problem=None))
        if isinstance(alone, PosedReading):
            alone.check = alone.check.of(alone)
        return cls(alone, seen)

    def again(self, problem: Any) -> PosedReading | PosedTrend | None:
        """The problem as it is now; None where it has to be read anew."""
        changed = self.seen.changes(problem)
        if changed is None:
            return None
        # A walker of its own looks numbers up anew: what is overlooked here, the answer shows.
        anew = Walker()
        if not changed:
            return self.posed.of(replace(self.posed.reading, problem=problem, walker=anew))
        depending = self.seen.depending_on(changed)
        try:
            reading = read_objective(problem, self.posed.reading.walker.but_for(depending))
            if isinstance(self.posed, PosedTrend):
                return _trend_again(reading, anew)
            if problem.constraints or not same_but_for_weights(self.posed, reading, depending):
                return None
            reading.walker = anew
            posed = with_weights(self.posed, reading)
            verify_weights(posed, depending)
        except Declined:  # reading it anew says why
            return None
        return posed


def _trend_again(reading: Reading, anew: Walker) -> PosedTrend | None:
    """A trend filter, posed and compared as at first: only expressions are not walked again."""
    posed = pose_trend(reading)
    if posed is not None:
        verify_trend(posed)
        posed.reading.walker = anew
    return posed


KEPT: WeakKeyDictionary[Any, Kept | None] = WeakKeyDictionary()
"""By problem; None after the first time."""


def posed_of(problem: Any) -> Posed | None:
    """The learning problem that a problem is; None where it is not recognised."""
    kept = KEPT.get(problem)
    found = None if kept is None else kept.again(problem)
    if found is not None:
        return found
    seen = SeenProblem.of(problem) if problem in KEPT else None
    posed = read(problem).posed
    KEPT[problem] = None
    if seen is not None and isinstance(posed, PosedReading | PosedTrend):
        KEPT[problem] = Kept.of(posed, seen)
    return posed


def same_but_for_weights(posed: PosedReading, reading: Reading, depending: set[int]) -> bool:
    """Whether a reading says the same, but for how much penalties count.

    ``depending`` are the expressions, by ``id()``, in which a Parameter stands that has changed.
    """
    before, losses = posed.reading, posed.inside
    bounds = (before.lower, reading.lower), (before.upper, reading.upper)
    return (
        len(before.terms) == len(reading.terms)
        and len(before.linear) == len(reading.linear)
        and all(
            same_term(*pair, depending, id(pair[0]) in losses)
            for pair in zip(before.terms, reading.terms, strict=True)
        )
        and all(
            same_line(*pair, depending, id(pair[0]) in losses)
            for pair in zip(before.linear, reading.linear, strict=True)
        )
        and all(
            one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)
            for one, other in bounds
        )
    )


def same_term(one: Term, other: Term, depending: set[int], exactly: bool) -> bool:
    """Whether two terms are of one argument, of which no Parameter has changed."""
    return (
        (one.kind, one.level) == (other.kind, other.level)
        and same_groups(one.groups, other.groups)
        and same_line(one, other, depending, exactly)
    )


def same_groups(one: Array | None, other: Array | None) -> bool:
    """Whether both have none, or the same."""
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other))


def same_line(
    one: Term | LinearTerm, other: Term | LinearTerm, depending: set[int], exactly: bool
) -> bool:
    """Whether two affine arguments are the same, and what they count: at least its sign."""
    if not is_fixed(one, other, depending):
        return False
    weights = one.weight, other.weight
    if not exactly:
        weights = np.sign(one.weight), np.sign(other.weight)
    return bool(np.array_equal(*weights)) and one.affine.is_same(other.affine)


def is_fixed(one: Term | LinearTerm, other: Term | LinearTerm, depending: set[int]) -> bool:
    """Whether both stand for one expression, and no Parameter of it has changed.

    An argument that was derived is another object each time; its atom is not.
    """
    whole = one.source
    if whole is None or whole is not other.source:
        whole = getattr(one, "said", None)
        if whole is None or whole is not getattr(other, "said", None):
            return False
    return id(whole) not in depending
