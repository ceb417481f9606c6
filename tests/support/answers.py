"""What is wrong with an answer to a statement, by routes that know nothing of the recogniser."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import cvxpy as cp
import numpy as np

import convexml as cml
from support.programs.maros import judged

from .spellings import Statement

TIGHT = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
VALUE, MULTIPLIER = 1e-7, 2e-5


def clarabel(problem: cp.Problem) -> float:
    """The value by CLARABEL, as accurate as it gets; variables and dual values are filled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "inaccurate" at 1e-11: the comparison decides
        problem.solve(solver="CLARABEL", **TIGHT)
    assert problem.value is not None
    return float(problem.value)


def minimised_lagrangian(problem: cp.Problem) -> float:
    """The least value of the Lagrangian at the dual values that the problem holds.

    L = f + sum of lambda'(left - right), -f where f is maximised. It is minimised over a box about
    the variables' values; a minimum inside of the box is the minimum anywhere.
    """
    cost = problem.objective.args[0]
    lagrangian = cost if isinstance(problem.objective, cp.Minimize) else -cost
    for constraint in problem.constraints:
        multiplier = np.asarray(constraint.dual_value)
        if isinstance(constraint, cp.constraints.nonpos.Inequality):
            assert multiplier.min() >= -1e-9 * max(1.0, np.abs(multiplier).max())
            multiplier = np.maximum(multiplier, 0.0)
        lagrangian = lagrangian + cp.sum(cp.multiply(multiplier, constraint.expr))
    box = []
    for variable in problem.variables():
        reach = 1.0 + np.abs(variable.value)
        box += [variable <= variable.value + reach, variable >= variable.value - reach]
    least = clarabel(cp.Problem(cp.Minimize(lagrangian), box))
    return least if isinstance(problem.objective, cp.Minimize) else -least


def near(one: float, other: float, rtol: float = VALUE) -> bool:
    """Equal, relative to their size."""
    return abs(one - other) <= rtol * max(abs(one), abs(other), 1e-3)


def written(problem: cp.Problem) -> Iterator[str]:
    """What CVXPY says against the values that a problem holds: objective, constraints, domain."""
    if any(variable.value is None for variable in problem.variables()):
        yield "a variable has no value"
        return
    if any(constraint.dual_value is None for constraint in problem.constraints):
        yield "a constraint has no dual value"
    if problem.status != "optimal":
        yield f"its status is {problem.status}"
    if not near(float(problem.objective.value), float(problem.value), 1e-9):
        yield f"its value is {problem.value}, its objective's {problem.objective.value}"
    for constraint in problem.constraints:
        if not np.max(constraint.violation()) <= 1e-6:
            yield f"{constraint} is violated by {np.max(constraint.violation()):.1e}"
    for variable in problem.variables():
        if not np.max(np.abs(variable.project(variable.value) - variable.value)) <= 1e-12:
            yield f"{variable.name()} has not its attribute"


def misread(statement: Statement) -> Iterator[str]:
    """What is not read as the statement says."""
    found = cml.recognize(statement.build(), explain=True)
    if found is None or found.problem is None:
        yield f"declined: {getattr(found, 'why', found)}"
        return
    for kind, expected in (("loss", statement.loss), ("penalty", statement.penalty)):
        part = getattr(found, kind)
        if expected is not None and getattr(part, "name", part) != expected:
            yield f"{kind}: {getattr(part, 'name', part)} in place of {expected}"


def wrong(build: Callable[[], cp.Problem], unique: tuple[int, ...] = ()) -> Iterator[str]:
    """What is wrong with the answer of cml.solve, beside CLARABEL's to a problem of its own."""
    problem, theirs = build(), build()
    value = clarabel(theirs)
    certificate = cml.solve(problem, tol=1e-9)
    if certificate.verdict is not cml.Verdict.CERTIFIED:
        yield f"{certificate.verdict} at 1e-9: {certificate.reason}"
    yield from written(problem)
    if problem.value is None or not near(float(problem.value), value):
        yield f"the value is {problem.value}, CLARABEL's {value}"
        return
    if not near(certificate.primal_objective, float(problem.value), 1e-9):
        yield f"the certificate speaks of {certificate.primal_objective}"
    for number in unique:
        ours = np.ravel(problem.constraints[number].dual_value)
        other = np.ravel(theirs.constraints[number].dual_value)  # (1,) for a quadratic one
        if ours.shape != other.shape:
            yield f"multiplier {number} has shape {ours.shape}, not {other.shape}"
        elif not np.max(np.abs(ours - other)) <= MULTIPLIER * max(1.0, np.max(np.abs(other))):
            yield f"multiplier {number} is {ours}, CLARABEL's {other}"
    if problem.constraints and not any(c.dual_value is None for c in problem.constraints):
        least = minimised_lagrangian(problem)
        if not near(least, value):
            yield f"its Lagrangian comes back to {least}, not {value}"


def in_doubt(build: Callable[[], cp.Problem]) -> Iterator[str]:
    """Where the conic certificate of the problem as written does not agree."""
    problem = build()
    certificate = cml.solve(problem, thorough=True)
    if certificate.verdict is not cml.Verdict.CERTIFIED:
        yield f"thorough: {certificate.verdict}, {certificate.reason}"
    conic = judged(problem)
    if conic.verdict is not cml.Verdict.CERTIFIED:
        yield f"certify: {conic.verdict}, {conic.reason}"
    if not near(conic.primal_objective, float(problem.value)):
        yield f"the conic certificate has P = {conic.primal_objective}, the problem {problem.value}"
