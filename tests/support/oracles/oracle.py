"""Objectives and optimal values by routes that share nothing with convexml.

P, D and feasibility in plain NumPy from the formulas of the catalogue, and P* from a CVXPY problem
written here. Only the data and the hyperparameters are read from the library's objects.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from convexml.numerics import Array
from convexml.objective import Objective
from support.oracles.oracle_losses import (
    conjugate_box,
    conjugate_values,
    loss_expression,
    loss_values,
    off_margin,
)
from support.oracles.oracle_penalties import (
    off_set,
    penalty_conjugate,
    penalty_expression,
    penalty_value,
)


@dataclass(frozen=True)
class Oracle:
    """An objective's values and feasibilities, evaluated by the formulas of this file."""

    X: Array
    objective: Objective

    @classmethod
    def of(cls, objective: Objective) -> Oracle:
        """The oracle of an objective's data and hyperparameters."""
        X = objective.design.constant
        return cls(X if isinstance(X, np.ndarray) else X.toarray(), objective)

    def primal(self, w: Array, b: float) -> float:
        """P(w, b), constraints left out."""
        o = self.objective
        z = self.X @ w + b
        return float(o.c @ loss_values(o.loss, o.y, z)) + penalty_value(o.penalty, w)

    def primal_violation(self, w: Array, b: float) -> float:
        """The largest violation, relative to its row at multipliers of this size.

        A multiplier that should be 0 is a rounding of the others, alone in its column or not.
        """
        o = self.objective
        z = self.X @ w + b
        size = np.ones_like(z)
        if o.loss.name == "interpolation":
            size = abs(self.X) @ abs(w) + abs(b) + abs(o.y)
            size = np.maximum(size, 1e-6 * size.max())  # w of a row that is 0 is rounding
        off = np.max(off_margin(o.loss, o.y, z) / np.where(size > 0, size, 1))
        return max(float(off), off_set(o.penalty, w))

    def dual(self, u: Array) -> float:
        """D(u), constraints left out (u is clipped to the box of F*)."""
        o = self.objective
        v = np.clip(u / o.c, *conjugate_box(o.loss, o.y))
        value, _ = penalty_conjugate(o.penalty, -self.X.T @ u, abs(self.X).T @ abs(u))
        return -float(o.c @ conjugate_values(o.loss, o.y, v)) - value

    def dual_violation(self, u: Array) -> float:
        """The largest violation, relative to its row at multipliers of this size.

        A multiplier that should be 0 is a rounding of the others, alone in its column or not.
        """
        o = self.objective
        lo, hi = (o.c * end for end in conjugate_box(o.loss, o.y))
        size = np.maximum(*(np.where(np.isfinite(end), abs(end), 0) for end in (lo, hi)))
        # An end at 0 beside an infinite one has no size: the largest multiplier's counts.
        size = np.maximum(np.where(size > 0, size, abs(u).max(initial=0.0)), abs(u))
        off = np.maximum(np.maximum(lo - u, u - hi), 0) / np.where(size > 0, size, 1)
        used = o.c > 0.0
        level = o.c * np.max(abs(u[used]) / o.c[used], initial=0.0)
        _, outside = penalty_conjugate(o.penalty, -self.X.T @ u, abs(self.X).T @ level)
        total = abs(u).sum()
        balance = abs(u.sum()) / total if o.fit_intercept and total > 0 else 0.0
        return max(float(np.max(off)), outside, balance)

    def solve(self, tol: float = 1e-11) -> tuple[Array, float, Array]:
        """Return (w, b, u) by CLARABEL, in units in which the columns of X have size 1."""
        o = self.objective
        n, d = self.X.shape
        size = np.max(abs(self.X), axis=0)
        units = np.where(size > 0, size, 1.0)
        scaled, z = cp.Variable(d), cp.Variable(n)
        w = cp.multiply(1.0 / units, scaled)
        b = cp.Variable() if o.fit_intercept else cp.Constant(0.0)
        value, constraints = penalty_expression(o.penalty, w)
        prediction = (self.X / units) @ scaled + b == z
        constraints.append(prediction)
        if o.loss.name == "hard_margin":
            constraints.append(cp.multiply(o.y, z) >= 1)
        elif o.loss.name == "interpolation":
            constraints.append(z == o.y)
        else:
            value = value + o.c @ loss_expression(o.loss, o.y, z)
        problem = cp.Problem(cp.Minimize(value), constraints)
        for accuracy in (tol, 1e-8):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    problem.solve(
                        solver="CLARABEL",
                        tol_gap_abs=accuracy,
                        tol_gap_rel=accuracy,
                        tol_feas=accuracy,
                    )
            except cp.SolverError:
                continue
            if w.value is not None:
                return w.value, float(b.value), prediction.dual_value
        raise RuntimeError(f"the oracle could not solve {o.loss!r} + {o.penalty!r}")
