"""From a CVXPY problem to its Lagrangian. Import this module only where CVXPY is needed."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.cvxcore.python.canonInterface import get_matrix_from_tensor
from cvxpy.reductions.eval_params import EvalParams
from cvxpy.reductions.flip_objective import FlipObjective
from cvxpy.reductions.inverse_data import InverseData
from cvxpy.utilities.coeff_extractor import CoeffExtractor
from scipy import sparse

from ..errors import InputError
from .attributes import attribute_constraints
from .epigraphs import to_cones
from .forms import is_plain, named
from .lagrangian import Column, Lagrangian
from .latex.names import indexed, symbol
from .parts import PartBuilder
from .real import Owner, to_real


def pose(problem: Any) -> Lagrangian:
    """Write a DCP problem as a Lagrangian in the multipliers of its constraints.

    Raises
    ------
    InputError
        Where the problem is not DCP, has integer variables or a parameter without value.
    """
    _check(problem)
    maximise = isinstance(problem.objective, cp.Maximize)
    evaluated, _ = EvalParams().apply(problem)
    real = to_real(evaluated, problem.constraints)
    posed, successor = to_cones(
        FlipObjective().apply(real.problem)[0] if maximise else real.problem
    )
    owners = {successor[key]: owner for key, owner in real.owners.items() if key in successor}
    variables = posed.variables()
    names = _variable_names(real.names, variables)
    attributes = []
    for variable in variables:
        for constraint in attribute_constraints(variable, names[variable.id]):
            attributes.append(constraint)
            if variable.id in real.names:
                owners[constraint.id] = Owner(constraint)
    constraints = list({c.id: c for c in [*posed.constraints, *attributes]}.values())
    inverse = InverseData(_Bare(variables, constraints))
    extractor = CoeffExtractor(inverse, "SCIPY")
    sign = -1.0 if maximise else 1.0
    columns, offset = _columns(posed, extractor, inverse, names, set(real.names), sign)
    builder = PartBuilder(extractor, columns, [inverse.var_offsets[v.id] for v in variables])
    for constraint in constraints:
        if constraint.size:
            builder.add(constraint, owners.get(constraint.id))
    return Lagrangian(columns, builder.parts, builder.memberships, offset, maximise)


class _Bare:
    """What InverseData asks of a problem, without building one."""

    def __init__(self, variables: list[Any], constraints: list[Any]) -> None:
        self._variables, self.constraints = variables, constraints

    def variables(self) -> list[Any]:
        return self._variables

    def parameters(self) -> list[Any]:
        return []


def _check(problem: Any) -> None:
    if not isinstance(problem, cp.Problem):
        raise InputError(f"dualize: expected a cvxpy.Problem, got {type(problem).__name__}.")
    for variable in problem.variables():
        if variable.attributes["integer"] or variable.attributes["boolean"]:
            raise InputError(
                f"dualize: variable {variable.name()} is integer; only continuous problems have a "
                "Lagrangian dual without a gap. Dualize the relaxation."
            )
    if problem.is_mixed_integer():
        raise InputError("dualize: the problem is mixed-integer; dualize its relaxation.")
    if not problem.is_dcp():
        raise InputError(
            "dualize: the problem is not DCP; `problem.is_dcp()` must hold: rewrite the "
            "expressions so that CVXPY sees their curvature."
        )
    for parameter in problem.parameters():
        if parameter.value is None:
            raise InputError(f"dualize: parameter {parameter.name()} has no value; set it first.")


def _variable_names(own: dict[int, str], variables: list[Any]) -> dict[int, str]:
    """The user's names; x_1, x_2 ... where CVXPY made one up; z_1 ... for auxiliary variables."""
    taken = set(own.values())
    found: dict[int, str] = {}
    for variable in variables:
        given = own.get(variable.id, "")
        if given and given not in found.values():
            found[variable.id] = given
            continue
        letter, index = "x" if variable.id in own else "z", 1
        while f"{letter}_{index}" in taken:
            index += 1
        found[variable.id] = f"{letter}_{index}"
        taken.add(found[variable.id])
    return found


def _columns(
    posed: Any, extractor: Any, inverse: Any, names: dict[int, str], own: set[int], sign: float
) -> tuple[list[Column], float]:
    """Read P, q and the constant of the objective; ``sign`` times q is what the user wrote."""
    n = inverse.x_length
    if not n:
        return [], float(posed.objective.expr.value)
    P_tensor, q_tensor = extractor.quad_form(posed.objective.expr.copy())
    q, offset = get_matrix_from_tensor(q_tensor, None, n, with_offset=True)
    q = np.asarray(q.toarray()).ravel()
    entries = sparse.coo_array(P_tensor)
    P = sparse.csr_array((entries.data, (entries.row % n, entries.row // n)), shape=(n, n))
    P = (P + P.T).tocsr()  # CVXPY writes x'Px, we write x'Px / 2
    blocks = {
        identity: slice(start, start + inverse.id2var[identity].size)
        for identity, start in inverse.var_offsets.items()
    }
    several = sum(
        not is_plain(named(q[rows, None], "c")) for rows in blocks.values() if q[rows].any()
    )
    found = []
    for identity, rows in blocks.items():
        tex = symbol(names[identity])
        alone = identity in own and several < 2
        quadratic = named(P[rows, rows], indexed("P", "", "" if len(own) < 2 else tex))
        linear = named(q[rows, None], indexed("c", "", "" if alone else tex), sign)
        found.append(
            Column(
                names[identity],
                tex,
                rows.stop - rows.start,
                identity not in own,
                None if quadratic.is_zero else quadratic,
                None if linear.is_zero else linear,
            )
        )
    return found, float(np.ravel(offset)[0])
