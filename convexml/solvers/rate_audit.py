"""Hold a recorded run to its solver's theorem: every iterate against the bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from scipy import linalg

from ..certificates.dual_repair import repair_dual
from ..errors import InputError
from ..numerics import EPS, Array
from ..objective import Objective
from ..theory import Claim, Reference, Theorem, Trajectory, strong_convexity
from ..theory.spectrum import joint_gram
from .driver import Iterate
from .registry import ALGORITHMS


@dataclass(frozen=True)
class Recorded:
    """How a run was made: enough to repeat it bit for bit.

    Attributes
    ----------
    objective : Objective
    solver : str
    w : array, shape (d,)
    b : float
    seed : int
    options : mapping
    """

    objective: Objective
    solver: str
    w: Array
    b: float
    seed: int
    options: Mapping[str, Any]

    def iterates(self, seed: int | None = None) -> Iterator[Iterate]:
        """The run again, with its own seed or another."""
        chosen = self.seed if seed is None else seed
        algorithm = ALGORITHMS[self.solver]
        return algorithm.start(self.objective, self.w, self.b, chosen, self.options)


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
    """

    solver: str
    statement: str
    reference: Reference
    claims: tuple[Claim, ...]
    unmet: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the preconditions are met and every inequality holds at every iteration."""
        return not self.unmet and all(claim.holds for claim in self.claims)

    @property
    def first_violation(self) -> str | None:
        """The earliest thing that is wrong, in words; None where the theorem holds."""
        if self.unmet:
            return f"precondition: {self.unmet[0]}"
        broken = [claim for claim in self.claims if not claim.holds]
        if not broken:
            return None
        claim = min(broken, key=lambda each: each.iterations[each.violations[0]])
        k = claim.violations[0]
        return (
            f"iteration {claim.iterations[k]}: {claim.statement}, "
            f"measured {claim.measured[k]:.6g}, bound {claim.bound[k]:.6g}"
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
            verdict = "holds" if claim.holds else "FAILS"
            line = f"  {verdict}  {claim.statement}   ({len(claim.measured)} iterations"
            if claim.statement in self.slacks:
                least, median = self.slacks[claim.statement]
                line += f", bound/measured: least {least:.3g}, median {median:.3g}"
            lines.append(line + ")")
        if self.first_violation is not None:
            lines.append(f"  first violation: {self.first_violation}")
        return "\n".join(lines)


def audit(
    solver: str,
    recorded: Recorded | None,
    iterations: int,
    problem: Any,
    seeds: int | None = None,
) -> RateAudit:
    """Repeat a run and compare each iterate with the theorem.

    Parameters
    ----------
    solver : str
        Its name.
    recorded : Recorded or None
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
    theorem = ALGORITHMS[solver].theorem if solver in ALGORITHMS else None
    if theorem is None:
        raise InputError(f"rate_audit: no theorem is on record for {solver!r}.")
    if recorded is None:
        raise InputError(
            "rate_audit: this solution does not know how it was computed; solve the problem again."
        )
    return hold(theorem, recorded, iterations, reference_of(problem, recorded.objective), seeds)


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
        measure(recorded.objective, reference, islice(recorded.iterates(seed), iterations + 1))
        for seed in chosen
    ]
    unmet = tuple(theorem.preconditions(runs[0]))
    claims = tuple(theorem.claims(runs))
    return RateAudit(recorded.solver, theorem.statement, reference, claims, unmet)


def measure(objective: Objective, reference: Reference, iterates: Iterator[Iterate]) -> Trajectory:
    """Reduce a run to the numbers that theorems speak of: P, D, distance, facts."""
    rows: list[tuple[float, float, float]] = []
    facts: dict[str, list[float]] = {}
    with np.errstate(over="ignore", invalid="ignore"):
        for k, point in enumerate(iterates):
            moved = np.append(point.w - reference.w, point.b - reference.b)
            distance = float(moved @ moved)
            dual = np.nan if point.u is None else repair_dual(objective, point.u).value
            rows.append((objective.primal(point.w, point.b), distance, dual))
            for name, value in point.facts.items():
                facts.setdefault(name, [np.nan] * k).append(float(value))
    values, distances, duals = np.array(rows).T
    known = {name: np.array(column) for name, column in facts.items()}
    return Trajectory(objective, reference, values, distances, duals, known)


def reference_of(problem: Any, objective: Objective) -> Reference:
    """x* and a certified floor of P*, by the best means that there are."""
    solution = problem.snapshot().solve("auto", tol=1e-12)
    if not np.isfinite(solution.gap):
        raise InputError(
            f"rate_audit: {problem.name} has no reference solution ({solution.status})."
        )
    w, b = problem.coordinates(solution.primal), solution.primal["b"]
    value, floor = solution.objective, min(solution.dual_objective, solution.objective)
    gap = value - floor + 4.0 * EPS * abs(value)
    mu = strong_convexity(objective) or _local_curvature(objective, w, b)
    radius = float(np.sqrt(2.0 * gap / mu)) if mu > 0.0 else np.sqrt(EPS)
    return Reference(w, b, value, floor, radius)


def _local_curvature(objective: Objective, w: Array, b: Any) -> float:
    """Half the least eigenvalue of the loss's Hessian at (w, b), 0 where it is singular."""
    h = objective.loss.curvature(objective.y, objective.predict(w, b))
    if objective.d > 500 or h.ndim > 1 or not np.any(h > 0.0):
        return 0.0
    ends = linalg.eigvalsh(joint_gram(objective, np.asarray(objective.c * h)))[[0, -1]]
    return 0.5 * float(ends[0]) if ends[0] > 1e-9 * ends[1] else 0.0
