"""A fitted estimator as the independent convex problems whose solutions it claims to hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ...certificates import Certificate, Verdict, certify_objective
from ...certificates.judge import judge_sum
from ...certificates.learning.kernel import certify_kernel
from ...design import as_design
from ...errors import InputError
from ...losses import Loss
from ...numerics import EPS, Array
from ...objective import Objective
from ...objective.kernel import KernelObjective
from ...penalties import Penalty
from ...validation import finite_number, refuse_nonfinite


class Subproblem(Protocol):
    """One problem that an estimator solves, and the point that it holds."""

    @property
    def name(self) -> str:
        """Which of the problems this is: a class, a pair of classes, a target; "" if only one."""
        ...

    @property
    def value(self) -> float:
        """The objective at the fitted point, constants included."""
        ...

    def certify(self, tol: float) -> Certificate:
        """Judge the fitted point."""
        ...


@dataclass(frozen=True)
class LearningPart:
    """A point (w, b) of an ``Objective``, and the dual point u that the estimator exposes.

    b has shape (K,) for K classes.
    """

    objective: Objective
    w: Array
    b: Any
    u: Array | None = None
    name: str = ""

    @property
    def value(self) -> float:
        """P(w, b)."""
        return self.objective.primal(self.w, self.b)

    def certify(self, tol: float) -> Certificate:
        """Judge (w, b); u competes with the dual points that are constructed, if it must."""
        if self.u is not None:
            own = certify_objective(self.objective, self.w, self.b, self.u, tol=tol, refute=False)
            if own.verdict is Verdict.CERTIFIED:
                return own.but(dual_source="solver")
        return certify_objective(self.objective, self.w, self.b, tol=tol, solver_dual=self.u)


@dataclass(frozen=True)
class FunctionPart:
    """A function sum_j q_j k(x_j, .) + b, of a kernel that is semidefinite by a theorem.

    Its own dual point is -lam q. ``features`` are the names of the columns of X.
    """

    objective: KernelObjective
    q: Array
    b: Any
    name: str = ""
    features: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """P(q, b)."""
        return self.objective.primal(self.q, self.b)

    def certify(self, tol: float) -> Certificate:
        """Judge (q, b), by rows of the kernel; where that is not enough through a factor."""
        own = certify_kernel(self.objective, self.q, self.b, tol=tol, refute=False)
        return own if own.verdict is Verdict.CERTIFIED else self.in_coordinates().certify(tol)

    def in_coordinates(self) -> LearningPart:
        """The same with w = L'q, K = L L'."""
        parts, w = self.objective.coordinates, self.objective.project(self.q)
        return LearningPart(parts, w, self.b, -self.objective.lam * self.q, self.name)


def learning_part(
    X: Any,
    y: Array,
    loss: Loss,
    penalty: Penalty,
    c: Array,
    w: Array,
    b: float = 0.0,
    *,
    fit_intercept: bool = False,
    u: Array | None = None,
    name: str = "",
    features: tuple[str, ...] = (),
) -> LearningPart:
    """Pose sum_i c_i l(y_i, x_i.w + b) + Omega(w) without the rows of coefficient 0.

    Parameters
    ----------
    X : array or csr_array, shape (n, d)
    y, c : array, shape (n,)
    loss : Loss
    penalty : Penalty
    w : array, shape (d,)
    b : float
    fit_intercept : bool
        Whether b is free in this problem.
    u : array, shape (n,), optional
        A dual point of the estimator's own.
    name : str
        Which of several problems this is.
    features : tuple of str
        The names of the columns of X, where they have any.

    Raises
    ------
    InputError
        If the coefficients are not finite, do not fit X, or if no sample has a positive weight.
    """
    w = np.asarray(w, dtype=np.float64).ravel()
    if w.size != X.shape[1]:
        raise InputError(f"certify: {w.size} fitted coefficients do not fit {X.shape[1]} columns.")
    refuse_nonfinite(w, "certify", "coef_")
    finite_number(b, "certify", "intercept_")
    kept = np.flatnonzero(c > 0.0)
    if not kept.size:
        raise InputError("certify: no sample has a positive weight.")
    if kept.size < len(c):
        X, y, c, u = X[kept], y[kept], c[kept], None if u is None else u[kept]
    objective = Objective(as_design(X), y, loss, penalty, c, fit_intercept, features)
    return LearningPart(objective, w, float(b), u, name)


def function_part(
    objective: KernelObjective, q: Array, b: float, name: str, features: tuple[str, ...]
) -> FunctionPart:
    """A function with its problem.

    Raises
    ------
    InputError
        If the coefficients are not finite.
    """
    refuse_nonfinite(q, "certify", "dual_coef_")
    finite_number(b, "certify", "intercept_")
    return FunctionPart(objective, q, b, name, features)


def append_column(X: Any, column: Array) -> Any:
    """[X, column], sparse if X is."""
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column[:, None])]))
    return np.column_stack([X, column])


def certify_parts(parts: Sequence[Subproblem], tol: float) -> Certificate:
    """Certify every part; the certificate of their sum names the part in each row.

    P, D, the gap and its rounding are sums. The relative gap is the worst one of any part, so that
    a part with a small objective cannot hide behind a large one, and ``within`` is the least.
    """
    found = [(part.name, part.certify(tol)) for part in parts]
    if len(found) == 1:
        return found[0][1]
    judged = [one for _, one in found]
    worst = max(judged, key=lambda one: one.relative_gap)
    radii = [one.within for one in judged if one.within is not None]
    sources = {one.dual_source for one in judged}
    up = 1.0 + EPS * len(judged)  # a sum of bounds is no less than they are
    whole = Certificate(
        claim="optimal",
        primal_objective=sum(one.primal_objective for one in judged),
        dual_objective=sum(one.dual_objective for one in judged),
        gap=up * sum(one.gap for one in judged),
        relative_gap=worst.relative_gap,
        conditions=tuple(
            replace(row, name=f"{name}: {row.name}")
            for name, one in found
            for row in one.conditions
        ),
        verdict=Verdict.UNDECIDED,
        tol=tol,
        repaired=max(one.repaired for one in judged),
        dual_source=sources.pop() if len(sources) == 1 else "solver",
        proved_gap=up * sum(one.proved_gap for one in judged),
        unproved=next((f"{name}: {one.unproved}" for name, one in found if one.unproved), ""),
        dual={name: one.dual.get("u") for name, one in found},
        scale=worst.scale,
        rounding=sum(one.rounding for one in judged),
        within=min(radii, default=None),
    )
    return judge_sum(whole, found)
