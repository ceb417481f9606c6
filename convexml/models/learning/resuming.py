"""Solves that keep their best point in a file, and go on from the one that is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError, WorkersLostError
from ...files import writable
from ...solvers.alarm import LOST
from ..checkpoint import INSTEAD, Checkpoint, SavedPoint, read
from ..portfolio import SHORT
from ..reading.inputs import read_coefficients
from ..solution import Solution
from .outcomes import Attempt
from .posed import PosedLearning
from .solving import solve_learning

SAME = 1e-9
"""Up to this share of their size sums are the same: they are added up in other blocks."""


def solve_kept(
    problem: PosedLearning, solver: str = "auto", *, checkpoint: Any = None, **options: Any
) -> Solution:
    """``solve_learning`` with a file for the best point, or without.

    What the file says is used as a start alone: the gap of the answer is computed from the data.
    """
    if checkpoint is None:
        return solve_learning(problem, solver, **options)
    kept = opened(problem, checkpoint)
    before = kept.best
    if before is not None:
        options["w0"] = before.w.reshape(problem.objective_parts.w_shape)
    try:
        solution = solve_learning(problem, solver, kept=kept, **options)
        if solution.claimed_status != LOST:  # else there is nobody to judge it
            solution = _better(solution, kept)
        w, b = solution.primal.get("w"), solution.primal.get("b", 0.0)
        if w is not None and w.shape == problem.objective_parts.w_shape:
            values = solution.objective, solution.gap, solution.iterations, solution.solver
            kept.keep(SavedPoint(np.ravel(w), b, *values))
    except WorkersLostError as error:
        there = f"The best point so far is in {kept.path}, to go on from."
        raise WorkersLostError(f"{error} {there}" if kept.best else str(error)) from error
    finally:
        kept.flush()
    if before is not None:
        told = f" Resumed from {before.solver}, iteration {before.iteration}."
        solution.choice = (solution.choice + told).strip()
    return solution


def opened(problem: PosedLearning, path: Any) -> Checkpoint:
    """The checkpoint of a path, with its point where there is one, of which P is computed anew.

    Raises
    ------
    InputError
        Where no file can be written, or the one that is there is damaged or of another problem.
    """
    owner = f"{problem.name}.solve: checkpoint"
    target = writable(path, owner)
    found = Checkpoint(target, identity(problem))
    if not target.exists():
        return found
    if not target.is_file():
        raise InputError(f"{owner}: {target} is no file to write to and to read. Name another.")
    told, point = read(target, owner)
    other = difference(told, found.identity)
    if other:
        raise InputError(f"{owner}: {target} is of another problem: {other}. {INSTEAD}")
    objective = problem.objective_parts
    w = point.w.reshape(objective.w_shape)
    w, b = read_coefficients(problem.name, w, point.b, objective)
    with np.errstate(over="ignore", invalid="ignore"):
        value = objective.primal(w, b)
    found.best = replace(point, w=w, b=b, objective=np.inf if np.isnan(value) else value)
    return found


def identity(problem: PosedLearning) -> dict[str, Any]:
    """Model, sizes, settings, X'c and its scale, and P at a point that depends on every column."""
    objective = problem.objective_parts
    scores = objective.zero_scores + objective.coefficients
    norms = objective.column_norms
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        probe = np.cos(1.0 + np.arange(len(norms))) * np.sqrt(objective.n / len(norms)) / norms
        probe[~np.isfinite(probe)] = 0.0
        sums = objective.design.rmatvec(scores)
        sizes = norms * np.sqrt((scores * scores).sum())
        value = float(objective.primal(probe, objective.null_model[0]))
    settings = {k: v for k, v in problem._hyper.items() if np.ndim(v) == 0}
    return {
        "model": problem.name,
        "settings": {k: v if isinstance(v, float | None) else str(v) for k, v in settings.items()},
        "loss": repr(objective.loss),
        "penalty": repr(objective.penalty),
        "intercept": bool(objective.fit_intercept),
        "samples": int(objective.n),
        "shape": list(objective.w_shape),
        "sums": sums.tolist(),
        "sizes": sizes.tolist(),
        "value": value,
    }


def difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """The first thing that two problems differ in, in words; empty where they are the same."""
    if there["model"] != here["model"]:
        return f"{there['model']} there, {here['model']} here"
    for name in sorted({*there["settings"], *here["settings"]}):
        one, other = there["settings"].get(name), here["settings"].get(name)
        if one != other:
            return f"{name} = {one} there, {other} here"
    words = {"samples": "samples", "shape": "coefficients", "loss": "the loss"}
    words |= {"penalty": "the penalty", "intercept": "the intercept"}
    for key, word in words.items():
        if there[key] != here[key]:
            return f"{word}: {there[key]} there, {here[key]} here"
    off = np.abs(np.subtract(there["sums"], here["sums"]))
    bad = ~(off <= SAME * np.maximum(there["sizes"], here["sizes"]))
    if bad.any():
        return f"other numbers in column {int(np.argmax(bad)) % here['shape'][0]} of X"
    one, other = there["value"], here["value"]
    if not (one == other or abs(one - other) <= SAME * max(abs(one), abs(other))):
        return "other numbers in X, y or the weights"
    return ""


def _better(solution: Solution, kept: Checkpoint) -> Solution:
    """A solution that falls short gives way to the best point of the file, if that has less gap."""
    point = kept.best
    if point is None or solution.status not in SHORT or not point.objective < solution.objective:
        return solution
    names = ("claimed_status", "iterations", "passes", "seconds", "evaluated", "message")
    facts = {name: getattr(solution, name) for name in (*names, "compile_seconds", "recorded")}
    told = Attempt(solution.problem, solution.solver, solution.certificate.tol, facts)
    again = told.certified(point.w, point.b, None)
    return min(solution, again, key=lambda each: each.relative_gap)
