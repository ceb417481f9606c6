"""What the kernel models share: the representer theorem, the kernel matrix and its factor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...certificates import Certificate
from ...certificates.learning.existence.evidence import Evidence
from ...certificates.learning.kernel import certify_kernel
from ...certificates.learning.points.dual_repair import repair_dual
from ...certificates.support.labels import CertifiedSupport
from ...deadline import limited
from ...errors import InputError
from ...kernels import ALL, Kernel, Product, Scaled, Sum
from ...numerics import Array
from ...objective import Objective
from ...objective.kernel import KernelObjective
from ...remedies import for_part
from ...validation import positive_number
from ..learning.construction import coefficients, in_words
from ..learning.judging import in_own_rows
from ..learning.posed import Values
from ..problem import LearningProblem
from ..reading.inputs import Samples, read_dual, read_intercept
from ..reading.matrix import read_matrix
from ..reading.names import match_columns
from ..solution import Solution
from .absence import confirmed
from .approximation import Approximated
from .matrix import kernel_matrix
from .solving import judge_function, solve_kernel

PARTS = [each.__name__ for each in ALL.values() if each not in (Product, Scaled, Sum)]


class KernelModel(Approximated, LearningProblem):
    """A learning problem over the functions f = sum_j q_j k(x_j, .), with penalty on |f|_H.

    By the representer theorem this is no restriction. P, D and the certificate need the rows of
    the kernel matrix K at the nonzero q_j alone. Whoever wants a design matrix gets a factor
    K = L L': in the coordinates w = L'q, |w| = |f|_H, the problem is the linear model with design
    L; its solvers and dual points are inherited.
    """

    takes_blocks = False
    _design_name = "Phi"
    _kernel: Kernel
    _objective: Any

    @abstractmethod
    def __init__(self, X: Any, y: Any, *args: Any, **options: Any) -> None:
        """Pose with a kernel."""

    @property
    def kernel(self) -> Kernel:
        """The kernel, fixed: another kernel is another problem."""
        return self._kernel

    def _set_kernel(self, kernel: Any) -> None:
        if not isinstance(kernel, Kernel):
            raise InputError(
                f"{self.name}: kernel must be one of convexml.kernels, got {kernel!r}."
                f"{for_part(kernel, 'kernels', PARTS)}"
            )
        self._kernel = kernel

    def _compose(self, samples: Samples, intercept: bool) -> None:
        matrix, (loss, penalty, scale) = kernel_matrix(self.name, self.kernel, samples), self._parts
        c = coefficients(self.name, samples.weights, scale)
        self._objective = KernelObjective(matrix, samples.y, loss, penalty, c, intercept)

    @property
    def kernel_parts(self) -> KernelObjective:
        """The problem over functions."""
        found: KernelObjective = self._objective
        return found

    @property
    def objective_parts(self) -> Objective:
        """The problem in w = L'q; the factor is made for the first who asks."""
        return self.kernel_parts.coordinates

    @property
    def sample_parts(self) -> Objective:
        """The samples, the loss and the intercept, with f = 0."""
        return self.kernel_parts.bare

    def posed_values(self, w: Array, b: float, u: Array) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of the primal's variables and of q, and multipliers by label."""
        parts = self.kernel_parts
        q = parts.represent(w, b, u)
        values, multipliers = super().posed_values(parts.project(q), b, u)
        return {"q": q} | values, multipliers

    def coordinates(self, primal: Values) -> Array:
        """The coordinates w = L'q in which the problem is posed."""
        return self.kernel_parts.project(primal["q"][self._samples.kept])

    def norm(self, primal: Values) -> float:
        """|f|_H."""
        q = primal["q"][self._samples.kept]
        return float(np.sqrt(max(float(q @ self.kernel_parts.matrix.product(q)), 0.0)))

    @property
    def coefficients_shape(self) -> tuple[int, ...]:
        """The shape of q: one coefficient per sample."""
        return (self._samples.total,)

    def _fill(self) -> None:
        posed = None if self._last is None else self._last.posed
        if self._statement is not None and posed is not None and "w" not in posed[0]:
            posed[0]["w"] = self.kernel_parts.project(posed[0]["q"])
        super()._fill()

    # -- values ------------------------------------------------------------------------------

    def objective(self, q: Any, b: float = 0.0) -> float:
        """P(q, b) = F(K q + b) + (lam/2) q'K q, q of shape (n,)."""
        number = read_intercept(self.name, b, self.sample_parts) or 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.kernel_parts.primal(read_dual(self.name, q, self._samples, "q"), number)
        return np.inf if np.isnan(value) else value  # inf - inf, after an overflow

    def dual_objective(self, u: Any) -> float:
        """D(u), u of shape (n,); -inf where u is infeasible beyond rounding."""
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.kernel_parts.dual(read_dual(self.name, u, self._samples))
        return -np.inf if np.isnan(value) else value

    def certify(self, q: Any, b: Any = None, u: Any = None, *, tol: float = 1e-6) -> Certificate:
        """Judge f = sum_j q_j k(x_j, .) + b, whoever computed it.

        Parameters
        ----------
        q : array, shape (n,)
            Coefficients; for the support vector machine alpha_i y_i.
        b, u, tol
            As of every learning problem.

        Returns
        -------
        Certificate
        """
        tol = positive_number(tol, self.name, "tol")
        found = certify_kernel(
            self.kernel_parts,
            read_dual(self.name, q, self._samples, "q"),
            read_intercept(self.name, b, self.sample_parts),
            None if u is None else read_dual(self.name, u, self._samples),
            tol=tol,
        )
        return in_own_rows(self, found)

    def certified_support(self, q: Any, b: float | None = None, u: Any = None) -> CertifiedSupport:
        """Label the samples of every solution; its coordinates are those of w = L'q.

        Parameters
        ----------
        q, b, u
            As of ``certify``; q near a minimiser.

        Returns
        -------
        CertifiedSupport
            Of the problem as posed, through the factor K = L L'.
        """
        w = self.kernel_parts.project(read_dual(self.name, q, self._samples, "q"))
        return super().certified_support(w, b, u)

    def judge_solved(self, w: Array, b: float, u: Array | None, tol: float) -> Certificate:
        """The certificate of the function with coordinates w; the solver's u is tried first."""
        if u is not None and np.all(np.isfinite(u)):
            found = self._judge_pair(w, b, repair_dual(self.objective_parts, u).u, tol, "solver")
            if found.relative_gap <= min(tol, 1e-10):
                return found
        inner = super().judge_solved(w, b, u, tol)
        return self._judge_pair(w, b, inner.dual["u"], tol, inner.dual_source)

    def _judge_pair(self, w: Array, b: float, u: Array, tol: float, source: str) -> Certificate:
        parts = self.kernel_parts
        q = parts.represent(w, b, u)
        if parts.lam == 0.0 and parts.matrix.exact_factor is None:
            return certify_kernel(parts, q, b, tol=tol, refute=False)
        found = certify_kernel(parts, q, b, u, tol=tol, refute=False)
        return found.but(dual_source=source)

    def confirmed(self, claim: str, evidence: Evidence) -> Evidence | None:
        """See ``LearningProblem``: what is said of a rounded factor need not hold of the kernel."""
        return confirmed(self.kernel_parts, claim, evidence)

    @limited
    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve, polish, certify; ``primal`` holds q and b, w = L'q is in ``variables`` only.

        Parameters
        ----------
        solver : str
            A registered name, or "auto".
        **options
            As of every learning problem; w0 is a start in q, shape (n,).

        Returns
        -------
        Solution
        """
        start = options.get("w0")
        if start is not None:
            start = read_dual(self.name, start, self._samples, "w0")

        def through_factor() -> Solution:
            own = {} if start is None else {"w0": self.kernel_parts.project(start)}
            return super(KernelModel, self).solve(solver, **(options | own))

        own = options if start is None else options | {"w0": start}
        self._last = solution = solve_kernel(self, solver, own, through_factor)
        self._fill()
        return solution

    # -- predictions, storage ----------------------------------------------------------------

    def decision_function(self, X: Any, primal: Values) -> Array:
        """f(x) + b for new samples (the matrix k(new, training), if precomputed), shape (m,)."""
        samples = self._samples
        new = read_matrix(self.name, match_columns(self.name, X, samples.feature_names))
        if new.shape[1] != samples.X.shape[1]:
            raise InputError(
                f"{self.name}: X has {new.shape[1]} columns, the model was posed with "
                f"{samples.X.shape[1]}. Pass the same columns in the same order."
            )
        rows = new if self.kernel.takes_samples else new[:, samples.kept]
        return self.kernel(rows, samples.X) @ primal["q"][samples.kept] + primal["b"]

    def recertify(self, primal: Values, dual: Values, document: Mapping[str, Any]) -> Solution:
        """Judge a stored point again; nothing that the document claims is used."""
        return judge_function(self, primal, dual, document)

    @property
    def _told(self) -> dict[str, Any]:
        """The hyperparameters that ``repr`` tells."""
        return self._hyper

    def __repr__(self) -> str:
        settings = in_words(self._told)
        return f"{self.name}(n={self.kernel_parts.n}, kernel={self.kernel!r}{settings})"
