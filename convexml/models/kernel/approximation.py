"""A kernel problem solved on few features, and certified for the kernel itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ...certificates.learning.kernel import certify_kernel
from ...deadline import limited
from ...errors import InputError
from ...kernels.fourier import fourier_features
from ...kernels.low_rank import low_rank
from ...numerics import Array
from ...progress import watched
from ...validation import positive_number
from ..learning.outcomes import Attempt
from ..problem import LearningProblem
from ..solution import Solution
from .solving import posed_function

CLOSER = 1e-2
"""Of the gap that is asked for: that of the problem on the features."""
Back = Callable[[Solution], tuple[Array, float]]
"""From the solution on the features to (q, b)."""


class Approximated:
    """A kernel problem that is solved on few features where K is large."""

    @watched
    @limited
    def approximate(
        self: Any,
        method: str = "nystrom",
        rank: int | None = None,
        *,
        seed: int = 0,
        tol: float = 1e-6,
        solver: str = "auto",
        max_seconds: float | None = None,
    ) -> Solution:
        r"""Solve F(Z w + b) + (lam/2) |w|^2 with few features Z; certify for the kernel itself.

        Both problems have the same losses, so a dual point u of one is one of the other, with
        D(u) = -F*(u) - u'K u / (2 lam) there; and P is evaluated for a function of the kernel.
        So ``gap`` bounds how far that function is from the exact optimum, which is never solved
        for. K takes n^2 evaluations of the kernel, n numbers at a time.

        Parameters
        ----------
        method : "nystrom" or "fourier"
            "nystrom": Z is the factor of ``kernels.pivoted_cholesky``, and f = sum_j q_j k(x_j, .)
            over its r pivots. "fourier": Z are ``kernels.fourier_features``, and f is
            -sum_i u_i k(x_i, .) / lam with its best b.
        rank : int, optional
            The most features. None: for "nystrom" as many as leave 1e-8 of the trace of K, for
            "fourier" n.
        seed : int
            Of the random frequencies.
        tol : float
            Tolerance of the certificate.
        solver : str
            Of the problem on the features.
        max_seconds : float, optional
            For the problem on the features.

        Returns
        -------
        Solution
            "optimal" where the certificate holds at tol, else "inaccurate" with an honest gap.

        Raises
        ------
        InputError
            For lam = 0, an unknown method, a bad rank, a kernel without a law of frequencies.
        """
        owner, start = f"{self.name}.approximate", time.perf_counter()
        tol = positive_number(tol, owner, "tol")
        if self.kernel_parts.lam == 0.0:
            raise InputError(f"{owner}: lam must be > 0; without a penalty no u bounds P*.")
        Z, back = _features(self, owner, method, rank, seed)
        found = _on_features(self, Z).solve(solver, tol=CLOSER * tol, max_seconds=max_seconds)
        facts = {
            "claimed_status": found.status,
            "choice": f"{method}: {Z.shape[1]} features, solved by {found.solver}",
            "iterations": found.iterations,
            "seconds": time.perf_counter() - start,
            "message": found.message,
        }
        told = Attempt(self, method, tol, facts)
        if not {"w", "b"} <= set(found.primal) or "u" not in found.dual:
            return told.failed()
        q, b = back(found)
        parts, u = self.kernel_parts, found.dual["u"]
        certificate = certify_kernel(parts, q, b, u, tol=tol, refute=False)
        return told.judged(certificate, posed_function(parts, q, b, certificate.dual["u"]))


def _on_features(problem: Any, Z: Array) -> LearningProblem:
    """The same losses and penalty on features."""
    parts = problem.kernel_parts
    return LearningProblem(
        Z,
        parts.y,
        parts.loss,
        parts.penalty,
        fit_intercept=parts.fit_intercept,
        sample_weight=parts.c,
        loss_scale="sum",
    )


def _features(
    problem: Any, owner: str, method: str, rank: int | None, seed: int
) -> tuple[Array, Back]:
    """The features, and the way back to a function of the kernel with its intercept."""
    parts = problem.kernel_parts
    if method == "nystrom":
        few = low_rank(parts.matrix, rank)

        def of_pivots(found: Solution) -> tuple[Array, float]:
            return few.coefficients(found.primal["w"]), float(found.primal["b"])

        return few.L, of_pivots
    if method == "fourier":

        def of_dual(found: Solution) -> tuple[Array, float]:
            q = -found.dual["u"] / parts.lam + 0.0
            return q, float(parts.best_intercept(parts.matrix.product(q)))

        most = parts.n if rank is None else rank
        return fourier_features(problem.kernel, parts.matrix.X, most, seed, owner), of_dual
    raise InputError(f"{owner}: method must be 'nystrom' or 'fourier', got {method!r}.")
