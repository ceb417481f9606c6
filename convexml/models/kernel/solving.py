"""A kernel problem solved through rows of its matrix, and certified without a factor of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...certificates.learning.kernel import certify_kernel
from ...errors import InputError
from ...numerics import Array
from ...objective import Frame
from ...objective.kernel import KernelObjective
from ...solvers.needs import NEEDS
from ...solvers.registry import ALGORITHMS
from ..learning.outcomes import Attempt, judge_stored, stored_attempt
from ..learning.posed import Values
from ..learning.running import run_algorithm
from ..portfolio import Limits, first_verified
from ..reading.inputs import read_dual, read_intercept
from ..solution import Solution

NAME = "smo"
PATIENCE = 30.0
"""Passes over all of K after which a pace that is too slow ends a first attempt."""
WHY = f"auto chose {NAME}: the dual is a quadratic program in a box, of few support vectors."


def solve_kernel(
    problem: Any,
    solver: str,
    options: Mapping[str, Any],
    through_factor: Callable[[], Solution],
) -> Solution:
    """By working sets of K where that was asked for or is best; else through a factor of K.

    Parameters
    ----------
    problem : KernelModel
    solver : str
    options : mapping
        As of ``solve``; w0 is a start in q.
    through_factor : callable
        Solves with the factor as design; a checkpoint keeps a point in its coordinates.

    Raises
    ------
    InputError
        If working sets of K are asked for by name with a checkpoint.
    """
    if (file := options.get("checkpoint")) is not None:
        if str(solver).lower() == NAME:
            raise InputError(
                f"{problem.name}.solve: {NAME} keeps no checkpoint, got {str(file)!r}. Leave it "
                "out, or take another solver, as 'auto'."
            )
        return through_factor()
    objective: Any = problem.kernel_parts
    known = all(NEEDS[need][0](objective) for need in ALGORITHMS[NAME].needs)
    if str(solver).lower() == NAME and known:
        return attempt(problem, options)
    # Where the box has ends, samples leave the problem at them.
    if solver != "auto" or not known or objective.bare.is_unbounded:
        return through_factor()
    first = attempt(problem, options, PATIENCE)

    def in_turn() -> Iterator[Solution]:
        yield first
        yield through_factor()

    return first_verified(in_turn(), WHY)


def attempt(problem: Any, options: Mapping[str, Any], patience: float = np.inf) -> Solution:
    """Run the working sets, and certify what they return."""
    given = {"tol": 1e-6, "max_seconds": None, "max_iter": None} | dict(options)
    common = [given.pop(name) for name in ("tol", "max_seconds", "max_iter")]
    known = ("seed", "w0", "polish", "carried", "checkpoint")
    named = {name: given.pop(name) for name in known if name in given}
    limits = Limits.read(*common, **named)
    if patience < np.inf:  # nobody looks at what is not expected to do
        limits = replace(limits, patience=patience, aim=limits.tol)
    objective: Any = problem.kernel_parts
    frame = Frame(objective, np.zeros(0), np.ones(objective.n), is_trivial=True)
    q, b, _, facts = run_algorithm(problem, frame, NAME, limits, given)
    told = Attempt(problem, NAME, limits.tol, facts)
    if q is None:
        return told.failed()
    found = certify_kernel(objective, q, b, tol=limits.tol, refute=False)
    return told.judged(found, posed_function(objective, q, b, found.dual["u"]))


def posed_function(
    objective: KernelObjective, q: Array, b: float, u: Array
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of the primal's variables but w, and multipliers by label."""
    loss, y, z = objective.loss, objective.y, objective.predict(q, b)
    values = {"q": q, "b": np.asarray(b), "z": z, **loss.slacks(y, z)}
    return values, {"prediction": u, **loss.multipliers(y, u, objective.c)}


def judge_function(
    problem: Any, primal: Values, dual: Values, document: Mapping[str, Any]
) -> Solution:
    """Judge a stored function again: with -lam q as dual point, with the stored one, by K = LL'."""
    if "q" in primal:
        objective: Any = problem.kernel_parts
        q = read_dual(problem.name, primal["q"], problem._samples, "q")
        b = read_intercept(problem.name, primal.get("b", 0.0), problem.sample_parts)
        stored = stored_attempt(problem, document)
        given: list[Any] = [None]
        if "u" in dual:
            given.append(read_dual(problem.name, dual["u"], problem._samples))
        for u in given:
            found = certify_kernel(objective, q, b, u, tol=stored.tol, refute=False)
            if found.holds():
                posed = posed_function(objective, q, b, found.dual["u"])
                return stored.judged(found, posed)
        primal = dict(primal) | {"w": problem.kernel_parts.project(q)}
    return judge_stored(problem, primal, dual, document)
