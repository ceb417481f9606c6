"""What was recognised: compared with what is written, solved, and the variables filled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ...certificates import Certificate, Verdict
from ...certificates.scale import relative
from ...numerics import Array
from ..layout import names_of, side_of
from .constraints import EntryBounds
from .maps import Declined
from .terms import AsWritten, Reading
from .verification import (
    Crosscheck,
    compare_constraints,
    ends_as_written,
    ends_of,
    random_values,
    same_ends,
)

LEAST = 1e-14
"""No smaller relative gap is asked of an engine."""
UNPROVED = "numbers were rounded when the problem was read"


class Answer(NamedTuple):
    """The certificate of a problem as written, and which engine took how many steps, how long."""

    certificate: Certificate
    solver: str
    iterations: int
    seconds: float


class ReadProblem(ABC):
    """A problem of the library that says what was read.

    The objective, minimised, is that of ``problem``, in units and words of its own, plus
    ``constant``.

    Attributes
    ----------
    reading : Reading
        What it comes from.
    problem : LearningProblem or TrendFilter
    """

    reading: Reading
    problem: Any
    constant: float
    crosscheck: ClassVar[type[Crosscheck]]

    @property
    def why(self) -> str:
        """What was read, in words."""
        parts = self.problem.objective_parts
        return f"{parts.loss!r} and {parts.penalty!r} on {parts.n} samples"

    @property
    @abstractmethod
    def entries(self) -> int:
        """Numbers of the data."""

    @abstractmethod
    def values(self, point: Mapping[str, Any]) -> dict[int, Array]:
        """The entries of each variable, by its id, at a point of the problem by its names."""

    @abstractmethod
    def ends(self) -> dict[int, Any]:
        """The least and largest entries of variables that the problem allows, by their ids."""

    def set_multipliers(self, values: dict[int, Array], point: Mapping[str, Any]) -> None:
        """Give every constraint that was read its multiplier; Declined where one is not known."""
        raise Declined("no multiplier of a constraint is known")

    def price(self, value: float) -> float:
        """What rounding, when it was read, changes of a minimum that is at most ``value``."""
        return 0.0

    def options(self) -> dict[str, Any]:
        """What ``problem.solve`` is told."""
        return {}

    def certified(self, own: Certificate, point: Mapping[str, Any]) -> Certificate:
        """A certificate of ``problem`` in the units and words of the objective."""
        return own

    def of(self, reading: Reading) -> Self:
        """The same of another reading that says the same."""
        twin = copy(self)
        twin.reading = reading
        return twin

    def resumed(self, before: Any) -> Self:
        """With what is known of a problem before, where its samples are the same."""
        return self

    def verify(self) -> None:
        """Compare at random points of several sizes.

        Raises
        ------
        Declined
            If anything differs.
        """
        with np.errstate(all="ignore"):  # most ends are infinite
            self.verify_ends()
            reading = self.reading
            values = random_values(reading)
            written, eliminated = AsWritten(reading.walker, values), reading.eliminated
            if eliminated:  # at any entries of these first, then at those that they stand for
                compare_constraints(reading, written)
                values = reading.complete(dict(values))
                written = written.moved(values, {each.key for each in eliminated})
            self.crosscheck(self, values, written).compare(not eliminated)

    def verify_ends(self) -> None:
        """The bounds of the problem against attributes and constraints, entry by entry."""
        bounds = [one for one in self.reading.sets if isinstance(one, EntryBounds)]
        for key, ours in self.ends().items():
            variable = self.reading.variables[key]
            mine = [one for one in bounds if one.key == key]
            same_ends(variable, ours, ends_as_written(variable, mine))

    def written_at(self, values: dict[int, Array]) -> float:
        """The objective as written, compared with what was read; Declined where they differ."""
        return float(self.crosscheck(self, values).compare())

    def answer(self, tol: float) -> Answer | None:
        """The answer to the problem as written, its variables filled; None where there is none.

        P is evaluated by CVXPY's atoms from the expressions as written; D is ours. An infimum that
        is not attained has the evidence "ray", {variable name: array}, and no duals.
        """
        solution = solved(self.problem, self.entries, tol, **self.options())
        if solution is None:
            return None
        point, reading = {**solution.primal, **solution.dual}, self.reading
        values = self.values(point)
        try:
            certificate = self._as_written(solution.certificate, point, values, tol)
            if not certificate.relative_gap <= tol:
                return None
            is_attained = certificate.claim != "unattained"
            if is_attained and reading.rows:
                self.set_multipliers(values, point)
        except Declined:
            return None
        if not is_attained:
            certificate = certificate.but(evidence={"ray": self._ray(certificate.evidence)})
        elif any(variable.domain for variable in reading.variables.values()):
            with suppress(Declined):
                if not reading.rows:
                    self.set_multipliers(values, point)
                own = _of_attributes(reading)
                certificate = certificate.but(dual={**certificate.dual, **own})
        for rows in reading.rows:
            (dual,) = rows.constraint.dual_variables
            found = rows.multiplier if is_attained else None
            if found is not None:
                found = _shaped((found if rows.equality else np.maximum(found, 0.0)) + 0.0, dual)
            dual.save_value(found)
        for key, variable in reading.variables.items():
            variable.save_value(_shaped(values[key], variable))
        return Answer(certificate, solution.solver, solution.iterations, solution.seconds)

    def _as_written(
        self, own: Certificate, point: Mapping[str, Any], values: dict[int, Array], tol: float
    ) -> Certificate:
        """Our certificate in the words of the problem: its sense, its constant, its rounding."""
        sign, constant, written = self.reading.sign, self.constant, self.written_at(values)
        own = self.certified(own, point)
        slip = abs(sign * written - (own.primal_objective + constant))
        slip += self.price(max(sign * written - constant, own.primal_objective))
        gap = own.gap + slip
        return own.but(
            tol=tol,
            primal_objective=written,
            dual_objective=sign * (own.dual_objective + constant),
            gap=gap,
            relative_gap=relative(gap, own.scale),
            rounding=own.rounding + slip,
            proved_gap=np.inf,
            unproved=UNPROVED,
        )

    def _ray(self, evidence: Mapping[str, Any]) -> dict[str, Any]:
        """The direction along which the objective falls for ever, by the variables' names."""
        there = self.values(evidence)
        here = self.values({name: 0.0 * np.asarray(each) for name, each in evidence.items()})
        return {
            variable.name(): _shaped(there[key] - here[key], variable)
            for key, variable in self.reading.remaining.items()
        }


def _of_attributes(reading: Reading) -> dict[str, Array]:
    """Multipliers of attributes, by name, in the shape of the variable; 0 where it has no bound."""
    found, names = {}, names_of([*reading.variables.values()])
    for key, variable in reading.variables.items():
        for lower, end in zip((True, False), ends_of(variable), strict=True):
            if np.isfinite(end).any():
                own = -reading.over[key] if lower else reading.over[key]
                own = np.where(np.isfinite(end), np.maximum(own, 0.0), 0.0)
                found[f"{names[key]} {side_of(variable, lower)}"] = _shaped(own, variable)
    return found


def _shaped(entries: Any, leaf: Any) -> Array:
    return np.array(entries).reshape(leaf.shape, order="F")


def solved(problem: Any, entries: int, tol: float, **options: Any) -> Any:
    """The certified answer, None without; its gap is at most ``tol`` of P, where that is reached.

    The null model, on which a learning problem is measured, may be far above P. An infimum that is
    not attained has no other scale. ``options`` are those of the problem's ``solve``.
    """
    # An infimum may have no minimiser: after so many seconds a conic solver is asked.
    options["max_seconds"] = 10.0 + 1e-5 * entries
    found = problem.solve(tol=tol, **options)
    own = found.certificate
    if own.verdict is not Verdict.CERTIFIED or own.claim not in ("optimal", "unattained"):
        return None
    if own.claim == "unattained":
        return found
    size = max(abs(own.primal_objective), abs(own.dual_objective))
    if own.gap <= tol * size:
        return found
    closer = problem.solve(tol=max(0.5 * tol * size / own.scale, LEAST), **options)
    return closer if closer.certificate.verdict is Verdict.CERTIFIED else found
