"""Nobody is trusted: what was read against what CVXPY computes from the expressions as written.

At points of several sizes every argument of an atom is compared entry by entry, every loss row by
row, and the whole objective; a difference beyond rounding is a decline.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics import EPS, Array
from .posing.bundles import Bundle
from .posing.problem import PosedReading
from .reading.declined import Declined, named
from .reading.evaluating import AsWritten
from .reading.terms import per_row

SIZES = (2.0**-10, 1.0, 2.0**10)
ROUNDING = 2000.0 * EPS
"""What a sum may be off by, relative to the size of its terms."""


def verify(posed: PosedReading, sizes: tuple[float, ...] = SIZES, seed: int = 0) -> None:
    """Compare at a random point of each size.

    Raises
    ------
    Declined
        If anything differs.
    """
    random, points = np.random.default_rng(seed), []
    for size in sizes:
        values = {}
        for key, variable in posed.reading.variables.items():
            entries = size * random.standard_normal(variable.size)
            low, high = posed.reading.lower.get(key), posed.reading.upper.get(key)
            entries = entries if low is None else np.maximum(entries, low)
            values[key] = entries if high is None else np.minimum(entries, high)
        points.append(values)
    pairs = [posed.point(values) for values in points]
    with np.errstate(all="ignore"):
        scores = np.column_stack([w for w, _ in pairs])
        predictions = posed.design.X @ scores
        for values, (w, b), z in zip(points, pairs, np.asarray(predictions).T, strict=True):
            Crosscheck(posed, values, w, z + b).compare()


def value_at(
    posed: PosedReading, values: dict[int, Array], w: Array, b: Array, ours: float
) -> float:
    """The objective as written where the variables have these entries.

    ``ours`` is P(w, b) of the learning problem: the two may differ by rounding only.

    Raises
    ------
    Declined
        If they differ by more.
    """
    with np.errstate(all="ignore"):
        comparison = Crosscheck(posed, values, w, np.asarray(posed.design.X @ w) + b)
        written = comparison.compare()
        total = ours + posed.constant
        if not abs(posed.reading.sign * written - total) <= comparison.rounding:
            raise Declined(f"the objective is {written:g} as written and {total:g} as read")
    return written


class Crosscheck:
    """What is read and what is written, at one point with the predictions ``z``."""

    def __init__(self, posed: PosedReading, values: dict[int, Array], w: Array, z: Array) -> None:
        self.posed, self.values, self.w, self.z = posed, values, w, z
        self.written = AsWritten(posed.reading.walker, values)
        self.rounding = 0.0

    def compare(self) -> float:
        """The objective as written; Declined where anything differs."""
        posed = self.posed
        objective, reading = posed.problem.objective_parts, posed.reading
        for term in reading.terms:
            if all(each.is_selection for each in term.affine.maps.values()):
                self._same_argument(term.source, term.affine(self.values), self._terms(term.affine))
        losses = np.zeros(posed.design.kept.size)
        losses[posed.design.kept] = objective.c * objective.loss.value(objective.y, self.z)
        whole = np.zeros(posed.design.kept.size)
        whole[posed.design.kept] = self.z
        whole, start = whole / posed.design.factor, 0
        for bundle, beyond in zip(posed.bundles, posed.beyond, strict=True):
            total = np.array(beyond)
            for rows in (each for each in posed.rows if each.home is bundle):
                here = slice(start, start + rows.y.size)
                total, start = total + losses[here], start + rows.y.size
                kept = posed.design.kept[here]
                self._predictions(bundle, whole[here], kept)
            self._rows(bundle, total)
        penalty = float(objective.penalty.value(self.w))
        ours = float(losses.sum()) + penalty + posed.constant
        written = float(np.asarray(self.written(reading.problem.objective.args[0])).item())
        theirs = reading.sign * written
        self.rounding += ROUNDING * (
            float(np.abs(losses).sum())
            + abs(penalty)
            + abs(posed.constant)
            + sum(float(np.abs(each).sum()) for each in posed.beyond)
        )
        if ours != theirs and not abs(ours - theirs) <= self.rounding:
            raise Declined(f"the objective is {theirs:g} as written and {ours:g} as read")
        return written

    def _terms(self, affine: Any) -> Array:
        return np.asarray(affine.terms(self.values))

    def _same_argument(self, source: Any, ours: Array, terms: Array) -> None:
        if source is None:
            return
        theirs = self.written.entries(source)
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= ROUNDING * terms).all():
            raise Declined(f"{named(source)} is not what was read")

    def _predictions(self, bundle: Bundle, z: Array, kept: Array) -> None:
        """The arguments as they follow from the predictions of the posed problem."""
        for part in bundle.parts:
            if part.term.source is None:
                continue
            theirs = self.written.entries(part.term.source)
            live = kept & (part.term.weight > 0.0)
            off = np.abs(part.s * z + part.o - theirs)[live]
            if not (off <= self._slack(part.term)[live]).all():
                raise Declined(f"{named(part.term.source)} is not what was read")

    def _slack(self, term: Any) -> Array:
        return ROUNDING * self._terms(term.affine)

    def _rows(self, bundle: Bundle, ours: Array) -> None:
        """What is said of each prediction, with the arguments as CVXPY has them."""
        theirs, slack = np.zeros(bundle.rows), np.zeros(bundle.rows)
        for part in bundle.parts:
            term = part.term
            at = (
                self.written.entries(term.source)
                if term.source is not None
                else term.affine(self.values)
            )
            off = self._slack(term)
            value = per_row(term.kind, at, term.level)
            theirs += np.where(term.weight > 0.0, term.weight * value, 0.0)
            near = np.abs(per_row(term.kind, at + off, term.level) - value)
            near += np.abs(per_row(term.kind, at - off, term.level) - value)
            slack += np.where(term.weight > 0.0, term.weight * (near + ROUNDING * abs(value)), 0.0)
        for line in bundle.lines:
            at = (
                self.written.entries(line.source)
                if line.source is not None
                else line.affine(self.values)
            )
            theirs += line.weight * at
            slack += np.abs(line.weight) * ROUNDING * (self._terms(line.affine) + np.abs(at))
        agree = (ours == theirs) | (np.abs(ours - theirs) <= slack)
        if not agree.all():
            raise Declined(f"{named(bundle.said)} is not what was read, in row {np.argmin(agree)}")
        self.rounding += float(slack[np.isfinite(slack)].sum())
