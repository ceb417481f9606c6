"""Certificates of principal directions where samples are fewer than features: no S is made.

S = A'A has the eigenvalues of the n x n matrix A A' and zeros. Every bound on the sum of the
min(k, n) largest eigenvalues of A A' (``Fantope``) is one on <S, P>, for every feasible P; and at
P = C'C, C of shape (k, d), <S, P> is |A C'|^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ...conditions import Condition, products, worst
from ...numerics import ROUNDING, Array, gamma
from ...objective.likelihood.moments import moments
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge, refuted
from ..scale import learning_scale
from .fantope import Fantope, Multipliers

PARTS = 24
"""Roundings in an entry of A, at most: of its weight, of its centre and of their product."""


@dataclass(frozen=True, eq=False)
class Directions:
    """The problem -<S, C'C> over the C with orthonormal rows, S about the mean.

    Attributes
    ----------
    A : array, shape (n, d)
        Rows sqrt(c_i) (x_i - m), c_i >= 0 of sum 1, m near their mean.
    root : array, shape (n,)
        sqrt(c_i): (I - root root') A is the matrix about the mean itself.
    mean : array, shape (d,)
        m.
    gram : Fantope
        The problem of min(k, n) directions of (I - root root') A A' (I - root root').
    k : int
        How many directions.
    """

    A: Array
    root: Array
    mean: Array
    gram: Fantope
    k: int

    def of(self, k: int) -> Directions:
        """The same with so many directions."""
        return replace(self, gram=replace(self.gram, k=min(k, self.gram.d)), k=k)

    @property
    def total(self) -> float:
        """tr S."""
        return float(np.trace(self.gram.S))

    def leading(self) -> Array:
        """The k leading eigenvectors of S in rows: a solution.

        Those beyond n have the eigenvalue 0: of columns of zeros QR makes any that are orthonormal.
        """
        U = self.gram.spectrum[1][:, : self.k]
        found = np.zeros((self.A.shape[1], self.k))
        found[:, : U.shape[1]] = self.A.T @ self._centred(U)
        V: Array = np.linalg.qr(found)[0]
        return V.T

    def _centred(self, Y: Array) -> Array:
        return Y - np.outer(self.root, self.root @ Y)

    def spread(self, C: Array) -> Array:
        """C S C', (k, k)."""
        Y = self._centred(self.A @ C.T)
        return Y.T @ Y

    # -- the primal ------------------------------------------------------------------------------

    def value(self, C: Array) -> float:
        """-<S, C'C>; inf where the rows of C are not orthonormal beyond rounding."""
        return np.inf if self._off(C).residual > 0.0 else -float(np.trace(self.spread(C)))

    def _off(self, C: Array) -> Condition:
        """The row C C' = I; what rounding explains is met."""
        off, most = np.abs(C @ C.T - np.eye(len(C))), ROUNDING * C.shape[1]
        return worst("C C' = I", "primal_feasibility", np.where(off > most, off, 0.0), 1.0, most)

    def _account(self, C: Array) -> tuple[float, float]:
        """-<S, C'C>, and what rounding and rows that are not quite orthonormal may hide of it.

        P = C'(C C')^-1 C is feasible, and <S, P> >= <S, C'C> (1 - e), |C C' - I| <= e.
        """
        Y, root = self.A @ C.T, self.root[:, None]
        error = gamma(C.shape[1] + PARTS) * (np.abs(self.A) @ np.abs(C.T))
        error = error + root * (root.T @ error)
        error += gamma(len(Y) + PARTS) * (np.abs(Y) + root * (root.T @ np.abs(Y)))
        Y = self._centred(Y)
        value, count = float(np.sum(Y * Y)), Y.size
        lost = float(np.sum((2.0 * np.abs(Y) + error) * error)) + gamma(count + 8) * value
        apart = np.abs(C @ C.T - np.eye(len(C)))
        apart += gamma(C.shape[1] + 4) * (np.abs(C) @ np.abs(C.T))
        off = float(np.linalg.norm(apart))
        return -value, (lost + off * (value + lost)) * (1.0 + gamma(count + 16))

    # -- the dual --------------------------------------------------------------------------------

    def dual_value(self, dual: Multipliers) -> float:
        """-k nu - tr (S - nu I)_+, the zeros of S included."""
        nu, (n, d) = float(dual["nu"]), self.A.shape
        value = self.gram.dual_value(self.gram.multipliers({"nu": dual["nu"]}))
        return value - (self.k - self.gram.k) * nu - (d - n) * max(-nu, 0.0)

    def eigengap(self, dual: Multipliers) -> float:
        """lambda_k - lambda_(k+1) by the multipliers of A A'; beyond n eigenvalues are 0."""
        if self.k > self.gram.d:
            return np.inf if self.k == self.A.shape[1] else 0.0
        if self.k == self.gram.d:
            return max(float(self.gram.spectrum[0][-1]), 0.0)
        return self.gram.eigengap(self.gram.multipliers(dual))

    # -- judged ----------------------------------------------------------------------------------

    def certify_directions(self, C: Array, tol: float) -> Certificate:
        """Judge P = C'C."""
        return self.certify(C, {}, tol)

    def certify(
        self, C: Array, given: Multipliers, tol: float, *, search: bool = True
    ) -> Certificate:
        """Judge C, (k, d), its rows made orthonormal where they are not, by a multiplier "nu".

        With ``search`` better directions refute it.
        """
        found = self._judged(C, given, tol)
        if not (search and found.verdict is Verdict.UNDECIDED):
            return found
        best = self.leading()
        value, lost = self._account(best)
        witness = {"components": best, "objective": value}
        return refuted(found, value, witness, lost + self._account(C)[1])

    def _judged(self, C: Array, given: Multipliers, tol: float) -> Certificate:
        row = self._off(C)
        near = C if row.residual == 0.0 else nearest(C)
        values = [self._account(each) for each in (C, near)]
        primal = max(value for value, _ in values)
        bound = self.gram.bound(given)
        gained = products("<Z_upper, I - P> + <Z_lower, P> = 0", primal - bound.value)
        return judge(
            bounded(
                primal,
                bound.value,
                [row, *bound.rows, gained],
                tol,
                scale=learning_scale(primal, bound.value),
                rounding=bound.price + max(lost for _, lost in values),
                dual={"nu": bound.dual["nu"]},
                dual_source="passed" if given else "constructed",
                repaired=float(np.max(np.abs(near - C))),
                is_proved=True,
            )
        )


def nearest(C: Array) -> Array:
    """The matrix with orthonormal rows that is nearest to C."""
    U, _, V = np.linalg.svd(C, full_matrices=False)
    found: Array = U @ V
    return found


def directions_of(X: Array, weights: Array, k: int) -> Directions:
    """The problem of k directions of samples in rows with weights > 0, n < d."""
    n, d = X.shape
    c = weights / math.fsum(weights.tolist())
    root, mean = np.sqrt(c), c @ X
    mean = mean + c @ (X - mean)
    A = root[:, None] * (X - mean)
    found = moments(A.T, np.ones(d), centre=False)  # A A' / d
    B, noise = d * found.S, 4.0 * d * found.noise  # 4: A is rounded as well
    sides, sizes = _centred_both(B, root, -1.0), _centred_both(np.abs(B), root, 1.0)
    noise = _centred_both(noise, root, 1.0) + gamma(2 * n + 2 * PARTS) * sizes
    gram = Fantope(0.5 * (sides + sides.T), noise * (1.0 + gamma(2 * n + PARTS)), min(k, n))
    return Directions(A, root, mean, gram, k)


def _centred_both(B: Array, root: Array, sign: float) -> Array:
    """(I + sign root root') B (I + sign root root')."""
    t = B @ root
    return (
        B + sign * (np.outer(root, t) + np.outer(t, root)) + float(root @ t) * np.outer(root, root)
    )
