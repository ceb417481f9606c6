"""A learning problem as CVXPY states it: its Parameters, and values for what is posed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...duality.inner import record
from ...losses import Loss
from ...numerics import Array
from ...objective import Objective, Statement, label_all, parameters_of
from ...penalties import Penalty
from ...terms import constant
from .construction import Parts
from .posed import PosedLearning


def parameters(objective: Objective, hyper: Mapping[str, Any]) -> dict[str, Any]:
    """The CVXPY Parameters of the loss and the penalty, and C where the model has one."""
    import cvxpy as cp

    theta: dict[str, Any] = {**parameters_of(objective)}
    if "C" in hyper:
        theta["C"] = cp.Parameter(name="C", pos=True, value=float(hyper["C"]))
    return theta


def coefficients(problem: PosedLearning) -> Any:
    """The factors c_i of the losses, with C as a Parameter where the model has one."""
    if "C" in problem.theta:
        weights = constant(problem._samples.weights, "s")
        return problem.theta["C"] * weights if problem._samples.weighted else problem.theta["C"]
    return problem.objective_parts.c


def posed_parts(problem: PosedLearning) -> tuple[Objective, dict[str, Any], Any, str]:
    """The objective, its Parameters and factors, and what its design is called."""
    return problem.objective_parts, problem.theta, coefficients(problem), problem._design_name


def set_parameters(theta: dict[str, Any], parts: Parts) -> None:
    """Write other hyperparameters into the Parameters; nothing is compiled again."""
    loss, penalty, scale = parts
    for kind, part in (("loss", loss), ("penalty", penalty)):
        for key, number in part.hyperparameters().items():
            theta[kind][key].value = number
    if "C" in theta:
        theta["C"].value = float(scale)


def pose_in_slacks(problem: PosedLearning) -> Statement:
    """Minimise (1/2) |w|^2 + sum_i c_i l(y_i, x_i.w + b) in w, b and the slacks of the loss."""
    import cvxpy as cp

    parts, w = problem.objective_parts, cp.Variable(problem.objective_parts.d, name="w")
    X = constant(parts.design.constant, problem._design_name)
    variables, prediction = {"w": w}, X @ w
    if parts.fit_intercept:
        variables["b"] = cp.Variable(name="b")
        prediction = prediction + variables["b"]
    terms = parts.loss.expression(parts.y, prediction, problem.theta["loss"])
    value: Any = 0.5 * cp.sum_squares(w)
    if not parts.loss.is_indicator:
        value = value + cp.sum(cp.multiply(coefficients(problem), terms.value))
    posed = cp.Problem(cp.Minimize(value), label_all(terms.constraints))
    variables |= {slack.name(): slack for slack in posed.variables()}
    return Statement(posed, variables, terms.constraints)


def posed_values(
    objective: Objective, w: Array, b: Any, u: Array
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of the variables of ``pose_primal``, and multipliers of its constraints.

    Products are made where there are slacks, or multipliers of the penalty; ``fill`` adds z.
    """
    values = {"w": w.reshape(objective.w_shape), "b": np.asarray(b)}
    if type(objective.loss).slacks is not Loss.slacks:
        z = objective.predict(w, b)
        values |= {"z": z, **objective.loss.slacks(objective.y, z)}
    multipliers = {"prediction": u, **objective.loss.multipliers(objective.y, u, objective.c)}
    if type(objective.penalty).multipliers is not Penalty.multipliers:
        multipliers |= objective.penalty.multipliers(-objective.design.rmatvec(u))
    return values, multipliers


def fill(problem: PosedLearning) -> None:
    """Write the last solution, if any, into the variables and constraints of the posed primal."""
    statement, solution = problem._statement, problem._last
    if statement is None or solution is None or solution.posed is None:
        return
    values, multipliers = solution.posed
    if "z" in statement.variables and "z" not in values:
        z = problem.objective_parts.predict(np.ravel(values["w"]), values["b"])
        values = values | {"z": z}
    for name, variable in statement.variables.items():
        if name in values:
            known = bool(np.all(np.isfinite(values[name])))  # CVXPY refuses nan
            variable.value = values[name] if known else None
    for label, constraint in statement.constraints.items():
        if label in multipliers:
            shape = constraint.dual_variables[0].shape
            constraint.dual_variables[0].save_value(np.reshape(multipliers[label], shape))
    # CVXPY keeps value and status of its own last solve; this one may be another solver's.
    verified = solution.status == "optimal"
    status = "optimal" if verified else "optimal_inaccurate"
    record(
        statement.problem,
        solution.objective,
        status,
        solution.solver,
        solve_time=solution.seconds,
        setup_time=solution.compile_seconds,
        num_iters=solution.iterations,
    )
