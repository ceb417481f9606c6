"""LPBoost: the largest soft margin of a convex combination of weak learners."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.boosting.margins import Margins
from ...certificates.boosting.program import MarginPoint
from ...certificates.scale import relative
from ...errors import InputError
from ...numerics import Array
from ...objective import Statement
from ...validation import positive_number
from ..arrays.problem import Arrays, Shapes
from ..base import Hyperparameter
from ..kernel.nu_samples import samples_from_dict, samples_to_dict, scores_of
from ..latex import Latex
from ..learning.outcomes import SUPPORT_SHARE
from ..reading.inputs import expand
from ..solution import Solution
from .base import Boosted
from .lp_boost_statement import lp_boost_latex, pose_lp_boost, pose_lp_boost_dual


class LPBoost(Boosted):
    r"""Minimise -rho + sum_i s_i xi_i / (nu S) s.t. y_i (H w)_i >= rho - xi_i, w in the simplex.

    xi >= 0, S = sum_i s_i; no intercept. Column j of H holds what weak learner j says of each
    sample: ``stumps`` lists decision stumps. At most the share nu of the weights has a margin
    y_i (H w)_i below rho, and those with at most rho are at least that share; with nu S at most the
    least weight, rho is the least margin.

    Parameters
    ----------
    H : array or sparse matrix, shape (n, m)
        Outputs of m weak learners, any finite numbers; -1 and +1 for classifiers. A learner may
        only be turned round where its negative is a column too.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    nu : float
        Share of the samples that may miss the margin, 0 < nu <= 1.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a nu outside of (0, 1], other than two classes, NaN or infinite entries, wrong shapes,
        bad weights.

    Notes
    -----
    The dual maximises -gamma s.t. sum_i d_i y_i H_ij <= gamma for every j, sum_i d_i = 1,
    0 <= d_i <= s_i / (nu S): "d" is the distribution over samples on which the best learner is
    worst. "auto" solves by columns: the learners with the largest edges sum_i d_i y_i H_ij enter
    the linear program, which HiGHS solves, until none is above gamma; the certificate asks all.

    References
    ----------
    Demiriz, Bennett and Shawe-Taylor, *Linear programming boosting via column generation*, Machine
    Learning 46 (2002), https://doi.org/10.1023/A:1012470815092.
    """

    methods: ClassVar[tuple[str, ...]] = ("highs",)
    why: ClassVar[str] = "margins are a linear program, and few learners of many are needed"
    nu = Hyperparameter()

    def __init__(self, H: Any, y: Any, nu: float, *, sample_weight: Any = None) -> None:
        self._read_samples(H, y, sample_weight, "H")
        self._hyper = self._check(nu=nu)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        nu = positive_number(hyper["nu"], self.name, "nu")
        if not nu <= 1.0:
            raise InputError(f"{self.name}: nu must be in (0, 1], got {nu:g}.")
        with np.errstate(over="ignore", divide="ignore"):
            costs = self._samples.weights / (nu * self._total)
        if not np.all(np.isfinite(costs)):
            raise InputError(f"{self.name}: 1 / nu must be a float64, got nu = {nu:g}.")
        return {"nu": nu}

    def _set_hyperparameter(self, name: str, value: Any) -> None:
        super()._set_hyperparameter(name, value)
        self.__dict__.pop("program", None)

    @cached_property
    def program(self) -> Margins:
        """The problem as its certificate sees it."""
        return Margins(self._signed, self._samples.weights / (self.nu * self._total))

    @cached_property
    def _signed(self) -> Any:
        """y_i H_ij."""
        H, y = self._samples.X, self._samples.y[:, None]
        return H.multiply(y).tocsc() if hasattr(H, "indptr") else y * H

    def margins(self, w: Any) -> Array:
        """y_i (H w)_i of the samples that have a weight, in their order.

        Parameters
        ----------
        w : array, shape (m,)
            Weights of the learners.
        """
        return self.program.margins(self._arrays("margins", (w,), {}, {"w": self._width})["w"])

    # -- as the base asks ------------------------------------------------------------------------

    @property
    def _width(self) -> tuple[int]:
        return (int(self._samples.X.shape[1]),)

    def shapes(self) -> tuple[Shapes, Shapes]:
        n = (self._samples.total,)
        return {"w": self._width, "rho": (), "xi": n}, {"d": n}

    def _point(self, point: Arrays) -> MarginPoint:
        return MarginPoint(point["w"], float(point["rho"]), point["xi"][self._samples.kept])

    def _value(self, point: Arrays) -> float:
        return self.program.value(self._point(point))

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["d"][self._samples.kept])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        given = dual["d"][self._samples.kept] if "d" in dual else None
        found = self.program.certify(self._point(point), given, tol, search=search)
        witness = found.witness
        if witness is not None:
            witness = {**witness, "xi": expand(witness["xi"], self._samples)}
        return found.but(dual={"d": expand(found.dual["d"], self._samples)}, witness=witness)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for point, d, left in self.program.rounds():
            self._promise = relative(left, max(abs(point.rho), self.program.units[1]))
            yield self._told(point), {"d": expand(d, self._samples)}

    def _told(self, point: MarginPoint) -> Arrays:
        slacks = expand(point.xi, self._samples)
        return {"w": point.w, "rho": np.array(point.rho), "xi": slacks}

    def _complete(self, point: Arrays) -> Arrays:
        """The best rho and the least slacks for w, where they were not passed."""
        if "xi" in point and len(point["xi"]) < self._samples.total:  # a solver's
            point = point | {"xi": expand(point["xi"], self._samples)}
        if "w" not in point or {"rho", "xi"} <= point.keys() or ("xi" in point):
            return point
        rho = float(point["rho"]) if "rho" in point else None
        return self._told(self.program.completed(point["w"], rho))

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve and certify, as every problem; ``support`` are the samples with d_i > 0."""
        self._samples.refuse_changed(self.name)
        solution = super().solve(solver, **options)
        if "d" in solution.dual:
            d = solution.dual["d"]
            solution.support = np.flatnonzero(d > SUPPORT_SHARE * d.max(initial=0.0))
        return solution

    # -- predictions -----------------------------------------------------------------------------

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """H w for what the learners say of new samples, H (k, m) in place of X; shape (k,)."""
        return scores_of(self.name, self._samples, None, X, primal["w"])

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        s = self._samples
        return pose_lp_boost(s.X, s.y, s.weights, self.nu)

    def _pose_dual(self) -> Statement:
        s = self._samples
        return pose_lp_boost_dual(s.X, s.y, s.weights, self.nu)

    def _read_duals(self) -> Arrays:
        d = self.constraints["margin"].dual_value
        return {} if d is None else {"d": expand(np.asarray(d), self._samples)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        kept = self._samples.kept
        d, program = dual["d"][kept], self.program
        edges = program.edges(d)
        values = {
            "margin": d,
            "slack": np.maximum(program.c - d, 0.0),
            "nonnegative": edges.max() - edges,
            "sum": np.array(edges.max()),
        }
        return point | {"xi": point["xi"][kept]}, values

    def to_dict(self) -> dict[str, Any]:
        """The rows kept, their labels and weights, and nu."""
        return {"kind": self.name, "nu": self.nu, **samples_to_dict(self._samples, None)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> LPBoost:
        """Pose the problem again that ``to_dict`` described; dropped rows have weight 0."""
        (H, y), _, weights = samples_from_dict(stored)
        return cls(H, y, stored["nu"], sample_weight=weights)

    def _formulas(self) -> Latex:
        return lp_boost_latex()

    def __repr__(self) -> str:
        n, m = self._samples.X.shape
        return f"{self.name}({n} samples, {m} learners, nu={self.nu!r})"
