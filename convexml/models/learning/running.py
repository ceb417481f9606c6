"""Run one solver on a learning problem, in the coordinates of a frame; nothing is judged here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...errors import InputError
from ...numerics import Array, all_finite
from ...objective import Frame, parameters_of, pose_primal
from ...progress import at, evaluated, is_watched
from ...solvers import Iterate, Record
from ...solvers.driver import Keeper, drive
from ...solvers.reference import STOPPED, run_reference
from ...solvers.registry import ALGORITHMS
from ..checkpoint import Checkpoint, SavedPoint
from ..portfolio import Limits
from ..rates.audit import Recorded
from .posed import PosedLearning

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
