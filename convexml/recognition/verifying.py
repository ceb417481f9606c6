"""Nobody is trusted: what was read against what CVXPY computes from the expressions as written.

At points of several sizes every argument of an atom is compared entry by entry, every loss row by
row, and the whole objective; a difference beyond rounding is a decline.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics import Array
from .comparing import (
    ROUNDING,
    compare_bounds,
    compare_bounds_of_scores,
    compare_constraints,
    compare_derived,
    compare_sets,
)
from .posing.bundles import Bundle
from .posing.problem import PosedReading
from .posing.scores import PosedScores
from .reading.declined import Declined, named
from .reading.evaluating import AsWritten
from .reading.terms import INDICATORS, Reading, per_row

SIZES = (2.0**-10, 1.0, 2.0**10)


Posed = PosedReading | PosedScores


def verify(posed: Posed, sizes: tuple[float, ...] = SIZES, seed: int = 0) -> None:
    """Compare at a random point of each size.

    Raises
    ------
    Declined
        If anything differs.
    """
    with np.errstate(all="ignore"):  # most ends are infinite
        if isinstance(posed, PosedScores):
            compare_bounds_of_scores(posed)
        else:
            compare_bounds(posed)
    points = random_points(posed.reading, sizes, seed)
    for number, values in enumerate(points):
        if posed.reading.eliminated:
            compare_constraints(posed.reading, values)
        points[number] = posed.reading.complete(values)
    pairs = [posed.point(values) for values in points]
    with np.errstate(all="ignore"):
        weights = np.column_stack([_matrix(posed, w) for w, _ in pairs])
        predictions = np.asarray(posed.X @ weights)
        for number, (values, (w, b)) in enumerate(zip(points, pairs, strict=True)):
            K = weights.shape[1] // len(pairs)
            _check(posed, values, w, predictions[:, number * K : (number + 1) * K] + b).compare()


def random_points(
    reading: Reading, sizes: tuple[float, ...] = SIZES, seed: int = 0
) -> list[dict[int, Array]]:
    """Entries of every variable at each size, within their bounds."""
    random, points = np.random.default_rng(seed), []
    for size in sizes:
        values = {}
        for key, variable in reading.variables.items():
            entries = size * random.standard_normal(variable.size)
            free = np.full(variable.size, np.inf)
            low, high = reading.lower.get(key, -free), reading.upper.get(key, free)
            values[key] = _between(entries, low, high)
        points.append(values)
    return points


def _between(entries: Array, low: Array, high: Array) -> Array:
    """The entries within their bounds, not at them: there a column would count for nothing."""
    size = np.abs(entries)
    up, down = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    entries = np.where(np.isfinite(low), up + size, entries)
    entries = np.where(np.isfinite(high) & ~np.isfinite(low), down - size, entries)
    inside = up + (down - up) * (size / (1.0 + size))
    return np.where(np.isfinite(low) & np.isfinite(high), inside, entries)


def value_at(posed: Posed, values: dict[int, Array], w: Array, b: Array, ours: float) -> float:
    """The objective as written where the variables have these entries.

    ``ours`` is P(w, b) of the learning problem: the two may differ by rounding only.

    Raises
    ------
    Declined
        If they differ by more.
    """
    with np.errstate(all="ignore"):
        comparison = _check(posed, values, w, np.asarray(posed.X @ _matrix(posed, w)) + b)
        written = comparison.compare()
        total = ours + posed.constant
        if not abs(posed.reading.sign * written - total) <= comparison.rounding:
            raise Declined(f"the objective is {written:g} as written and {total:g} as read")
    return written


def _matrix(posed: Posed, w: Array) -> Array:
    """The coefficients with one column for each output."""
    return w.reshape(posed.weights[1].shape if isinstance(posed, PosedScores) else (-1, 1))


def _check(
    posed: Posed, values: dict[int, Array], w: Array, z: Array
) -> Crosscheck | CrosscheckOfScores:
    if isinstance(posed, PosedScores):
        return CrosscheckOfScores(posed, values, w, z)
    return Crosscheck(posed, values, w, z[:, 0])


class Crosscheck:
    """What is read and what is written, at one point with the predictions ``z``."""

    def __init__(self, posed: Any, values: dict[int, Array], w: Array, z: Array) -> None:
        self.posed, self.values, self.w, self.z = posed, values, w, z
        self.written = AsWritten(posed.reading.walker, values)
        self.rounding = 0.0

    def compare(self) -> float:
        """The objective as written; Declined where anything differs."""
        posed = self.posed
        objective = posed.problem.objective_parts
        self._selections()
        losses = np.zeros(posed.design.kept.size)
        if not objective.loss.is_indicator:
            losses[posed.design.kept] = objective.c * objective.loss.value(objective.y, self.z)
        compare_constraints(posed.reading, self.values, self.written)
        compare_derived(posed.reading, self.values, self.written)
        compare_sets(posed, self.values, self.w, self.z)
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
        beyond = sum(float(np.abs(each).sum()) for each in posed.beyond)
        return self._whole(losses, beyond)

    def _selections(self) -> None:
        for term in self.posed.reading.terms:
            if all(each.is_selection for each in term.affine.maps.values()):
                self._same_argument(term.source, term.affine(self.values), self._terms(term.affine))

    def _whole(self, losses: Array, beyond: float) -> float:
        posed, reading = self.posed, self.posed.reading
        penalty = float(posed.problem.objective_parts.penalty.value(self.w))
        ours = float(losses.sum()) + penalty + posed.constant
        written = float(np.asarray(self.written(reading.problem.objective.args[0])).item())
        theirs = reading.sign * written
        sizes = float(np.abs(losses).sum()) + abs(penalty) + abs(posed.constant) + beyond
        self.rounding += ROUNDING * sizes
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
            theirs = self._argument(part.term)
            live = kept & (part.term.weight > 0.0)
            off = np.abs(part.s * z + part.o - theirs)[live]
            if not (off <= self._slack(part.term)[live]).all():
                raise Declined(f"{named(part.term.said)} is not what was read")

    def _argument(self, term: Any) -> Array:
        """Of a term, as it is written; what was derived, as it was read."""
        if term.source is None:
            return np.asarray(term.affine(self.values))
        return self.written.entries(term.source)

    def _slack(self, term: Any) -> Array:
        return ROUNDING * self._terms(term.affine)

    def _rows(self, bundle: Bundle, ours: Array) -> None:
        """What is said of each prediction, with the arguments as CVXPY has them."""
        theirs, slack = np.zeros(bundle.rows), np.zeros(bundle.rows)
        for part in bundle.parts:
            term = part.term
            if term.kind in INDICATORS:
                continue
            at = self._argument(term)
            off = self._slack(term)
            value = per_row(term.kind, at, term.level)
            theirs += np.where(term.weight > 0.0, term.weight * value, 0.0)
            near = np.abs(per_row(term.kind, at + off, term.level) - value)
            near += np.abs(per_row(term.kind, at - off, term.level) - value)
            slack += np.where(term.weight > 0.0, term.weight * (near + ROUNDING * abs(value)), 0.0)
        for line in bundle.lines:
            at = self._argument(line)
            theirs += line.weight * at
            slack += np.abs(line.weight) * ROUNDING * (self._terms(line.affine) + np.abs(at))
        agree = (ours == theirs) | (np.abs(ours - theirs) <= slack)
        if not agree.all():
            raise Declined(f"{named(bundle.said)} is not what was read, in row {np.argmin(agree)}")
        self.rounding += float(slack[np.isfinite(slack)].sum())


class CrosscheckOfScores(Crosscheck):
    """The same for several outputs: ``z`` has a column for each class."""

    def compare(self) -> float:
        """The objective as written; Declined where anything differs."""
        posed, start, beyond = self.posed, 0, 0.0
        objective = posed.problem.objective_parts
        self._selections()
        losses = objective.c * objective.loss.value(objective.y, self.z)
        own = np.where(objective.c > 0.0, losses, 0.0)
        for block in posed.blocks:
            kept = block.weight > 0.0
            here = slice(start, start + int(kept.sum()))
            start, said = here.stop, named(block.term.said)
            scores = self.written.entries(block.term.source)[block.scores][kept]
            terms = self._terms(block.term.affine)[block.scores][kept]
            if not (np.abs(scores - self.z[here]) <= ROUNDING * terms).all():
                raise Declined(f"{named(block.term.source)} is not what was read")
            top = scores.max(axis=1)
            whole = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
            label = objective.y[here].astype(int)
            mine = scores[np.arange(label.size), label]
            off = ROUNDING * (np.abs(whole) + np.abs(mine) + terms.max(axis=1))
            theirs = block.weight[kept] * (whole - mine)
            if not (np.abs(theirs - own[here]) <= block.weight[kept] * off).all():
                raise Declined(f"{said} is not what was read")
            self.rounding += float((block.weight[kept] * off).sum())
        return self._whole(own, beyond)
