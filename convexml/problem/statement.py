"""An objective as CVXPY problems: the primal, and its dual posed on its own.

Every constraint is explicit and labelled, X is a constant, hyperparameters are Parameters (DPP),
so that a change of lam compiles nothing again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ..formulas import constant
from ..modelling import cp
from .objective import Objective
from .terms import Approximation, row_by_row


@dataclass
class Statement:
    """A posed CVXPY problem with its variables and constraints by name.

    A dual's ``helpers`` are those of its variables that are no multipliers.
    """

    problem: Any
    variables: dict[str, Any]
    constraints: dict[str, Any]
    parameters: dict[str, Any] = field(default_factory=dict)
    helpers: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, goal: Any, variables: dict[str, Any], constraints: dict[str, Any], *more: Any
    ) -> Statement:
        """The problem of a goal under constraints, each labelled by its name."""
        return cls(cp.Problem(goal, label_all(constraints)), variables, constraints, *more)


def parameters_of(objective: Objective) -> dict[str, dict[str, Any]]:
    """Return CVXPY Parameters for the hyperparameters, {"loss": {...}, "penalty": {...}}."""

    def make(values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: cp.Parameter(np.shape(value), name=name, nonneg=True, value=value)
            for name, value in values.items()
        }

    return {
        "loss": make(objective.loss.hyperparameters()),
        "penalty": make(objective.penalty.hyperparameters()),
    }


def label_all(constraints: dict[str, Any]) -> list[Any]:
    """Give each constraint its name as its CVXPY label."""
    for name, constraint in constraints.items():
        constraint.set_label(name)
    return list(constraints.values())


def pose_primal(
    objective: Objective, theta: Mapping[str, Any], c: Any = None, X: str = "X"
) -> Statement:
    """Minimise sum_i c_i l(y_i, z_i) + Omega(w) s.t. X w + b = z (dual: u); ``X`` is its name."""
    data = constant(objective.design.constant, X)
    c = constant(objective.c if c is None else c, "c")
    w = cp.Variable(objective.w_shape, name="w")
    z = cp.Variable(objective.zero_scores.shape, name="z")
    variables = {"w": w}
    prediction = data @ w
    if objective.fit_intercept:
        variables["b"] = b = cp.Variable(objective.w_shape[1:], name="b")
        prediction = prediction + (
            b if b.ndim == 0 else constant(np.ones((objective.n, 1)), "1") @ b[None, :]
        )
    loss = objective.loss.expression(objective.y, z, theta["loss"])
    penalty = objective.penalty.expression(row_by_row(w), theta["penalty"])
    constraints = {"prediction": prediction == z, **loss.constraints, **penalty.constraints}
    value = penalty.value
    if not objective.loss.is_indicator:
        value = cp.sum(cp.multiply(c, loss.value)) + value
    statement = Statement.of(cp.Minimize(value), variables, constraints)
    variables |= {v.name(): v for v in statement.problem.variables()}
    return statement


def pose_distance(objective: Objective, theta: Mapping[str, Any]) -> Statement:
    """Minimise |X w + b - z|_2 over w in dom Omega and z in dom F (dual: u).

    Its multiplier u is dual feasible, and the least distance is -F*(u) - Omega*(-X'u) where F and
    Omega are constraints: where that is > 0, no w meets both.
    """
    statement = pose_primal(objective, theta)
    missed = cp.Variable(objective.zero_scores.shape, name="missed")
    old = statement.constraints["prediction"]
    prediction, z = old.args
    constraints = statement.constraints | {"prediction": prediction == z + missed}
    return Statement.of(cp.Minimize(cp.norm(missed, 2)), statement.variables, constraints)


def pose_dual(
    objective: Objective, theta: Mapping[str, Any], c: Any = None, X: str = "X"
) -> Statement:
    """Maximise -sum_i c_i l*(y_i, u_i / c_i) - Omega*(-X'u) s.t. 1'u = 0.

    Its multipliers are the primal solution: -b of ``intercept``, -w of ``stationarity``
    (X'u + lam w = 0 or X'u = 0), |w_j| or |w_g| of ``correlation``.
    """
    data = constant(objective.design.constant, X)
    c = objective.c if c is None else c
    u = cp.Variable(objective.zero_scores.shape, name="u")
    loss = objective.loss.conjugate_expression(objective.y, u, c, theta["loss"])
    xtu = data.T @ u
    penalty = objective.penalty.conjugate_expression(row_by_row(xtu), objective.d, theta["penalty"])
    constraints = {**loss.constraints, **penalty.constraints}
    if objective.fit_intercept:
        constraints["intercept"] = cp.sum(u, axis=0) == 0.0
    value = -cp.sum(loss.value) - penalty.value
    problem = cp.Problem(cp.Maximize(value), label_all(constraints))
    variables = {v.name(): v for v in problem.variables()}
    return Statement(problem, variables, constraints, helpers=loss.helpers + penalty.helpers)


def pose_sum(program: Approximation, theta: dict[str, Any]) -> Statement:
    """Minimise f_0(x) + sum_k f_k(z_k) s.t. A_k x = z_k; f_k(A_k x) where there is no z_k."""
    squares, name = program.squares, program.terms[0].variable
    variables = {name: cp.Variable(squares.targets.shape, name=name)}
    constraints, value = {}, squares.expression(variables[name]).value
    for term, A in program.posed:
        image = A @ variables[name]
        if term.variable:
            variables[term.variable] = z = cp.Variable(image.shape, name=term.variable)
            constraints[term.constraint], image = image == z, z
        own = term.function.expression(row_by_row(image), theta)
        if own.constraints:  # a constraint alone
            (constraints[term.constraint],) = own.constraints.values()
        else:
            value = value + own.value
    return Statement.of(cp.Minimize(value), variables, constraints, theta)


def pose_sum_dual(program: Approximation, theta: dict[str, Any]) -> Statement:
    """Maximise -f_0*(-sum_k A_k'u_k) over multipliers u_k in dom f_k*, of norms and cones."""
    variables, constraints, pulls, y = {}, {}, [], program.squares.targets
    for term, A in program.posed:
        variables[term.dual] = u = cp.Variable((A.shape[0], *y.shape[1:]), name=term.dual)
        pulls.append(A.T @ u if term.sign > 0.0 else -(A.T @ u))
        minus = u if term.sign < 0.0 or term.function.depends_on_sizes else -u
        own = term.function.conjugate_expression(row_by_row(minus), minus.size, theta)
        (constraints[term.limit],) = own.constraints.values()
    pull = reduce(add, pulls) if pulls else cp.Constant(np.zeros(y.shape))
    gain = program.squares.dual_expression(pull)
    goal = cp.Maximize(gain.value)
    return Statement.of(goal, variables, constraints | gain.constraints, theta)
