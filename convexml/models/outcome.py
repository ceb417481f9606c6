"""What becomes of a point: a certified Solution, evidence that there is none, or a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..certificates import Certificate, Verdict, certify_objective
from ..certificates.judge import absent, judge
from ..certificates.learning.existence import Evidence
from ..certificates.learning.repair import repair_primal
from ..certificates.learning.separation import can_recede, separating_direction
from ..certificates.scale import learning_scale, relative
from ..certificates.uniqueness import why_many
from ..data import rows_in_blocks
from ..errors import WorkersLostError
from ..numerics import ROUNDING, Array
from ..problem import Objective
from ..progress import at
from ..solvers.driver import LOST
from .inputs import expand, read_coefficients, read_dual
from .posing import PosedLearning, contradiction
from .solution import Solution

SUPPORT_SHARE = 1e-7
"""A multiplier above this share of the largest one makes a support vector."""
DOUBTED = 200_000
"""Entries of X up to which an answer that nearly meets a constraint makes us ask for evidence."""
LARGE_SCORE = 15.0
"""Predictions beyond this, without a penalty, make us ask whether a minimiser exists."""


def no_solution(
    problem: PosedLearning, w: Array | None, b: Any, doubt: bool = False
) -> tuple[str, Evidence] | None:
    """Look for verified evidence that there is no solution, where there may be none.

    A minimiser is doubted where predictions are large, or where the caller does.
    """
    found = _absence(problem.objective_parts, w, b, doubt)
    if found is None:
        return None
    evidence = problem.confirmed(*found)
    return None if evidence is None else (found[0], evidence)


def _absence(
    objective: Objective, w: Array | None, b: Any, doubt: bool
) -> tuple[str, Evidence] | None:
    if objective.loss.is_indicator:
        doubt = doubt and objective.n * objective.d <= DOUBTED
        if w is not None and not doubt and np.isfinite(repair_primal(objective, w, b).value):
            violation = objective.loss.violation(objective.y, objective.predict(w, b))
            if np.max(violation) <= 1e-4 * float(np.max(np.abs(objective.y))):
                return None
        evidence = contradiction(objective)
        return None if evidence is None else ("infeasible", evidence)
    if not can_recede(objective):
        return None
    if w is not None and not doubt and np.max(np.abs(objective.predict(w, b))) <= LARGE_SCORE:
        return None
    evidence = separating_direction(objective, w, b)
    return None if evidence is None else ("unattained", evidence)


@dataclass(frozen=True)
class Attempt:
    """A solver asked about a problem, and what it says of itself: the facts of a Solution."""

    problem: PosedLearning
    solver: str
    tol: float
    facts: Mapping[str, Any]

    def but_for(self, polish: str) -> Attempt:
        """The same, of a point that was moved since by a polish."""
        return replace(self, facts={**self.facts, "polished": polish})

    def certified(self, w: Array, b: Any, u: Array | None) -> Solution:
        """The point with its certificate, and its values by name."""
        at(f"{self.solver}: certifying")
        certificate = self.problem.judge_solved(w, b, u, self.tol)
        return self.judged(certificate, self.problem.posed_values(w, b, certificate.dual["u"]))

    def judged(
        self, certificate: Certificate, posed: tuple[dict[str, Any], dict[str, Any]]
    ) -> Solution:
        """A point that was judged, with its values as it is posed."""
        status = "optimal" if certificate.verdict is Verdict.CERTIFIED else "inaccurate"
        named = named_values(self.problem, certificate.dual["u"], *posed)
        return self._ended(status, certificate, posed=posed, **named)

    def failed(self) -> Solution:
        """A recorded outcome without a point."""
        reason = self.facts["message"]
        certificate = Certificate(
            "optimal", np.inf, -np.inf, np.inf, np.inf, (), Verdict.UNDECIDED, self.tol, reason
        )
        return self._ended("failed", certificate)

    def as_evaluated(self, why: str, w: Array | None, b: Any) -> Solution:
        """A point that nobody is left to judge, with P and D as they were found on the way.

        Raises
        ------
        WorkersLostError
            Where they never were.
        """
        evaluated = self.facts.get("evaluated")
        if w is None or not evaluated:
            raise WorkersLostError(why)
        best = min(reversed(evaluated), key=lambda record: record.objective)
        gap, share = max(best.gap, 0.0), max(best.relative_gap, 0.0)
        reason = (
            f"Not judged: {why} P, D and gap are those of iteration {best.iteration}, without an "
            "account of rounding."
        )
        certificate = Certificate(
            "optimal",
            best.objective,
            best.dual_objective,
            gap,
            share,
            (),
            Verdict.UNDECIDED,
            self.tol,
            reason,
            scale=gap / share if share else 0.0,
        )
        primal = {"w": w.reshape(self.problem.objective_parts.w_shape), "b": np.asarray(b)}
        told = {"claimed_status": LOST, "message": why}
        return self._ended("inaccurate", certificate, primal=primal, **told)

    def without_solution(self, claim: str, evidence: Evidence, w: Array | None, b: Any) -> Solution:
        """A verified outcome: infeasible, or an infimum without a minimiser."""
        objective, samples = self.problem.objective_parts, self.problem._samples
        per_sample = {"alpha", "nu", "q", "z"}
        arrays = {
            k: expand(v, samples) if k in per_sample else v for k, v in evidence.arrays.items()
        }
        known: dict[str, Any] = {"reason": evidence.reason, "evidence": arrays}
        named: dict[str, Any] = {}
        value = np.inf  # contradicting constraints leave no point
        if claim == "unattained":
            u = objective.zero_scores
            known["dual_objective"] = bound = objective.dual(u)  # u = 0 is always feasible
            if w is not None:
                named = named_values(self.problem, u, *self.problem.posed_values(w, b, u))
                value = objective.primal(w, b)
                value = np.inf if np.isnan(value) else value
                gap = max(value - bound, 0.0) + ROUNDING * (abs(value) + abs(bound))
                scale = learning_scale(value, bound, objective.null_value)
                known |= {"gap": gap, "relative_gap": relative(gap, scale), "scale": scale}
        certificate = absent(claim, evidence.conditions, self.tol, objective=value, **known)
        primal = named.get("primal", {})  # there is no dual point
        judged = judge(certificate)
        if judged.verdict is not Verdict.CERTIFIED:  # its numbers are beyond float64
            message = f"evidence of {claim!r} was found, and does not hold once it is rounded"
            return self._ended("failed", judged, primal=primal, message=message)
        return self._ended(claim, judged, primal=primal, evidence=arrays)

    def _ended(self, status: str, certificate: Certificate, **known: Any) -> Solution:
        known = {"primal": {}, "dual": {}, **self.facts, **known}
        problem, solver = self.problem.snapshot(), self.solver
        return Solution(status, problem, certificate=certificate, solver=solver, **known)


def with_others(solution: Solution) -> Solution:
    """An optimal solution beside which there are others says so."""
    if solution.status == "optimal" and not solution.message:
        many = why_many(solution.problem.objective_parts)
        solution.message = f"The minimiser is not unique: {many}." if many else ""
    return solution


def null_answer(problem: PosedLearning, tol: float) -> Solution:
    """The null model, w = 0 with its best b, judged: where numbers are extreme it is often best."""
    objective = problem.objective_parts
    message = "w = 0 with its best intercept"
    if rows_in_blocks(objective):
        message += (
            "; no solver over row blocks came nearer. Pass X and y in memory, or some of the "
            "blocks, where every solver is tried; or take the l2 penalty"
        )
    facts = {"claimed_status": "", "message": message}
    told = Attempt(problem, "the null model", tol, facts)
    return told.certified(np.zeros(objective.d), objective.null_model[0], None)


def named_values(
    problem: PosedLearning, u: Array, values: Mapping[str, Any], multipliers: Mapping[str, Any]
) -> dict[str, Any]:
    """The primal and dual values under their textbook names, and the support vectors."""
    samples = problem._samples
    posed_only = {"z", "w"} if "q" in values else {"z"}  # f is told by q, not by coordinates
    primal = {
        k: expand(v, samples) if len(v.shape) and k not in "wb" else v
        for k, v in values.items()
        if k not in posed_only
    }
    dual = {"u": expand(u, samples)}
    for label, name in problem.multiplier_names.items():
        value: Any = multipliers[label]
        value = value if samples.layout else np.asarray(value)
        dual[name] = expand(value, samples) if value.shape == u.shape else value
    support = None
    if "alpha" in dual and not samples.layout:
        alpha = dual["alpha"] + dual.get("alpha_star", 0.0)
        support = np.flatnonzero(alpha > SUPPORT_SHARE * alpha.max(initial=0.0))
    return {"primal": primal, "dual": dual, "support": support}


def stored_attempt(problem: PosedLearning, document: Mapping[str, Any]) -> Attempt:
    """Who made a stored point, as the document has it."""
    facts = {
        key: document[key]
        for key in ("claimed_status", "choice", "iterations", "passes", "seconds")
        if key in document
    }
    facts |= {"compile_seconds": document.get("compile_seconds", 0.0)}
    tol, name = float(document.get("tol", 1e-6)), str(document.get("solver", "stored"))
    return Attempt(problem, name, tol, facts)


def judge_stored(
    problem: PosedLearning,
    primal: Mapping[str, Array],
    dual: Mapping[str, Array],
    document: Mapping[str, Any],
) -> Solution:
    """Certify a stored point again, or look again for the evidence that none is a minimiser."""
    stored, objective = stored_attempt(problem, document), problem.objective_parts
    if "w" not in primal:
        evidence = no_solution(problem, None, 0.0)
        if evidence is not None:
            return stored.without_solution(*evidence, None, 0.0)
        none = {"claimed_status": "", "message": "The document holds no point."}
        return replace(stored, facts={**stored.facts, **none}).failed()
    w, b = read_coefficients(problem.name, primal["w"], primal.get("b", 0.0), objective)
    evidence = no_solution(problem, w, b)
    if evidence is not None:
        return stored.without_solution(*evidence, w, b)
    samples, u = problem._samples, None
    if "u" in dual and samples.layout is not None:
        u = read_dual(problem.name, dual["u"], samples)
    elif "u" in dual:
        u = np.asarray(dual["u"], dtype=float)[samples.kept]
    return stored.certified(w, b, u)


@np.errstate(over="ignore", invalid="ignore")
def finite_or(other: float, function: Callable[..., float], *point: Any) -> float:
    """The value of a function; the other where it is inf - inf, after an overflow."""
    value = function(*point)
    return other if np.isnan(value) else value


# What a learning problem says of a point that somebody passes: its values, its certificate.


def in_own_rows(problem: PosedLearning, found: Certificate) -> Certificate:
    """With u, and the coefficients q of a better function, for rows of weight 0 too."""
    samples = problem._samples
    if samples.layout is not None or len(samples.kept) == samples.total:
        return found
    dual, witness = dict(found.dual), None if found.witness is None else dict(found.witness)
    for told, name in ((dual, "u"), (witness, "q")):
        if told and name in told:
            told[name] = expand(told[name], samples)
    return found.but(dual=dual, witness=witness)


def certify_solved(
    problem: PosedLearning, w: Array, b: Any, u: Array | None, tol: float
) -> Certificate:
    """The certificate of what a solver returned; its u competes with the constructed one.

    A u that is as good but for rounding may cost more of that: where it decides, both are judged.
    """
    objective = problem.objective_parts
    found = certify_objective(objective, w, b, tol=tol, solver_dual=u, refute=False)
    if u is None or found.verdict is Verdict.CERTIFIED or not found.rounding > tol * found.scale:
        return found
    other = certify_objective(objective, w, b, tol=tol, refute=False)
    return min(found, other, key=lambda each: each.relative_gap)
