"""The dual as a CVXPY problem. Import this module only where CVXPY is needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp
import numpy as np

from .eliminate import Reduced
from .forms import AffineForm, named
from .lagrangian import Lagrangian, Membership, conjugate_factor

DENSE = 1000
"""Matrices smaller than this, squared, are handed to CVXPY as dense arrays."""


def _squares(lam: Any, u: Any) -> Any:
    if lam.size == 1:
        return cp.quad_over_lin(u, 4.0 * lam)
    return cp.sum([cp.quad_over_lin(u[i], 4.0 * lam[i]) for i in range(lam.size)])


def _entropy(lam: Any, u: Any) -> Any:
    return cp.sum(cp.rel_entr(u, lam) + cp.rel_entr(lam - u, lam))


CONJUGATES: dict[str, Any] = {"squares": _squares, "square": _squares, "logistic": _entropy}
"""Of a function that is not homogeneous: (lam function)*(u), lam times the conjugate at u / lam."""


def assemble(lagrangian: Lagrangian, reduced: Reduced) -> tuple[Any, dict[int, Any]]:
    """Pose the dual; returns the problem and the variable of each part that is left."""
    parts = lagrangian.parts
    variables = {
        key: cp.Variable(parts[key].shape, name=parts[key].name, symmetric=parts[key].symmetric)
        for key in reduced.kept
    }

    def expression(form: AffineForm, shape: tuple[int, ...] | None = None) -> Any:
        found: Any = None if form.terms and form.constant is None else form.constant_vector()
        for key, matrix in form.terms.items():
            term = _product(matrix, _vec(variables[key]))
            found = term if found is None else found + term
        found = found if isinstance(found, cp.Expression) else cp.Constant(found)
        return found if shape in (None, found.shape) else cp.reshape(found, shape, order="F")

    def multiplier(key: int) -> Any:
        if key in variables:
            return variables[key]
        return expression(reduced.multipliers[key], parts[key].shape)

    constant = lagrangian.offset + reduced.linear.constant_vector()[0]
    terms = [
        matrix.entries.toarray()[0] @ _vec(variables[key])
        for key, matrix in reduced.linear.terms.items()
    ]
    value: Any = sum(terms[1:], terms[0]) if terms else cp.Constant(constant)
    if terms and constant:
        value = value + constant
    constraints: list[Any] = []
    for member in lagrangian.memberships:
        if member.kind not in CONJUGATES:
            continue
        lam, u = (reduced.multipliers[key] for key in member.parts)
        used = lam.used()
        of_u = used if lam.rows == u.rows else np.repeat(used, u.rows)
        limits = [] if used.all() else [expression(u)[~of_u] == 0]
        if member.kind != "logistic" and not lagrangian.is_signed(lam):
            limits.append(expression(lam) >= 0)
        constraints += [each.set_label(f"{member.label}: domain") for each in limits]
        if used.any():
            lam, u = lam.only(used).common(), u.only(of_u)
            value = value - CONJUGATES[member.kind](expression(lam), expression(u))
    for j, form in reduced.stationarity.items():
        column = lagrangian.columns[j]
        label = f"stationarity of {column.name}"
        if column.quadratic is None:
            if not form.is_zero:
                constraints.append((expression(form) == 0).set_label(label))
            continue
        factor, null = conjugate_factor(column.quadratic.entries)
        scale, inner = 0.5, expression(form.mostly_positive())
        multiple = named(factor, "F").identity_factor()
        if multiple is None:
            inner = factor @ inner
        else:
            scale *= multiple**2
        value = value - scale * cp.sum_squares(inner)
        if null.shape[0]:
            constraints.append((null @ expression(form) == 0).set_label(label))
    for member in lagrangian.memberships:
        members = list(_membership(member, [multiplier(key) for key in member.parts]))
        for index, constraint in enumerate(members, start=1):
            ending = f" ({index})" if len(members) > 1 else ""
            constraints.append(constraint.set_label(f"{member.label}: dual cone{ending}"))
    goal = cp.Minimize(-value) if lagrangian.maximise else cp.Maximize(value)
    return (_Deep if any(y.ndim > 2 for y in variables.values()) else cp.Problem)(
        goal, constraints
    ), variables


class _Deep(cp.Problem):
    """With multipliers of more than two axes, of which CVXPY warns that one backend lacks them."""

    def solve(self, *args: Any, **options: Any) -> Any:
        """As ``cvxpy.Problem.solve``, by the backend that has them."""
        return super().solve(*args, **{"canon_backend": cp.SCIPY_CANON_BACKEND} | options)


def _vec(variable: Any) -> Any:
    return variable if variable.ndim == 1 else cp.vec(variable, order="F")


def _product(matrix: Any, vector: Any) -> Any:
    """The identity, a number or a dense matrix where that reads better than a sparse one."""
    factor = matrix.identity_factor()
    if factor is not None:
        return {1.0: vector, -1.0: -vector}.get(factor, factor * vector)
    entries = matrix.entries
    return (entries.toarray() if max(entries.shape) <= DENSE else entries) @ vector


def _membership(member: Membership, y: list[Any]) -> Iterator[Any]:
    match member.kind:
        case "nonneg":
            yield y[0] >= 0
            if member.data is not None:
                yield cp.multiply(member.data, y[0]) == 0
        case "psd":
            yield y[0] >> 0
        case "soc":
            axis = member.data if y[1].ndim == 2 else None
            yield cp.norm(y[1], 2, axis=axis) <= (y[0] if axis is not None else cp.sum(y[0]))
        case "abs":
            yield cp.abs(y[1]) <= y[0]
        case "norm1":
            yield cp.norm_inf(y[1]) <= cp.sum(y[0])
        case "norm_inf":
            yield cp.norm1(y[1]) <= cp.sum(y[0])
        case "logistic":
            yield y[1] >= 0
            yield y[1] <= y[0]
        case "max":
            yield y[1] >= 0
            yield cp.sum(y[1]) == cp.sum(y[0])
        case "exp":
            yield cp.ExpCone(-y[1], -y[0], np.e * y[2])
        case "pow3d":
            alpha: Any = np.reshape(member.data, y[0].shape)
            alpha = alpha if alpha.ndim else float(alpha)
            yield cp.PowCone3D(y[0] / alpha, y[1] / (1.0 - alpha), y[2], alpha)
        case "pownd":
            alpha, axis = member.data
            yield cp.PowConeND(y[0] / alpha, y[1], alpha, axis=axis)
