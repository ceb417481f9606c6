"""Random DCP problems that are strictly feasible on both sides, and their mutations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np

ATOMS = (
    "linear", "square", "norm1", "norm2", "norminf", "huber", "logistic", "log_sum_exp",
    "quad_over_lin", "maximum", "sum_largest", "abs", "pos", "psd", "lambda_max",
)  # fmt: skip
SETS = (
    "half-spaces", "equalities", "ball", "box", "l1 ball", "simplex-like", "quadratic",
    "exponentials",
)  # fmt: skip
ATTRIBUTES = ("none", "nonneg", "nonpos", "bounds", "lower bounds")


def term(
    atom: str, x: Any, x0: np.ndarray, rng: np.random.Generator, scale: float
) -> tuple[Any, list[Any]]:
    """A convex function of x, and constraints that belong to it; its data have size ``scale``."""
    n, m = x.size, 6
    A, b = scale * rng.normal(size=(m, n)), scale * rng.normal(size=m)
    z = A @ x + b
    made: dict[str, Callable[[], Any]] = {
        "linear": lambda: scale * rng.normal(size=n) @ x,
        "square": lambda: cp.sum_squares(z) / scale,
        "norm1": lambda: cp.norm1(z),
        "norm2": lambda: cp.norm(z, 2),
        "norminf": lambda: cp.norm_inf(z),
        "huber": lambda: cp.sum(cp.huber(z, scale)) / scale,
        "logistic": lambda: cp.sum(cp.logistic(z / scale)) * scale,
        "log_sum_exp": lambda: cp.log_sum_exp(z / scale) * scale,
        "quad_over_lin": lambda: cp.quad_over_lin(z, scale * (x[0] - x0[0] + 4.0)),
        "maximum": lambda: cp.sum(cp.maximum(z[:3], z[3:])),
        "sum_largest": lambda: cp.sum_largest(z, 3),
        "abs": lambda: cp.sum(cp.abs(z)),
        "pos": lambda: cp.sum(cp.pos(z)),
    }
    if atom in made:
        return made[atom](), []
    C = [scale * (M + M.T) for M in rng.normal(size=(n, 3, 3))]
    combined = sum(x[i] * C[i] for i in range(n))
    if atom == "lambda_max":
        return cp.lambda_max(combined + scale * np.diag(rng.normal(size=3))), []
    Z = cp.Variable((3, 3), PSD=True, name=f"Z{rng.integers(1 << 30)}")
    D = scale * np.diag(rng.uniform(1.0, 2.0, 3))
    return cp.trace(D @ Z), [(Z >> (combined / scale)).set_label(f"dominates {Z.name()}")]


def feasible_set(
    kind: str, x: Any, x0: np.ndarray, rng: np.random.Generator, scale: float
) -> list[Any]:
    """Constraints that hold strictly at x0 (equalities apart)."""
    n = x.size
    A = scale * rng.normal(size=(4, n))
    room = scale * rng.uniform(0.5, 2.0, 4)
    match kind:
        case "half-spaces":
            return [(A @ x <= A @ x0 + room).set_label("half-spaces")]
        case "equalities":
            return [(A[:2] @ x == A[:2] @ x0).set_label("equalities")]
        case "ball":
            return [(cp.norm(x - x0, 2) <= 1.0 + rng.uniform()).set_label("ball")]
        case "box":
            return [(x <= x0 + 1.0).set_label("above"), (x >= x0 - 1.0).set_label("below")]
        case "l1 ball":
            return [(cp.norm1(x) <= float(np.abs(x0).sum()) + 1.0).set_label("l1")]
        case "simplex-like":
            return [(cp.sum(x) == float(x0.sum())).set_label("budget"), x >= x0 - 2.0]
        case "quadratic":
            level = float(np.sum((A @ x0) ** 2)) + scale**2
            return [(cp.sum_squares(A @ x) <= level).set_label("quadratic")]
    level = float(np.log(np.sum(np.exp(A @ x0 / scale)))) + 0.5
    return [(cp.log_sum_exp(A @ x / scale) <= level).set_label("exponentials")]


def variable(attribute: str, n: int, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """A variable, and a point inside of its attribute."""
    x0 = rng.normal(size=n)
    match attribute:
        case "nonneg":
            return cp.Variable(n, nonneg=True, name="x"), np.abs(x0) + 0.1
        case "nonpos":
            return cp.Variable(n, nonpos=True, name="x"), -np.abs(x0) - 0.1
        case "bounds":
            return cp.Variable(n, bounds=[x0 - 1.0, x0 + 1.5], name="x"), x0
        case "lower bounds":
            return cp.Variable(n, bounds=[x0 - 1.0, None], name="x"), x0
    return cp.Variable(n, name="x"), x0


def random_problem(
    rng: np.random.Generator,
    atoms: tuple[str, ...] | None = None,
    sets: tuple[str, ...] | None = None,
    attribute: str | None = None,
    maximize: bool | None = None,
    scale: float = 1.0,
    unit: float = 1.0,
) -> Any:
    """A problem with both sides strictly feasible: bounded level sets, a point inside.

    ``scale`` multiplies the data of objective and constraints, ``unit`` the objective.
    """
    atoms = tuple(rng.choice(ATOMS, rng.integers(1, 4))) if atoms is None else atoms
    sets = tuple(rng.choice(SETS, rng.integers(0, 3), replace=False)) if sets is None else sets
    attribute = str(rng.choice(ATTRIBUTES)) if attribute is None else attribute
    maximize = bool(rng.integers(2)) if maximize is None else maximize
    x, x0 = variable(attribute, int(rng.integers(2, 7)), rng)
    found = [term(atom, x, x0, rng, scale) for atom in atoms]
    constraints = [c for _, own in found for c in own]
    for kind in sets:
        constraints += feasible_set(kind, x, x0, rng, scale)
    # What keeps the level sets bounded, for the dual's strict feasibility.
    value = sum(value for value, _ in found) + 0.1 * scale * cp.sum_squares(x - x0)
    value = unit * value + unit * 3.0
    objective = cp.Maximize(-value) if maximize else cp.Minimize(value)
    return cp.Problem(objective, constraints)


# -- mutations --------------------------------------------------------------------------------


def mutations(problem: Any, rng: np.random.Generator) -> list[tuple[str, Callable[[], None]]]:
    """(what is wrong, a function that makes it so) for a solved problem."""
    variables = problem.variables()
    duals = [d for c in problem.constraints for d in c.dual_variables if d.value is not None]

    def move(size: float) -> Callable[[], None]:
        def change() -> None:
            for v in variables:
                step = size * rng.normal(size=v.shape)
                v.save_value(v.value + (step + step.T if v.ndim == 2 else step))

        return change

    def scale(leaves: list[Any], factor: float) -> Callable[[], None]:
        def change() -> None:
            for leaf in leaves:
                leaf.save_value(factor * np.asarray(leaf.value))

        return change

    def shake(size: float) -> Callable[[], None]:
        def change() -> None:
            for d in duals:
                d.save_value(np.asarray(d.value) + size * rng.normal(size=d.shape))

        return change

    found = [(f"x moved by {size:g}", move(size)) for size in (1e-3, 1e-2, 1.0)]
    found += [("x = -x", scale(variables, -1.0)), ("x = 0.99 x", scale(variables, 0.99))]
    if duals:
        found += [("y = -y", scale(duals, -1.0)), ("y = 0", scale(duals, 0.0))]
        found += [("y = 1.1 y", scale(duals, 1.1)), ("y = 0.9 y", scale(duals, 0.9))]
        found += [(f"y shaken by {size:g}", shake(size)) for size in (1e-2, 1.0)]
    return found


def is_wrong(problem: Any, optimum: float, tol: float) -> str:
    """By CVXPY's own expressions and solver: why the values must not be certified; "" if unclear.

    ``optimum`` is the value of the problem, of another route.
    """
    sign = 1.0 if isinstance(problem.objective, cp.Minimize) else -1.0
    value = problem.objective.expr.value
    domains = [c for v in problem.variables() for c in v.domain]
    outside = [float(np.max(c.violation())) for c in [*problem.constraints, *domains]]
    size = 1.0 + max(float(np.max(np.abs(v.value))) for v in problem.variables())
    if value is None or not np.isfinite(value):
        return "outside of the domain"
    if max(outside, default=0.0) > 100.0 * tol * size:
        return "infeasible"
    scale = max(1.0, abs(value), abs(optimum))
    if sign * (value - optimum) > 2.0 * tol * scale:
        return "not optimal"
    return wrong_duals(problem, sign, float(optimum), 10.0 * tol * scale)


def wrong_duals(problem: Any, sign: float, optimum: float, slack: float) -> str:
    """Why the multipliers give no bound near the optimum, over a box of +-100."""
    lagrangian = sign * problem.objective.expr
    for c in problem.constraints:
        y = c.dual_value
        if isinstance(c, cp.constraints.PSD):
            if np.linalg.eigvalsh(0.5 * (y + y.T))[0] < -slack:
                return "a multiplier outside of its cone"
            values, vectors = np.linalg.eigh(0.5 * (y + y.T))
            y = (vectors * np.maximum(values, 0.0)) @ vectors.T
            lagrangian = lagrangian - cp.trace(y @ c.args[0])
        elif isinstance(c, cp.constraints.Inequality):
            if np.min(y) < -slack:
                return "a negative multiplier"
            lagrangian = lagrangian + cp.sum(cp.multiply(np.maximum(y, 0.0), c.expr))
        else:
            lagrangian = lagrangian + cp.sum(cp.multiply(y, c.expr))
    box = [cp.abs(v) <= 100.0 for v in problem.variables()]
    box += [c for v in problem.variables() for c in v.domain]
    kept = [v.value for v in problem.variables()]
    bound = cp.Problem(cp.Minimize(lagrangian), box).solve(solver="CLARABEL")
    for v, value in zip(problem.variables(), kept, strict=True):
        v.save_value(value)
    return "multipliers without a bound" if bound < sign * optimum - slack else ""
