"""Linear programs, as ``scipy.optimize.linprog`` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..certificates.certificate import Certificate
from ..certificates.exact_sums import exact_dot
from ..certificates.farkas import certify_infeasible, find_infeasibility
from ..certificates.linear import certify_linear
from ..certificates.linear_conditions import meets_rows
from ..certificates.multipliers import Multipliers, complete_multipliers, read_multipliers
from ..certificates.polish import polish_linear
from ..certificates.ray import certify_unbounded, find_unboundedness
from ..numerics import Array
from ..objective import Statement
from ..objective.linear_data import LinearData, linear_to_dict, read_linear_data, read_point
from ..solvers import Solution
from ..validation import positive_number
from .base import Problem
from .linear_solve import judge_stored, solve_linear
from .linear_statement import (
    fill_linear,
    linear_duals,
    linear_latex,
    pose_linear_dual,
    pose_linear_primal,
)


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

    _last: Solution | None = None

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

    def _pose(self) -> Statement:
        return pose_linear_primal(self.data)

    def _pose_dual(self) -> Statement:
        return pose_linear_dual(self.data)

    def _fill(self) -> None:
        if self._last is not None and self._last.primal:
            fill_linear(self.data, self.statement, self._last.primal["x"], self._last.dual)

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
            The solver's own options; ``seed``, ``w0`` and ``progress`` have no effect here.

        Returns
        -------
        Solution
            "optimal" only where the certificate holds, "infeasible" and "unbounded" only with
            verified evidence.
        """
        options = {k: v for k, v in options.items() if k not in ("seed", "w0", "progress")}
        limits: dict[str, Any] = {"tol": tol, "max_seconds": max_seconds, "max_iter": max_iter}
        self._last = solve_linear(self, solver, polish=polish, **limits, **options)
        self._fill()
        return self._last

    def latex(self) -> str:
        """Primal, Lagrangian, dual and KKT conditions in LaTeX."""
        return str(linear_latex(self.data))

    def objective(self, x: Any) -> float:
        """c'x, or inf where x is infeasible by more than rounding."""
        x = read_point(self.data, x, self.name)
        return exact_dot(self.data.c, x) if meets_rows(self.data, x) else np.inf

    def dual_objective(self, multipliers: Mapping[str, Any]) -> float:
        """D at these multipliers, -inf where they are infeasible by more than rounding.

        Bound multipliers that are missing come from the reduced costs.
        """
        return self._complete(multipliers).dual_value(self.data)

    def _complete(self, multipliers: Mapping[str, Any]) -> Multipliers:
        return complete_multipliers(self.data, multipliers, self.name)

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
        tol = positive_number(tol, self.name, "tol")
        return find_infeasibility(self.data, tol) or find_unboundedness(self.data, tol)

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
        tol = positive_number(tol, self.name, "tol")
        x = read_point(self.data, x, self.name)
        read = dict(read_multipliers(self.data, multipliers, self.name))
        rows = [("lambda_ub", self.data.b_ub), ("nu", self.data.b_eq)]
        if any(side.size and name not in read for name, side in rows):
            read |= {name: self.certify(x, read, tol=tol).dual[name] for name, _ in rows}
        start = self._complete({name: read[name] for name, side in rows if side.size})
        point, multipliers_ = polish_linear(self.data, x, start, tol)
        return point, multipliers_.as_dict()

    def shadow_prices(self, multipliers: Mapping[str, Any]) -> dict[str, Array]:
        """The derivatives of p* by right-hand side, {"ub", "eq", "lower", "upper"}.

        -lambda_ub, -nu, lambda_lower and -lambda_upper: SciPy's marginals.
        """
        point = self._complete(multipliers)
        return {
            "ub": 0.0 - point.lambda_ub,
            "eq": 0.0 - point.nu,
            "lower": point.lambda_lower,
            "upper": 0.0 - point.lambda_upper,
        }

    def constraint_duals(self) -> dict[str, Array]:
        """The dual values of the constraints of ``primal`` by multiplier name, full length."""
        return linear_duals(self.data, self.constraints)

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

    def __repr__(self) -> str:
        sizes = f"{self.data.n} variables, {self.data.b_ub.size} inequalities"
        return f"{self.name}({sizes}, {self.data.b_eq.size} equalities)"
