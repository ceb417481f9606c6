"""The conic form of a CVXPY problem, as CVXPY hands it to Clarabel, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import SolverError
from ..numerics import Array
from ..objective.conic.cones import Cone, NonnegativeCone, SecondOrder, Semidefinite, ZeroCone
from ..objective.conic.curved import ExponentialCone, Power
from ..objective.conic.program import ConeProgram, cone_program_of
from .checking import unvalued
from .inner import Compiled, compiled

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
    import cvxpy as cp

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
