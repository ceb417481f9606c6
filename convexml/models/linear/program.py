"""Linear programs, as ``scipy.optimize.linprog`` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...certificates.algebra.sums import exact_dot
from ...certificates.certificate import Certificate
from ...certificates.linear.conditions import meets_rows
from ...certificates.linear.farkas import certify_infeasible
from ...certificates.linear.multipliers import LinearMultipliers, complete_multipliers
from ...certificates.linear.program import certify_linear
from ...certificates.linear.ray import certify_unbounded
from ...deadline import limited
from ...numerics import Array
from ...objective import Statement
from ...objective.linear.data import LinearData, linear_to_dict, read_linear_data, read_point
from ..base import Problem
from ..checkpoint import without_checkpoint
from ..latex import Latex
from ..pictures.polytope import draw_polytope, half_planes, is_plane
from ..portfolio import Limits
from ..solution import Solution
from . import judging, statement
from .solve import judge_stored, solve_linear


class LinearProgram(Problem):
    """Minimise c'x subject to A_ub x <= b_ub, A_eq x = b_eq and lower <= x <= upper.

    Parameters
    ----------
    c : array, shape (n,)
        Cost.
    A_ub, b_ub : array or sparse array, shapes (m, n) and (m,), optional
        Inequalities.
    A_eq, b_eq : array or sparse array, shapes (p, n) and (p,), optional
        Equalities.
    bounds : pair, or sequence of n pairs (min, max)
        ``None`` or an infinity where there is no bound; by default x >= 0, as SciPy.

    Raises
    ------
    InputError
        Where shapes do not agree, an entry is not finite or a bound is empty.

    Notes
    -----
    L = c'x + lambda_ub'(A_ub x - b_ub) + nu'(A_eq x - b_eq) - lambda_lower'(x - lower)
    + lambda_upper'(x - upper), all multipliers but nu >= 0. The dual maximises
    -b_ub'lambda_ub - b_eq'nu + lower'lambda_lower - upper'lambda_upper subject to
    c + A_ub'lambda_ub + A_eq'nu - lambda_lower + lambda_upper = 0.

    References
    ----------
    Boyd and Vandenberghe, *Convex Optimization*, section 5.2.1.
    """

    methods: ClassVar[tuple[str, ...]] = ("interior_point",)
    data: LinearData
    """The validated arrays of the program."""

    def __init__(
        self,
        c: Any,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = (0, None),
    ) -> None:
        self.data = read_linear_data(c, A_ub, b_ub, A_eq, b_eq, bounds, self.name)

    # -- solved and judged: any x and multipliers, whoever computed them -----------------------

    @limited
    def solve(
        self,
        solver: str = "auto",
        *,
        tol: float = 1e-6,
        max_seconds: float | None = None,
        max_iter: int | None = None,
        polish: bool = True,
        **options: Any,
    ) -> Solution:
        """Solve by a reference solver and certify; fills the values of ``primal``.

        Parameters
        ----------
        solver : str
            "auto" (HiGHS, Clarabel, HiGHS in equilibrated units, then the others, until a claim
            is verified) or the name of a solver.
        tol : float
            Relative, for the certificate.
        max_seconds, max_iter : number, optional
            Limits, passed on to the solver.
        polish : bool
            Solve the active constraints exactly afterwards, where that improves the certificate.
        **options
            ``progress``, and the solver's own options; ``seed`` and ``w0`` have no effect here.

        Returns
        -------
        Solution
            "optimal" only where the certificate holds, "infeasible" and "unbounded" only with
            verified evidence.
        """
        options = {k: v for k, v in options.items() if k not in ("seed", "w0")}
        options = without_checkpoint(f"{self.name}.solve", options)
        limits = Limits.read(tol, max_seconds, max_iter, polish=polish)
        self._last = solve_linear(self, solver, limits, options)
        self._fill()
        return self._last

    def certify(
        self, x: Any, multipliers: Mapping[str, Any] | None = None, *, tol: float = 1e-6
    ) -> Certificate:
        """Judge a point, with the multipliers passed or with constructed ones.

        Parameters
        ----------
        x : array, shape (n,)
            Judged as it is.
        multipliers : dict, optional
            Any of "lambda_ub", "nu", "lambda_lower", "lambda_upper".
        tol : float
            For the relative gap and the feasibilities, relative to their rows.

        Returns
        -------
        Certificate
            Claim "optimal".
        """
        return certify_linear(self.data, x, multipliers, tol=tol, owner=self.name)

    def certify_infeasible(
        self, multipliers: Mapping[str, Any], *, tol: float = 1e-6
    ) -> Certificate:
        """Verify Farkas multipliers, by name; claim "infeasible"."""
        return certify_infeasible(self.data, multipliers, tol=tol, owner=self.name)

    def certify_unbounded(self, ray: Any, point: Any, *, tol: float = 1e-6) -> Certificate:
        """Verify a ray of descent from a feasible point; claim "unbounded"."""
        return certify_unbounded(self.data, ray, point, tol=tol, owner=self.name)

    def find_evidence(self, *, tol: float = 1e-6) -> Certificate | None:
        """Verified evidence that the program is infeasible or unbounded; None where not found."""
        return judging.find_evidence(self.data, tol, self.name)

    def polish(
        self, x: Any, multipliers: Mapping[str, Any] | None = None, *, tol: float = 1e-6
    ) -> tuple[Array, dict[str, Array]]:
        """Solve the active constraints exactly; what is passed comes back unless that is better.

        Parameters
        ----------
        x : array, shape (n,)
            An approximate solution.
        multipliers : dict, optional
            Its multipliers; missing ones are constructed.
        tol : float
            As of ``certify``.

        Returns
        -------
        tuple
            The point and the dict of its four multipliers.
        """
        return judging.polish(self.data, x, multipliers, tol, self.name)

    def objective(self, x: Any) -> float:
        """c'x, or inf where x is infeasible by more than rounding."""
        x = read_point(self.data, x, self.name)
        return exact_dot(self.data.c, x) if meets_rows(self.data, x) else np.inf

    def dual_objective(self, multipliers: Mapping[str, Any]) -> float:
        """D at these multipliers, -inf where they are infeasible by more than rounding.

        Bound multipliers that are missing come from the reduced costs.
        """
        return self._complete(multipliers).dual_value(self.data)

    def _complete(self, multipliers: Mapping[str, Any]) -> LinearMultipliers:
        return complete_multipliers(self.data, multipliers, self.name)

    def shadow_prices(self, multipliers: Mapping[str, Any]) -> dict[str, Array]:
        """The derivatives of p* by right-hand side, {"ub", "eq", "lower", "upper"}.

        -lambda_ub, -nu, lambda_lower and -lambda_upper: SciPy's marginals.
        """
        return judging.shadow_prices(self._complete(multipliers))

    # -- stored --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The program as plain lists, for JSON."""
        return {"kind": self.name, **linear_to_dict(self.data)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> LinearProgram:
        """Pose the program again that ``to_dict`` described."""
        return cls(**{key: value for key, value in stored.items() if key != "kind"})

    def recertify(
        self, primal: dict[str, Array], dual: dict[str, Array], document: dict[str, Any]
    ) -> Solution:
        """Judge a stored point anew; its status follows from the new certificate."""
        return judge_stored(self, primal, dual, document)

    # -- posed with CVXPY, told in LaTeX -------------------------------------------------------

    def _pose(self) -> Statement:
        return statement.pose_linear_primal(self.data)

    def _pose_dual(self) -> Statement:
        return statement.pose_linear_dual(self.data)

    def _fill(self) -> None:
        if self._last is not None and self._last.primal:
            point, duals = self._last.primal["x"], self._last.dual
            statement.fill_linear(self.data, self.statement, point, duals)

    def _formulas(self) -> Latex:
        return statement.linear_latex(self.data)

    def draw(self, axes: Any, solution: Solution) -> None:
        """Of two variables the polytope, the rows that hold x, and -c in the cone of normals."""
        if is_plane(self.data):
            rows = half_planes(self.data, solution.dual)
            draw_polytope(axes, rows, self.data.c, solution.primal["x"])
        else:
            super().draw(axes, solution)

    def __repr__(self) -> str:
        sizes = f"{self.data.n} variables, {self.data.b_ub.size} inequalities"
        return f"{self.name}({sizes}, {self.data.b_eq.size} equalities)"
