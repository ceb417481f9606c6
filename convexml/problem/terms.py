"""One sum of terms, f_0(x) + sum_k f_k(A_k x): maps with their rounding, terms, dual points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..losses import Squared
from ..numerics import UNIT, Array, gamma


class ConvexFunction(Protocol):
    """A closed convex function f of an array, as penalties are; of a constraint f counts as 0."""

    def value(self, w: Array) -> float:
        """f(w)."""

    def terms(self, w: Array, v: Array) -> Array:
        """The Fenchel-Young terms of f(w) + f*(v) - <w, v>, for v in dom f*."""

    def excess(self, w: Array, e: Array, v: Array, h: Array) -> Array:
        """The same from above, over |w' - w| <= e and |v' - v| <= h, rounding included.

        inf where some v' leaves dom f*. What w violates of a constraint is not charged.
        """

    def clip(self, v: Array) -> Array:
        """The nearest v, about, whose floats lie in dom f*."""

    def project(self, w: Array) -> Array:
        """The nearest w that is feasible."""


class Map(Protocol):
    """A linear map A; both of its products tell what each entry may be off by."""

    def forward(self, x: Array) -> tuple[Array, Array]:
        """A x, and its errors."""

    def adjoint(self, u: Array) -> tuple[Array, Array]:
        """A'u, and its errors."""


@dataclass(frozen=True)
class NeighbourDifferences:
    """Differences of neighbours, taken ``times`` times, with a sign."""

    times: int = 1
    sign: float = 1.0

    def forward(self, x: Array) -> tuple[Array, Array]:
        sizes = np.abs(np.diff(x))  # the first is rounded relative to itself
        for _ in range(self.times - 1):
            sizes = sizes[1:] + sizes[:-1]
        return self.sign * np.diff(x, self.times), gamma(self.times + 2) * sizes

    def adjoint(self, u: Array) -> tuple[Array, Array]:
        u = _spread(u, -1.0)
        sizes = np.abs(u)  # 0 where neighbours are equal
        for _ in range(self.times - 1):
            u, sizes = _spread(u, -1.0), _spread(sizes, 1.0)
        return self.sign * u, gamma(self.times + 2) * sizes


def _spread(u: Array, sign: float) -> Array:
    """The entries u_{i-1} + sign u_i, u being 0 beyond its ends."""
    found = np.zeros(u.size + 1)
    found[1:] = u
    found[:-1] += sign * u
    return found


@dataclass(frozen=True, eq=False)
class Pairs:
    """The rows x_i - x_j of a sparse matrix with one 1 and one -1 in every row."""

    A: Any

    def forward(self, x: Array) -> tuple[Array, Array]:
        z = self.A @ x
        return z, UNIT * np.abs(z)

    def adjoint(self, u: Array) -> tuple[Array, Array]:
        return self.A.T @ u, gamma(self.A.shape[1] + 2) * (abs(self.A).T @ np.abs(u))


@dataclass(frozen=True, eq=False)
class Summand:
    """f(A x), and what its dual point is called.

    Attributes
    ----------
    function : ConvexFunction
        Of the entries of A x, as one vector.
    map : Map
    dual : str
        The name of its multipliers; they are ``sign`` times the u in the subdifferential of f.
    domain, slack, feasible : str
        The names of its conditions: the multipliers are in their domain, f is u'A x less its
        conjugate, and of a constraint A x is feasible.
    size, room : float
        Of the multipliers, and of what a constraint may be violated by.
    sign : float
    """

    function: ConvexFunction
    map: Map
    dual: str
    domain: str
    slack: str
    size: float
    feasible: str = ""
    room: float = 1.0
    sign: float = 1.0


class SumOfTerms(ABC):
    """min sum_i c_i (x_i - y_i)^2 / 2 + sum_k f_k(A_k x), over arrays x of the shape of y.

    Every u_k in dom f_k* gives a dual point: u_0 = -sum_k A_k'u_k is what is left for the squares,
    whose conjugate is finite wherever c > 0.
    """

    @property
    @abstractmethod
    def targets(self) -> Array:
        """y."""

    @property
    @abstractmethod
    def weights(self) -> Array:
        """c >= 0, of the shape of y."""

    @property
    @abstractmethod
    def terms(self) -> Sequence[Summand]:
        """The others."""

    @property
    @abstractmethod
    def null(self) -> float:
        """P of the null model, for the scale of the gap."""

    @property
    @abstractmethod
    def stationarity(self) -> tuple[str, float]:
        """The name of c (x - y) + sum_k A_k'u_k = 0, and a size of its entries."""

    def cost(self, x: Array) -> float:
        """P(x); what x violates of a constraint counts as 0."""
        return self.cost_of(x, self.images(x))

    def images(self, x: Array) -> list[tuple[Array, Array]]:
        """The A_k x as vectors, and what each of their entries may be off by."""
        pairs = (term.map.forward(x) for term in self.terms)
        return [(z.ravel(), e.ravel()) for z, e in pairs]

    def cost_of(self, x: Array, images: Sequence[tuple[Array, Array]]) -> float:
        """P(x) by its images."""
        pairs = zip(self.terms, images, strict=True)
        return self.fit(x) + sum(term.function.value(z) for term, (z, _) in pairs)

    def fit(self, x: Array) -> float:
        """The squares alone."""
        return 0.5 * float(np.sum(self.weights * np.square(x - self.targets)))

    def value(self, x: Array) -> float:
        """The objective."""
        return self.cost(x)

    def value_rounding(self, x: Array) -> float:
        """What P(x) may be off by, where every f_k is a norm or a constraint."""
        images = self.images(x)
        pairs = zip(self.terms, images, strict=True)
        lost = sum(term.function.value(e) for term, (_, e) in pairs)
        share = gamma(x.size + sum(z.size for z, _ in images) + 16)
        return (share * self.cost_of(x, images) + lost) * (1.0 + share)

    def clipped(self, given: Sequence[Array]) -> list[Array]:
        """The multipliers next to those given that lie in their domains."""
        pairs = zip(self.terms, given, strict=True)
        return [t.sign * t.function.clip((t.sign * u).ravel()).reshape(u.shape) for t, u in pairs]

    def eliminated(self, given: Sequence[Array]) -> tuple[Array, Array]:
        """u_0, and what each of its entries may be off by."""
        u, h = np.zeros_like(self.targets), np.zeros_like(self.targets)
        for term, own in zip(self.terms, given, strict=True):
            pull, error = term.map.adjoint(term.sign * own)
            u = u - pull
            h = h + error + UNIT * np.abs(u)
        return u, (h if len(self.terms) > 1 else error)

    def excess(
        self,
        x: Array,
        images: Sequence[tuple[Array, Array]],
        given: Sequence[Array],
        eliminated: tuple[Array, Array],
    ) -> float:
        """P(x) - D from above, of multipliers in their domains, and u_0 of theirs."""
        (u, h), exact = eliminated, np.zeros_like(x)
        parts = [Squared().excess(self.targets, self.weights, x, exact, u, h)]
        for term, own, (z, e) in zip(self.terms, given, images, strict=True):
            pull = (term.sign * own).ravel()
            parts.append(term.function.excess(z, e, pull, np.zeros_like(pull)))
        total = sum(float(np.sum(each)) for each in parts)
        return total * (1.0 + gamma(sum(each.size for each in parts) + 8))
