"""The dual of a linear program in the plane of its two multipliers: x prices its rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ...pictures.look import Panel
from ...typesetting.names import plain_name
from .polytope import MOST_ROWS, HalfPlane, PlaneWords, draw_polytope


def dual_panel(owner: str, solution: Any) -> list[Panel]:
    """The panel of the dual polytope.

    Raises
    ------
    InputError
        For what is no linear program with an answer, and for one whose dual is in no plane.
    """
    data: Any = getattr(solution.problem, "data", None)
    asked = f"{owner}: kind='dual' needs a solved linear program"
    if not (hasattr(data, "b_ub") and "lambda_ub" in solution.dual and "x" in solution.primal):
        raise InputError(f"{asked}; got {solution.problem.name}, {solution.status}.")
    many = data.b_ub.size + data.b_eq.size
    if many != 2:
        raise InputError(
            f"{asked} with two multipliers of A_ub and A_eq, which span the plane; this one has "
            f"{many}. Those of bounds follow from them and do not count."
        )
    boxed = np.flatnonzero(np.isfinite(data.lower) & np.isfinite(data.upper))
    if boxed.size:
        raise InputError(
            f"{asked} whose variables have one bound at most: x[{boxed[0]}] has two, and the dual "
            "objective bends in the plane. Pose one of the two as a row of A_ub."
        )
    if data.n > MOST_ROWS:
        raise InputError(f"{asked} of at most {MOST_ROWS} variables, each a row; got {data.n}.")
    return [partial(_draw, solution=solution)]


def _draw(axes: Any, solution: Any) -> None:
    """Minimise (b - sum of bound_j A_j)'y over c_j + A_j'y >= 0, <= 0 or = 0, and y_ub >= 0."""
    data, point = solution.problem.data, solution.primal["x"]
    y = np.concatenate([solution.dual["lambda_ub"], solution.dual["nu"]])
    sizes = {"lambda_ub": data.b_ub.size, "nu": data.b_eq.size}
    names = [f"{plain_name(name)}[{i}]" for name, size in sizes.items() for i in range(size)]
    cost, rows = dual_half_planes(data, point)
    is_b = np.array_equal(cost, np.concatenate([data.b_ub, data.b_eq]))
    told = PlaneWords("y", "b" if is_b else "cost", (names[0], names[1]), "x")
    draw_polytope(axes, rows, cost, y, told)


def dual_half_planes(data: Any, x: Array) -> tuple[Array, list[HalfPlane]]:
    """The cost of the dual as a problem to minimise, and its rows with their multipliers.

    Those of c_j + A_j'y >= 0 are x_j - lower_j, those of y_i >= 0 the slacks b_i - A_i x.
    """
    A, b = data.rows.toarray(), np.concatenate([data.b_ub, data.b_eq])
    below, above = np.isfinite(data.lower), np.isfinite(data.upper)
    bound = np.where(below, data.lower, np.where(above, data.upper, 0.0))
    found = []
    for j, (column, price) in enumerate(zip(A.T, x - bound, strict=True)):
        cost, over = float(data.c[j]), float(price)
        if not above[j]:
            name = f"x_{j}" if bound[j] == 0.0 else f"x_{j} - ({bound[j]:g})"
            found.append(HalfPlane(-column, cost, name, max(over, 0.0)))
        if not below[j]:
            name = f"{bound[j]:g} - x_{j}" if above[j] else f"-x_{j}"
            found.append(HalfPlane(column, -cost, name, max(-over, 0.0)))
    slack = b - A @ x
    for i in range(data.b_ub.size):
        unit = np.eye(2)[i]
        found.append(HalfPlane(-unit, 0.0, f"slack {i}", max(float(slack[i]), 0.0)))
    return b - A @ bound, [row for row in found if np.any(row.a)]
