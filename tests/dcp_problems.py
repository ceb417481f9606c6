"""Random DCP problems that are strictly feasible on both sides, and their mutations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np

ATOMS = (
    "linear",
    "square",
    "norm1",
    "norm2",
    "norminf",
    "huber",
    "logistic",
    "log_sum_exp",
    "quad_over_lin",
    "maximum",
    "sum_largest",
    "abs",
    "pos",
    "psd",
    "lambda_max",
)
SETS = (
    "half-spaces",
    "equalities",
    "ball",
    "box",
    "l1 ball",
    "simplex-like",
    "quadratic",
    "exponentials",
)
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
