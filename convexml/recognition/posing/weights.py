"""A reading that differs from one that was posed in the weights of penalties alone."""

from __future__ import annotations

from ..reading.declined import Declined
from ..reading.terms import Reading
from .design import repenalised
from .penalising import collect, joined, penalty_of
from .problem import PosedReading


def with_weights(posed: PosedReading, reading: Reading) -> PosedReading:
    """The same losses, with the penalties of a reading that differs in their weights alone.

    Raises
    ------
    Declined
        If there are none such in the library.
    """
    design, before = posed.design, posed.reading
    terms = [
        new
        for old, new in zip(before.terms, reading.terms, strict=True)
        if id(old) not in posed.inside
    ]
    lines = [
        new
        for old, new in zip(before.linear, reading.linear, strict=True)
        if id(old) not in posed.inside
    ]
    entries = collect(reading, terms, lines)
    if design.intercept is not None and entries[design.intercept].touched.any():
        raise Declined("the intercept is penalised")
    parts = [(entries[key], columns) for key, columns in design.columns.items()]
    whole = joined(parts, sum(columns.size for _, columns in parts))
    penalty = penalty_of(whole)
    found = posed.of(reading)
    found.problem = repenalised(posed.problem, penalty)
    found.constant = reading.constant + sum(float(each.sum()) for each in posed.beyond)
    return found
