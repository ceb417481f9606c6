"""Nobody is trusted: what was read against what CVXPY computes from the expressions as written.

At points of several sizes every argument of an atom is compared entry by entry, every loss row by
row, and the whole objective; a difference beyond rounding is a decline.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from ..numerics import EPS, Array
from .comparing import (
    ROUNDING,
    compare_bounds,
    compare_bounds_of_scores,
    compare_constraints,
    compare_derived,
    compare_sets,
    compare_traded,
)
from .points import SIZES, random_points
from .posing.bundles import Bundle
from .posing.problem import PosedReading
from .posing.scores import PosedScores
from .reading.declined import Declined, named
from .reading.evaluating import AsWritten
from .reading.terms import INDICATORS, per_row

Posed = PosedReading | PosedScores


def verify(posed: Posed, sizes: tuple[float, ...] = SIZES, seed: int = 0) -> list[Crosscheck]:
    """Compare at a random point of each size; what was compared.

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
    points, checks = random_points(posed.reading, sizes, seed), []
    for number, values in enumerate(points):
        if posed.reading.eliminated:
            compare_constraints(posed.reading, AsWritten(posed.reading.walker, values))
        points[number] = posed.reading.complete(values)
    pairs = [posed.point(values) for values in points]
    with np.errstate(all="ignore"):
        weights = np.column_stack([_matrix(posed, w) for w, _ in pairs])
        predictions = np.asarray(posed.X @ weights)
        for number, (values, (w, b)) in enumerate(zip(points, pairs, strict=True)):
            K = weights.shape[1] // len(pairs)
            z = predictions[:, number * K : (number + 1) * K] + b
            checks.append(_check(posed, values, w, z))
            checks[-1].compare()
    return checks


def verify_weights(posed: PosedReading, changed: set[int]) -> None:
    """Compare the objective again, where nothing but weights of penalties has changed.

    ``changed`` are the expressions, by ``id()``, in which a Parameter stands that has; Declined
    where it differs.
    """
    with np.errstate(all="ignore"):
        compare_bounds(posed)
        for each in posed.checks:
            again = each.of(posed)
            again.written = each.written.but_for(posed.reading.walker, changed)
            again.compare_whole()


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
        self.losses, self.beyond = np.zeros(0), 0.0

    def of(self, posed: Any) -> Self:
        """The same of another problem with the same losses."""
        twin = copy(self)
        twin.posed = posed
        return twin

    def compare(self) -> float:
        """The objective as written; Declined where anything differs."""
        posed = self.posed
        objective = posed.problem.objective_parts
        self._selections()
        losses = np.zeros(posed.design.kept.size)
        if not objective.loss.is_indicator:
            losses[posed.design.kept] = objective.c * objective.loss.value(objective.y, self.z)
        compare_constraints(posed.reading, self.written)
        compare_derived(posed.reading, self.written)
        compare_sets(posed, self.written, self.w, self.z)
        compare_traded(posed, self.written)
        whole = np.zeros(posed.design.kept.size)
        whole[posed.design.kept] = self.z
        whole = whole / posed.design.factor
        for bundle, beyond in zip(posed.bundles, posed.beyond, strict=True):
            total, size = np.array(beyond), np.abs(beyond)
            for _, here in posed.homes[id(bundle)]:
                total, size = total + losses[here], size + np.abs(losses[here])
                self._predictions(bundle, whole[here], posed.design.kept[here])
            self._rows(bundle, total, 16.0 * EPS * size)
        self.losses = losses
        self.beyond = sum(float(np.abs(each).sum()) for each in posed.beyond)
        return self.compare_whole()

    def _selections(self) -> None:
        for term in self.posed.reading.terms:
            if all(each.is_selection for each in term.affine.maps.values()):
                self._same_argument(term.source, term.affine(self.values), self._terms(term.affine))

    def compare_whole(self) -> float:
        """The objective as written, compared with the sum of what was read."""
        posed, reading, losses = self.posed, self.posed.reading, self.losses
        penalty = float(posed.problem.objective_parts.penalty.value(self.w))
        ours = float(losses.sum()) + penalty + posed.constant
        written = float(np.asarray(self.written(reading.problem.objective.args[0])).item())
        theirs = reading.sign * written
        sizes = float(np.abs(losses).sum()) + abs(penalty) + abs(posed.constant) + self.beyond
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

    def _rows(self, bundle: Bundle, ours: Array, slack: Array) -> None:
        """What is said of each prediction, with the arguments as CVXPY has them."""
        theirs = np.zeros(bundle.rows)
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
        posed, start = self.posed, 0
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
        self.losses = own
        return self.compare_whole()
