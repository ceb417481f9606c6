"""From a solver's name to a certified solution of a learning problem."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..certificates.learning.gap import try_to_refute
from ..certificates.learning.repair import PrimalPoint, repair_primal
from ..certificates.scale import learning_scale
from ..data import rows_in_blocks
from ..errors import InputError, UnsuitableSolverError, WorkersLostError
from ..numerics import Array, all_finite, without_warnings
from ..problem import Frame, Objective, frame_of, parameters_of, pose_primal, resized
from ..progress import at, evaluated, is_watched
from ..solvers import Iterate, Record, supports
from ..solvers.driver import LOST, Keeper, drive
from ..solvers.plan import Trial, plan
from ..solvers.polish import descend, least_norm, meet_equalities, of_few_digits
from ..solvers.polish import polish as polish_point
from ..solvers.printed import PREFIX
from ..solvers.reference import REFERENCE, STOPPED, run_reference
from ..solvers.registry import ALGORITHMS, check_name, suitable_instead
from .checkpoint import Checkpoint, SavedPoint
from .inputs import read_coefficients
from .outcome import Attempt, no_solution, null_answer, with_others
from .path import exact_zeros
from .portfolio import Limits, available, first_verified
from .posing import PosedLearning
from .rate_audit import Recorded, measure, referenced
from .solution import Solution

# Run one solver on a learning problem, in the coordinates of a frame; nothing is judged here.


SETTLED = ("optimal", "interrupted")
"""How runs end that no further step is to follow where that costs as much as any."""
Reached = tuple[Array | None, Any, Array | None, dict[str, Any]]
"""(w, b, u) in the coordinates of a frame, and facts of the run."""


def run_algorithm(
    problem: PosedLearning, frame: Frame, name: str, limits: Limits, options: Mapping[str, Any]
) -> Reached:
    """What a hand-written solver reaches."""
    objective, algorithm = frame.objective, ALGORITHMS[name]
    if limits.w0 is None:
        w, b = np.zeros(objective.d), objective.null_model[0]
    else:
        w = limits.w0 / frame.unit
        b = objective.best_intercept(objective.predict(w))
    blocks = problem._samples.layout
    iterates = algorithm.start(objective, w, b, limits.seed, options, limits.carried)
    at(f"{name}, {len(blocks.totals)} blocks" if blocks else name)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the driver sees what is not finite
            run = drive(
                objective,
                iterates,
                tol=limits.tol,
                max_seconds=limits.max_seconds,
                max_iter=algorithm.max_iter if limits.max_iter is None else limits.max_iter,
                told=_teller(frame.factor),
                kept=_keeper(frame, name, limits.checkpoint),
                patience=limits.patience,
                aim=limits.aim,
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
        "compile_seconds": run.compile_seconds,
        "evaluated": [record.times(frame.factor) for record in run.trace],
        "message": "" if run.stopped == "tol" else run.lost or run.stopped,
        "recorded": Recorded(objective, name, w, b, limits.seed, dict(options), frame),
    }
    if not (all_finite(run.best.w) and all_finite(np.asarray(run.best.b))):
        facts["message"] = f"{name} returned no finite point."
        return None, 0.0, None, facts
    return run.best.w, run.best.b, run.best.u, facts


def _teller(factor: float) -> Callable[[Record], None] | None:
    """Tells who watches of the iterates that are evaluated, in the units of the problem."""
    return (lambda record: evaluated(*record.times(factor).told)) if is_watched() else None


def _keeper(frame: Frame, name: str, checkpoint: Checkpoint | None) -> Keeper | None:
    """Lets a checkpoint have the iterates, in own units; of those not evaluated only P is known."""
    if checkpoint is None:
        return None

    def keep(iteration: int, iterate: Iterate, record: Record | None) -> None:
        def own() -> SavedPoint:
            w, b = iterate.w, iterate.b
            value = frame.objective.primal(w, b) if record is None else record.objective
            gap = np.nan if record is None else record.gap
            value, gap = frame.factor * value, frame.factor * gap
            return SavedPoint(*frame.outside(w.copy(), b), value, gap, iteration, name)

        if record is None:
            checkpoint.consider(own)
        elif frame.factor * record.objective < checkpoint.value:
            checkpoint.keep(own())

    return keep


def run_reference_solver(
    problem: PosedLearning, frame: Frame, name: str, limits: Limits, options: Mapping[str, Any]
) -> Reached:
    """What a reference solver reaches."""
    own = frame.is_trivial and problem._poses_coordinates
    if own:
        statement, posed = problem.statement, problem.posing_seconds()
    else:
        started = time.perf_counter()
        statement = pose_primal(frame.objective, parameters_of(frame.objective))
        posed = time.perf_counter() - started + problem.posing_seconds()
    tol, seconds, steps = limits.tol, limits.max_seconds, limits.max_iter
    run = run_reference(
        statement.problem, name, tol=tol, max_seconds=seconds, max_steps=steps, **options
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
        start, value = frame.objective.null_model
        if run.claimed in ("max_iter", STOPPED) and np.isfinite(value):
            facts["message"] = f"{run.message} and left no point; w = 0 was taken."
            return np.zeros(frame.objective.d), start, None, facts
        facts["message"] = facts["message"] or f"{name} returned no point ({run.claimed})."
        return None, 0.0, None, facts
    b = np.zeros(problem.objective_parts.w_shape[1:])
    if problem.objective_parts.fit_intercept:
        b = np.array(statement.variables["b"].value, dtype=float)
    if own:
        u = problem.dual_from_constraints()
    else:
        u = statement.constraints["prediction"].dual_value
    u = None if u is None else np.array(u, dtype=float)
    return np.ravel(w).astype(float), b if b.ndim else float(b), u, facts


# How long a theorem says that a solver of the page needs, where its iterations ended first.


ENDED = ("max_iter", "non-finite", "exhausted", "error")
"""How runs end before they are near enough, whatever the clock says."""
FAR = 1e30
"""A theorem that asks for more iterations than that asks for too many."""


def with_horizon(solution: Any) -> Any:
    """A point of the page that is not certified says which theorem asks for how many iterations."""
    ended = solution.claimed_status in ENDED and solution.status in ("inaccurate", "failed")
    if ended and solution.solver.startswith(PREFIX):
        solution.message += f"; {horizon(solution)}"
    return solution


@without_warnings
def horizon(solution: Any) -> str:
    """The theorem with its T: f - f* <= tol times the scale of the gap; or why there is none."""
    theorem, recorded = ALGORITHMS[solution.solver].theorem, solution.recorded
    ends = solution.claimed_status == "exhausted"
    if ends or theorem is None or not isinstance(recorded, Recorded):
        return "no theorem: the method ends here"
    told = f"{theorem.source or theorem.__class__.__name__}: {theorem.statement}"
    try:
        recorded, reference = referenced(theorem, recorded, solution.problem)
        run = measure(recorded.objective, reference, partial(recorded.first, 3))
    except (InputError, np.linalg.LinAlgError) as error:
        return f"no theorem: {error}"
    unmet = dict.fromkeys((*theorem.preconditions(run), *theorem.silences(run)))
    if unmet:
        return f"no theorem: {'; '.join(unmet)} ({told})"
    scale = learning_scale(reference.value, reference.floor, recorded.objective.null_value)
    eps = solution.certificate.tol * scale - run.doubt
    T, most = first_below(partial(theorem.ahead, run), eps), theorem.ahead(run, FAR)
    if not np.isfinite(most):
        return f"no theorem: nothing bounds f - f* ahead ({told})"
    if T > FAR:
        return f"no theorem: f - f* <= {most:.3g} is all, and {eps:.3g} is asked for ({told})"
    enough = "" if T > solution.iterations else "no theorem: of the dual point that proves it; "
    return f"{enough}f - f* <= {eps:.3g} takes T = {T:.6g} at most ({told})"


def first_below(bound: Callable[[float], float], eps: float) -> float:
    """A whole T with bound(T) <= eps < bound(T - 1); inf where none is found up to FAR."""
    high = 1.0
    while not bound(high) <= eps:
        high *= 2.0
        if high > 2.0 * FAR:
            return np.inf
    low = high / 2.0
    while high - low > max(1.0, 1e-9 * high):
        middle = np.floor(0.5 * (low + high))
        low, high = (low, middle) if bound(middle) <= eps else (middle, high)
    return high


SECOND_ORDER = ("newton",)
"""Hand-written solvers for which the polish is one more step of their own."""
FRAMED = (
    *SECOND_ORDER,
    "newton_cg",
    "augmented_lagrangian",
    "interior_point",
    "dual_coordinate_descent",
    "coordinate_descent",
    "normal_equations",
    "proximal_point",
    "proximal_newton",
    "method_of_multipliers",
)
"""Hand-written solvers that run in the units of ``frame_of``; first-order ones take X as it is."""
BY_ROWS = ("qr",)
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
    problem: PosedLearning, trials: Iterable[Trial], limits: Limits, options: dict[str, Any]
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
