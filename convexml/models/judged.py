"""What a learning problem says of a point: its values, its certificate, its support."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from ..certificates import Certificate, certify_objective
from ..certificates.support.labels import CertifiedSupport, certify_support
from ..errors import InputError
from ..numerics import Array
from ..validation import positive_number
from .learning.lam_max import lam_max
from .reading.inputs import read_coefficients, read_dual
from .supervised import SupervisedProblem


class JudgedProblem(SupervisedProblem):
    """P, D and certificates of any (w, b) and u, whoever computed them."""

    @property
    def coefficients_shape(self) -> tuple[int, ...]:
        """The shape of the coefficients that ``certify`` judges: (d,), or (d, K) for K classes."""
        return self.objective_parts.w_shape

    @property
    def lam_max(self) -> float:
        """The smallest lam for which w = 0 is optimal (norm penalties)."""
        return lam_max(self.objective_parts)

    def objective(self, w: Any, b: float = 0.0) -> float:
        """P(w, b); inf where a constraint is violated beyond rounding.

        Parameters
        ----------
        w : array, shape (d,)
        b : float

        Returns
        -------
        float
        """
        w, b = read_coefficients(self.name, w, b, self.objective_parts)
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.objective_parts.primal(w, b)
        return np.inf if np.isnan(value) else value  # inf - inf, after an overflow

    @np.errstate(over="ignore", invalid="ignore")
    def dual_objective(self, u: Any) -> float:
        """D(u); -inf where u is infeasible beyond rounding.

        Parameters
        ----------
        u : array, shape (n,)

        Returns
        -------
        float
        """
        value = self.objective_parts.dual(self._read_dual(u))
        return -np.inf if np.isnan(value) else value

    def certify(
        self, w: Any, b: float | None = None, u: Any = None, *, tol: float = 1e-6
    ) -> Certificate:
        """Judge a point, whoever computed it.

        Parameters
        ----------
        w : array, shape (d,)
            Coefficients.
        b : float, optional
            Intercept; judged as it is. None: the best one for this w.
        u : array, shape (n,), optional
            Dual point; judged as it is. None: constructed.
        tol : float
            Tolerance of the verdict.

        Returns
        -------
        Certificate
        """
        tol = positive_number(tol, self.name, "tol")
        w, b = read_coefficients(self.name, w, b, self.objective_parts)
        u = None if u is None else self._read_dual(u)
        return certify_objective(
            self.objective_parts, w, b, u, tol=tol, textbook=self.textbook_conditions
        )

    def _read_dual(self, u: Any) -> Array:
        classes = self.objective_parts.w_shape[1:]
        return read_dual(self.name, u, self._samples, classes=classes[0] if classes else 0)

    def judge_solved(self, w: Array, b: float, u: Array | None, tol: float) -> Certificate:
        """The certificate of what a solver returned; its u competes with the constructed one."""
        return certify_objective(
            self.objective_parts,
            w,
            b,
            tol=tol,
            textbook=self.textbook_conditions,
            solver_dual=u,
            refute=False,
        )

    def certified_support(self, w: Any, b: float | None = None, u: Any = None) -> CertifiedSupport:
        """Label the samples and coefficients of every solution, as far as this point decides.

        Parameters
        ----------
        w : array, shape (d,)
            Coefficients near a minimiser, whoever computed them.
        b : float, optional
            Intercept. None: the best one for this w.
        u : array, shape (n,), optional
            Dual point. None: constructed.

        Returns
        -------
        CertifiedSupport
            Of samples of weight 0 it says "not_support".

        Raises
        ------
        InputError
            For wrong shapes, entries that are not finite, and models with several outputs.
        """
        if self.objective_parts.loss.labels == "classes":
            raise InputError(
                f"{self.name}: certified_support labels problems with one output; this one has "
                "one for each class."
            )
        w, b = read_coefficients(self.name, w, b, self.objective_parts)
        u = None if u is None else read_dual(self.name, u, self._samples)
        found = certify_support(self.objective_parts, w, b, u)
        return found.expanded(self._samples.kept, self._samples.total)

    def snapshot(self) -> Self:
        """A copy with today's hyperparameters and the same data, not posed."""
        twin = copy.copy(self)
        twin._statement = twin._dual_statement = twin._theta = twin._last = None
        return twin
