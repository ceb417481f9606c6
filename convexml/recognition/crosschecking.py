"""What was read, sample by sample and as a whole, against the expressions as written."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from ..numerics import EPS, Array
from .comparing import (
    ROUNDING,
    compare_constraints,
    compare_derived,
    compare_sets,
    compare_traded,
)
from .posing.bundles import Bundle
from .reading.declined import Declined, named
from .reading.evaluating import AsWritten
from .reading.terms import INDICATORS, per_row


class Crosscheck:
    """What is read and what is written, at points with the predictions ``z``."""

    def __init__(
        self,
        posed: Any,
        values: dict[int, Array],
        w: Array,
        z: Array,
        written: AsWritten | None = None,
    ) -> None:
        self.posed, self.values, self.w, self.z = posed, values, w, z
        self.written = AsWritten(posed.reading.walker, values) if written is None else written
        self.rounding: Any = 0.0
        self.losses, self.beyond = np.zeros(0), 0.0

    def of(self, posed: Any) -> Self:
        """The same of another problem with the same losses."""
        twin = copy(self)
        twin.posed = posed
        return twin

    def compare(self, constraints: bool = True) -> Any:
        """The objective as written, a number for each point; Declined where anything differs.

        ``constraints`` that were compared are not compared again, but for what became of them.
        """
        posed = self.posed
        self._selections()
        losses = self._losses()
        if constraints:
            compare_constraints(posed.reading, self.written)
        compare_derived(posed.reading, self.written)
        compare_sets(posed, self.written, self.w, self.z)
        compare_traded(posed, self.written)
        whole = self._of_all_rows(self.z) / posed.design.factor
        for bundle, beyond in zip(posed.bundles, posed.beyond, strict=True):
            total, size = beyond, np.abs(beyond)
            for _, here in posed.homes[id(bundle)]:
                total, size = total + losses[..., here], size + np.abs(losses[..., here])
                self._predictions(bundle, whole[..., here], posed.design.kept[here])
            self._rows(bundle, total, 16.0 * EPS * size)
        self.losses = losses
        self.beyond = sum(float(np.abs(each).sum()) for each in posed.beyond)
        return self.compare_whole()

    def _losses(self) -> Array:
        """The loss of each row at each point."""
        objective, z = self.posed.problem.objective_parts, np.atleast_2d(self.z)
        if objective.loss.is_indicator:
            return self._of_all_rows(np.zeros(self.z.shape))
        found = np.array([objective.loss.value(objective.y, each) for each in z])
        return self._of_all_rows(objective.c * found.reshape(self.z.shape))

    def _of_all_rows(self, samples: Array) -> Array:
        """Numbers of samples among those of all rows, 0 of those that are none."""
        kept = self.posed.design.kept
        if samples.shape[-1] == kept.size:
            return samples
        found = np.zeros((*samples.shape[:-1], kept.size))
        found[..., kept] = samples
        return found

    def _selections(self) -> None:
        for term in self.posed.reading.terms:
            if all(each.is_selection for each in term.affine.maps.values()):
                self._same_argument(term)

    def compare_whole(self) -> Any:
        """The objective as written, compared with the sum of what was read."""
        posed, reading, losses = self.posed, self.posed.reading, self.losses
        w, value = np.atleast_2d(self.w), posed.problem.objective_parts.penalty.value
        penalty = np.array([float(value(each)) for each in w]).reshape(self.w.shape[:-1])
        ours = losses.sum(axis=-1) + penalty + posed.constant
        written = self.written.number(reading.problem.objective.args[0])
        theirs = reading.sign * written
        sizes = np.abs(losses).sum(axis=-1) + np.abs(penalty) + abs(posed.constant) + self.beyond
        self.rounding = self.rounding + ROUNDING * sizes
        agree = (ours == theirs) | (np.abs(ours - theirs) <= self.rounding)
        if not agree.all():
            here = np.argmin(agree)
            theirs, ours = np.ravel(theirs)[here], np.ravel(ours)[here]
            raise Declined(f"the objective is {theirs:g} as written and {ours:g} as read")
        return written

    def _same_argument(self, term: Any) -> None:
        if term.source is None:
            return
        ours, theirs = term.affine(self.values), self.written.entries(term.source)
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= self._slack(term)).all():
            raise Declined(f"{named(term.source)} is not what was read")

    def _predictions(self, bundle: Bundle, z: Array, kept: Array) -> None:
        """The arguments as they follow from the predictions of the posed problem."""
        for part in bundle.parts:
            theirs = self._argument(part.term)
            live = kept & (part.term.weight > 0.0)
            off = np.abs(part.s * z + part.o - theirs)
            if not ((off <= self._slack(part.term)) | ~live).all():
                raise Declined(f"{named(part.term.said)} is not what was read")

    def _argument(self, term: Any) -> Array:
        """Of a term, as it is written; what was derived, as it was read."""
        if term.source is None:
            return self.written.once("value", term, lambda: term.affine(self.values))
        return self.written.entries(term.source)

    def _slack(self, term: Any) -> Array:
        return self.written.once("slack", term, lambda: ROUNDING * term.affine.terms(self.values))

    def _rows(self, bundle: Bundle, ours: Array, slack: Array) -> None:
        """What is said of each prediction, with the arguments as CVXPY has them."""
        theirs: Any = 0.0
        for part in bundle.parts:
            term = part.term
            if term.kind in INDICATORS:
                continue
            at = self._argument(term)
            off = self._slack(term)
            value = per_row(term.kind, at, term.level)
            near = np.abs(per_row(term.kind, at + off, term.level) - value)
            near += np.abs(per_row(term.kind, at - off, term.level) - value)
            near += ROUNDING * np.abs(value)
            counts = term.weight > 0.0
            theirs = theirs + np.where(counts, term.weight * value, 0.0)
            slack = slack + np.where(counts, term.weight * near, 0.0)
        for line in bundle.lines:
            at = self._argument(line)
            theirs = theirs + line.weight * at
            slack = slack + np.abs(line.weight) * (self._slack(line) + ROUNDING * np.abs(at))
        agree = (ours == theirs) | (np.abs(ours - theirs) <= slack)
        if not agree.all():
            row = np.argmin(agree) % bundle.rows
            raise Declined(f"{named(bundle.said)} is not what was read, in row {row}")
        self.rounding = self.rounding + np.where(np.isfinite(slack), slack, 0.0).sum(axis=-1)


class CrosscheckOfScores(Crosscheck):
    """The same for several outputs: ``z`` has a column for each class."""

    def compare(self, constraints: bool = True) -> Any:
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
            terms = block.term.affine.terms(self.values)[block.scores][kept]
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
