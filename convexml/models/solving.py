"""From a solver's name to a certified solution of a learning problem."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..certificates import Certificate, Verdict, certify_objective
from ..certificates.evidence import inconsistent, inseparable, separating_direction
from ..certificates.primal_repair import repair_primal
from ..errors import InputError, UnsuitableSolverError
from ..numerics import Array
from ..objective import Objective
from ..solvers import Record, Solution, supports
from ..solvers.driver import drive
from ..solvers.polish import polish as polish_point
from ..solvers.reference import REFERENCE, installed, run_reference
from ..solvers.registry import ALGORITHMS, check_name
from ..validation import positive_number
from .inputs import expand, read_coefficients

if TYPE_CHECKING:
    from .learning_problem import LearningProblem

SUPPORT_SHARE = 1e-7
"""A multiplier above this share of the largest one makes a support vector."""
SECOND_ORDER = ("newton",)
"""Hand-written solvers for which the polish is one more step of their own."""
LARGE_SCORE = 15.0
"""Predictions beyond this, without a penalty, make us ask whether a minimiser exists."""


def choose(objective: Objective) -> tuple[list[str], str]:
    """Return the solvers to try in turn, and why."""
    if objective.loss.is_smooth and objective.penalty.is_smooth:
        why = "the loss and the penalty are differentiable"
        return ["newton", "clarabel", "scs"], f"auto chose newton: {why}."
    kind = "loss" if not objective.loss.is_smooth else "penalty"
    why = f"the {kind} is not differentiable"
    return ["clarabel", "piqp", "ecos", "scs"], f"auto chose clarabel: {why}."


def solve_learning(
    problem: LearningProblem,
    solver: str = "auto",
    *,
    tol: float = 1e-6,
    max_seconds: float | None = None,
    max_iter: int | None = None,
    seed: int = 0,
    w0: Any = None,
    progress: bool = False,
    polish: bool = True,
    **options: Any,
) -> Solution:
    """Solve with one solver, or with "auto" until an answer is certified."""
    tol = positive_number(tol, "solve", "tol")
    if max_seconds is not None:
        max_seconds = positive_number(max_seconds, "solve", "max_seconds")
    if max_iter is not None and (max_iter != int(max_iter) or max_iter < 0):
        raise InputError(f"solve: max_iter must be a whole number >= 0, got {max_iter!r}.")
    if w0 is not None:
        w0, _ = read_coefficients(problem.name, w0, None, problem.objective_parts)
    limits = {"tol": tol, "max_seconds": max_seconds, "max_iter": max_iter}
    limits |= {"w0": w0, "progress": progress, "polish": polish, "seed": seed}
    if solver != "auto":
        check_name(solver)
        if solver in REFERENCE and not installed(solver):
            message = f"{solver} is not installed; pip install {solver} makes it available."
            return failed(problem, solver, "not installed", message, tol)
        fits, reason = supports(solver, problem)
        if not fits:
            raise UnsuitableSolverError(reason)
        return attempt(problem, solver, limits, options)
    names, choice = choose(problem.objective_parts)
    tried: list[Solution] = []
    for name in names:
        if name in REFERENCE and not (installed(name) and supports(name, problem)[0]):
            continue
        tried.append(attempt(problem, name, limits, options))
        if tried[-1].status not in ("inaccurate", "failed") or tried[-1].message == "interrupted":
            break
    best = min(tried, key=lambda s: (s.status in ("inaccurate", "failed"), s.relative_gap))
    best.choice = choice
    if best is not tried[0]:
        best.choice += f" {tried[0].solver} ended {tried[0].status}; {best.solver} answered."
    return best


def attempt(
    problem: LearningProblem, name: str, limits: Mapping[str, Any], options: Mapping[str, Any]
) -> Solution:
    """Run one solver and certify what it returns."""
    objective = problem.objective_parts
    run = _run_algorithm if name in ALGORITHMS else _run_reference
    w, b, u, facts = run(problem, name, limits, options)
    evidence = no_solution(objective, w, b)
    if evidence is not None:
        status, arrays = evidence
        return without_solution(problem, status, arrays, w, b, name, limits["tol"], facts)
    if w is None:
        return failed(
            problem, name, facts["claimed_status"], facts["message"], limits["tol"], facts
        )
    if limits["polish"]:
        if name in REFERENCE or name in SECOND_ORDER:
            w, b, u = polish_point(objective, w, b, u)
        w, b = exact_zeros(objective, w, b)
    point = repair_primal(objective, w, b)
    if np.isfinite(point.value):
        w, b = point.w, point.b
    solution = conclude(problem, name, w, b, u, limits["tol"], facts)
    if solution.status == "inaccurate" and not objective.loss.is_indicator:
        evidence = no_solution(objective, w, b, doubt=True)
        if evidence is not None:
            return without_solution(problem, *evidence, w, b, name, limits["tol"], facts)
    return solution


def exact_zeros(objective: Objective, w: Array, b: float) -> tuple[Array, float]:
    """W = 0 exactly where lam >= lam_max; else (w, b) as it is."""
    level = getattr(objective.penalty, "lam", None)
    if level is None or objective.penalty.is_smooth or not np.any(w):
        return w, b
    zero, z = np.zeros_like(w), np.zeros(objective.n)
    shift = objective.best_intercept(z)
    value = objective.primal(zero, shift)
    if not np.isfinite(value) or value > objective.primal(w, b) * (1.0 + 1e-9):
        return w, b  # the null model is worse, so that lam is below lam_max
    from .lam_max import lam_max

    try:
        largest = lam_max(objective)
    except InputError:
        return w, b
    return (zero, shift) if level >= largest * (1.0 - 1e-9) else (w, b)


def _run_algorithm(
    problem: LearningProblem, name: str, limits: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[Array | None, float, Array | None, dict[str, Any]]:
    objective, algorithm = problem.objective_parts, ALGORITHMS[name]
    w = np.zeros(objective.d) if limits["w0"] is None else limits["w0"].copy()
    b = objective.best_intercept(objective.predict(w))
    try:
        iterates = algorithm.iterate(objective, w, b, **options)
    except TypeError as error:
        raise InputError(f"{name}: {error}.") from None
    try:
        run = drive(
            objective,
            iterates,
            tol=limits["tol"],
            max_seconds=limits["max_seconds"],
            max_iter=algorithm.max_iter if limits["max_iter"] is None else limits["max_iter"],
            progress=_show if limits["progress"] else None,
        )
    except Exception as error:
        message = f"{name} crashed: {type(error).__name__}: {error}"
        return None, 0.0, None, {"claimed_status": "error", "message": message}
    facts = {
        "claimed_status": "optimal" if run.stopped == "tol" else run.stopped,
        "iterations": run.iterations,
        "passes": run.passes,
        "seconds": run.seconds,
        "trace": run.trace,
        "message": "" if run.stopped == "tol" else run.stopped,
    }
    if not (np.all(np.isfinite(run.best.w)) and np.isfinite(run.best.b)):
        facts["message"] = f"{name} returned no finite point."
        return None, 0.0, None, facts
    return run.best.w, run.best.b, run.best.u, facts


def _show(record: Record) -> None:
    import sys

    if sys.stderr.isatty():
        text = f"iteration {record.iteration}, relative gap {record.relative_gap:.2e}"
        print(f"\r{text:<60}", end="", file=sys.stderr, flush=True)


def _run_reference(
    problem: LearningProblem, name: str, limits: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[Array | None, float, Array | None, dict[str, Any]]:
    started = time.perf_counter()
    statement = problem.statement
    posed = time.perf_counter() - started
    if limits["max_iter"] is not None:
        options = {_ITERATION_LIMIT.get(name, "max_iter"): limits["max_iter"]} | dict(options)
    run = run_reference(
        statement.problem,
        name,
        tol=limits["tol"],
        max_seconds=limits["max_seconds"],
        **options,
    )
    facts = {
        "claimed_status": run.claimed,
        "iterations": run.iterations,
        "seconds": run.seconds,
        "compile_seconds": run.compile_seconds + posed,
        "message": run.message,
    }
    w = statement.variables["w"].value if run.has_point else None
    if w is None or not np.all(np.isfinite(w)):
        facts["message"] = facts["message"] or f"{name} returned no point ({run.claimed})."
        return None, 0.0, None, facts
    b = float(statement.variables["b"].value) if problem.objective_parts.fit_intercept else 0.0
    u = problem.dual_from_constraints()
    return np.array(w, dtype=float), b, None if u is None else np.array(u, dtype=float), facts


_ITERATION_LIMIT = {"ecos": "max_iters", "scs": "max_iters"}


def no_solution(
    objective: Objective, w: Array | None, b: float, doubt: bool = False
) -> tuple[str, dict[str, Any]] | None:
    """Look for verified evidence that there is no solution, where there may be none.

    A minimiser is doubted where predictions are large, or where the caller does.
    """
    if objective.loss.is_indicator:
        if w is not None and np.isfinite(repair_primal(objective, w, b).value):
            violation = objective.loss.violation(objective.y, objective.predict(w, b))
            if np.max(violation) <= 1e-4 * max(1.0, float(np.max(np.abs(objective.y)))):
                return None
        find = inseparable if objective.loss.labels == "binary" else inconsistent
        evidence = find(objective)
        return None if evidence is None else ("infeasible", evidence)
    if not objective.penalty.free(objective.d).any():
        return None
    if w is not None and not doubt and np.max(np.abs(objective.predict(w, b))) <= LARGE_SCORE:
        return None
    evidence = separating_direction(objective, w, b)
    return None if evidence is None else ("unattained", evidence)


def conclude(
    problem: LearningProblem,
    name: str,
    w: Array,
    b: float,
    u: Array | None,
    tol: float,
    facts: Mapping[str, Any],
) -> Solution:
    """Certify the point and collect everything into a Solution."""
    objective = problem.objective_parts
    certificate = certify_objective(
        objective,
        w,
        b,
        tol=tol,
        textbook=problem.textbook_conditions,
        solver_dual=u,
        refute=False,
    )
    status = "optimal" if certificate.verdict is Verdict.CERTIFIED else "inaccurate"
    primal, dual, support = named_values(problem, w, b, certificate.dual["u"])
    return Solution(
        status, problem.snapshot(), primal, dual, certificate, name, support=support, **facts
    )


def named_values(
    problem: LearningProblem, w: Array, b: float, u: Array
) -> tuple[dict[str, Array], dict[str, Array], Array | None]:
    """The primal and dual values under their textbook names, and the support vectors."""
    samples = problem._samples
    values, multipliers = problem.posed_values(w, b, u)
    del values["z"]
    primal = {
        k: expand(v, samples) if len(v.shape) and k not in "wb" else v for k, v in values.items()
    }
    dual = {"u": expand(u, samples)}
    for label, name in problem.multiplier_names.items():
        value = np.asarray(multipliers[label])
        dual[name] = expand(value, samples) if value.shape == u.shape else value
    support = None
    if "alpha" in dual:
        alpha = dual["alpha"] + dual.get("alpha_star", 0.0)
        support = np.flatnonzero(alpha > SUPPORT_SHARE * alpha.max(initial=0.0))
    return primal, dual, support


def failed(
    problem: LearningProblem,
    name: str,
    claimed: str,
    message: str,
    tol: float,
    facts: Mapping[str, Any] | None = None,
) -> Solution:
    """A recorded outcome without a point."""
    certificate = Certificate(
        "optimal", np.inf, -np.inf, np.inf, np.inf, (), Verdict.UNDECIDED, tol, message
    )
    known = dict(facts or {}) | {"claimed_status": claimed, "message": message}
    return Solution("failed", problem.snapshot(), {}, {}, certificate, name, **known)


def without_solution(
    problem: LearningProblem,
    status: str,
    evidence: dict[str, Any],
    w: Array | None,
    b: float,
    name: str,
    tol: float,
    facts: Mapping[str, Any],
) -> Solution:
    """A verified outcome: infeasible, or an infimum without a minimiser."""
    words = {
        "infeasible": "The multipliers in .evidence prove that the constraints contradict.",
        "unattained": "Along the direction in .evidence the loss decreases for ever.",
    }[status]
    samples = problem._samples
    per_sample = {"alpha", "nu", "z"}
    arrays = {k: expand(v, samples) if k in per_sample else v for k, v in evidence.items()}
    value = np.inf if status == "infeasible" else 0.0
    primal: dict[str, Array] = {}
    if status == "unattained" and w is not None:
        primal, _, _ = named_values(problem, w, b, np.zeros(problem.objective_parts.n))
        value = problem.objective_parts.primal(w, b)
    certificate = Certificate(
        "infeasible" if status == "infeasible" else "optimal",
        value,
        np.inf if status == "infeasible" else 0.0,
        np.inf,
        np.inf,
        (),
        Verdict.CERTIFIED if status == "infeasible" else Verdict.UNDECIDED,
        tol,
        words,
        evidence=arrays,
    )
    return Solution(
        status, problem.snapshot(), primal, {}, certificate, name, evidence=arrays, **facts
    )


def judge(
    problem: LearningProblem,
    primal: Mapping[str, Array],
    dual: Mapping[str, Array],
    document: Mapping[str, Any],
) -> Solution:
    """Certify a stored point again."""
    facts = {
        key: document[key]
        for key in ("claimed_status", "choice", "iterations", "passes", "seconds")
        if key in document
    }
    facts |= {"compile_seconds": document.get("compile_seconds", 0.0)}
    tol, name = float(document.get("tol", 1e-6)), str(document.get("solver", "stored"))
    if "w" not in primal:
        evidence = no_solution(problem.objective_parts, None, 0.0)
        if evidence is None:
            return failed(problem, name, "", "The document holds no point.", tol, facts)
        return without_solution(problem, *evidence, None, 0.0, name, tol, facts)
    w, b = read_coefficients(
        problem.name, primal["w"], primal.get("b", 0.0), problem.objective_parts
    )
    u = np.asarray(dual["u"], dtype=float) if "u" in dual else None
    kept = None if u is None else u[problem._samples.kept]
    return conclude(problem, name, w, b, kept, tol, facts)
