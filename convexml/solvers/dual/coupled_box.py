"""The dual of a generalized lasso over its box, with the w that belongs to each s."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...certificates.algebra.definite import Cholesky, Factored
from ...numerics import Array


class CoupledBox:
    """min (1/2) w'Mw - q'w + s'Aw over w, for ``inner_points``; M may be singular.

    Newton's system in s alone has A M^-1 A' + H in it; in w it is M + A' H^-1 A, which is definite
    where no direction of w is free of both. M w - q + A's = 0 is kept by each step, and what is
    left of it corrected by the next.

    Parameters
    ----------
    M, A : arrays or sparse arrays, shapes (k, k) and (m, k)
    q, w : array, shape (k,)
        The start w, where A's is 0, has M w about q.
    solver : callable
        Of weights (m,): a factorisation of M + A' diag(weights) A, or None.
    """

    def __init__(
        self,
        M: Array,
        q: Array,
        A: Array,
        w: Array,
        solver: Callable[[Array], Cholesky | Factored | None],
    ) -> None:
        self._M, self._q, self._A, self._solver = M, q, A, solver
        self.w = w
        self._left = self._step = np.zeros_like(w)

    def slopes(self, s: Array) -> Array:
        """A w; what s leaves of the equation in w is kept for the next step."""
        self._left = self._M @ self.w - self._q + self._A.T @ s
        return np.asarray(self._A @ self.w)

    def step(self, weights: Array, side: Array) -> Array:
        """The t with A dw - weights * t = -side, where M dw + A't removes what is left."""
        factor = self._solver(1.0 / weights)
        if factor is None:
            raise np.linalg.LinAlgError("the system of a step is singular.")
        self._step = -factor.solve(self._left + self._A.T @ (side / weights))
        found = (side + self._A @ self._step) / weights
        if not np.all(np.isfinite(found)):
            raise np.linalg.LinAlgError("a step is not finite.")
        return np.asarray(found)

    def move(self, reach: float) -> None:
        """Go that share of the last step of w."""
        self.w = self.w + reach * self._step
