"""How far the values of CVXPY's variables are outside of their constraints, in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....duality.attributes import bound_value
from ....numerics import Array
from ....objective.conic.cones import Cone, SecondOrder
from ....objective.conic.curved import ExponentialCone, Power
from .layout import dense


def constraint_violation(constraint: Any) -> Array:
    """One distance for each entry of an (in)equality, one for each cone of another constraint.

    Entries in C order; imaginary parts after the real ones.
    """
    import cvxpy as cp

    args = [dense(argument.value) for argument in constraint.args]
    match constraint:
        case cp.constraints.Inequality():
            return _positive(args[0] - args[1])
        case cp.constraints.NonPos():
            return _positive(args[0])
        case cp.constraints.NonNeg():
            return _positive(-args[0])
        case cp.constraints.Equality():
            return _both(args[0] - args[1])
        case cp.constraints.Zero():
            return _both(args[0])
        case cp.constraints.PSD():
            return _indefinite(args[0])
        case cp.constraints.SOC():
            vectors = args[1].reshape(-1, 1) if args[1].ndim < 2 else args[1]
            vectors = vectors.T if constraint.axis == 0 or args[1].ndim < 2 else vectors
            vectors = np.concatenate([vectors.real, vectors.imag], axis=1)
            cone: Cone = SecondOrder(vectors.shape[1] + 1)
            return _each(cone, np.column_stack([args[0].ravel(), vectors]))
        case cp.constraints.ExpCone():
            return _each(ExponentialCone(), np.column_stack([part.ravel() for part in args]))
        case cp.constraints.PowCone3D():
            alphas = np.broadcast_to(dense(constraint.alpha.value).ravel(), args[0].size)
            points = np.column_stack([part.ravel() for part in args])
            return np.concatenate(
                [
                    Power(3, (float(alpha), 1.0 - float(alpha))).distance(point)
                    for alpha, point in zip(alphas, points, strict=True)
                ]
            )
        case cp.constraints.PowConeND():
            weights = dense(constraint.alpha.value)
            columns = args[0] if constraint.axis == 0 else args[0].T
            weights = weights if constraint.axis == 0 else weights.T
            columns = columns.reshape(columns.shape[0], -1)
            weights = weights.reshape(columns.shape)
            return np.concatenate(
                [
                    Power(w.size + 1, tuple(map(float, w))).distance(np.append(column, last))
                    for w, column, last in zip(weights.T, columns.T, args[1].ravel(), strict=True)
                ]
            )
    return np.atleast_1d(np.asarray(constraint.violation(), dtype=float)).ravel()


def attribute_violations(variable: Any) -> Iterator[tuple[str, Array, Array]]:
    """(attribute, violations, limits) of each convex attribute of a variable that has a value.

    A limit is the absolute value of a bound, 0 where the attribute has none.
    """
    value, attributes = dense(variable.value), variable.attributes
    none = np.zeros(1)
    for name, sign in (("nonneg", -1.0), ("pos", -1.0), ("nonpos", 1.0), ("neg", 1.0)):
        if attributes[name]:
            yield name, _positive(sign * value), none
    for name, sign in (("PSD", 1.0), ("NSD", -1.0)):
        if attributes[name]:
            yield name, _indefinite(sign * value), none
    other = np.swapaxes(value, -2, -1) if value.ndim > 1 else value
    if attributes["symmetric"] or attributes["PSD"] or attributes["NSD"]:
        if not variable.is_complex():
            yield "symmetric", np.abs(value - other).ravel(), none
    if variable.is_complex() and variable.is_hermitian():
        yield "hermitian", np.abs(value - other.conj()).ravel(), none
    if attributes["diag"]:
        yield "diag", np.abs(value - np.diag(np.diag(value))).ravel(), none
    if attributes["imag"]:
        yield "imag", np.abs(np.real(value)).ravel(), none
    if attributes["bounds"]:
        for name, bound, sign in zip(
            ("lower bounds", "upper bounds"),
            variable.attributes["bounds"],
            (-1.0, 1.0),
            strict=True,
        ):
            limit = np.broadcast_to(bound_value(bound), value.shape)
            finite = np.isfinite(limit)
            if np.any(finite):
                size = np.where(finite, np.abs(limit), 0.0)
                limit = np.where(finite, limit, value)
                yield name, _positive(sign * (value - limit)), size.ravel()


def _positive(value: Array) -> Array:
    return np.maximum(np.real(value), 0.0).ravel()


def _both(value: Array) -> Array:
    if np.iscomplexobj(value):
        return np.abs(np.concatenate([value.real.ravel(), value.imag.ravel()]))
    return np.abs(value).ravel()


def _indefinite(value: Array) -> Array:
    """Frobenius distances of the Hermitian parts to the semidefinite matrices."""
    value = value.reshape(1, 1) if value.ndim == 0 else value
    matrices = value.reshape(-1, *value.shape[-2:])
    half = 0.5 * (matrices + np.conj(np.swapaxes(matrices, -2, -1)))
    return np.linalg.norm(np.minimum(np.linalg.eigvalsh(half), 0.0), axis=-1)


def _each(cone: Cone, points: Array) -> Array:
    return np.concatenate([cone.distance(point) for point in points])
