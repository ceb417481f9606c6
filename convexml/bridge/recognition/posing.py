"""From a reading to a posed problem, and from its solution back to the user's variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from ...losses import Loss
from ...models.problem import LearningProblem
from ...numerics import EPS, Array
from ...penalties import Penalty
from .answers import ReadProblem
from .columns import SampleDesign, assemble, learning, repenalised, require_firm, trade
from .constraints import SampleRows
from .elimination import set_multipliers
from .losses import Bundle, FactoredForm, LossRows, beyond_losses, bundles, by_home, factored, lower
from .maps import Declined, equal, named
from .penalties import Entries, ball_of, collect, is_penalty, joined, penalty_of
from .terms import INDICATORS, Reading, Term
from .verification import ROUNDING, Crosscheck, as_read, at_each, nearby, require_same, rounding

UNKNOWN = {
    "largest": ": a largest size is no loss or penalty that is known",
}


# Sample by sample and as a whole, against the expressions as written.


class LearningCrosscheck(Crosscheck):
    """What is read and what is written, at points (w, b) with the predictions ``z``."""

    def parts(self) -> tuple[Any, Any]:
        """See ``Crosscheck``."""
        posed = self.posed
        self.w, b = posed.points(self.values)
        self.z = np.asarray(posed.design.X @ self.w.T).T + b
        losses = self._losses()
        self._sets()
        self._traded()
        whole = self._of_all_rows(self.z) / posed.design.factor
        for bundle, beyond in zip(posed.bundles, posed.beyond, strict=True):
            total, size = beyond, np.abs(beyond)
            for _, here in posed.homes[id(bundle)]:
                total, size = total + losses[..., here], size + np.abs(losses[..., here])
                self._predictions(bundle, whole[..., here], posed.design.kept[here])
            self._rows(bundle, total, 16.0 * EPS * size)
        penalty = at_each(posed.penalty.value, self.w)
        beyond = sum(float(np.abs(each).sum()) for each in posed.beyond)
        size = np.abs(losses).sum(axis=-1) + np.abs(penalty) + abs(posed.constant) + beyond
        return losses.sum(axis=-1) + penalty + posed.constant, size

    def _losses(self) -> Array:
        """The loss of each row at each point."""
        objective = self.posed.problem.objective_parts
        if objective.loss.is_indicator:
            return self._of_all_rows(np.zeros(self.z.shape))
        found = at_each(lambda z: objective.loss.value(objective.y, z), self.z)
        return self._of_all_rows(objective.c * found)

    def _of_all_rows(self, samples: Array) -> Array:
        """Numbers of samples among those of all rows, 0 of those that are none."""
        kept = self.posed.design.kept
        if samples.shape[-1] == kept.size:
            return samples
        found = np.zeros((*samples.shape[:-1], kept.size))
        found[..., kept] = samples
        return found

    def _predictions(self, bundle: Bundle, z: Array, kept: Array) -> None:
        """The arguments as they follow from the predictions of the posed problem."""
        for part in bundle.parts:
            live = kept & (part.term.weight > 0.0)
            theirs = self.argument(part.term)
            ours = np.where(live, part.s * z + part.o, theirs)
            require_same(ours, theirs, self.slack(part.term), part.term.said)

    def _rows(self, bundle: Bundle, ours: Array, slack: Array) -> None:
        """What is said of each prediction, with the arguments as CVXPY has them."""
        theirs: Any = np.zeros_like(ours)
        for part in bundle.parts:
            term, counts = part.term, part.term.weight > 0.0
            if term.kind in INDICATORS:
                continue
            value, near = nearby(term, self.argument(term), self.slack(term))
            theirs = theirs + np.where(counts, value, 0.0)
            slack = slack + np.where(counts, near, 0.0)
        for line in bundle.lines:
            at = self.argument(line)
            theirs = theirs + line.weight * at
            slack = slack + np.abs(line.weight) * (self.slack(line) + ROUNDING * np.abs(at))
        require_same(ours, theirs, slack, bundle.said)
        self.rounding = self.rounding + np.where(np.isfinite(slack), slack, 0.0).sum(axis=-1)

    def _traded(self) -> None:
        """Lines as written against what stands for them among the predictions."""
        for bundle in (each for each in self.posed.bundles if each.traded):
            mine, theirs = bundle.lines[-1], np.zeros(1)
            at = mine.affine(self.values)
            off = (self.slack(mine) + ROUNDING * np.abs(at)) @ np.abs(mine.weight)
            for line in bundle.traded:
                theirs = theirs + (self.argument(line) - line.affine.offset) @ line.weight
                off = off + self.slack(line) @ np.abs(line.weight)
            require_same(at @ mine.weight + 0.0 * theirs, theirs, off, bundle.traded[0].source)

    def _sets(self) -> None:
        """The sets of the posed problem against the constraints that they came from; not bounds."""
        for one in self.reading.sets:
            if isinstance(one, SampleRows):
                self._samples(one)
        for ball in self.reading.balls:
            penalty: Any = self.posed.penalty
            size = at_each(penalty.norm, self.w)[..., None]
            square = any(term.kind == "square" for term in ball.rows.terms)
            ours = (size**2 - penalty.t**2) / (2.0 * penalty.t) if square else size - penalty.t
            ours = ball.factor * ours
            off = rounding(ball.rows, self.written) + ROUNDING * np.abs(ours)
            require_same(ours, as_read(ball.rows, self.written), off, ball.rows)

    def _samples(self, one: SampleRows) -> None:
        posed, known = self.posed, self.posed.samples_of.get(id(one.term))
        if known is None or not posed.design.kept[known[1]].all():
            raise Declined(f"{one.rows.said} is not what was read")
        part, here = known[0].bundle.parts[0], known[1]
        y, z = posed.problem.objective_parts.y[here], self.z[..., here]
        ours = (1.0 - y * z) * part.o if one.term.kind == "at most 0" else (z - y) * part.s
        off = rounding(one.rows, self.written)
        require_same(ours, as_read(one.rows, self.written), off, one.rows)


@dataclass
class PosedReading(ReadProblem):
    """A learning problem that says what was read, up to ``constant``.

    Attributes
    ----------
    bundles : list of Bundle
        What is said of each prediction.
    rows : list of LossRows
        The losses, bundle by bundle.
    beyond : list of arrays
        What each bundle says beyond its losses, row by row.
    design : SampleDesign
        Where the entries of the variables are.
    carried : dict
        What solves found out about the design, for the next one.
    form : FactoredForm or None
        What was factored.
    """

    crosscheck = LearningCrosscheck

    reading: Reading
    problem: LearningProblem
    bundles: list[Bundle]
    rows: list[LossRows]
    beyond: list[Array]
    design: SampleDesign
    constant: float
    carried: dict[str, Any] = field(default_factory=dict)
    form: FactoredForm | None = None

    @cached_property
    def homes(self) -> dict[int, list[tuple[LossRows, slice]]]:
        """The losses of each bundle, by its id, and where their rows are among all."""
        found: dict[int, list[tuple[LossRows, slice]]] = {}
        own, start = by_home(self.rows), 0
        for bundle in self.bundles:
            found[id(bundle)] = mine = []
            for each in own[id(bundle)]:
                mine.append((each, slice(start, start + each.y.size)))
                start += each.y.size
        return found

    @cached_property
    def samples_of(self) -> dict[int, tuple[LossRows, slice]]:
        """The losses that each term comes first in, by its id, and where their rows are."""
        every = (each for home in self.homes.values() for each in home)
        return {id(each.bundle.parts[0].term): (each, here) for each, here in every}

    @property
    def penalty(self) -> Penalty:
        """The penalty of the library."""
        return self.problem.objective_parts.penalty

    @property
    def width(self) -> int:
        """How many columns there are."""
        return sum(each.size for each in self.design.columns.values())

    @property
    def entries(self) -> int:
        """See ``ReadProblem``."""
        return int(np.prod(self.design.X.shape))

    def resumed(self, before: Any) -> Self:
        """See ``ReadProblem``: what solves found out, and the frame of X."""
        mine, theirs = self.design, before.design
        loss, other = (each.problem.objective_parts.loss for each in (self, before))
        same = mine.intercept == theirs.intercept and mine.X.shape == theirs.X.shape
        same = same and repr(loss) == repr(other) and np.array_equal(mine.weight, theirs.weight)
        if same and np.array_equal(mine.y, theirs.y) and equal(mine.X, theirs.X):
            self.problem = repenalised(before.problem, self.penalty)
            self.carried = before.carried
        return self

    def options(self) -> dict[str, Any]:
        """See ``ReadProblem``."""
        return {"carried": self.carried}

    def price(self, value: float) -> float:
        """What an objective of this value may be off by, for that its form was factored."""
        if self.form is None:
            return 0.0
        own, target = self.form.squares, 0.0
        for rows in self.rows:
            for part in (each for each in rows.home.parts if each.term is own):
                target = float(np.sqrt(own.weight @ np.square(part.s * rows.y + part.o)))
        return self.form.price(target, value)

    def values(self, point: Mapping[str, Any]) -> dict[int, Array]:
        """See ``ReadProblem``."""
        w = np.ravel(point["w"])
        found = {key: w[columns] for key, columns in self.design.columns.items()}
        if self.design.intercept is not None:
            found[self.design.intercept] = np.atleast_1d(point["b"]) / self.design.unit
        return self.reading.complete(found)

    def points(self, values: dict[int, Array]) -> tuple[Array, Any]:
        """(w, b) where the variables have these entries, row by row where they have rows."""
        w = np.zeros((*next(iter(values.values())).shape[:-1], self.width))
        for key, columns in self.design.columns.items():
            w[..., columns] = values[key]
        own = self.design.intercept
        return w, 0.0 if own is None else values[own] * self.design.unit

    def ends(self) -> dict[int, Any]:
        """See ``ReadProblem``."""
        if self.reading.balls:
            return {}
        low, high = (self.penalty.project(np.full(self.width, end)) for end in (-np.inf, np.inf))
        found: dict[int, Any] = {key: (-np.inf, np.inf) for key in self.reading.remaining}
        return found | {key: (low[c], high[c]) for key, c in self.design.columns.items()}

    def set_multipliers(self, values: dict[int, Array], point: Mapping[str, Any]) -> None:
        """See ``ReadProblem``."""
        set_multipliers(self, values, np.ravel(point["u"]))


def pose(reading: Reading) -> PosedReading:
    """The learning problem that says what was read.

    Raises
    ------
    Declined
        If there is none in the library, or not surely.
    """
    if reading.constraints:
        raise Declined(f"the constraint {named(reading.constraints[0])}")
    for each in reading.terms:
        if each.kind in UNKNOWN:
            raise Declined(f"{named(each.said)}{UNKNOWN[each.kind]}")
    form = factored(reading)
    penalties = [each for each in reading.terms if is_penalty(each)]
    others = [each for each in reading.terms if not is_penalty(each)]
    # Squares that no penalty of the library takes in are samples of the squared loss.
    squares = [each for each in penalties if each.kind == "square"]
    rest = [each for each in penalties if each.kind != "square"]
    alike = bool(squares and others) and all(each.kind == "square" for each in others)
    ways = [(penalties, others, False)]
    ways += [(rest, others + squares, False)] if alike else []
    if reading.linear:
        ways.append((penalties, others, True) if others else (rest, squares, True))
    first: Declined | None = None
    for way in ways:
        try:
            posed = _posed(reading, *way)
        except Declined as reason:
            first = reason if first is None else first
            continue
        posed.form = form
        return posed
    assert first is not None
    raise first


def _posed(
    reading: Reading, penalties: list[Term], others: list[Term], trading: bool
) -> PosedReading:
    found, linear = bundles(others, reading.linear)
    if trading:
        trade(reading, found, linear)
        linear = []
    rows = [each for bundle in found for each in lower(bundle)]
    if not rows:
        raise Declined("there is no loss: nothing but penalties")
    loss = rows[0].loss
    for each in rows[1:]:
        if type(each.loss) is not type(loss) or not _alike(each.loss, loss):
            said = f"{named(rows[0].home.said)} and {named(each.home.said)}"
            raise Declined(f"{said} are losses of several kinds: {loss!r} and {each.loss!r}")
    entries = collect(reading, penalties, linear)
    widths = {key: each.size for key, each in reading.remaining.items()}
    free = {key for key in widths if widths[key] == 1 and not entries[key].touched.any()}
    free -= {each.key for each in reading.balls}
    design = assemble(rows, widths, free)
    parts = [(entries[key], columns) for key, columns in design.columns.items()]
    d = sum(columns.size for _, columns in parts)
    if d == 0:
        raise Declined("there is nothing but an intercept")
    try:
        whole = joined(parts, d)
        penalty = _penalty(reading, list(design.columns), whole)
    except Declined as reason:
        said = ", ".join(reading.variables[key].name() for key in design.columns)
        raise Declined(f"penalties of {said}: {reason}") from None
    design.require_held(loss, penalty, rows[0].home.said)
    if trading:
        require_firm(found[0], penalty, d)
    beyond = beyond_losses(rows, found)
    constant = reading.constant + sum(float(each.sum()) for each in beyond)
    if not np.isfinite(constant):
        raise Declined("the constants of the objective are too large for float64")
    intercept = design.intercept is not None
    problem = learning(design.X, design.y, design.weight, loss, penalty, intercept)
    return PosedReading(reading, problem, found, rows, beyond, design, constant)


def _penalty(reading: Reading, keys: list[int], entries: Entries) -> Penalty:
    return ball_of(reading.balls, keys, entries) if reading.balls else penalty_of(entries)


def _alike(one: Loss, other: Loss) -> bool:
    mine, theirs = one.hyperparameters(), other.hyperparameters()
    return mine.keys() == theirs.keys() and all(
        abs(mine[k] - theirs[k]) <= 1e-14 * abs(mine[k]) for k in mine
    )
