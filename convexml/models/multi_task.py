"""The lasso of several targets with common features."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate
from ..certificates.learning.gap import certify_targets
from ..data.columns import match_coefficients
from ..errors import SolverError
from ..formulas import listed
from ..losses import Squared
from ..numerics import Array
from ..problem import Objective
from ..problem.frame import SeveralTargets
from ..validation import nonnegative_number, yes_or_no
from .base import Hyperparameter
from .inputs import Samples, read_coefficients, read_dual, read_samples
from .latex import KEPT, Latex, such_that, weights_of
from .outcome import stored_attempt
from .posing import Values, set_parameters
from .problem import LearningProblem
from .solution import Solution

# The lasso of several targets in LaTeX.


def multi_task_latex(intercept: bool, weighted: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    c = weights_of("mean", weighted)
    b, over = (r" + \mathbf{1}b^\top", "W, b, Z") if intercept else ("", "W, Z")
    cost = rf"{c.total} \tfrac12 \|z_i - y_i\|_2^2 + \lambda\sum_j \|W_j\|_2"
    row, balance = f"XW{b} = Z", r"\mathbf{1}^\top U = 0" if intercept else ""
    gain = rf"-{c.total} \left[\tfrac12 \|v_i\|_2^2 + y_i^\top v_i\right]"
    domain = r"\|X_j^\top U\|_2 \le \lambda\ \forall j"
    active = r"-X^\top U \in \partial \left[\lambda\sum_j \|W_j\|_2\right]"
    slope = rf"u_i = {c.each} \left[z_i - y_i\right]"
    return Latex(
        rf"\min_{{{over}}}\ {cost}" + such_that(row),
        rf"{cost} + \operatorname{{tr}} U^\top\left(XW{b} - Z\right)",
        rf"\max_{{U}}\ {gain}" + such_that(f"v_i = {c.inverse}", domain, balance),
        tuple(filter(None, (slope, active, balance, row))),
        listed(
            weighted * KEPT,
            f"c_i = {c.each}",
            r"l(y_i, z_i) = \tfrac12 \|z_i - y_i\|_2^2",
            r"\Omega(W) = \lambda\sum_j \|W_j\|_2",
        ),
        over=("Z", "W", *("b" * intercept)),
    )


class MultiTaskLasso(LearningProblem):
    r"""Minimise (1/2) mean |Y_i - x_i'W - b|^2 + lam sum_j |W_j|_2, W_j the rows of W.

    K targets select their features together: row j of W, the coefficients of feature j, is 0 for
    all of them or for none. W has shape (d, K), b has shape (K,), predictions have shape (n, K).
    KKT: |X_j'U|_2 <= lam, with X_j'U = -lam W_j / |W_j| where W_j is not 0, and 1'U = 0; U is
    (X W + 1 b' - Y) / n. W = 0 exactly for lam >= ``lam_max``. With one target it is the lasso.
    Source: Obozinski, Taskar and Jordan (2010), https://doi.org/10.1007/s11222-008-9111-x.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    Y : array, shape (n, K)
        Real targets.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercepts are not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, NaN or infinite entries, wrong shapes, bad weights.
    """

    lam = Hyperparameter()
    takes_blocks = False
    scikit_learn: ClassVar = {"MultiTaskLasso": {"alpha": "lam = alpha"}}
    _poses_coordinates = False
    _judge = staticmethod(certify_targets)

    def __init__(
        self, X: Any, Y: Any, lam: float, *, fit_intercept: bool = True, sample_weight: Any = None
    ) -> None:
        intercept = yes_or_no(fit_intercept, self.name, "fit_intercept")
        self._hyper = {"lam": nonnegative_number(lam, self.name, "lam")}
        self._samples = read_samples(self.name, X, Y, sample_weight, "targets")
        self.classes = None
        self._compose(self._samples, intercept)

    def _compose(self, samples: Samples, intercept: bool) -> None:
        c, names = samples.weights / samples.weights.sum(), tuple(samples.feature_names or ())
        given = samples.design, samples.y, c, self.lam, intercept
        self._adopt(SeveralTargets(*given, features=names))

    def _adopt(self, targets: SeveralTargets) -> None:
        self._targets, self._objective = targets, targets.objective
        self._parts = Squared(), targets.penalty, "mean"

    @property
    def targets(self) -> SeveralTargets:
        """The data, and the coordinates that solvers work on."""
        return self._targets

    @property
    def sample_parts(self) -> Objective:
        """The objective in (W, b)."""
        return self._targets.posed

    def _set_hyperparameter(self, name: str, value: Any) -> None:
        lam = nonnegative_number(value, self.name, name)
        self._hyper, self._last = {"lam": lam}, None
        self._adopt(self._targets.with_strength(lam))
        if self._theta is not None:
            set_parameters(self._theta, self._parts)

    @property
    def coefficients_shape(self) -> tuple[int, ...]:
        """(d, K)."""
        return self._targets.w_shape

    # -- solved and judged ---------------------------------------------------------------------

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve, polish, certify.

        Parameters
        ----------
        solver : str
            A registered name, or "auto".
        **options
            As of every learning problem; w0 is a start in W, shape (d, K).

        Returns
        -------
        Solution
        """
        if (start := options.get("w0")) is not None:
            W, _ = self._passed_point(start, None)
            options["w0"] = self._targets.vector(W, self._targets.best_intercept(W))
        return super().solve(solver, **options)

    def certify(self, w: Any, b: Any = None, u: Any = None, *, tol: float = 1e-6) -> Certificate:
        """Judge a point, whoever computed it.

        Parameters
        ----------
        w : array, shape (d, K)
        b : array, shape (K,), optional
            Intercepts; judged as they are. None: the best ones for this w.
        u : array, shape (n, K), optional
            Dual point; judged as it is. None: constructed.
        tol : float

        Returns
        -------
        Certificate
        """
        return super().certify(w, b, u, tol=tol)

    def judge_solved(self, w: Array, b: float, u: Array | None, tol: float) -> Certificate:
        """The certificate of what a solver returned, in its coordinates."""
        point = self._reached(w)
        return certify_targets(self._targets, *point, tol=tol, solver_dual=u, refute=False)

    def _reached(self, w: Array) -> tuple[Array, Array]:
        """(W, b) of a solver's coordinates; W = 0 exactly from lam_max on."""
        W, b = self._targets.matrices(w)
        zero = np.zeros_like(W)
        shift = self._targets.best_intercept(zero)
        worse = self._targets.primal(zero, shift) > self._targets.primal(W, b) * (1.0 + 1e-9)
        with suppress(SolverError):  # where lam_max is not known, what was reached is kept
            if not worse and self.lam >= self.lam_max * (1.0 - 1e-9):
                return zero, shift
        return W, b

    @property
    def _valued(self) -> SeveralTargets:
        return self._targets

    def _passed_point(self, w: Any, b: Any) -> tuple[Array, Any]:
        w = match_coefficients(self.name, w, self._samples.feature_names)
        vector, shift = read_coefficients(self.name, w, b, self._targets)
        return vector.reshape(self._targets.w_shape), shift

    # -- the solver's coordinates, stored ------------------------------------------------------

    def coordinates(self, primal: Values) -> Array:
        """The coefficients that solvers work on, as one vector."""
        return self._targets.vector(primal["w"], primal["b"])

    def posed_values(self, w: Array, b: float, u: Array) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of the primal's variables, and multipliers of its constraints by label."""
        W, shift = self._reached(w)
        z = self._targets.predict(W, shift)
        return {"w": W, "b": shift, "z": z}, {"prediction": u}

    def recertify(self, primal: Values, dual: Values, document: Mapping[str, Any]) -> Solution:
        """Judge a stored point again; nothing that the document claims is used."""
        if "w" not in primal:
            return super().recertify(primal, dual, document)
        point = self._passed_point(primal["w"], primal.get("b", 0.0))
        u = read_dual(self.name, dual["u"], self._samples).ravel() if "u" in dual else None
        return stored_attempt(self, document).certified(self._targets.vector(*point), 0.0, u)

    # -- posed with CVXPY, told in LaTeX -------------------------------------------------------

    @property
    def _posed_parts(self) -> tuple[Objective, dict[str, Any], Any, str]:
        parts = self.sample_parts
        c = np.repeat(parts.c[:, None], parts.w_shape[1], axis=1)
        return parts, self.theta, c, self._design_name

    def _formulas(self) -> Latex:
        return multi_task_latex(self._targets.fit_intercept, self._samples.weighted)

    def __repr__(self) -> str:
        (d, K), n = self._targets.w_shape, self._targets.design.shape[0]
        return f"{self.name}(n={n}, d={d}, K={K}, lam={self.lam!r})"
