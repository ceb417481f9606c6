"""The same problem in real numbers, with what every new constraint and variable stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .inner import real_parts


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
