"""From a CVXPY problem to its Lagrangian. Import this module only where CVXPY is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp

from ..errors import InputError
from .attributes import attribute_constraints
from .canonical import UNWRITTEN
from .checking import check_problem, require_problem
from .epigraphs import to_cones
from .forms import is_plain, named
from .inner import Coefficients, evaluated, minimised
from .lagrangian import Column, Lagrangian
from .latex.names import Symbols, letter_of, symbol
from .parts import PartBuilder
from .real import Owner, to_real


def pose(problem: Any) -> Lagrangian:
    """Write a DCP problem as a Lagrangian in the multipliers of its constraints.

    Raises
    ------
    InputError
        Where the problem is not DCP, has integer variables or a parameter without value.
    """
    require_problem(problem, "dualize")
    check_problem(problem, "dualize")
    maximise = isinstance(problem.objective, cp.Maximize)
    try:
        real = to_real(evaluated(problem), problem.constraints)
        posed, successor = to_cones(minimised(real.problem) if maximise else real.problem)
    except UNWRITTEN as error:
        said = f"{type(error).__name__}: {error}"
        raise InputError(f"dualize: CVXPY cannot write the problem in cones: {said}") from None
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
    read = Coefficients(variables, constraints)
    sign = -1.0 if maximise else 1.0
    symbols = Symbols(map(symbol, names.values()))
    columns, offset = _columns(posed, read, names, set(real.names), sign, symbols)
    builder = PartBuilder(read, columns, [read.starts[v.id] for v in variables], symbols)
    for constraint in constraints:
        if constraint.size:
            builder.add(constraint, owners.get(constraint.id))
    return Lagrangian(columns, builder.parts, builder.memberships, offset, maximise)


def _variable_names(own: dict[int, str], variables: list[Any]) -> dict[int, str]:
    """The user's names; x_1, x_2 ... where CVXPY made one up; z_1 ... for auxiliary variables.

    Where a variable of the user is called z, those are zeta_1 ... or xi_1 ...
    """
    taken = set(own.values())
    letters = {letter_of(symbol(name)) for name in taken}
    auxiliary = next(name for name in ("z", "zeta", "xi", "zz") if symbol(name) not in letters)
    found: dict[int, str] = {}
    for variable in variables:
        given = own.get(variable.id, "")
        if given and given not in found.values():
            found[variable.id] = given
            continue
        letter, index = "x" if variable.id in own else auxiliary, 1
        while f"{letter}_{index}" in taken:
            index += 1
        found[variable.id] = f"{letter}_{index}"
        taken.add(found[variable.id])
    return found


def _columns(
    posed: Any,
    read: Coefficients,
    names: dict[int, str],
    own: set[int],
    sign: float,
    symbols: Symbols,
) -> tuple[list[Column], float]:
    """Read P, q and the constant of the objective; ``sign`` times q is what the user wrote."""
    if not read.size:
        return [], float(posed.objective.expr.value)
    P, q, offset = read.quadratic(posed.objective.expr)
    P = (P + P.T).tocsr()  # CVXPY writes x'Px, we write x'Px / 2
    blocks = {
        variable.id: slice(read.starts[variable.id], read.starts[variable.id] + variable.size)
        for variable in posed.variables()
    }
    several = sum(
        not is_plain(named(q[rows, None], "c")) for rows in blocks.values() if q[rows].any()
    )
    found = []
    for identity, rows in blocks.items():
        tex = symbol(names[identity])
        alone = identity in own and several < 2
        quadratic, linear = named(P[rows, rows], ""), named(q[rows, None], "", sign)
        if not (is_plain(quadratic) or quadratic.is_zero):
            index = "" if len(own) < 2 else tex
            quadratic = replace(quadratic, name=symbols.new("P", variable=index))
        if not (is_plain(linear) or linear.is_zero):
            linear = replace(linear, name=symbols.new("c", variable="" if alone else tex))
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
    return found, offset
