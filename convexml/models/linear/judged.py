"""What a linear program says of a point: its values, its certificate, evidence that none exists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...certificates.algebra.sums import exact_dot
from ...certificates.certificate import Certificate
from ...certificates.linear.conditions import meets_rows
from ...certificates.linear.farkas import certify_infeasible, find_infeasibility
from ...certificates.linear.multipliers import (
    LinearMultipliers,
    complete_multipliers,
    read_multipliers,
)
from ...certificates.linear.polish import polish_linear
from ...certificates.linear.program import certify_linear
from ...certificates.linear.ray import certify_unbounded, find_unboundedness
from ...numerics import Array
from ...objective import Statement
from ...objective.linear.data import LinearData, read_point
from ...validation import positive_number
from ..base import Problem
from .statement import linear_duals, pose_linear_dual, pose_linear_primal


class JudgedProgram(Problem):
    """Costs, bounds and multipliers of any x, whoever computed it."""

    data: LinearData
    """The validated arrays of the program."""

    def _pose(self) -> Statement:
        return pose_linear_primal(self.data)

    def _pose_dual(self) -> Statement:
        return pose_linear_dual(self.data)

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
        infeasible = find_infeasibility(self.data, tol)
        if infeasible is not None and infeasible.within is None:
            self.data.memo["exact point"] = False  # no point is certified next to this
        return infeasible or find_unboundedness(self.data, tol)

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
