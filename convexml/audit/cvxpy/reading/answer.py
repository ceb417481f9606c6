"""The auxiliary entries and multipliers of the solver's own answer, where CVXPY still has it."""

from __future__ import annotations

import numpy as np

from ....certificates.conic.search.recovery import Completed
from ....numerics import Array
from ....objective.conic.program import ConePoint
from .point import Posed
from .rows import Given

SAME = 1e-7
"""How far values may be from the solver's, relative to the largest: CVXPY projects some."""
NEAR = 1e-4
"""Rows and columns are met to this, for their terms, by the answer to this very problem."""


def kept_answer(posed: Posed, x: Array, given: Given, found: ConePoint) -> Completed | None:
    """The dual point of a solver's answer; None unless it is what stands in the problem.

    A candidate as any other: its bound is computed from the data.

    Parameters
    ----------
    posed : Posed
    x : array, shape (n,)
        The owner's entries stand in it.
    given : Given
        The multipliers that stand.
    found : ConePoint
        It may be that to another problem.
    """
    program = posed.program
    if tuple(map(len, found)) != (program.q.size, *2 * (program.b.size,)):
        return None
    w, s, y = found
    own, mask, y = posed.own, given.mask, np.where(posed.idle, 0.0, y)
    if not (_same(w[own], x[own]) and _same(y[mask], given.y[mask])):
        return None
    w, y = np.where(own, x, w), np.where(mask, given.y, y)
    terms = program.A_sizes @ np.abs(w) + np.abs(program.b)
    if not _small(program.slack(w) - s, terms, NEAR):
        return None
    left = program.stationarity(w, y)
    return Completed(w, y) if _small(left, program.stationarity_size(w, y), NEAR) else None


def _same(one: Array, other: Array) -> bool:
    return _small(one - other, other, SAME)


def _small(part: Array, sizes: Array, share: float) -> bool:
    size = float(np.max(np.abs(sizes), initial=0.0))
    return float(np.max(np.abs(part), initial=0.0)) <= share * size
