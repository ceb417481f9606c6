"""Monotone (isotonic) regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ...certificates import Certificate
from ...certificates.shape.monotone import Monotone
from ...errors import InputError
from ...numerics import LEAST_SQUARE
from ...objective import Statement, label_all
from ...solvers.exact.pool_adjacent_violators import pool_adjacent_violators
from ...terms import constant, entries
from ...tex import listed
from ...validation import finite_array, yes_or_no
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..latex import WEIGHTS, Latex, such_that
from ..pictures.answers import draw_curve
from ..reading.inputs import read_weights
from ..solution import Solution


class MonotoneRegression(ArrayProblem):
    r"""Minimise sum_i s_i (y_i - w_i)^2 / 2 / sum_i s_i s.t. w_1 <= w_2 <= ... <= w_n.

    Parameters
    ----------
    y : array, shape (n,)
        Targets, in the order in which w is to rise.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0. A sample of weight 0 has no say, and the w of the one before it.
    increasing : bool
        False: w_1 >= ... >= w_n.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, bad weights, and y whose squares are beyond
        float64.

    Notes
    -----
    With c_i = s_i / sum s the multipliers alpha >= 0 of w_i <= w_{i+1} are the cumulative sums of
    residuals, alpha_i = sum_{j <= i} c_j (y_j - w_j) (with the other sign where w is to fall), and
    the gap is a sum of terms >= 0 that are computed as such, measured on max(|P|, |D|, 1e-6 P_0),
    P_0 = sum_i c_i (y_i - c'y)^2 / 2 of the mean alone. w is constant on blocks, the mean of each.

    References
    ----------
    Barlow, Bartholomew, Bremner and Brunk, *Statistical Inference under Order Restrictions* (1972).
    """

    methods: ClassVar[tuple[str, ...]] = ("pool_adjacent_violators",)
    why: ClassVar[str] = "one pass over the samples ends at the optimum"
    _asks = False
    program: Monotone
    """The problem as its certificate sees it."""

    def __init__(self, y: Any, *, sample_weight: Any = None, increasing: bool = True) -> None:
        target = finite_array(y, self.name, "y")
        if target.ndim == 2 and target.shape[1] == 1:
            target = target[:, 0]
        if target.ndim != 1 or not target.size:
            raise InputError(
                f"{self.name}: y must be a vector with one entry or more, got shape {target.shape}."
                " Pass the targets in the order in which w is to rise."
            )
        self._weights = read_weights(self.name, sample_weight, len(target))
        sign = 1.0 if yes_or_no(increasing, self.name, "increasing") else -1.0
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            self.program = Monotone(target, self._weights / self._weights.sum(), sign)
            null, used = self.program.null, target[self._weights > 0.0]
        if not (LEAST_SQUARE < null < np.inf or (null == 0.0 and np.ptp(used) == 0.0)):
            raise InputError(
                f"{self.name}: squares of y are beyond float64 (entries up to "
                f"{np.max(np.abs(target)):g}); change its unit."
            )
        self._hyper = {}

    @property
    def increasing(self) -> bool:
        """Whether w rises."""
        return self.program.sign > 0.0

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        n = len(self.program.y)
        return {"w": (n,)}, {"alpha": (n - 1,)}

    def _value(self, point: Arrays) -> float:
        return self.program.value(point["w"])

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["alpha"])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        return self.program.certify(point["w"], dual.get("alpha"), tol, search=search)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        program = self.program
        for w, alpha in pool_adjacent_violators(program.y, program.c, program.sign):
            yield {"w": w}, {"alpha": alpha}

    def draw(self, axes: Any, solution: Solution) -> None:
        """The targets in their order, and w."""
        w = solution.primal["w"]
        words = f"{len(np.unique(w))} levels of {w.size} samples"
        draw_curve(axes, np.arange(w.size), self.program.y, w, words)

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        import cvxpy as cp

        y, c, sign = self.program.y, self.program.c, self.program.sign
        w = cp.Variable(len(y), name="w")
        constraints = {"monotone": sign * cp.diff(w) >= 0.0} if len(y) > 1 else {}
        value = 0.5 * cp.sum_squares(cp.multiply(cp.sqrt(constant(c, "c")), w - constant(y, "y")))
        problem = cp.Problem(cp.Minimize(value), label_all(constraints))
        return Statement(problem, {"w": w}, constraints)

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        y, c, n = self.program.y, self.program.c, len(self.program.y)
        alpha = cp.Variable(n - 1, name="alpha") if n > 1 else cp.Constant(np.zeros(0))
        D = sparse.diags_array([np.ones(n), -np.ones(n)], offsets=[0, -1], shape=(n, n - 1))
        t = self.program.sign * (constant(D, "D") @ alpha) if n > 1 else cp.Constant(np.zeros(n))
        used = np.flatnonzero(c)
        constraints = {"signs": alpha >= 0.0} if n > 1 else {}
        if used.size < n:
            constraints["weightless"] = entries(t, np.flatnonzero(c == 0.0), "I_rest") == 0.0
        squares = cp.sum_squares(
            cp.multiply(1.0 / cp.sqrt(constant(c[used], "c")), entries(t, used, "I_used"))
        )
        problem = cp.Problem(
            cp.Maximize(constant(y, "y") @ t - 0.5 * squares), label_all(constraints)
        )
        return Statement(problem, {"alpha": alpha} if n > 1 else {}, constraints)

    def _read_duals(self) -> Arrays:
        found = [constraint.dual_value for constraint in self.constraints.values()]
        return {"alpha": np.array(found[0])} if found and found[0] is not None else {}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        return point, {"monotone": dual["alpha"]} if self.constraints else {}

    def to_dict(self) -> dict[str, Any]:
        y, s = self.program.y.tolist(), self._weights.tolist()
        return {"kind": self.name, "y": y, "sample_weight": s, "increasing": self.increasing}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> MonotoneRegression:
        """Pose the problem again that ``to_dict`` described."""
        s, rises = stored["sample_weight"], stored["increasing"]
        return cls(stored["y"], sample_weight=s, increasing=rises)

    def _formulas(self) -> Latex:
        order = r"w_i \le w_{i+1}" if self.increasing else r"w_i \ge w_{i+1}"
        step = "w_i - w_{i+1}" if self.increasing else "w_{i+1} - w_i"
        pull = r"\alpha_i - \alpha_{i-1}" if self.increasing else r"\alpha_{i-1} - \alpha_i"
        value = r"\tfrac12 \sum_i c_i (y_i - w_i)^2"
        signs, some = r"\alpha \ge 0", bool(np.any(self.program.c == 0.0))
        over, absent = ("{i : c_i > 0}", r"t_i = 0\ (i : c_i = 0)") if some else ("i", "")
        return Latex(
            rf"\min_w\ {value}" + such_that(order),
            rf"{value} + \sum_i \alpha_i ({step})",
            rf"\max_\alpha\ \sum_i y_i t_i - \sum_{over} \tfrac{{1}}{{2 c_i}} t_i^2"
            + such_that(f"t_i = {pull}", signs, absent),
            (
                f"c_i (w_i - y_i) + {pull} = 0",
                order,
                signs,
                rf"\alpha_i ({step}) = 0",
            ),
            listed(r"c_i = \tfrac{s_i}{\sum_l s_l}", r"\alpha_0 = \alpha_n = 0", WEIGHTS),
        )

    def __repr__(self) -> str:
        way = "increasing" if self.increasing else "decreasing"
        return f"{self.name}({len(self.program.y)} samples, {way})"
