"""Certificates of -<S, P> over 0 <= P <= I, tr P = k: the leading eigenvalues as a linear program.

The Lagrangian is -<S, P> + nu (tr P - k) + <Z_upper, P - I> - <Z_lower, P>; the dual maximises
-k nu - tr Z_upper subject to Z_upper - Z_lower = S - nu I, both >= 0. For any three and any
feasible P

    <S, P> <= k nu + tr Z_upper + d t_upper + k t_lower + sqrt(k) |S - nu I - Z_upper + Z_lower|_F

where t is what a Z lacks to be >= 0: no multiplier has to be exactly feasible to give a bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..formulas import Condition, products, worst
from ..numerics import EPS, ROUNDING, Array, gamma, length
from ..problem.likelihood import moments
from .algebra.definite import semidefinite_within
from .judge import ClosedForm, DualBound, Limit

# Symmetric matrices by their eigenvalues: parts, nearest points.


def symmetric(M: Array) -> Array:
    """(M + M') / 2."""
    return 0.5 * (M + M.T)


def positive_part(M: Array) -> Array:
    """M with its negative eigenvalues set to 0."""
    values, V = np.linalg.eigh(M)
    kept = values > 0.0
    return symmetric((V[:, kept] * values[kept]) @ V[:, kept].T)


def capped(values: Array, k: int) -> Array:
    """The nearest point to ``values`` in [0, 1]^d with sum k: clip(values - t), t by its kinks."""
    kinks = np.sort(np.concatenate([values, values - 1.0]))
    sums = np.array([np.clip(values - t, 0.0, 1.0).sum() for t in kinks])  # falls with t
    last = int(np.clip(np.searchsorted(-sums, -k, side="right") - 1, 0, len(kinks) - 2))
    drop = sums[last] - sums[last + 1]
    share = (sums[last] - k) / drop if drop > 0.0 else 0.0
    t = kinks[last] + share * (kinks[last + 1] - kinks[last])
    return np.clip(values - t, 0.0, 1.0)


NAMES = ("nu", "Z_upper", "Z_lower")


@dataclass(frozen=True)
class Fantope(ClosedForm):
    """The problem in P; the exact S is within ``noise`` of the one that is held.

    Attributes
    ----------
    S, noise : array, shape (d, d)
    k : int
    """

    name: ClassVar[str] = "P"
    """What a point is called."""
    duals: ClassVar[tuple[str, ...]] = NAMES
    S: Array
    noise: Array
    k: int

    @property
    def d(self) -> int:
        """The order of S."""
        return len(self.S)

    @property
    def count(self) -> int:
        """How many eigenvalues of S count: those of further directions are 0."""
        return min(self.k, self.d)

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues of S, the largest first, and eigenvectors in columns."""
        values, V = np.linalg.eigh(self.S)
        return values[::-1], V[:, ::-1]

    def leading(self) -> Array:
        """The k leading eigenvectors of S: a solution."""
        V = self.spectrum[1][:, : self.k]
        return symmetric(V @ V.T)

    # -- the primal ------------------------------------------------------------------------------

    def cost(self, P: Array) -> float:
        """-<S, P>; S is symmetric."""
        return -float((self.S * P).sum(axis=1).sum())

    def value_rounding(self, P: Array) -> float:
        sizes = gamma(2 * self.d + 4) * np.abs(self.S * P) + self.noise * np.abs(P)
        return float(sizes.sum()) * (1.0 + gamma(self.d**2 + 8))

    def constraints(self, P: Array) -> list[Limit]:
        values = np.linalg.eigvalsh(symmetric(P))
        most = ROUNDING * self.d * max(1.0, float(np.abs(values).max()))
        return [
            ("P = P'", P - P.T, max(1.0, float(np.max(np.abs(P)))), most),
            ("tr P = k", float(np.trace(P)) - self.k, float(self.k), most),
            ("P >> 0", max(-float(values[0]), 0.0), 1.0, most),
            ("P << I", max(float(values[-1]) - 1.0, 0.0), 1.0, most),
        ]

    def repaired(self, P: Array) -> Array:
        """The nearest feasible point."""
        values, V = np.linalg.eigh(symmetric(P))
        return symmetric((V * capped(values, self.k)) @ V.T)

    # -- the dual --------------------------------------------------------------------------------

    def completed(
        self, P: Any, nu: Any = None, upper: Array | None = None, lower: Array | None = None
    ) -> tuple[Array, Array, Array]:
        eye = np.eye(self.d)
        nu = self._best_nu(upper, lower) if nu is None else float(nu)
        if upper is None:
            upper = positive_part(self.S - nu * eye) if lower is None else self.S - nu * eye + lower
        return np.array(nu), upper, nu * eye + upper - self.S if lower is None else lower

    def _best_nu(self, upper: Array | None, lower: Array | None) -> float:
        if upper is not None:
            return float(np.linalg.eigvalsh(symmetric(self.S - upper))[-1])
        if lower is not None:
            return float(np.linalg.eigvalsh(symmetric(self.S + lower))[0])
        values = self.spectrum[0]
        return float(0.5 * (values[self.count - 1] + values[min(self.count, self.d - 1)]))

    def bound(self, nu: Array, upper: Array, lower: Array) -> DualBound:
        """-k nu - tr Z_upper; more than that says of the largest <S, P> is in its rounding."""
        halves, eye, level = (symmetric(upper), symmetric(lower)), np.eye(self.d), float(nu)
        spectra = [np.linalg.eigvalsh(each) for each in halves]
        left = self.S - level * eye - upper + lower
        sizes = np.abs(self.S) + abs(level) * eye + np.abs(halves[0]) + np.abs(halves[1])
        off = np.abs(symmetric(left)) + gamma(8) * sizes + self.noise
        missed = np.sqrt(self.count) * length(off) * (1.0 + gamma(self.d**2 + 8))
        for each, values, share in zip(halves, spectra, (self.d, self.count), strict=True):
            missed += share * semidefinite_within(each, values)
        terms = self.count * abs(level) + float(np.abs(np.diag(upper)).sum())
        size = max(float(np.max(np.abs(self.S))), np.finfo(float).tiny)
        most = gamma(4 * self.d + 8) * size
        rows = [worst("S = nu I + Z_upper - Z_lower", "stationarity", left, size, most)]
        for name, Z, values in zip(NAMES[1:], (upper, lower), spectra, strict=True):
            below = max(-float(values[0]), float(np.max(np.abs(Z - Z.T))), 0.0)
            top = max(size, float(np.max(np.abs(Z))))
            rows.append(worst(f"{name} >> 0", "dual_feasibility", below, top, most))
        lost = missed * (1.0 + 8.0 * EPS) + gamma(self.d + 6) * terms
        return DualBound(
            -self.count * level - float(np.trace(upper)), lost, rows, (nu, upper, lower)
        )

    def eigengap(
        self, nu: Any = None, upper: Array | None = None, lower: Array | None = None
    ) -> float:
        """The k-th largest eigenvalue of Z_upper plus the (d-k)-th largest of Z_lower.

        At a solution that is lambda_k - lambda_(k+1), for every nu between the two; inf for k = d.
        """
        if self.k == self.d:
            return np.inf
        _, *sides = self.completed(None, nu, upper, lower)
        above, below = (np.linalg.eigvalsh(symmetric(each)) for each in sides)
        return float(above[self.d - self.k] + below[self.k])

    def spread(self, C: Array) -> Array:
        """C S C', (k, k)."""
        return np.asarray(C @ self.S @ C.T)

    def beside(
        self, P: Array, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        _, upper, lower = dual
        return 0.0, [
            products("<Z_upper, I - P> = 0", float(np.sum(upper * (np.eye(self.d) - P)))),
            products("<Z_lower, P> = 0", float(np.sum(lower * P))),
        ]


# Certificates of principal directions where samples are fewer than features: no S is made.
#
# S = A'A has the eigenvalues of the n x n matrix A A' and zeros. Every bound on the sum of the
# min(k, n) largest eigenvalues of A A' (``Fantope``) is one on <S, P>, for every feasible P; and at
# P = C'C, C of shape (k, d), <S, P> is |A C'|^2.


PARTS = 24
"""Roundings in an entry of A, at most: of its weight, of its centre and of their product."""


@dataclass(frozen=True, eq=False)
class Directions(Fantope):
    """The problem -<S, C'C> over the C with orthonormal rows, S about the mean.

    In place of S there is (I - root root') A A' (I - root root').

    Attributes
    ----------
    A : array, shape (n, d)
        Rows sqrt(c_i) (x_i - m), c_i >= 0 of sum 1, m near their mean.
    root : array, shape (n,)
        sqrt(c_i): (I - root root') A is the matrix about the mean itself.
    """

    name = "components"
    duals = NAMES[:1]
    A: Array
    root: Array

    def leading(self) -> Array:
        """Those beyond n have the eigenvalue 0: of zeros QR makes any that are orthonormal."""
        U = self.spectrum[1][:, : self.k]
        found = np.zeros((self.A.shape[1], self.k))
        found[:, : U.shape[1]] = self.A.T @ self._centred(U)
        V: Array = np.linalg.qr(found)[0]
        return V.T

    def _centred(self, Y: Array) -> Array:
        return _along(Y, self.root, -1.0)

    def spread(self, C: Array) -> Array:
        """C S C', (k, k)."""
        Y = self._centred(self.A @ C.T)
        return Y.T @ Y

    # -- the primal ------------------------------------------------------------------------------

    def constraints(self, C: Array) -> list[Limit]:
        return [("C C' = I", C @ C.T - np.eye(len(C)), 1.0, ROUNDING * C.shape[1])]

    def repaired(self, C: Array) -> Array:
        U, _, V = np.linalg.svd(C, full_matrices=False)
        return U @ V

    def cost(self, C: Array) -> float:
        return -float(np.sum(np.square(self._centred(self.A @ C.T))))

    def value_rounding(self, C: Array) -> float:
        """With what rows that are not quite orthonormal may hide.

        P = C'(C C')^-1 C is feasible, and <S, P> >= <S, C'C> (1 - e), |C C' - I| <= e.
        """
        Y = self.A @ C.T
        error = gamma(C.shape[1] + PARTS) * (np.abs(self.A) @ np.abs(C.T))
        error = _along(error, self.root, 1.0)
        error += gamma(len(Y) + PARTS) * _along(np.abs(Y), self.root, 1.0)
        Y = self._centred(Y)
        value, count = float(np.sum(Y * Y)), Y.size
        lost = float(np.sum((2.0 * np.abs(Y) + error) * error)) + gamma(count + 8) * value
        apart = np.abs(C @ C.T - np.eye(len(C)))
        apart += gamma(C.shape[1] + 4) * (np.abs(C) @ np.abs(C.T))
        off = float(np.linalg.norm(apart))
        return (lost + off * (value + lost)) * (1.0 + gamma(count + 16))

    # -- the dual --------------------------------------------------------------------------------

    def dual_value(self, *dual: Array) -> float:
        """-k nu - tr (S - nu I)_+, the zeros of S included."""
        nu, (n, d) = float(dual[0]), self.A.shape
        value = super().dual_value(*self.completed(None, dual[0]))
        return value - (self.k - self.count) * nu - (d - n) * max(-nu, 0.0)

    def eigengap(self, *dual: Any) -> float:
        """lambda_k - lambda_(k+1) by the multipliers of A A'; beyond n eigenvalues are 0."""
        if self.k > self.d:
            return np.inf if self.k == self.A.shape[1] else 0.0
        if self.k == self.d:
            return max(float(self.spectrum[0][-1]), 0.0)
        return super().eigengap(*dual)

    def beside(
        self, P: Array, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        left = self.cost(P) - found.value
        return 0.0, [products("<Z_upper, I - P> + <Z_lower, P> = 0", left)]


def directions_of(X: Array, weights: Array, k: int) -> tuple[Directions, Array]:
    """The problem of k directions of samples in rows with weights > 0, n < d, and their mean."""
    n, d = X.shape
    c = weights / math.fsum(weights.tolist())
    root, mean = np.sqrt(c), c @ X
    mean = mean + c @ (X - mean)
    A = root[:, None] * (X - mean)
    found = moments(A.T, np.ones(d), centre=False)  # A A' / d
    B, noise = d * found.S, 4.0 * d * found.noise  # 4: A is rounded as well
    sides, sizes, noise = (
        _along(_along(M, root, sign).T, root, sign)
        for M, sign in ((B, -1.0), (np.abs(B), 1.0), (noise, 1.0))
    )
    noise = (noise + gamma(2 * n + 2 * PARTS) * sizes) * (1.0 + gamma(2 * n + PARTS))
    return Directions(symmetric(sides), noise, k, A, root), mean


def _along(Y: Array, root: Array, sign: float) -> Array:
    """(I + sign root root') Y."""
    return Y + sign * np.outer(root, root @ Y)
