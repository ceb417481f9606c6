"""From a solver's name to a certified solution of a learning problem."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...certificates.learning.gap import try_to_refute
from ...certificates.learning.points.primal_repair import PrimalPoint, repair_primal
from ...design import rows_in_blocks
from ...errors import UnsuitableSolverError, WorkersLostError
from ...numerics import Array
from ...objective import Frame, Objective, frame_of, resized
from ...solvers import supports
from ...solvers.alarm import LOST
from ...solvers.plan import Trial, plan
from ...solvers.polish import descend, meet_equalities
from ...solvers.polish import polish as polish_point
from ...solvers.rational import least_norm, of_few_digits
from ...solvers.reference import REFERENCE
from ...solvers.registry import ALGORITHMS, check_name, suitable_instead
from ..checkpoint import Checkpoint
from ..portfolio import Limits, available, first_verified
from ..rates.horizon import with_horizon
from ..reading.inputs import read_coefficients
from ..solution import Solution
from .lam_max import exact_zeros
from .outcomes import Attempt, no_solution, null_answer, with_others
from .posed import PosedLearning
from .running import SETTLED, run_algorithm, run_reference_solver

SECOND_ORDER = ("newton",)
"""Hand-written solvers for which the polish is one more step of their own."""
FRAMED = (
    *SECOND_ORDER,
    "newton_cg",
    "augmented_lagrangian",
    "interior_point",
    "coordinate_descent",
    "dual_coordinate_descent",
    "smo",
    "working_set",
    "normal_equations",
    "proximal_point",
    "proximal_newton",
    "method_of_multipliers",
)
"""Hand-written solvers that run in the units of ``frame_of``; first-order ones take X as it is."""
BY_ROWS = ("qr", "svd")
"""What scales rows by the roots of the weights as they were passed."""
NEARER = {"interior_point": 1e-3, "augmented_lagrangian": 1e-6, "proximal_point": 1e-6}
"""Of tol: how near "auto" comes by these. A little more shows who is at an end, or of one size."""
NEAREST = 1e-12
"""No nearer than this, unless tol is smaller."""
POLISHED = "Newton's steps on the identified support"
ROUNDED = "rounding to few digits"
SMALL, EXACT = 100_000, 1e-14
"""Up to so many entries of X, Newton's method goes on to this gap in place of a polish."""


def is_small(objective: Objective) -> bool:
    """Whether another step costs next to nothing, or X is small beside what it may still bring."""
    steep = objective.penalty.is_smooth and objective.penalty.strong_convexity > 0.0
    return (objective.n * objective.d <= SMALL or not steep) and not rows_in_blocks(objective)


def solve_learning(
    problem: PosedLearning,
    solver: str = "auto",
    *,
    tol: float = 1e-6,
    max_seconds: float | None = None,
    max_iter: int | None = None,
    seed: int = 0,
    w0: Any = None,
    polish: bool = True,
    carried: dict[str, Any] | None = None,
    kept: Checkpoint | None = None,
    **options: Any,
) -> Solution:
    """Solve with one solver, or with "auto" until an answer is certified: see ``Limits``."""
    problem._samples.refuse_changed(problem.name)
    if w0 is not None:
        w0, _ = read_coefficients(problem.name, w0, None, problem.objective_parts, "w0")
    others = {
        "w0": w0,
        "polish": polish,
        "carried": {} if carried is None else carried,
        "descends": polish and solver == "auto",
        "checkpoint": kept,
    }
    limits = Limits.read(tol, max_seconds, max_iter, seed, **others)
    if solver == "auto":
        trials, why = plan(problem.objective_parts)
        return with_others(first_verified(_in_turn(problem, trials, limits, options), why))
    solver = check_name(solver)
    if not available(solver):
        message = f"{solver} is not installed; pip install {solver} makes it available."
        facts = {"claimed_status": "not installed", "message": message}
        return Attempt(problem, solver, limits.tol, facts).failed()
    fits, reason = supports(solver, problem)
    if not fits:
        raise UnsuitableSolverError(f"{reason}{suitable_instead(problem)}")
    return with_horizon(with_others(attempt(problem, solver, limits, options)))


def _in_turn(
    problem: PosedLearning,
    trials: Iterable[Trial],
    limits: Limits,
    options: dict[str, Any],
) -> Iterator[Solution]:
    """Answers of the solvers that are there; after the first, that of rationals; w = 0 at last."""
    objective = problem.objective_parts
    small = is_small(objective)
    size: float | None = None
    began, whole = time.perf_counter(), limits.max_seconds
    for trial in trials:
        if whole is not None:
            left = whole - (time.perf_counter() - began)
            if left <= 0.0 and size is not None:
                return
            limits = replace(limits, max_seconds=max(left, 0.0))
        if not available(trial.name) or not supports(trial.name, problem)[0]:
            continue
        first, units = size is None, None
        if trial.in_own_units:
            units, frame = 1.0 if size is None else size, frame_of(objective)
            if resized(frame, units) is frame:
                continue  # these units are those of the attempt before
        aim = min(limits.tol, EXACT) if small and limits.polish else limits.tol
        told = replace(limits, size=units, patience=trial.patience, aim=aim)
        solution = attempt(problem, trial.name, told, {**trial.options, **options})
        size = solution.objective if size is None else min(size, solution.objective)
        yield solution
        if solution.claimed_status == "slow" and "w" in solution.primal:  # the next goes on there
            limits = replace(limits, w0=np.ravel(solution.primal["w"]))
        if first and limits.polish:
            yield from solved_exactly(problem, solution, limits.tol)
    if np.isfinite(objective.null_model[1]):  # a point, whatever became of the solvers
        yield null_answer(problem, limits.tol)


def attempt(
    problem: PosedLearning, name: str, limits: Limits, options: Mapping[str, Any]
) -> Solution:
    """Run one solver, in units that suit the data, and certify what it returns.

    The objective is taken in units of ``limits.size``, where an earlier answer gives one.
    """
    objective, began = problem.objective_parts, time.perf_counter()
    cheap = objective.n * objective.d <= SMALL
    # Where X is small, or as it is, the frame of the certificate: what is known is known once.
    frame = frame_of(objective, always=name in FRAMED)
    if name in FRAMED and not cheap and frame.objective.design is not objective.design:
        frame = frame_of(objective)
    if name in ALGORITHMS and name not in FRAMED:
        frame = Frame(objective, frame.centre, np.ones(objective.d), is_trivial=True)
    if limits.size is not None:
        frame = resized(frame, limits.size)
    if name in BY_ROWS:
        options = {"weights": problem._samples.weights, **options}
    run = run_algorithm if name in ALGORITHMS else run_reference_solver
    # Asked for by name they end where they are.
    further = limits.descends and not rows_in_blocks(objective)
    shows, asked = further and (name == "interior_point" or (name == "fista" and cheap)), limits
    if name in NEARER and further:
        near = max(NEARER[name] * limits.tol, min(limits.tol, NEAREST))
        asked = replace(limits, tol=near, aim=near)
    w, b, u, facts = run(problem, frame, name, asked, options)
    told = Attempt(problem, name, limits.tol, facts)
    own: tuple[Any, Any] = (None, 0.0) if w is None else frame.outside(w, b)
    if facts["claimed_status"] == LOST:
        return told.as_evaluated(facts["message"], *own)
    finishes = limits.polish and (name in REFERENCE or name in SECOND_ORDER or shows)
    if name in SECOND_ORDER and facts["claimed_status"] in SETTLED and not is_small(objective):
        finishes = False  # a step of its own would cost as much as any
    if limits.max_seconds is not None and time.perf_counter() - began > limits.max_seconds:
        finishes = False  # nor is there time for one
    try:
        return _outcome(told, frame, (w, b, u), own, limits, finishes, shows)
    except WorkersLostError as error:
        return told.as_evaluated(str(error), *own)


def _outcome(
    told: Attempt,
    frame: Frame,
    reached_at: tuple[Array | None, Any, Array | None],
    own: tuple[Any, Any],
    limits: Limits,
    finishes: bool,
    shows: bool,
) -> Solution:
    """What becomes of the point of a run, (w, b, u) in the frame's coordinates and ``own``."""
    problem, objective, facts = told.problem, told.problem.objective_parts, told.facts
    (w, b, u), evidence = reached_at, no_solution(problem, *own)
    if evidence is not None:
        return told.without_solution(*evidence, *own)
    if w is None:
        return told.failed()
    point = reached = repair_primal(frame.objective, w, b)
    raw = u if u is None else frame.dual_outside(u)
    if finishes:
        point, u = polish_point(frame.objective, reached, u)
    own = _finished(frame, point, limits.polish)
    by_another = told.but_for(POLISHED) if told.solver not in SECOND_ORDER else told
    moved = told if point is reached else by_another
    solution = moved.certified(*own, u if u is None else frame.dual_outside(u))
    if solution.status == "inaccurate" and shows and point is not reached:
        # What is better in the frame's units may be worse in the problem's own.
        again = told.certified(*_finished(frame, reached, False), raw)
        solution = min(solution, again, key=lambda each: each.relative_gap)
    if solution.status != "inaccurate":
        return solution
    if facts["claimed_status"] == "optimal" and not limits.polish:
        plain = frame_of(objective, always=True)
        point = repair_primal(plain.objective, *plain.inside(*own)[:2])
        solution.certificate = try_to_refute(plain, point, solution.certificate)
    if limits.polish and objective.loss.is_indicator and objective.penalty.is_constraint:
        found = of_few_digits(objective, *own)
        if found is not None:
            return told.but_for(ROUNDED).certified(*found, None)
    evidence = no_solution(problem, *own, doubt=True)
    if evidence is not None:
        return told.without_solution(*evidence, *own)
    if limits.descends and finishes:  # not in the name of a solver that was asked for by name
        point, u = polish_point(frame.objective, descend(frame.objective, reached), None)
        own = _finished(frame, point, True)
        again = by_another.certified(*own, u if u is None else frame.dual_outside(u))
        solution = min(solution, again, key=lambda each: each.relative_gap)
    return solution


def solved_exactly(problem: PosedLearning, solution: Solution, tol: float) -> Iterator[Solution]:
    """Interpolation of least norm in rationals, where it is small."""
    frame = frame_of(problem.objective_parts)
    found = least_norm(frame.objective)
    if found is None:
        return
    w, b, u = found
    facts = {"claimed_status": solution.claimed_status, "seconds": solution.seconds}
    told = Attempt(problem, solution.solver, tol, facts | {"message": "in rationals"})
    yield told.certified(*frame.nearest(w, b), frame.dual_outside(u))


def _finished(frame: Frame, point: PrimalPoint, zeros: bool) -> tuple[Array, Any]:
    """The point in the problem's own coordinates, feasible and with exact zeros where it can be."""
    w, b = point.w, point.b
    if zeros:
        w, b = meet_equalities(frame.objective, *exact_zeros(frame.objective, point))
    if w is not point.w:
        again = repair_primal(frame.objective, w, b)
        w, b = (again.w, again.b) if np.isfinite(again.value) else (w, b)
    return frame.nearest(w, b)
