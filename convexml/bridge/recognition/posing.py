"""From a reading to a posed problem, and from its solution back to the user's variables."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...certificates import Certificate, Verdict
from ...losses import Loss
from ...models.problem import LearningProblem
from ...models.trend import TrendFilter
from ...numerics import Array
from ...penalties import Penalty
from .columns import SampleDesign, assemble, learning, repenalised, require_firm, trade
from .losses import Bundle, FactoredForm, LossRows, beyond_losses, bundles, by_home, factored, lower
from .maps import Declined, named
from .penalties import Entries, ball_of, collect, is_penalty, joined, penalty_of
from .softmax import PosedScores, pose_scores
from .terms import Reading, Term

UNKNOWN = {
    "largest": ": a largest size is no loss or penalty that is known",
}


@dataclass
class PosedReading:
    """A learning problem that says what was read, up to ``constant``.

    Attributes
    ----------
    reading : Reading
        What it comes from.
    problem : LearningProblem
        P(w, b) + ``constant`` is ``reading.sign`` times the objective as written.
    bundles : list of Bundle
        What is said of each prediction.
    rows : list of LossRows
        The losses, bundle by bundle.
    beyond : list of arrays
        What each bundle says beyond its losses, row by row.
    design : SampleDesign
        Where the entries of the variables are.
    constant : float
        Numbers that do not hang on w and b.
    check : object
        What it was compared with, at the points of ``verify``.
    ends : dict
        The least and largest entries that each variable may have as it is written, once asked.
    carried : dict
        What solves found out about the design, for the next one.
    form : FactoredForm or None
        What was factored.
    """

    reading: Reading
    problem: LearningProblem
    bundles: list[Bundle]
    rows: list[LossRows]
    beyond: list[Array]
    design: SampleDesign
    constant: float
    check: Any = None
    ends: dict[int, Any] = field(default_factory=dict)
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

    @cached_property
    def inside(self) -> set[int]:
        """The terms and lines, by ``id()``, that are losses; the others are penalties."""
        terms = {id(part.term) for bundle in self.bundles for part in bundle.parts}
        return terms | {id(line) for bundle in self.bundles for line in bundle.lines}

    def of(self, reading: Reading) -> PosedReading:
        """The same of another reading that says the same."""
        twin = copy(self)
        twin.reading = reading
        return twin

    @property
    def X(self) -> Any:
        """The samples."""
        return self.design.X

    @property
    def loss(self) -> Loss:
        """The loss of the library."""
        return self.problem.objective_parts.loss

    @property
    def penalty(self) -> Penalty:
        """The penalty of the library."""
        return self.problem.objective_parts.penalty

    def price(self, value: float) -> float:
        """What an objective of this value may be off by, for that its form was factored."""
        if self.form is None:
            return 0.0
        own, target = self.form.squares, 0.0
        for rows in self.rows:
            for part in (each for each in rows.home.parts if each.term is own):
                target = float(np.sqrt(own.weight @ np.square(part.s * rows.y + part.o)))
        return self.form.price(target, value)

    def values(self, w: Array, b: Any) -> dict[int, Array]:
        """The entries of each variable, by its id."""
        found, w = {}, np.ravel(w)
        for key, columns in self.design.columns.items():
            found[key] = w[columns]
        if self.design.intercept is not None:
            found[self.design.intercept] = np.atleast_1d(b) / self.design.unit
        return self.reading.complete(found)

    def points(self, values: dict[int, Array]) -> tuple[Array, Array]:
        """(w, b), row by row, where the variables have the entries of each row."""
        count = len(next(iter(values.values())))
        w = np.zeros((count, sum(each.size for each in self.design.columns.values())))
        for key, columns in self.design.columns.items():
            w[:, columns] = values[key]
        own = self.design.intercept
        return w, np.zeros(count) if own is None else values[own][:, 0] * self.design.unit


def pose(reading: Reading) -> PosedReading | PosedScores:
    """The learning problem that says what was read.

    Raises
    ------
    Declined
        If there is none in the library, or not surely.
    """
    if reading.constraints:
        raise Declined(f"the constraint {_brief(reading.constraints[0])}")
    for each in reading.terms:
        if each.kind in UNKNOWN:
            raise Declined(f"{named(each.said)}{UNKNOWN[each.kind]}")
    if any(each.kind == "log_sum_exp" for each in reading.terms):
        if reading.rows:
            raise Declined("constraints on the scores of several classes")
        return pose_scores(reading)
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


def _brief(constraint: Any) -> str:
    text = str(constraint)
    if len(text) <= 80:
        return text
    said = ", ".join(each.name() for each in constraint.variables())
    return f"{constraint.label or type(constraint).__name__} of size {constraint.size} on {said}"


# A reading that differs from one that was posed in the weights of penalties alone.


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


# What was recognised, solved; and the variables, filled.


LEAST = 1e-14
"""No smaller relative gap is asked of an engine."""


class Answer(NamedTuple):
    """The certificate of a problem as written, and which engine took how many steps, how long."""

    certificate: Certificate
    solver: str
    iterations: int
    seconds: float


def solved(problem: LearningProblem | TrendFilter, entries: int, tol: float, **options: Any) -> Any:
    """The certified answer, None without; its gap is at most ``tol`` of P, where that is reached.

    The null model, on which a learning problem is measured, may be far above P. An infimum that is
    not attained has no other scale. ``options`` are those of the problem's ``solve``.
    """
    found = problem.solve(tol=tol, max_seconds=patience(entries), **options)
    own = found.certificate
    if own.verdict is not Verdict.CERTIFIED or own.claim not in ("optimal", "unattained"):
        return None
    if own.claim == "unattained":
        return found
    size = max(abs(own.primal_objective), abs(own.dual_objective))
    if own.gap <= tol * size:
        return found
    asked = max(0.5 * tol * size / own.scale, LEAST)
    closer = problem.solve(tol=asked, max_seconds=patience(entries), **options)
    return closer if closer.certificate.verdict is Verdict.CERTIFIED else found


def patience(entries: int) -> float:
    """Seconds after which a conic solver is asked: an infimum may have no minimiser."""
    return 10.0 + 1e-5 * entries


def fill(reading: Reading, values: dict[int, Any]) -> None:
    """Give the variables their values."""
    for key, variable in reading.variables.items():
        variable.save_value(np.array(values[key]).reshape(variable.shape, order="F"))
