"""A linear program and its dual as CVXPY problems, and both in LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...numerics import Array
from ...objective import Statement, label_all
from ...objective.linear.data import LinearData
from ...terms import constant, entries
from ...tex import Row, listed, plus
from ..latex import Latex, such_that


def pose_linear_primal(data: LinearData) -> Statement:
    """Minimise c'x s.t. "ub", "eq", "lower", "upper"; bounds only where they are finite."""
    import cvxpy as cp

    x = cp.Variable(data.n, name="x")
    lower, upper = (np.flatnonzero(np.isfinite(side)) for side in (data.lower, data.upper))
    constraints: dict[str, Any] = {}
    if data.b_ub.size:
        constraints["ub"] = constant(data.A_ub, "A_ub") @ x <= constant(data.b_ub, "b_ub")
    if data.b_eq.size:
        constraints["eq"] = constant(data.A_eq, "A_eq") @ x == constant(data.b_eq, "b_eq")
    if lower.size:
        constraints["lower"] = entries(x, lower, "I_lower") >= constant(data.lower[lower], "lower")
    if upper.size:
        constraints["upper"] = entries(x, upper, "I_upper") <= constant(data.upper[upper], "upper")
    problem = cp.Problem(cp.Minimize(constant(data.c, "c") @ x), label_all(constraints))
    return Statement(problem, {"x": x}, constraints)


def pose_linear_dual(data: LinearData) -> Statement:
    """Maximise -b_ub'lambda_ub - b_eq'nu + lower'lambda_lower - upper'lambda_upper.

    Subject to c + A_ub'lambda_ub + A_eq'nu - lambda_lower + lambda_upper = 0 ("stationarity")
    and lambda_ub, lambda_lower, lambda_upper >= 0 (labelled by their names). The multipliers of
    bounds have n entries, 0 ("... of no bound") where there is none.
    """
    import cvxpy as cp

    variables: dict[str, Any] = {}
    absent: dict[str, Any] = {}
    gradient: Any = constant(data.c, "c")
    value: Any = cp.Constant(0.0)
    for name, matrix, side in (("ub", data.A_ub, data.b_ub), ("eq", data.A_eq, data.b_eq)):
        if side.size:
            y = cp.Variable(side.size, name=MULTIPLIER_OF[name])
            variables[y.name()] = y
            gradient = gradient + constant(matrix, f"A_{name}").T @ y
            value = value - constant(side, f"b_{name}") @ y
    for name, side in (("lower", data.lower), ("upper", data.upper)):
        finite, rest = np.flatnonzero(np.isfinite(side)), np.flatnonzero(~np.isfinite(side))
        if finite.size:
            y = cp.Variable(data.n, name=MULTIPLIER_OF[name])
            variables[y.name()] = y
            push = y if name == "upper" else -y
            gradient = gradient + push
            value = value - constant(side[finite], name) @ entries(push, finite, f"I_{name}")
            if rest.size:
                absent[f"{y.name()} of no bound"] = entries(y, rest, f"I_no_{name}") == 0.0
    constraints = {"stationarity": gradient == 0.0}
    constraints |= {name: v >= 0.0 for name, v in variables.items() if name != "nu"} | absent
    problem = cp.Problem(cp.Maximize(value), label_all(constraints))
    return Statement(problem, variables, constraints)


MULTIPLIER_OF = {"ub": "lambda_ub", "eq": "nu", "lower": "lambda_lower", "upper": "lambda_upper"}
"""The multiplier of each labelled constraint."""


def _entries(data: LinearData, label: str) -> Any:
    """Which entries of a full-length multiplier the labelled constraint has."""
    if label in ("lower", "upper"):
        return np.isfinite(data.lower if label == "lower" else data.upper)
    return slice(None)


def linear_duals(data: LinearData, constraints: dict[str, Any]) -> dict[str, Array]:
    """The dual values that CVXPY holds, by multiplier; 0 where there is no bound."""
    found = {"lambda_lower": np.zeros(data.n), "lambda_upper": np.zeros(data.n)}
    for label, constraint in constraints.items():
        value = constraint.dual_value
        values = found.setdefault(MULTIPLIER_OF[label], np.zeros(constraint.size))
        values[_entries(data, label)] = np.nan if value is None else value
    return found


def fill_linear(data: LinearData, statement: Statement, x: Array, dual: dict[str, Array]) -> None:
    """Write a solution into the variables and constraints of the primal."""
    statement.variables["x"].value = x
    for label, constraint in statement.constraints.items():
        found = dual.get(MULTIPLIER_OF[label])  # none of them where one overflowed
        constraint.save_dual_value(None if found is None else found[_entries(data, label)])


def linear_latex(data: LinearData) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions of the constraints that are there."""
    bounds = [np.isfinite(side) for side in (data.lower, data.upper)]
    lower, upper = (bool(there.any()) for there in bounds)
    some = any(there.any() and not there.all() for there in bounds)
    table = [
        (data.b_ub.size, Row(r"\lambda_{ub}", r"A_{ub} x", r"\le", "b_{ub}"), r"A_{ub}^\top "),
        (data.b_eq.size, Row(r"\nu", r"A_{eq} x", "=", "b_{eq}"), r"A_{eq}^\top "),
        (lower, Row(r"\lambda_{\text{lower}}", "x", r"\ge", r"\text{lower}"), "-"),
        (upper, Row(r"\lambda_{\text{upper}}", "x", r"\le", r"\text{upper}"), ""),
    ]
    rows = [(row, factor) for there, row, factor in table if there]
    gains = (f"{'' if f == '-' else '-'}{row.right}^\\top {row.multiplier}" for row, f in rows)
    gradient = plus("c", *(f"{factor}{row.multiplier}" for row, factor in rows)) + " = 0"
    signs = [rf"{row.multiplier} \ge 0" for row, _ in rows if row.sense != "="]
    terms = [row._replace(multiplier=rf"{row.multiplier}^\top").product for row, _ in rows]
    slack = [f"{term} = 0" for term, (row, _) in zip(terms, rows, strict=True) if row.sense != "="]
    statements = [str(row) for row, _ in rows]
    below = f"_{{{', '.join(row.multiplier for row, _ in rows)}}}" if rows else ""
    return Latex(
        r"\min_x\ c^\top x" + such_that(*statements),
        plus(r"c^\top x", *terms),
        rf"\max{below}\ {plus(*gains)}" + such_that(gradient, *signs),
        tuple(filter(None, (gradient, listed(*statements), listed(*signs), listed(*slack)))),
        r"0 \cdot \infty = 0" if some else "",
        canonical=canonical_pair(rows, not np.any(data.lower)),
    )


def canonical_pair(rows: Sequence[tuple[Row, str]], is_signed: bool) -> tuple[str, str]:
    """As min c'x s.t. Ax = b, x >= 0 and max b'lam s.t. A'lam <= c; x is a difference if free.

    Slacks make equations of inequalities, and lam has minus the multipliers of the equations.
    """
    over = ["x"] if is_signed else ["x^+", "x^-"]
    held, lams, gains, pushes, signs = [], [], [], [], []
    kept = [each for each in rows if each[1] != "-" or not is_signed]
    for (row, factor), slack in zip(kept, "stuv", strict=False):
        sign, lam = "-" * (factor == "-"), f"-{row.multiplier}"
        gains.append(rf"{sign}{row.right}^\top ({lam})")
        pushes.append(f"{factor}({lam})")
        lams.append(lam)
        if row.sense == "=":
            held.append(str(row))
            continue
        held.append(f"{sign}{row.left} + {slack} = {sign}{row.right}")
        over.append(slack)
        signs.append(rf"{lam} \le 0")
    if not is_signed:
        held.append("x = x^+ - x^-")
    held += [rf"{name} \ge 0" for name in over]
    limit = f"{plus(*pushes)} " + (r"\le c" if is_signed else "= c")
    below = rf"_{{\lambda = ({', '.join(lams)})}}" if lams else ""
    return (
        rf"\min_{{{', '.join(over)}}}\ c^\top x" + such_that(*held),
        rf"\max{below}\ {plus(*gains)}" + such_that(limit, *signs),
    )
