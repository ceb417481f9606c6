"""The sizes that the violations of a constraint count against: each entry's, each cone's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ....numerics import Array
from .layout import class_names, dense

KEPT = {"NegExpression", "real", "imag"}
"""Affine atoms that leave the sizes of their terms as they are."""


def cone_numbers(constraint: Any) -> list[Array] | None:
    """For each argument, which cone its entries belong to; None for an (in)equality.

    Cones are numbered as ``constraint_violation`` lists them.
    """
    import cvxpy as cp

    shapes = [argument.shape for argument in constraint.args]
    match constraint:
        case cp.constraints.SOC():
            count = max(constraint.args[0].size, 1)
            return [np.arange(count).reshape(shapes[0]), _along(count, shapes[1], constraint.axis)]
        case cp.constraints.PowConeND():
            count = max(constraint.args[1].size, 1)
            return [_along(count, shapes[0], constraint.axis), np.arange(count).reshape(shapes[1])]
        case cp.constraints.ExpCone() | cp.constraints.PowCone3D():
            return [np.arange(constraint.args[0].size).reshape(shape) for shape in shapes]
        case cp.constraints.PSD():
            batch = shapes[0][:-2]
            numbers = np.arange(int(np.prod(batch))).reshape(*batch, 1, 1)
            return [np.broadcast_to(numbers, shapes[0])]
    return None


def _along(count: int, shape: Sequence[int], axis: int) -> Array:
    """One number for each vector along ``axis``."""
    if len(shape) < 2:
        return np.zeros(shape, dtype=int)
    return np.broadcast_to(
        np.arange(count)[None, :] if axis == 0 else np.arange(count)[:, None], shape
    )


def gathered(constraint: Any, parts: Sequence[Array], count: int) -> Array:
    """The largest of these sizes behind each violation; ``parts`` are shaped as the arguments."""
    numbers = cone_numbers(constraint)
    if numbers is not None:
        found = np.zeros(count)
        for number, part in zip(numbers, parts, strict=True):
            np.maximum.at(found, number.ravel(), np.abs(part).ravel())
        return found
    size = np.max([np.abs(part).ravel() for part in np.broadcast_arrays(*parts)], axis=0)
    if 2 * size.size == count:  # real and imaginary part of one equation share it
        return np.tile(size, 2)
    return np.asarray(size) if size.size == count else np.full(count, np.max(size, initial=0.0))


def value_sizes(constraint: Any, count: int) -> Array:
    """The size of what stands behind each violation, from the arguments' values."""
    return gathered(constraint, [dense(argument.value) for argument in constraint.args], count)


def row_sizes(constraint: Any, matrix: Any, size: Array, count: int) -> Array:
    """The sizes of the rows of the conic form behind each violation.

    Parameters
    ----------
    constraint : cvxpy.Constraint
    matrix : sparse array
        Of its ``MultiplierMap``.
    size : array, shape (m,)
        Of the rows of the conic form.
    count : int
        The number of violations.
    """
    used = sparse.csr_array((matrix != 0).astype(float))
    entries = np.arange(count)
    numbers = cone_numbers(constraint)
    if numbers is not None:
        entries = np.concatenate([number.ravel() for number in numbers])
        if used.shape[0] == 2 * entries.size:  # imaginary parts last
            entries = np.tile(entries, 2)
    if entries.size == used.shape[0] and np.max(entries, initial=-1) < count:
        shape = (count, entries.size)
        pick = sparse.csr_array((np.ones(entries.size), (entries, np.arange(entries.size))), shape)
        behind = sparse.csr_array((pick @ used) != 0)
        if np.all(np.diff(behind.indptr) > 0):
            rows = sparse.csr_array(behind.astype(float))
            rows.data = size[rows.indices]
            if rows.nnz == count:
                return np.abs(rows.data)
            return np.array([np.linalg.norm(rows.data[a:b]) for a, b in _ends(rows)])
    return np.full(count, float(np.linalg.norm(size[np.unique(used.tocoo().col)])))


def _ends(rows: Any) -> list[tuple[int, int]]:
    return list(zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True))


def term_sizes(expression: Any) -> Array:
    """The value of an affine expression with the signs of all its terms taken away."""
    names = class_names(expression)
    if "AffAtom" not in names or 0 in expression.shape:
        return np.abs(dense(expression.value))
    parts = [term_sizes(part) for part in expression.args]
    found = parts[0] if names & KEPT else expression.numeric(parts)
    return np.reshape(np.abs(dense(found)), expression.shape)
