"""Certificates of -<S, P> over 0 <= P <= I, tr P = k: the leading eigenvalues as a linear program.

The Lagrangian is -<S, P> + nu (tr P - k) + <Z_upper, P - I> - <Z_lower, P>; the dual maximises
-k nu - tr Z_upper subject to Z_upper - Z_lower = S - nu I, both >= 0. For any three and any
feasible P

    <S, P> <= k nu + tr Z_upper + d t_upper + k t_lower + sqrt(k) |S - nu I - Z_upper + Z_lower|_F

where t is what a Z lacks to be >= 0: no multiplier has to be exactly feasible to give a bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..formulas import Condition, products, worst
from ..numerics import EPS, ROUNDING, Array, gamma, length
from ..problem.likelihood import moments
from .algebra.definite import semidefinite_within
from .certificate import Certificate
from .judge import judged

# Symmetric matrices by their eigenvalues: parts, nearest points.


Spectra = tuple[Array, Array]


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


def spectra_of(dual: Mapping[str, Array]) -> Spectra:
    """The eigenvalues of Z_upper and of Z_lower, the smallest first."""
    upper, lower = (np.linalg.eigvalsh(symmetric(dual[name])) for name in ("Z_upper", "Z_lower"))
    return upper, lower


Multipliers = dict[str, Array]
NAMES = ("nu", "Z_upper", "Z_lower")


@dataclass(frozen=True)
class Fantope:
    """The problem in P; the exact S is within ``noise`` of the one that is held.

    Attributes
    ----------
    S, noise : array, shape (d, d)
    k : int
    """

    name: ClassVar[str] = "P"
    """What a point is called."""
    duals: ClassVar[tuple[str, ...]] = NAMES
    """What is told of its multipliers."""
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
        P: Array = V @ V.T
        return 0.5 * (P + P.T)

    # -- the primal ------------------------------------------------------------------------------

    def value(self, P: Array) -> float:
        """-<S, P>; inf where P is infeasible beyond rounding."""
        if not np.array_equal(P, P.T) or not all(row.residual == 0.0 for row in self._within(P)):
            return np.inf
        return self.account(P)[0]

    def cost(self, held: Array) -> float:
        """-<S, P> of any P."""
        return self.account(held)[0]

    def value_rounding(self, held: Array) -> float:
        """What rounding may hide of -<S, P>."""
        return self.account(held)[1]

    def account(self, held: Array) -> tuple[float, float]:
        """-<S, P>, and what rounding may hide of it."""
        P = symmetric(held)
        sizes = gamma(2 * self.d + 4) * np.abs(self.S * P) + self.noise * np.abs(P)
        value = -float((self.S * P).sum(axis=1).sum())
        return value, float(sizes.sum()) * (1.0 + gamma(self.d**2 + 8))

    def _within(self, P: Array) -> list[Condition]:
        """The rows of the constraints; what rounding explains is met."""
        values = np.linalg.eigvalsh(P)
        most = ROUNDING * self.d * max(1.0, float(np.abs(values).max()))
        off = abs(float(np.trace(P)) - self.k)

        def row(name: str, violation: float, size: float) -> Condition:
            found = max(violation, 0.0) if violation > most else 0.0
            return worst(name, "primal_feasibility", found, size, most)

        return [
            row("tr P = k", off, float(self.k)),
            row("P >> 0", -float(values[0]), 1.0),
            row("P << I", float(values[-1]) - 1.0, 1.0),
        ]

    def near(self, held: Array) -> tuple[Array, list[Condition]]:
        """The nearest feasible point, and the rows of the constraints; rounding is met."""
        P, size = symmetric(held), max(1.0, float(np.max(np.abs(held))))
        rows, skew = self._within(P), np.abs(held - held.T)
        if any(row.residual > 0.0 for row in rows):
            values, V = np.linalg.eigh(P)
            P = symmetric((V * capped(values, self.k)) @ V.T)
        return P, [worst("P = P'", "primal_feasibility", skew, size), *rows]

    # -- the dual --------------------------------------------------------------------------------

    def multipliers(self, given: Multipliers) -> Multipliers:
        """The three, those that are not given the best for the others."""
        eye = np.eye(self.d)
        upper, lower = given.get("Z_upper"), given.get("Z_lower")
        nu = float(given["nu"]) if "nu" in given else self._best_nu(upper, lower)
        if upper is None:
            upper = positive_part(self.S - nu * eye) if lower is None else self.S - nu * eye + lower
        if lower is None:
            lower = nu * eye + upper - self.S
        return {"nu": np.array(nu), "Z_upper": upper, "Z_lower": lower}

    def _best_nu(self, upper: Array | None, lower: Array | None) -> float:
        if upper is not None:
            return float(np.linalg.eigvalsh(symmetric(self.S - upper))[-1])
        if lower is not None:
            return float(np.linalg.eigvalsh(symmetric(self.S + lower))[0])
        values = self.spectrum[0]
        return float(0.5 * (values[self.count - 1] + values[min(self.count, self.d - 1)]))

    def dual_value(self, dual: Multipliers) -> float:
        """-k nu - tr Z_upper; -inf where the three are infeasible beyond rounding."""
        rows = self._dual_rows(dual, spectra_of(dual))
        return self._dual(dual) if all(row.meets(ROUNDING * self.d) for row in rows) else -np.inf

    def _dual(self, dual: Multipliers) -> float:
        return -self.count * float(dual["nu"]) - float(np.trace(dual["Z_upper"]))

    def _price(self, dual: Multipliers, spectra: Spectra) -> float:
        """How much more than the dual value says the largest <S, P> may be, rounding included."""
        upper, lower = symmetric(dual["Z_upper"]), symmetric(dual["Z_lower"])
        eye, nu = np.eye(self.d), float(dual["nu"])
        sizes = np.abs(self.S) + abs(nu) * eye + np.abs(upper) + np.abs(lower)
        left = np.abs(self.S - nu * eye - upper + lower) + gamma(6) * sizes + self.noise
        missed = self.d * semidefinite_within(upper, spectra[0])
        missed += self.count * semidefinite_within(lower, spectra[1])
        missed += np.sqrt(self.count) * length(left) * (1.0 + gamma(self.d**2 + 8))
        terms = self.count * abs(nu) + float(np.abs(np.diag(upper)).sum())
        return missed * (1.0 + 8.0 * EPS) + gamma(self.d + 6) * terms

    def _dual_rows(self, dual: Multipliers, spectra: Spectra) -> list[Condition]:
        upper, lower, nu = dual["Z_upper"], dual["Z_lower"], float(dual["nu"])
        size = max(float(np.max(np.abs(self.S))), np.finfo(float).tiny)
        left = self.S - nu * np.eye(self.d) - upper + lower

        def semidefinite(name: str, Z: Array, values: Array) -> Condition:
            skew = float(np.max(np.abs(Z - Z.T)))
            top = max(size, float(np.max(np.abs(Z))))
            return worst(name, "dual_feasibility", max(-float(values[0]), skew, 0.0), top)

        return [
            worst("S = nu I + Z_upper - Z_lower", "stationarity", left, size),
            semidefinite("Z_upper >> 0", upper, spectra[0]),
            semidefinite("Z_lower >> 0", lower, spectra[1]),
        ]

    def eigengap(self, given: Multipliers) -> float:
        """The k-th largest eigenvalue of Z_upper plus the (d-k)-th largest of Z_lower.

        At a solution that is lambda_k - lambda_(k+1), for every nu between the two; inf for k = d.
        """
        if self.k == self.d:
            return np.inf
        upper, lower = spectra_of(self.multipliers(given))
        return float(upper[self.d - self.k] + lower[self.k])

    def spread(self, C: Array) -> Array:
        """C S C', (k, k)."""
        found: Array = C @ self.S @ C.T
        return found

    def slack(self, held: Array, gap: float, dual: Multipliers) -> list[Condition]:
        """The products of multipliers and slacks."""
        P = symmetric(held)
        room = np.eye(self.d) - P
        return [
            products("<Z_upper, I - P> = 0", float(np.sum(dual["Z_upper"] * room))),
            products("<Z_lower, P> = 0", float(np.sum(dual["Z_lower"] * P))),
        ]

    def certify(self, point: Array, *given: Array | None, tol: float, passed: bool) -> Certificate:
        """Judge a matrix, repaired where it is infeasible, by multipliers.

        Parameters
        ----------
        point : array
        *given : array or None
            "nu", "Z_upper" and "Z_lower" (d, d); those of a few samples are made of "nu". What is
            missing is constructed.
        tol : float
        passed : bool
            Whether somebody brought them.
        """
        known = {name: own for name, own in zip(NAMES, given, strict=False) if own is not None}
        near, rows = self.near(point)
        values = [self.account(each) for each in (point, near)]
        dual = self.multipliers(known)
        spectra, value = spectra_of(dual), self._dual(dual)
        primal = max(value for value, _ in values)
        rows += [*self._dual_rows(dual, spectra), *self.slack(point, primal - value, dual)]
        return judged(
            primal,
            value,
            rows,
            tol,
            passed=passed,
            rounding=self._price(dual, spectra) + max(lost for _, lost in values),
            dual={name: dual[name] for name in self.duals},
            repaired=float(np.max(np.abs(near - point))),
        )


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
        return Y - np.outer(self.root, self.root @ Y)

    def spread(self, C: Array) -> Array:
        """C S C', (k, k)."""
        Y = self._centred(self.A @ C.T)
        return Y.T @ Y

    # -- the primal ------------------------------------------------------------------------------

    def value(self, C: Array) -> float:
        """-<S, C'C>; inf where the rows of C are not orthonormal beyond rounding."""
        met = self.near(C)[1][0].residual == 0.0
        return -float(np.trace(self.spread(C))) if met else np.inf

    def near(self, held: Array) -> tuple[Array, list[Condition]]:
        off, most = np.abs(held @ held.T - np.eye(len(held))), ROUNDING * held.shape[1]
        off = np.where(off > most, off, 0.0)
        row = worst("C C' = I", "primal_feasibility", off, 1.0, most)
        if row.residual == 0.0:
            return held, [row]
        U, _, V = np.linalg.svd(held, full_matrices=False)
        return U @ V, [row]

    def account(self, held: Array) -> tuple[float, float]:
        """With what rows that are not quite orthonormal may hide.

        P = C'(C C')^-1 C is feasible, and <S, P> >= <S, C'C> (1 - e), |C C' - I| <= e.
        """
        C = held
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
        value = super().dual_value(self.multipliers({"nu": dual["nu"]}))
        return value - (self.k - self.count) * nu - (d - n) * max(-nu, 0.0)

    def eigengap(self, dual: Multipliers) -> float:
        """lambda_k - lambda_(k+1) by the multipliers of A A'; beyond n eigenvalues are 0."""
        if self.k > self.d:
            return np.inf if self.k == self.A.shape[1] else 0.0
        if self.k == self.d:
            return max(float(self.spectrum[0][-1]), 0.0)
        return super().eigengap(dual)

    def slack(self, held: Array, gap: float, dual: Multipliers) -> list[Condition]:
        return [products("<Z_upper, I - P> + <Z_lower, P> = 0", gap)]


def directions_of(X: Array, weights: Array, k: int) -> tuple[Directions, Array]:
    """The problem of k directions of samples in rows with weights > 0, n < d, and their mean."""
    n, d = X.shape
    c = weights / math.fsum(weights.tolist())
    root, mean = np.sqrt(c), c @ X
    mean = mean + c @ (X - mean)
    A = root[:, None] * (X - mean)
    found = moments(A.T, np.ones(d), centre=False)  # A A' / d
    B, noise = d * found.S, 4.0 * d * found.noise  # 4: A is rounded as well
    sides, sizes = _centred_both(B, root, -1.0), _centred_both(np.abs(B), root, 1.0)
    noise = _centred_both(noise, root, 1.0) + gamma(2 * n + 2 * PARTS) * sizes
    noise = noise * (1.0 + gamma(2 * n + PARTS))
    return Directions(0.5 * (sides + sides.T), noise, k, A, root), mean


def _centred_both(B: Array, root: Array, sign: float) -> Array:
    """(I + sign root root') B (I + sign root root')."""
    t = B @ root
    return (
        B + sign * (np.outer(root, t) + np.outer(t, root)) + float(root @ t) * np.outer(root, root)
    )
