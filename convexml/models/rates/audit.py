"""Hold a recorded run to its solver's theorem: every iterate against the bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ...certificates.learning.points.dual_repair import repair_dual
from ...errors import InputError
from ...numerics import Array, without_warnings
from ...objective import Frame, Objective
from ...objective.kernel import KernelObjective
from ...progress import operation
from ...solvers.driver import Iterate, Record, evaluate
from ...solvers.registry import ALGORITHMS
from ...theory import LinearInteriorPointRate, PerceptronBound, Reference, Theorem, Trajectory
from ...validation import nonnegative_integer
from .program import RecordedProgram, program_run
from .reference import reference_of, separating
from .result import RateAudit


@dataclass(frozen=True)
class Recorded:
    """How a run was made: enough to repeat it bit for bit.

    Attributes
    ----------
    objective : Objective
        In the coordinates of the run.
    solver : str
    w : array, shape (d,)
    b : float
    seed : int
    options : mapping
    frame : Frame or None
        From the problem to those coordinates; None where they are its own.
    """

    objective: Objective
    solver: str
    w: Array
    b: float
    seed: int
    options: Mapping[str, Any]
    frame: Frame | None = None

    def iterates(self, seed: int | None = None) -> Iterator[Iterate]:
        """The run again, with its own seed or another."""
        chosen = self.seed if seed is None else seed
        algorithm = ALGORITHMS[self.solver]
        return algorithm.start(self.objective, self.w, self.b, chosen, self.options)

    @without_warnings
    def start(self) -> Record:
        """The starting point, evaluated now, in the units of the problem."""
        record, _ = evaluate(self.objective, next(self.iterates()))
        return record.times(1.0 if self.frame is None else self.frame.factor)

    def first(self, count: int, seed: int | None = None) -> Iterator[Iterate]:
        """The first ``count`` iterates of the run."""
        return islice(self.iterates(seed), count)


@dataclass(frozen=True)
class InCoordinates(Recorded):
    """A run over functions of a kernel, told in the coordinates of the factor of its matrix."""

    functions: Recorded | None = None

    def iterates(self, seed: int | None = None) -> Iterator[Iterate]:
        assert self.functions is not None
        project = self.functions.objective.project  # type: ignore[attr-defined]
        for point in self.functions.iterates(seed):
            yield replace(point, w=project(point.w))


@operation("rate_audit")
def audit(
    solver: str,
    recorded: Recorded | RecordedProgram | None,
    iterations: int,
    problem: Any,
    seeds: int | None = None,
) -> RateAudit:
    """Repeat a run and compare each iterate with the theorem.

    Parameters
    ----------
    solver : str
        Its name.
    recorded : Recorded, RecordedProgram or None
        How the run was made.
    iterations : int
        How many iterations to repeat.
    problem : posed problem
        Solved again by other means, for x* and the floor.
    seeds : int, optional
        Runs behind a mean; the theorem's own number by default.

    Raises
    ------
    InputError
        If the solver has no theorem, the run was not recorded, or no reference was found.
    """
    iterations = nonnegative_integer(iterations, "rate_audit", "iterations")
    theorem = ALGORITHMS[solver].theorem if solver in ALGORITHMS else None
    if theorem is None:
        known = ", ".join(name for name, each in ALGORITHMS.items() if each.theorem is not None)
        raise InputError(
            f"rate_audit: no theorem is on record for {solver!r}. Solve by one of {known}."
        )
    if recorded is None:
        raise InputError(
            "rate_audit: this solution does not know how it was computed; solve the problem again."
        )
    if isinstance(recorded, RecordedProgram):
        program = LinearInteriorPointRate()
        run = program_run(recorded, iterations, problem)
        return RateAudit(solver, program.statement, run.reference, tuple(program.claims([run])))
    recorded, reference = referenced(theorem, recorded, problem)
    return hold(theorem, recorded, iterations, reference, seeds)


def referenced(theorem: Theorem, recorded: Recorded, problem: Any) -> tuple[Recorded, Reference]:
    """The run in coordinates, and the point that its theorem compares it with."""
    if isinstance(recorded.objective, KernelObjective):
        at, of = recorded.objective.coordinates, recorded
        recorded = InCoordinates(at, of.solver, of.w, of.b, of.seed, {}, functions=of)
    if isinstance(theorem, PerceptronBound):
        return recorded, separating(recorded.objective)
    return recorded, reference_of(problem, recorded.objective, recorded.frame)


def hold(
    theorem: Theorem,
    recorded: Recorded,
    iterations: int,
    reference: Reference,
    seeds: int | None = None,
) -> RateAudit:
    """Compare a run with a theorem, given the reference."""
    count = seeds if seeds is not None else theorem.seeds
    chosen = [None] if theorem.seeds == 1 else [recorded.seed + k for k in range(count)]
    runs = [
        measure(recorded.objective, reference, partial(recorded.first, iterations + 1, seed))
        for seed in chosen
    ]
    unmet = (*infinite(runs[0]), *theorem.preconditions(runs[0]))
    silences = tuple(theorem.silences(runs[0]))
    if theorem.seeds > 1 and len(runs) < 2:
        silences = (*silences, "one run says nothing of an expectation: it takes two seeds")
    claims = () if silences else tuple(theorem.claims(runs))
    return RateAudit(recorded.solver, theorem.statement, reference, claims, unmet, silences)


def infinite(run: Trajectory) -> Iterator[str]:
    """The first step after which P is not finite, unless the loss is a constraint itself."""
    at = np.flatnonzero(~np.isfinite(run.values[1:])) + 1
    if at.size and not run.objective.loss.is_indicator:
        yield f"f is {run.values[at[0]]} at iteration {at[0]}"


def measure(
    objective: Objective, reference: Reference, replay: Callable[[], Iterator[Iterate]]
) -> Trajectory:
    """Reduce a run to the numbers that theorems speak of: P, D, distance, facts."""
    rows: list[tuple[float, float, float]] = []
    facts: dict[str, list[float]] = {}
    with np.errstate(over="ignore", invalid="ignore"):
        for k, point in enumerate(replay()):
            moved = np.append(point.w - reference.w, point.b - reference.b)
            distance = float(moved @ moved)
            dual = np.nan if point.u is None else repair_dual(objective, point.u).value
            rows.append((objective.primal(point.w, point.b), distance, dual))
            for name, column in facts.items():
                column.append(float(point.facts.get(name, np.nan)))
            for name in point.facts.keys() - facts.keys():
                facts[name] = [np.nan] * k + [float(point.facts[name])]
    values, distances, duals = np.array(rows).T
    known = {name: np.array(column) for name, column in facts.items()}
    return Trajectory(objective, reference, values, distances, duals, known, replay)
