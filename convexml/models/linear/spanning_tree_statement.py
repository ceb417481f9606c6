"""The least spanning tree and the packing of partitions as CVXPY problems, and in LaTeX."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array
from ...objective import Statement, label_all
from ...objective.linear.merging import Merging
from ...terms import constant
from ..latex import Latex, such_that


def pose_trees(distances: Array, merging: Merging) -> Statement:
    """Minimise d.x s.t. x >= 0, x(E) = n - 1, x(pi) >= |pi| - 1 for single linkage's partitions.

    Where merges are tied, for those of the ``ties`` as well.
    """
    import cvxpy as cp

    n = len(distances)
    cells = {"partitions": merging.partitions[1:], "ties": merging.ties}
    x = cp.Variable((n, n), name="x")
    constraints: dict[str, Any] = {
        "edges": x >= 0.0,
        "triangle": cp.multiply(constant(np.tri(n), "L"), x) == 0.0,
        "sum": cp.sum(x) == n - 1.0,
    }
    for label, partitions in cells.items():
        if len(partitions):
            parted = np.array([(row[:, None] != row).ravel() for row in partitions], dtype=float)
            enough = constant(parted, f"B_{label}") @ cp.vec(x, order="C")
            constraints[label] = enough >= constant(_blocks(partitions) - 1.0, f"m_{label}")
    value = cp.sum(cp.multiply(constant(np.triu(distances), "d"), x))
    problem = cp.Problem(cp.Minimize(value), label_all(constraints))
    return Statement(problem, {"x": x}, constraints)


def pose_packing(distances: Array, partitions: Array) -> Statement:
    """Maximise sum y_pi (|pi| - 1) s.t. the y that part an edge are at most its distance."""
    import cvxpy as cp

    n = len(distances)
    y = cp.Variable(n - 1, name="y")
    u, v = np.triu_indices(n, 1)
    parted = (partitions[:, u] != partitions[:, v]).T.astype(float)
    constraints: dict[str, Any] = {
        "packing": constant(parted, "B") @ y <= constant(distances[u, v], "d_edges")
    }
    if n > 2:
        constraints["signs"] = y[1:] >= 0.0
    value = constant(_blocks(partitions) - 1.0, "m") @ y
    problem = cp.Problem(cp.Maximize(value), label_all(constraints))
    return Statement(problem, {"y": y}, constraints)


def _blocks(partitions: Array) -> Array:
    return np.array([float(np.unique(row).size) for row in partitions])


def spanning_tree_latex() -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    sizes = (r"x_e \ge 0", r"x(E) = n - 1", r"x(\pi) \ge |\pi| - 1")
    load = r"\sum_{\pi : e \in \delta(\pi)} y_\pi"
    signs = r"y_\pi \ge 0\ \text{but for single points}"
    return Latex(
        r"\min_x\ \sum_e d_e x_e" + such_that(*sizes),
        r"\sum_e d_e x_e - \sum_\pi y_\pi (x(\pi) - |\pi| + 1) - \sum_e \lambda_e x_e",
        r"\max_y\ \sum_\pi y_\pi (|\pi| - 1)" + such_that(rf"{load} \le d_e", signs),
        (
            *sizes,
            rf"{load} + \lambda_e = d_e",
            rf"{signs},\ \lambda_e \ge 0",
            r"y_\pi (x(\pi) - |\pi| + 1) = 0",
            r"\lambda_e x_e = 0",
        ),
        r"E = \text{all edges},\ E[S] = \text{those within a set of points}\ S,\ "
        r"\delta(\pi) = \text{those between parts of the partition } \pi,\ "
        r"x(F) = \sum_{e \in F} x_e,\ x(\pi) = x(\delta(\pi))",
    )
