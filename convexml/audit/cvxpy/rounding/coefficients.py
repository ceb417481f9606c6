"""How far the coefficients that CVXPY compiled may be from those that were written."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ....duality.canonical import Canonical
from ....duality.checking import unvalued
from ....duality.inner import affine_parts
from ....numerics import EPS, Array
from ....objective.conic.program import Rounded
from ..reading.sizes import cone_numbers
from .summands import SUMMED, Summands, mapped, off, ones, stacked
from .walk import UNKNOWN, Walk


def rounded_data(problem: Any, canonical: Canonical) -> Rounded:
    """The account of a problem's conic form.

    Parameters
    ----------
    problem : cvxpy.Problem
    canonical : Canonical
        Of it.
    """
    with unvalued(problem), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CVXPY said it when the problem was compiled
        objective, constraints, starts = affine_parts(problem, canonical.reductions)
    program = canonical.program
    n, m = program.q.size, program.b.size
    walk = Walk(starts, n)
    costs, longest = walk.terms(objective), walk.longest
    blocks = [_by_cone(constraint, walk) for constraint in constraints]
    rows = sparse.vstack([sparse.csr_array((0, n + 1)), *blocks], format="csr")
    if rows.shape[0] != m:
        rows = sparse.csr_array(np.full((m, n + 1), UNKNOWN))
    bends = np.zeros(n, dtype=bool) if walk.plain else _coupled(program.P)
    return Rounded(rows, off(costs, longest).toarray().ravel()[:n], bends)


def _coupled(P: Any) -> Array:
    """The rows with an entry off the diagonal: others are sums of squares, exactly 0 or not."""
    return np.asarray(ones(P - sparse.diags_array(P.diagonal())).sum(axis=1)) > 0.0


def _by_cone(constraint: Any, walk: Walk) -> Any:
    """What the rows of a constraint may be off by; those of one cone share it."""
    kind = type(constraint).__name__
    if kind in ("Zero", "NonNeg"):
        return _by_row(constraint.args[0], walk)
    if kind == "SvecPSD":
        return _semidefinite(constraint.args[0], walk)
    parts = stacked([walk.terms(each) for each in constraint.args])
    found, numbers = off(parts, walk.longest), cone_numbers(constraint)
    count = found.shape[0]
    belongs = np.zeros(count, dtype=int)
    if numbers is not None:
        belongs = np.concatenate([number.ravel(order="F") for number in numbers])
    cones = int(belongs.max(initial=0)) + 1
    shared = sparse.csr_array((np.ones(count), (belongs, np.arange(count))), (cones, count)) @ found
    return sparse.csr_array(shared)[np.repeat(np.arange(cones), count // cones)]


def _by_row(expression: Any, walk: Walk) -> Any:
    """Of (in)equalities. Where one thing varies, a factor of it only changes the unit of the row.

    A factor that is no float is off by its rounding, relatively: as if the constants were.
    """
    found = off(walk.terms(expression), walk.longest)
    varying = [each for each in _addends(expression) if not each.is_constant()]
    if len(varying) != 1 or not found[:, : walk.n].nnz:
        return found
    inner = varying[0]
    while type(inner).__name__ in ("DivExpression", "NegExpression", "Promote"):
        if len(inner.args) > 1 and inner.args[1].size > 1:
            return found
        inner = inner.args[0]
    if inner.shape != expression.shape:
        return found
    terms = walk.terms(inner)
    powers = np.all(np.frexp(terms.size.data)[0] == 0.5)
    if not powers or off(terms, walk.longest).nnz:
        return found
    constants = sparse.csr_array(walk.terms(expression).size[:, [walk.n]])
    return sparse.hstack([0.0 * terms.size[:, : walk.n], SUMMED * constants], format="csr")


def _addends(expression: Any) -> list[Any]:
    kind = type(expression).__name__
    if kind == "AddExpression":
        return [each for part in expression.args for each in _addends(part)]
    return _addends(expression.args[0]) if kind == "NegExpression" else [expression]


def _semidefinite(expression: Any, walk: Walk) -> Any:
    """Of a stacked semidefinite matrix: C vec(S), with sqrt(1/2) where C takes a mean of two.

    That is a unit of the row; what is no power of two it rounds.
    """
    if type(expression).__name__ != "MulExpression" or not expression.args[0].is_constant():
        return off(walk.terms(expression), walk.longest)
    weights = sparse.csr_array(expression.args[0].value)
    half = np.where(weights.data == 1.0, 1.0, 0.5)
    weights = sparse.csr_array((half, weights.indices, weights.indptr), weights.shape)
    terms, _ = mapped(Summands(weights, weights), walk.terms(expression.args[1]))
    scaled = (np.diff(weights.indptr) > 1).astype(float)
    rounded = terms.size.copy()
    rounded.data = np.where(np.frexp(rounded.data)[0] == 0.5, 0.0, 4.0 * EPS * rounded.data)
    return 1.5 * off(terms, walk.longest) + sparse.diags_array(scaled) @ rounded
