"""Certificates of -<S, P> over 0 <= P <= I, tr P = k: the leading eigenvalues as a linear program.

The Lagrangian is -<S, P> + nu (tr P - k) + <Z_upper, P - I> - <Z_lower, P>; the dual maximises
-k nu - tr Z_upper subject to Z_upper - Z_lower = S - nu I, both >= 0. For any three and any
feasible P

    <S, P> <= k nu + tr Z_upper + d t_upper + k t_lower + sqrt(k) |S - nu I - Z_upper + Z_lower|_F

where t is what a Z lacks to be >= 0: no multiplier has to be exactly feasible to give a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...conditions import Condition, products, worst
from ...numerics import EPS, ROUNDING, Array, gamma, length
from ..algebra.semidefinite import semidefinite_within
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge, refuted
from ..scale import learning_scale
from .spectra import Spectra, capped, positive_part, spectra_of, symmetric

Multipliers = dict[str, Array]


class SpectralBound(NamedTuple):
    """Multipliers, their dual value, how much less they prove, and their conditions."""

    dual: Multipliers
    value: float
    price: float
    rows: list[Condition]


@dataclass(frozen=True)
class Fantope:
    """The problem in P; the exact S is within ``noise`` of the one that is held.

    Attributes
    ----------
    S, noise : array, shape (d, d)
    k : int
    """

    S: Array
    noise: Array
    k: int

    @property
    def d(self) -> int:
        """The number of features."""
        return len(self.S)

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues of S, the largest first, and eigenvectors in columns."""
        values, V = np.linalg.eigh(self.S)
        return values[::-1], V[:, ::-1]

    def leading(self) -> Array:
        """The projection on the k leading eigenvectors: a solution."""
        V = self.spectrum[1][:, : self.k]
        P: Array = V @ V.T
        return 0.5 * (P + P.T)

    # -- the primal ------------------------------------------------------------------------------

    def value(self, P: Array) -> float:
        """-<S, P>; inf where P is infeasible beyond rounding."""
        if not np.array_equal(P, P.T) or not all(row.residual == 0.0 for row in self._within(P)):
            return np.inf
        return self._linear(P)

    def _linear(self, P: Array) -> float:
        return -float((self.S * P).sum(axis=1).sum())

    def _value_rounding(self, P: Array) -> float:
        sizes = gamma(2 * self.d + 4) * np.abs(self.S * P) + self.noise * np.abs(P)
        return float(sizes.sum()) * (1.0 + gamma(self.d**2 + 8))

    def _within(self, P: Array, values: Array | None = None) -> list[Condition]:
        """The rows of the constraints; what rounding explains is met."""
        values = np.linalg.eigvalsh(P) if values is None else values
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

    def repaired(self, P: Array) -> Array:
        """The nearest matrix of the set: eigenvalues shifted and clipped to [0, 1], sum k."""
        values, V = np.linalg.eigh(P)
        found: Array = (V * capped(values, self.k)) @ V.T
        return 0.5 * (found + found.T)

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
        return float(0.5 * (values[self.k - 1] + values[min(self.k, self.d - 1)]))

    def dual_value(self, dual: Multipliers) -> float:
        """-k nu - tr Z_upper; -inf where the three are infeasible beyond rounding."""
        rows = self._dual_rows(dual, spectra_of(dual))
        return self._dual(dual) if all(row.meets(ROUNDING * self.d) for row in rows) else -np.inf

    def _dual(self, dual: Multipliers) -> float:
        return -self.k * float(dual["nu"]) - float(np.trace(dual["Z_upper"]))

    def bound(self, given: Multipliers) -> SpectralBound:
        """What the multipliers prove, those that are not given the best for the others."""
        dual = self.multipliers(given)
        spectra = spectra_of(dual)
        price, rows = self._price(dual, spectra), self._dual_rows(dual, spectra)
        return SpectralBound(dual, self._dual(dual), price, rows)

    def _price(self, dual: Multipliers, spectra: Spectra) -> float:
        """How much more than the dual value says the largest <S, P> may be, rounding included."""
        upper, lower = symmetric(dual["Z_upper"]), symmetric(dual["Z_lower"])
        eye, nu = np.eye(self.d), float(dual["nu"])
        sizes = np.abs(self.S) + abs(nu) * eye + np.abs(upper) + np.abs(lower)
        left = np.abs(self.S - nu * eye - upper + lower) + gamma(6) * sizes + self.noise
        missed = self.d * semidefinite_within(upper, spectra[0])
        missed += self.k * semidefinite_within(lower, spectra[1])
        missed += np.sqrt(self.k) * length(left) * (1.0 + gamma(self.d**2 + 8))
        terms = self.k * abs(nu) + float(np.abs(np.diag(upper)).sum())
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

    def eigengap(self, dual: Multipliers) -> float:
        """The k-th largest eigenvalue of Z_upper plus the (d-k)-th largest of Z_lower.

        At a solution that is lambda_k - lambda_(k+1), for every nu between the two; inf for k = d.
        """
        if self.k == self.d:
            return np.inf
        upper, lower = spectra_of(dual)
        return float(upper[self.d - self.k] + lower[self.k])

    # -- judged ----------------------------------------------------------------------------------

    @property
    def total(self) -> float:
        """tr S."""
        return float(np.trace(self.S))

    def spread(self, C: Array) -> Array:
        """C S C', (k, k)."""
        found: Array = C @ self.S @ C.T
        return found

    def certify_directions(self, C: Array, tol: float) -> Certificate:
        """Judge P = C'C, C of shape (k, d)."""
        return self.certify(symmetric(C.T @ C), {}, tol)

    def certify(
        self, P: Array, given: Multipliers, tol: float, *, search: bool = True
    ) -> Certificate:
        """Judge P, repaired where it is infeasible, by multipliers, constructed where not given.

        Parameters
        ----------
        P : array, shape (d, d)
        given : dict
            Any of "nu", "Z_upper" (d, d) and "Z_lower" (d, d).
        tol : float
        search : bool
            Whether to show a better P where this one is not certified.
        """
        found = self._judged(P, given, tol)
        if not (search and found.verdict is Verdict.UNDECIDED):
            return found
        best = self.leading()
        value = self._linear(best)
        lost = self._value_rounding(best) + self._value_rounding(symmetric(P))
        return refuted(found, value, {"P": best, "objective": value}, lost)

    def _judged(self, P: Array, given: Multipliers, tol: float) -> Certificate:
        half = symmetric(P)
        rows = self._within(half)
        near = half if all(row.residual == 0.0 for row in rows) else self.repaired(half)
        primal = max(self._linear(half), self._linear(near))
        dual, value, price, conditions = self.bound(given)
        return judge(
            bounded(
                primal,
                value,
                [*self._skew(P), *rows, *conditions, *self._slack(half, dual)],
                tol,
                scale=learning_scale(primal, value),
                rounding=price + max(self._value_rounding(each) for each in (half, near)),
                dual=dual,
                dual_source="passed" if given else "constructed",
                repaired=float(np.max(np.abs(near - P))),
                is_proved=True,
            )
        )

    def _skew(self, P: Array) -> list[Condition]:
        size = max(1.0, float(np.max(np.abs(P))))
        return [worst("P = P'", "primal_feasibility", np.abs(P - P.T), size)]

    def _slack(self, P: Array, dual: Multipliers) -> list[Condition]:
        room = np.eye(self.d) - P
        return [
            products("<Z_upper, I - P> = 0", float(np.sum(dual["Z_upper"] * room))),
            products("<Z_lower, P> = 0", float(np.sum(dual["Z_lower"] * P))),
        ]
