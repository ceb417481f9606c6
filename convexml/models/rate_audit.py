"""Hold a recorded run to its solver's theorem: every iterate against the bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ..certificates.learning.repair import repair_dual
from ..errors import InputError
from ..losses import HardMargin
from ..numerics import EPS, Array, without_warnings
from ..penalties import L2
from ..problem import Frame, Objective
from ..problem.kernel import KernelObjective
from ..problem.linear_program import LinearData
from ..progress import operation
from ..solvers.driver import Iterate, Record, drive, evaluate
from ..solvers.linear_program import predictor_corrector
from ..solvers.registry import ALGORITHMS
from ..theory import (
    Claim,
    LinearInteriorPointRate,
    PerceptronBound,
    Reference,
    Theorem,
    Trajectory,
    hessian_lipschitz,
    least_curvature,
    strong_convexity,
)
from ..typesetting import html
from ..validation import nonnegative_integer

# The hand-written interior point method on a linear program, repeated for its theorem.


@dataclass(frozen=True)
class RecordedProgram:
    """How a run on a linear program was made: there is nothing to choose.

    Attributes
    ----------
    data : LinearData
    """

    data: LinearData

    def first(self, count: int) -> Iterator[Iterate]:
        """The first ``count`` iterates of the run."""
        for each in islice(predictor_corrector(self.data), count):
            state = {"x": each.x, "s": each.s, "z": each.z, "nu": each.multipliers["nu"]}
            yield Iterate(each.x, 0.0, state=state)


def program_run(recorded: RecordedProgram, iterations: int, problem: Any) -> Trajectory:
    """The run in numbers, with a solution and a certified bound found by other means."""
    solution = problem.solve("auto", tol=1e-9)
    if solution.status != "optimal":
        raise InputError(f"rate_audit: {problem.name} is {solution.status}; there is no reference.")
    floor = solution.dual_objective - solution.certificate.rounding
    reference = Reference(solution.primal["x"], 0.0, solution.objective, floor)

    def replay() -> Iterator[Iterate]:
        return recorded.first(iterations + 1)

    values = np.array([float(recorded.data.c @ point.w) for point in replay()])
    unknown = np.full_like(values, np.nan)
    data: Any = recorded.data
    return Trajectory(data, reference, values, unknown, unknown, {}, replay)


# The point and the lower bound that theorems compare a run with, in the coordinates of the run.


def reference_of(problem: Any, objective: Objective, frame: Frame | None = None) -> Reference:
    """A solution and a certified floor of P*, by the best means that there are.

    They are found in the problem's own units, and told in those of ``frame``, if there is one.
    """
    solution = problem.snapshot().solve("auto", tol=1e-12)
    if not np.isfinite(solution.gap):
        raise InputError(
            f"rate_audit: {problem.name} has no reference solution ({solution.status})."
        )
    w = problem.coordinates(solution.primal)
    b = solution.primal["b"] if objective.fit_intercept else 0.0
    floor = solution.dual_objective - solution.certificate.rounding
    if frame is not None and not frame.is_trivial:
        w, b, _ = frame.inside(w, b)
        floor /= frame.factor
    value = objective.primal(w, b)
    floor = min(floor - 4.0 * EPS * abs(floor), value)
    return located(objective, Reference(w, b, value, floor))


def located(objective: Objective, reference: Reference) -> Reference:
    """The reference with its radius, where strong convexity or the Hessian there gives one.

    With curvature m at w and a Hessian that is M-Lipschitz, the curvature is m - M s at distance s,
    so that a gap e < m^3 / (16 M^2) confines x* to |x - x*| <= 2 sqrt(e / m).
    """
    gap = reference.value - reference.floor + 4.0 * EPS * abs(reference.value)
    mu = strong_convexity(objective)
    if mu > 0.0:
        return replace(reference, radius=float(np.sqrt(2.0 * gap / mu)))
    M = hessian_lipschitz(objective)
    m = least_curvature(objective, reference) if np.isfinite(M) else 0.0
    if m > 0.0 and 16.0 * M**2 * gap < m**3:
        return replace(reference, radius=float(2.0 * np.sqrt(gap / m)))
    return reference


def separating(objective: Objective) -> Reference:
    """The hard-margin solution (w, b), scaled to margin 1 exactly; it need not be the best one."""
    machine = replace(objective, loss=HardMargin(), penalty=L2(1.0))
    zero = np.zeros(objective.d)
    run = drive(machine, ALGORITHMS["interior_point"].start(machine, zero, 0.0, 0, {}), tol=1e-8)
    margin = float(np.min(objective.y * objective.predict(run.best.w, run.best.b)))
    if not margin > 0.0:
        raise InputError("rate_audit: no separating direction was found as a reference.")
    w, b = run.best.w / margin, run.best.b / margin
    value = objective.primal(w, b)
    return Reference(w, b, value, -np.inf)


# What became of an audit: every inequality of a theorem, and what was not tested.


@dataclass(frozen=True)
class RateAudit:
    """Every iterate of a run against the theorem of its solver.

    Attributes
    ----------
    solver, statement : str
        Who was audited, and the theorem.
    reference : Reference
        x* and the certified floor of P*.
    claims : tuple of Claim
        The inequalities, both sides computed.
    unmet : tuple of str
        Preconditions that the run does not meet.
    silences : tuple of str
        Why the theorem promises nothing here.
    """

    solver: str
    statement: str
    reference: Reference
    claims: tuple[Claim, ...]
    unmet: tuple[str, ...] = ()
    silences: tuple[str, ...] = ()

    @property
    def untested(self) -> tuple[str, ...]:
        """What was not tested, and why."""
        empty = [claim for claim in self.claims if claim.holds is None]
        reasons = [f"{claim.statement}: {claim.reason or NOTHING}" for claim in empty]
        return (*self.silences, *reasons) or (() if self.claims else (NOTHING,))

    @property
    def holds(self) -> bool | None:
        """Whether the preconditions are met and every inequality that could be tested holds.

        None where nothing could be tested: ``untested`` says why.
        """
        verdicts = [claim.holds for claim in self.claims]
        if self.unmet or False in verdicts:
            return False
        return True if True in verdicts else None

    @property
    def first_violation(self) -> str | None:
        """The earliest thing that is wrong, in words; None where the theorem holds."""
        if self.unmet:
            return f"precondition: {self.unmet[0]}"
        broken = [claim for claim in self.claims if claim.holds is False]
        if not broken:
            return None
        claim = min(broken, key=lambda each: each.iterations[each.violations[0]])
        k = claim.violations[0]
        return (
            f"iteration {claim.iterations[k]}: {claim.statement}, "
            f"measured {apart(claim.measured[k], claim.bound[k])}"
        )

    @property
    def slack(self) -> float:
        """The least bound / measured over all rates and iterations: how generous the constant is.

        Not a number where the theorem bounds no rate, or nothing stands out of rounding.
        """
        return min((least for least, _ in self.slacks.values()), default=np.nan)

    @property
    def slacks(self) -> dict[str, tuple[float, float]]:
        """The (least, median) of bound / measured, by claim."""
        ratios = {claim.statement: claim.ratios for claim in self.claims if claim.is_rate}
        return {
            name: (float(np.min(each)), float(np.median(each)))
            for name, each in ratios.items()
            if each.size
        }

    def __str__(self) -> str:
        lines = [f"{self.solver}: {self.statement}"]
        for claim in self.claims:
            line = f"  {VERDICTS[claim.holds]}  {claim.statement}   ({len(claim.tested)} iterations"
            if claim.statement in self.slacks:
                least, median = self.slacks[claim.statement]
                line += f", bound/measured: least {least:.3g}, median {median:.3g}"
            lines.append(line + ")")
        return "\n".join([*lines, *(f"  {words}" for words in self._remarks())])

    def _repr_html_(self) -> str:
        lines = []
        for claim in self.claims:
            slack = [f"{ratio:.3g}" for ratio in self.slacks.get(claim.statement, ())] or ["", ""]
            lines.append((claim.statement, VERDICTS[claim.holds], str(len(claim.tested)), *slack))
        header = ("claim", "verdict", "iterations", "least bound/measured", "median")
        title = html.paragraph(f"{self.solver}: {self.statement}")
        return "".join([title, html.table(lines, header), *map(html.paragraph, self._remarks())])

    def _remarks(self) -> list[str]:
        """What is wrong first, and what was not tested."""
        found = self.first_violation
        wrong = [] if found is None else [f"first violation: {found}"]
        return [*wrong, *(f"not tested: {words}" for words in self.untested)]


NOTHING = "no iteration to judge"
VERDICTS = {True: "holds", False: "FAILS", None: "not tested"}


def apart(measured: float, bound: float) -> str:
    """The two numbers, with digits enough to tell them apart."""
    for digits in (6, 10, 17):
        texts = [f"{number:.{digits}g}" for number in (measured, bound)]
        if texts[0] != texts[1]:
            break
    return ", bound ".join(texts)


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
