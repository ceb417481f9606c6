"""Duality: the conic form of a CVXPY problem, and its Lagrangian dual as another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import nearest
from ..numerics import without_warnings
from ..progress import operation
from ..typesetting.documents import broken_rows
from ..typesetting.html import formulas
from ..validation import known_keywords
from .canonical import Canonical, cone_program
from .lagrangian import Lagrangian, Reduced, eliminate

# The Lagrangian dual of a CVXPY problem.


class Multipliers(Mapping[Any, Any]):
    """The multipliers of a dual problem, by constraint or by name.

    Iterates over the constraints: the user's, then those that say variable attributes ("x >= 0").

    Parameters
    ----------
    by_constraint : dict
        CVXPY constraint: Variable, or the list of Variables of a cone with several arguments.
    names : dict
        Name: constraint.
    """

    def __init__(self, by_constraint: Mapping[Any, Any], names: Mapping[str, Any]) -> None:
        self._values = {constraint.id: value for constraint, value in by_constraint.items()}
        self._constraints = list(by_constraint)
        self.names = dict(names)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"no constraint is called {key!r}.{nearest(key, self.names)}")
            key = self.names[key]
        return self._values[key.id]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._constraints)

    def __len__(self) -> int:
        return len(self._constraints)

    def __repr__(self) -> str:
        return f"Multipliers({', '.join(repr(name) for name in self.names)})"


@dataclass(frozen=True)
class Dual:
    """The dual of a convex problem.

    Attributes
    ----------
    problem : cvxpy.Problem
        Maximises where the primal minimises and the other way round; same value under strong
        duality, a bound on the primal's value always.
    multipliers : Multipliers
        {constraint: Variable}, by constraint or name; signs as CVXPY's dual values:
        L = f + sum_i lam_i g_i + nu'(Ax - b), lam >= 0 (of -f where the primal maximises). A
        second-order, exponential or power cone has a list of Variables, one for each argument, a
        complex equality one for the real and one for the imaginary part; of a Hermitian matrix
        that is semidefinite it is the multiplier of [[Re, -Im], [Im, Re]].
    """

    problem: Any
    multipliers: Multipliers
    _lagrangian: Lagrangian = field(repr=False)
    _reduced: Reduced = field(repr=False)

    def latex(self) -> str:
        """Primal, Lagrangian and dual as one LaTeX ``aligned`` block.

        Matrices are called A_label, b_label (constraints), F, g (arguments of norms), c and P
        (the objective), with a tilde where a variable has that letter. Auxiliary variables z_i
        appear where an atom has no textbook dual (exponential, power and semidefinite cones): the
        problem is then shown in conic form.
        """
        from .latex import render

        return render(self._lagrangian, self._reduced)

    def symbols(self) -> dict[int, str]:
        """The multiplier of each constraint as the formulas write it, in LaTeX, by constraint id.

        Constraints with several multipliers, one for each argument of a cone, are left out.
        """
        parts = self._lagrangian.parts
        return {
            parts[member.parts[0]].constraint.id: parts[member.parts[0]].tex
            for member in self._lagrangian.memberships
            if len(member.parts) == 1 and parts[member.parts[0]].constraint is not None
        }

    def _repr_html_(self) -> str:
        return formulas(self.latex())

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {broken_rows(self.latex())}$"


@known_keywords("dualize")
@operation("dualize")
@without_warnings
def dualize(problem: Any) -> Dual:
    """Pose the Lagrangian dual of a DCP problem.

    For linear, quadratic and second-order cone programs it is the textbook's: multipliers of the
    user's constraints, and one vector u for the argument of each norm; what is auxiliary is
    eliminated. Exponential, power and semidefinite cones keep their conic dual. A quadratic
    objective x'Px / 2 enters as the squared norm of a factor of P's pseudo-inverse, a constraint
    |Fx + g|^2 <= t as |v|^2 / (4 lam), and log(1 + e^z) as entropies.

    Parameters
    ----------
    problem : cvxpy.Problem
        DCP, continuous. It need not be solved. Parameters stand with today's values;
        dualize again after a change.

    Returns
    -------
    Dual
        ``.problem``, ``.multipliers``, ``.latex()``. Where the primal is infeasible the dual is
        unbounded or infeasible; where it is unbounded the dual is infeasible.

    Raises
    ------
    InputError
        Where the problem is not DCP, has integer variables, or a parameter without value.

    References
    ----------
    Boyd and Vandenberghe, *Convex Optimization*, sections 5.1, 5.2 and 5.9.
    """
    from .pose import assemble, pose

    lagrangian = pose(problem)
    reduced = eliminate(lagrangian)
    dual, variables = assemble(lagrangian, reduced)
    found: defaultdict[Any, list[Any]] = defaultdict(list)
    names: dict[str, Any] = {}
    for member in lagrangian.memberships:
        owner = lagrangian.parts[member.parts[0]].constraint
        if owner is not None:
            found[owner].extend(variables[key] for key in member.parts)
            names[member.label] = owner
    by_constraint = {
        owner: values[0] if len(values) == 1 else values for owner, values in found.items()
    }
    return Dual(dual, Multipliers(by_constraint, names), lagrangian, reduced)


__all__ = [
    "Canonical",
    "Dual",
    "Multipliers",
    "cone_program",
    "dualize",
]
