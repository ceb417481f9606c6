"""From a solver's name to a certified solution of a learning problem."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..certificates.gap import try_to_refute
from ..certificates.primal_repair import repair_primal
from ..errors import ConvexmlError, InputError, UnsuitableSolverError
from ..numerics import Array
from ..objective import Objective
from ..solvers import Record, Solution, supports
from ..solvers.driver import drive
from ..solvers.polish import polish as polish_point
from ..solvers.rate_audit import Recorded
from ..solvers.reference import REFERENCE, installed, run_reference
from ..solvers.registry import ALGORITHMS, check_name
from ..validation import nonnegative_integer, positive_number
from .inputs import read_coefficients
from .outcomes import conclude, failed, no_solution, without_solution

if TYPE_CHECKING:
    from .learning_problem import LearningProblem

SECOND_ORDER = ("newton", "irls")
"""Hand-written solvers for which the polish is one more step of their own."""


def choose(objective: Objective) -> tuple[list[str], str]:
    """Return the solvers to try in turn, and why."""
    if objective.loss.is_smooth and objective.penalty.is_smooth:
        why = "the loss and the penalty are differentiable"
        return ["newton", "clarabel", "scs"], f"auto chose newton: {why}."
    kind = "loss" if not objective.loss.is_smooth else "penalty"
    why = f"the {kind} is not differentiable"
    names = ["clarabel", "interior_point", "piqp", "ecos", "osqp", "scs"]
    return names, f"auto chose clarabel: {why}."


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
    if max_iter is not None:
        max_iter = nonnegative_integer(max_iter, "solve", "max_iter")
    seed = nonnegative_integer(seed, "solve", "seed")
    if w0 is not None:
        w0, _ = read_coefficients(problem.name, w0, None, problem.objective_parts)
    limits = {"tol": tol, "max_seconds": max_seconds, "max_iter": max_iter}
    limits |= {"w0": w0, "progress": progress, "polish": polish, "seed": seed}
    if solver != "auto":
        solver = check_name(solver)
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
        if (name in REFERENCE and not installed(name)) or not supports(name, problem)[0]:
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
    as_claimed = facts["claimed_status"] == "optimal" and not limits["polish"]
    if solution.status == "inaccurate" and as_claimed:
        solution.certificate = try_to_refute(objective, point, solution.certificate)
    if solution.status == "inaccurate" and not objective.loss.is_indicator:
        evidence = no_solution(objective, w, b, doubt=True)
        if evidence is not None:
            return without_solution(problem, *evidence, w, b, name, limits["tol"], facts)
    return solution


def exact_zeros(objective: Objective, w: Array, b: float) -> tuple[Array, float]:
    """W = 0 exactly where the null model fits exactly or lam >= lam_max; else (w, b) as it is."""
    if not np.any(w):
        return w, b
    zero, z = np.zeros_like(w), objective.zero_scores
    shift = objective.best_intercept(z)
    value, reached = objective.primal(zero, shift), objective.primal(w, b)
    if value == 0.0 < reached:
        return zero, shift
    level = getattr(objective.penalty, "lam", None)
    if level is None or objective.penalty.is_smooth or not np.isfinite(value):
        return w, b
    if value > reached * (1.0 + 1e-9):
        return w, b  # the null model is worse, so that lam is below lam_max
    from .lam_max import lam_max

    try:
        largest = lam_max(objective)
    except ConvexmlError:
        return w, b
    return (zero, shift) if level >= largest * (1.0 - 1e-9) else (w, b)


def _run_algorithm(
    problem: LearningProblem, name: str, limits: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[Array | None, float, Array | None, dict[str, Any]]:
    objective, algorithm = problem.objective_parts, ALGORITHMS[name]
    w = np.zeros(objective.d) if limits["w0"] is None else limits["w0"].copy()
    b = objective.best_intercept(objective.predict(w))
    iterates = algorithm.start(objective, w, b, limits["seed"], options)
    try:
        run = drive(
            objective,
            iterates,
            tol=limits["tol"],
            max_seconds=limits["max_seconds"],
            max_iter=algorithm.max_iter if limits["max_iter"] is None else limits["max_iter"],
            progress=_show if limits["progress"] else None,
        )
    except InputError:
        raise
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
        "recorded": Recorded(objective, name, w, b, limits["seed"], dict(options)),
    }
    if not (np.all(np.isfinite(run.best.w)) and np.all(np.isfinite(run.best.b))):
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
) -> tuple[Array | None, Any, Array | None, dict[str, Any]]:
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
    b = np.zeros(problem.objective_parts.w_shape[1:])
    if problem.objective_parts.fit_intercept:
        b = np.array(statement.variables["b"].value, dtype=float)
    u = problem.dual_from_constraints()
    u = None if u is None else np.array(u, dtype=float)
    return np.ravel(w).astype(float), b if b.ndim else float(b), u, facts


_ITERATION_LIMIT = {"ecos": "max_iters", "scs": "max_iters"}
