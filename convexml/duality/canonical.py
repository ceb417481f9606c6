"""The conic form of a CVXPY problem, as CVXPY hands it to Clarabel, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import SolverError
from ..modelling import cp
from ..numerics import Array
from ..problem.cones import (
    Cone,
    ConeProgram,
    ExponentialCone,
    NonnegativeCone,
    Power,
    SecondOrder,
    Semidefinite,
    ZeroCone,
    cone_program_of,
)
from .checking import unvalued
from .interface import Compiled, compiled, real_parts

UNWRITTEN = (TypeError, ValueError, ArithmeticError, AssertionError, NotImplementedError)
"""What CVXPY raises in its own code where it cannot compile a problem."""


@dataclass(frozen=True)
class Canonical:
    """A CVXPY problem in conic form.

    Attributes
    ----------
    program : ConeProgram
        Always a minimisation; its value is ``sign`` times the problem's.
    sign : float
        1 for Minimize, -1 for Maximize.
    recover : callable
        ``recover(x, y)`` gives ({variable: array}, {constraint: array}) of the CVXPY problem;
        under Maximize the duals are those of minimising -f, as CVXPY's own.
    reductions : tuple
        (reduction, its inverse data) of CVXPY's chain, in order.
    columns : dict
        The first entry of x that belongs to a variable (by id) of CVXPY's last problem.
    form : Compiled
        What Clarabel is given by CVXPY.
    """

    program: ConeProgram
    sign: float
    recover: Callable[[Array, Array], tuple[dict[Any, Any], dict[Any, Any]]]
    reductions: tuple[tuple[Any, Any], ...] = ()
    columns: Mapping[int, int] = field(default_factory=dict)
    form: Compiled | None = None


def cone_program(problem: Any) -> Canonical:
    """Translate a DCP problem.

    Parameters
    ----------
    problem : cvxpy.Problem
        Continuous; parameters have values.

    Returns
    -------
    Canonical
        ``program`` in Clarabel's form: A x + s = b, s in zero x nonnegative x second-order x
        semidefinite x exponential x power cones.

    Raises
    ------
    SolverError
        Where CVXPY cannot write the problem in this form.
    """
    try:
        with unvalued(problem):
            form = compiled(problem, "clarabel")
    except (cp.error.DCPError, cp.error.SolverError) as error:
        raise SolverError(f"conic form: CVXPY refuses the problem: {error}") from None
    except UNWRITTEN as error:
        said = f"{type(error).__name__}: {error}"
        raise SolverError(f"conic form: CVXPY cannot write the problem so: {said}") from None
    data = form.data
    if data.get("lower_bounds") is not None or data.get("upper_bounds") is not None:
        raise SolverError("conic form: CVXPY kept variable bounds outside of A; pose them as rows.")
    program = cone_program_of(
        data.get("P"),
        data["c"],
        *_without_infinite(data["A"], data["b"], data["dims"]),
        _cones(data["dims"]),
        form.offset,
    )

    def recover(x: Array, y: Array) -> tuple[dict[Any, Any], dict[Any, Any]]:
        return form.recover(x, program.slack(x), y)

    sign = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    return Canonical(program, sign, recover, form.reductions, form.columns, form)


def _without_infinite(A: Any, b: Array, dims: Any) -> tuple[Any, Array]:
    """Rows a'x <= inf become 0'x <= 1, which asks for nothing and has the multiplier 0."""
    idle = np.zeros(b.size, dtype=bool)
    signed = slice(int(dims.zero), int(dims.zero) + int(dims.nonneg))
    idle[signed] = b[signed] == np.inf
    if not idle.any():
        return A, b
    A = sparse.csc_array(sparse.diags_array(np.where(idle, 0.0, 1.0)) @ A)
    A.eliminate_zeros()
    return A, np.where(idle, 1.0, b)


def _cones(dims: Any) -> list[Cone]:
    """The cones in the order of CVXPY's Clarabel interface."""
    cones: list[Cone] = []
    if dims.zero:
        cones.append(ZeroCone(int(dims.zero)))
    if dims.nonneg:
        cones.append(NonnegativeCone(int(dims.nonneg)))
    cones += [SecondOrder(int(dim)) for dim in dims.soc]
    cones += [Semidefinite(int(order) * (int(order) + 1) // 2) for order in dims.psd]
    cones += [ExponentialCone()] * int(dims.exp)
    cones += [Power(3, (float(alpha), 1.0 - float(alpha))) for alpha in dims.p3d]
    cones += [Power(len(alphas) + 1, tuple(map(float, alphas))) for alphas in dims.pnd]
    return cones


# Variable attributes as explicit, labelled constraints.


def attribute_constraints(variable: Any, name: str) -> Iterator[Any]:
    """Say each attribute of a CVXPY variable as a constraint: "x >= 0", "X >> 0", "X == X.T"..."""
    has = variable.attributes
    if has["nonneg"] or has["pos"]:
        yield (variable >= 0).set_label(f"{name} >= 0")
    if has["nonpos"] or has["neg"]:
        yield (variable <= 0).set_label(f"{name} <= 0")
    if has["bounds"] is not None:
        yield from _bounds(variable, name)
    if has["PSD"]:
        yield (variable >> 0).set_label(f"{name} >> 0")
    if has["NSD"]:
        yield (variable << 0).set_label(f"{name} << 0")
    yield from _zeros(variable, name)


def _bounds(variable: Any, name: str) -> Iterator[Any]:
    for bound, sign, word in zip(variable.bounds, (1.0, -1.0), (">=", "<="), strict=True):
        values = np.broadcast_to(bound_value(bound), variable.shape)
        finite = np.isfinite(values)
        if not finite.any():
            continue
        part, limit = (variable, values) if finite.all() else (variable[finite], values[finite])
        same = np.unique(limit)
        shown = f"{same[0]:g}" if same.size == 1 else "lower" if sign > 0 else "upper"
        posed = part >= limit if sign > 0 else part <= limit
        yield posed.set_label(f"{name} {word} {shown}")


def bound_value(bound: Any) -> Array:
    """The value of a bound: a number, an array or an expression without variables."""
    value = getattr(bound, "value", bound)
    return np.asarray(value.toarray() if sparse.issparse(value) else value, dtype=float)


def _zeros(variable: Any, name: str) -> Iterator[Any]:
    """Equalities of a variable whose entries repeat or are 0."""
    has = variable.attributes
    position = np.arange(variable.size).reshape(variable.shape, order="F")
    entries = cp.vec(variable, order="F")
    if (has["symmetric"] or has["PSD"] or has["NSD"]) and variable.shape[-1] > 1:
        row, column = np.triu_indices(variable.shape[-1], k=1)
        upper, lower = position[..., row, column].ravel(), position[..., column, row].ravel()
        yield (entries[upper] == entries[lower]).set_label(f"{name} == {name}.T")
    if has["diag"]:
        outside = position[~np.eye(variable.shape[-1], dtype=bool)]
        if outside.size:
            yield (entries[outside] == 0).set_label(f"{name} is diagonal")
    if has["sparsity"]:
        kept = np.zeros(variable.shape, dtype=bool)
        kept[tuple(variable.sparse_idx)] = True
        if not kept.all():
            yield (entries[position[~kept]] == 0).set_label(f"{name} is sparse")


# The same problem in real numbers, with what every new constraint and variable stands for.


@dataclass(frozen=True)
class Owner:
    """The user's constraint that a real one stands for, or one that says an attribute.

    Attributes
    ----------
    constraint : cvxpy.Constraint
        With the user's label, if there is one.
    number : int
        Its place in the problem, from 1; 0 for attributes.
    imaginary : bool
        Whether this is the imaginary part.
    """

    constraint: Any
    number: int = 0
    imaginary: bool = False


@dataclass(frozen=True)
class RealProblem:
    """A CVXPY problem without complex numbers.

    Attributes
    ----------
    problem : cvxpy.Problem
        The real one.
    owners : dict
        By the id of its constraints.
    names : dict
        Of the user's variables, by id; "" where CVXPY made the name up.
    """

    problem: Any
    owners: dict[int, Owner]
    names: dict[int, str]


def to_real(problem: Any, originals: list[Any]) -> RealProblem:
    """Split complex variables and constraints; ``originals``: the user's constraints in order."""
    owners = {
        new.id: Owner(old, number)
        for number, (new, old) in enumerate(zip(problem.constraints, originals, strict=True), 1)
    }
    names = {
        variable.id: "" if variable.name() == f"var{variable.id}" else variable.name()
        for variable in problem.variables()
    }
    parted = real_parts(problem)
    if parted is None:
        return RealProblem(problem, owners, names)
    real, imaginary_parts, pairs = parted
    for identity, imaginary in imaginary_parts.items():
        if identity in owners:
            owners[imaginary] = Owner(owners[identity].constraint, owners[identity].number, True)
    for variable, parts in pairs.items():
        given = names.pop(variable.id, "")
        both = {part.id for part in parts if part is not None}
        for part, word in zip(parts, ("real", "imag"), strict=True):
            if part is not None:
                names[part.id] = f"{given}.{word}" if given else ""
        for constraint in real.constraints:  # a Hermitian variable that is semidefinite
            if constraint.id not in owners and {v.id for v in constraint.variables()} <= both:
                relation = "<<" if variable.attributes["NSD"] else ">>"
                constraint.set_label(f"{given or variable.name()} {relation} 0")
                owners[constraint.id] = Owner(constraint)
    return RealProblem(real, owners, names)
