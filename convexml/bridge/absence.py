"""Verified evidence that a CVXPY problem has no optimum, by the user's names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..certificates.certificate import Certificate, Verdict
from ..certificates.conic.infeasible import certify_infeasible
from ..certificates.conic.unbounded import certify_unbounded
from ..certificates.judge import absent
from ..duality.canonical import Canonical
from ..duality.checking import substituted, unvalued
from ..duality.interface import affine_parts
from ..formulas import Condition
from ..numerics import EPS, Array
from ..problem.cones import Rounded
from .layout import class_names, cone_numbers, dense
from .point import (
    Posed,
    moves_by_label,
    primal_rows,
    read_duals,
    soft_rows,
    violations,
)
from .recognition.affine import entries_of, probed
from .rounding import (
    MOVED,
    SUMMED,
    Summands,
    added,
    constant_of,
    mapped,
    off,
    ones,
    stacked,
    unit_of,
)

# The terms of affine expressions as CVXPY adds them up.


UNKNOWN = 1e200
"""The size of a coefficient of which nothing is known."""
WIDEST = 4000
"""Columns up to which an atom that is not known is asked for each."""


class Walk:
    """Reads affine expressions of variables that begin at ``starts``, n entries in all.

    ``plain``: no quadratic form that it met was scaled but by powers of two, or met another.
    ``longest``: the most terms of a sum.
    """

    def __init__(self, starts: Mapping[int, int], n: int) -> None:
        self.starts, self.n, self.longest = starts, n, 64
        self.bent: set[int] = set()
        self.plain = True

    def terms(self, expression: Any, exact: bool = True) -> Summands:
        """Those of an affine expression; ``exact``: by powers of two alone it is scaled."""
        names = class_names(expression)
        if expression.is_constant():
            return self._placed(constant_of(expression), np.full(expression.size, self.n))
        if "SymbolicQuadForm" in names:
            return self._bent(expression, exact)
        if not expression.args:
            one, size = np.ones(expression.size), expression.size
            return self._placed(Summands(one, one), self.starts[expression.id] + np.arange(size))
        if "AddExpression" in names:
            self.longest += len(expression.args)
            return added([self._spread(each, expression, exact) for each in expression.args])
        if names & {"NegExpression", "real"} or any("wrap" in name.lower() for name in names):
            return self.terms(expression.args[0], exact)
        if names & {"multiply", "DivExpression", "MulExpression"}:
            return self._product(expression, names, exact)
        if names & (MOVED | {"Sum", "Trace"}):
            parts = stacked([self.terms(each, exact) for each in expression.args])
            pick = entries_of(expression)
            return self._mapped(Summands(pick, pick), parts)
        return self._asked(expression)

    def _placed(self, entries: Summands, columns: Array) -> Summands:
        flat = [dense(each).ravel(order="F") for each in entries]
        rows = np.flatnonzero(flat[0])
        shape = (flat[0].size, self.n + 1)
        return Summands(*(sparse.csr_array((f[rows], (rows, columns[rows])), shape) for f in flat))

    def _bent(self, form: Any, exact: bool) -> Summands:
        met = {variable.id for variable in form.variables()}
        self.plain = self.plain and exact and not met & self.bent
        self.bent |= met
        empty = sparse.csr_array((form.size, self.n + 1))
        return Summands(empty, empty)

    def _spread(self, part: Any, whole: Any, exact: bool) -> Summands:
        """The terms of a part that is broadcast."""
        numbers = np.arange(part.size).reshape(part.shape, order="F")
        return self.terms(part, exact).taken(np.broadcast_to(numbers, whole.shape).ravel(order="F"))

    def _mapped(self, matrix: Summands, terms: Summands) -> Summands:
        found, longest = mapped(matrix, terms)
        self.longest += longest
        return found

    def _product(self, expression: Any, names: frozenset[str], exact: bool) -> Summands:
        left, right = expression.args
        fixed, moving = (left, right) if left.is_constant() else (right, left)
        if not fixed.is_constant():
            return self._unknown(expression)
        factor = constant_of(fixed)
        if "DivExpression" in names:
            size = 1.0 / dense(factor.size)
            factor = Summands(size, np.where(np.frexp(size)[0] == 0.5, size, 0.0))
        elif "multiply" not in names and fixed.ndim and moving.ndim:
            if max(expression.ndim, moving.ndim, fixed.ndim) > 2:
                return self._asked(expression)
            return self._mapped(_wide(factor, fixed is left, moving), self.terms(moving, False))
        size, unit = (np.broadcast_to(dense(e), expression.shape).ravel("F") for e in factor)
        exact = exact and bool(np.all(np.frexp(size)[0] == 0.5))
        return self._spread(moving, expression, exact).scaled(size, unit)

    def _asked(self, atom: Any) -> Summands:
        """A linear atom that is not known, by its matrix."""
        moving = [each for each in atom.args if not each.is_constant()]
        if len(moving) > 1 or len(atom.args) > 2 or moving[0].size > WIDEST:
            return self._unknown(atom)
        matrix = probed(atom, moving[0], lambda each: dense(each.value))
        units = matrix.copy()
        units.data = unit_of(matrix.data)
        return self._mapped(Summands(abs(matrix), units), self.terms(moving[0], False))

    def _unknown(self, atom: Any) -> Summands:
        used = np.zeros(self.n + 1)
        used[self.n] = UNKNOWN
        for variable in atom.variables():
            at = self.starts[variable.id]
            used[at : at + variable.size] = UNKNOWN
        size = sparse.csr_array(np.tile(used, (atom.size, 1)))
        return Summands(size, 0.0 * size)


def _wide(factor: Summands, first: bool, moving: Any) -> Summands:
    """The matrix that a product with a constant is, of vec(moving)."""
    found = []
    for part in factor:
        part = part if part.ndim == 2 else np.reshape(part, (1, -1) if first else (-1, 1))
        copies = 1 if moving.ndim < 2 else moving.shape[1 if first else 0]
        eye, part = sparse.eye_array(copies), sparse.csr_array(part)
        found.append(sparse.csr_array(sparse.kron(*((eye, part) if first else (part.T, eye)))))
    return Summands(*found)


# How far the coefficients that CVXPY compiled may be from those that were written.


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


def certify_absence(posed: Posed, claim: str, *, tol: float = 1e-6) -> Certificate:
    """Look for evidence of "infeasible" or "unbounded", the claim first, and verify it.

    Returns
    -------
    Certificate
        CERTIFIED with ``evidence``, or UNDECIDED: a solver's word is never repeated unchecked.
    """
    if posed.curvature:
        return absent(claim, (), tol, reason=posed.curvature)
    posed = replace(posed, canonical=accounted(posed))
    order = (infeasibility, unboundedness)
    first, second = order if claim == "infeasible" else order[::-1]
    certificate = first(posed, tol)
    if certificate.verdict is Verdict.CERTIFIED:
        return certificate
    other = second(posed, tol)
    return other if other.verdict is Verdict.CERTIFIED else certificate


def accounted(posed: Posed) -> Canonical:
    """The conic form with what its data may be off by, if anything is."""
    canonical = posed.canonical
    rounded = rounded_data(posed.problem, canonical)
    if not (rounded.rows.nnz or np.any(rounded.costs) or np.any(rounded.bends)):
        return canonical
    return replace(canonical, program=replace(canonical.program, rounded=rounded))


def infeasibility(posed: Posed, tol: float = 1e-6) -> Certificate:
    """``certify_infeasible``; ``evidence`` has multipliers and moves by label."""
    given, program = read_duals(posed), posed.program
    passed = given.y if given.mask.any() and not given.broken else None
    certificate = certify_infeasible(program, lambda: posed.units, soft_rows(posed), passed, tol)
    if certificate.verdict is Verdict.CERTIFIED and posed.doubt:
        certificate = certificate.but(reason=f"{certificate.reason}; {posed.doubt}")
    evidence = dict(certificate.evidence)
    if evidence:
        evidence |= posed.named(certificate.dual["y"])
    if "relaxation" in evidence:
        evidence["relaxation"] = moves_by_label(posed, evidence["relaxation"])
    value = posed.canonical.sign * np.inf
    return certificate.but(primal_objective=value, dual_objective=value, evidence=evidence)


def unboundedness(posed: Posed, tol: float = 1e-6) -> Certificate:
    """``certify_unbounded``; ``evidence``: "ray" and "point", {variable name: array}."""

    def rows_at(x: Array) -> list[Condition]:
        with substituted(posed.values(x)):
            return primal_rows(posed, x, violations(posed))

    sign, soft = posed.canonical.sign, soft_rows(posed)
    certificate = certify_unbounded(posed.canonical.program, soft, rows_at, tol, sign)
    # Values are linear in x where attributes do not cut.
    evidence = {name: posed.point(x) for name, x in certificate.evidence.items()}
    return certificate.but(evidence=evidence)
