"""One sum of terms, f_0(x) + sum_k f_k(A_k x): maps with their rounding, terms, dual points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from ..formulas import Condition, Terms, constant, entries, products, worst
from ..losses import Squared
from ..modelling import cp
from ..numerics import EPS, ROUNDING, UNIT, Array, gamma, same

Pair = tuple[Array, Array]


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

    def beyond(self, v: Array) -> Array:
        """How far v is from dom f*, in parts."""

    def project(self, w: Array) -> Array:
        """The nearest w that is feasible."""


class Map(Protocol):
    """A linear map A; both of its products tell what each entry may be off by."""

    def forward(self, x: Array) -> tuple[Array, Array]:
        """A x, and its errors."""

    def adjoint(self, u: Array) -> tuple[Array, Array]:
        """A'u, and its errors."""

    def matrix(self, n: int) -> Any:
        """A, for an x of n rows; only of terms that are posed."""


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

    def matrix(self, n: int) -> Any:
        found = self.sign * sparse.eye_array(n, format="csr")
        for _ in range(self.times):
            found = found[1:] - found[:-1]
        return found


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

    def matrix(self, n: int) -> Any:
        return self.A


def row_by_row(expression: Any) -> Any:
    """A matrix as a vector, as penalties see it."""
    return expression if expression.ndim == 1 else cp.vec(expression, order="C")


@dataclass(frozen=True, eq=False)
class Squares:
    """sum_i c_i (z_i - y_i)^2 / 2 of entries of any shape; its conjugate is finite where c > 0.

    Attributes
    ----------
    targets, weights : array
        y, and c >= 0.
    """

    targets: Array
    weights: Array

    def value(self, z: Array) -> float:
        return 0.5 * float(np.sum(self.weights * np.square(z - self.targets)))

    def missed(self, z: Array, u: Array) -> Array:
        """The slope less u."""
        return self.weights * (z - self.targets) - u

    def terms(self, z: Array, u: Array) -> Array:
        return self.excess(z, np.zeros_like(z), u, np.zeros_like(u))

    def excess(self, z: Array, e: Array, u: Array, h: Array) -> Array:
        return Squared().excess(self.targets, self.weights, z, e, u, h)

    def expression(self, z: Any) -> Terms:
        roots = cp.sqrt(constant(self.weights, "c"))
        return Terms(0.5 * cp.sum_squares(cp.multiply(roots, z - constant(self.targets, "y"))), {})

    def dual_expression(self, pull: Any) -> Terms:
        """-f*(-pull); of a matrix all weights are > 0."""
        c = self.weights
        used, none = np.flatnonzero(c), np.flatnonzero(c == 0.0)
        inverse = 1.0 / cp.sqrt(constant(c[used] if none.size else c, "c"))
        squares = cp.sum_squares(cp.multiply(inverse, entries(pull, used, "I_used")))
        rows = {"weightless": entries(pull, none, "I_rest") == 0.0} if none.size else {}
        return Terms(
            row_by_row(constant(self.targets, "y")) @ row_by_row(pull) - 0.5 * squares, rows
        )


INSIDE = 1.0 - 32.0 * EPS
"""Multipliers that are moved into a domain stay so far from its ends that slopes may be rounded."""


@dataclass(frozen=True, eq=False)
class WeightedLoss:
    """sum_i c_i l(y_i, z_i) of a loss.

    Attributes
    ----------
    loss : Loss
    targets, weights : array, shape (n,)
        y, and c > 0.
    """

    loss: Any
    targets: Array
    weights: Array

    def value(self, z: Array) -> float:
        if self.loss.is_indicator:
            return 0.0
        return float(np.sum(self.weights * self.loss.value(self.targets, z)))

    def terms(self, z: Array, u: Array) -> Array:
        return self.excess(z, np.zeros_like(z), self.clip(u), np.zeros_like(u))

    def excess(self, z: Array, e: Array, u: Array, h: Array) -> Array:
        h = h + 8.0 * EPS * np.abs(u)  # as if the weights were rounded
        return self.loss.excess(self.targets, self.weights, z, e, u, h)

    def _ends(self) -> tuple[Array, Array]:
        lo, hi = self.loss.domain(self.targets)
        return self.weights * lo * INSIDE, self.weights * hi * INSIDE

    def clip(self, u: Array) -> Array:
        return np.clip(u, *self._ends())

    def beyond(self, u: Array) -> Array:
        return u - self.clip(u)

    def leeway(self, u: Array) -> Array:
        """How far each entry of u may move within the domain."""
        lo, hi = self._ends()
        return np.maximum(np.minimum(u - lo, hi - u), 0.0)

    def project(self, z: Array) -> Array:
        return self.loss.prox(self.targets, z, 1.0) if self.loss.is_indicator else z


@dataclass(frozen=True, eq=False)
class Multiple:
    """A factor times a penalty.

    Attributes
    ----------
    penalty : Penalty
    factor : float
        > 0.
    """

    penalty: Any
    factor: float

    def value(self, w: Array) -> float:
        return self.factor * float(self.penalty.value(w))

    def terms(self, w: Array, v: Array) -> Array:
        return self.factor * self.penalty.terms(w, v / self.factor)

    def excess(self, w: Array, e: Array, v: Array, h: Array) -> Array:
        own = v / self.factor
        off = h / self.factor * (1.0 + 2.0 * EPS) + EPS * np.abs(own)
        return self.factor * self.penalty.excess(w, e, own, off) * (1.0 + 2.0 * EPS)

    def clip(self, v: Array) -> Array:
        return self.factor * self.penalty.clip(v / self.factor) * INSIDE

    def beyond(self, v: Array) -> Array:
        return v - self.clip(v)

    def leeway(self, v: Array) -> Array:
        """How far the entries of v may move, all at once, within the domain."""
        return self.factor * self.penalty.leeway(v / self.factor) * INSIDE

    def project(self, w: Array) -> Array:
        return self.penalty.project(w)


@dataclass(frozen=True, eq=False)
class Summand:
    """f(A x), and what its dual point is called.

    Attributes
    ----------
    function : ConvexFunction
    map : Map, optional
        None where it is x.
    dual : str
        The name of its multipliers, of all but f_0; they are ``sign`` times the u in the
        subdifferential of f.
    slope, domain, feasible : (str, size), optional
        The names of its conditions, and their sizes: u is the slope of f, is in the domain of its
        conjugate, and of a constraint A x is feasible.
    slack : str
        The name of the condition that f is u'A x less its conjugate.
    sign : float
    variable : str
        The name of A x in the posed problem, where it is a variable there.
    constraint, limit : str
        The names of the constraint that the multipliers belong to, and of their own.
    """

    function: Any
    map: Any = None
    dual: str = ""
    slope: tuple[str, Any] | None = None
    domain: tuple[str, Any] | None = None
    feasible: tuple[str, Any] | None = None
    slack: str = ""
    sign: float = 1.0
    variable: str = ""
    constraint: str = ""
    limit: str = ""


class SumOfTerms(ABC):
    """min f_0(x) + sum_k f_k(A_k x).

    Every u_k in dom f_k* gives a dual point if u_0 = -sum_k A_k'u_k, what is left for f_0, is in
    its domain too. A bound asks only that a dual point which is feasible, exactly, is near: pairs
    are arrays, and what each of their entries may be off by.
    """

    is_program: ClassVar[bool] = False
    """Whether it is measured as linear and conic programs are."""
    no_bound: ClassVar[str] = ""
    """Why there is no bound, where there is none."""

    @property
    @abstractmethod
    def terms(self) -> Sequence[Summand]:
        """That of f_0, then the others."""

    @property
    @abstractmethod
    def null(self) -> float:
        """P of the null model, or the size of a program, for the scale of the gap."""

    # -- the primal ------------------------------------------------------------------------------

    def images(self, x: Array) -> list[Pair]:
        """x and the A_k x."""
        pairs = (term.map.forward(x) for term in self.terms[1:])
        return [(x, np.zeros_like(x)), *((z.ravel(), e.ravel()) for z, e in pairs)]

    def cost(self, x: Array) -> float:
        """P(x); what x violates of a constraint counts as 0."""
        return self.cost_of(self.images(x))

    def cost_of(self, images: Sequence[Pair]) -> float:
        """P(x) by its images."""
        pairs = zip(self.terms, images, strict=True)
        total = sum(term.function.value(z) for term, (z, _) in pairs)
        return total if total < np.inf else np.inf  # nan is beyond float64

    def value(self, x: Array) -> float:
        """The objective."""
        return self.cost(x)

    def value_rounding(self, x: Array) -> float:
        """What P(x) may be off by, where every f_k but f_0 is a norm or a constraint."""
        images = self.images(x)
        pairs = zip(self.terms[1:], images[1:], strict=True)
        lost = sum(term.function.value(e) for term, (_, e) in pairs)
        share = gamma(sum(z.size for z, _ in images) + 16)
        return (share * self.cost_of(images) + lost) * (1.0 + share)

    def price(self, images: Sequence[Pair], near: Sequence[Pair]) -> float:
        """What violations may gain, by the multipliers of a dual point."""
        lost = 0.0
        for term, (z, e), (u, h) in zip(self.terms, images, near, strict=True):
            if term.feasible:
                away = np.abs(z - term.function.project(z)) + e
                lost += float((np.abs(u) + h) @ away) * (1.0 + gamma(u.size + 8))
        return lost

    # -- the dual --------------------------------------------------------------------------------

    def completed(self, given: Sequence[Array]) -> list[Pair]:
        """u_0, and the u_k that these multipliers are."""
        used = self.terms[1:]
        pulls = [term.sign * own for term, own in zip(used, given, strict=True)]
        pairs = [term.map.adjoint(pull) for term, pull in zip(used, pulls, strict=True)]
        (total, off), *others = [(-pull, error) for pull, error in pairs]
        for pull, error in others:
            total = total + pull
            off = off + error + UNIT * np.abs(total)
        flat = (pull.ravel() for pull in pulls)
        return [(total, off), *((pull, np.zeros_like(pull)) for pull in flat)]

    def conditions(
        self, images: Sequence[Pair], near: Sequence[Pair], given: Sequence[Array]
    ) -> list[Condition]:
        """All of them, of a dual point and of its multipliers."""
        slopes, feasible, domains, slacks = [], [], [], []
        for term, (z, e), (u, h) in zip(self.terms, images, near, strict=True):
            f = term.function
            if term.slope:
                name, size = term.slope
                slopes.append(worst(name, "stationarity", f.missed(z, u), size))
            if term.feasible:
                name, size = term.feasible
                feasible.append(worst(name, "primal_feasibility", z - f.project(z), size, e))
            if term.domain:
                name, size = term.domain
                off = ROUNDING * size + float(np.max(h, initial=0.0))
                domains.append(worst(name, "dual_feasibility", f.beyond(u), size, off))
            if term.slack:
                slacks.append(products(term.slack, f.terms(z, u)))
        return [*slopes, *feasible, *domains, *slacks]

    def dual_point(self, given: Sequence[Array], before: Sequence[Pair]) -> list[Pair]:
        """All u_k of multipliers near those given, for which an exact dual point is that near.

        Parameters
        ----------
        given : sequence of array
        before : sequence of pairs
            ``completed`` of these.
        """
        pairs = zip(self.terms[1:], before[1:], strict=True)
        own = [term.function.clip(pull) for term, (pull, _) in pairs]
        if all(same(one, pull) for one, (pull, _) in zip(own, before[1:], strict=True)):
            return list(before)
        return self.completed(self.named(own, given))

    def named(self, pulls: Sequence[Array], given: Sequence[Array]) -> list[Array]:
        """The multipliers of the u_k, k > 0, shaped as those given."""
        triples = zip(self.terms[1:], pulls, given, strict=True)
        return [term.sign * u.reshape(own.shape) for term, u, own in triples]

    def excess(self, images: Sequence[Pair], near: Sequence[Pair]) -> float:
        """P(x) - D from above, of the images of x and a dual point."""
        triples = zip(self.terms, images, near, strict=True)
        parts = [term.function.excess(*image, *own) for term, image, own in triples]
        total = sum(float(np.sum(each)) for each in parts)
        return total * (1.0 + gamma(sum(each.size for each in parts) + 8))


class Approximation(SumOfTerms):
    """f_0 is ``Squares`` about targets; every A_k takes what is constant to 0."""

    @property
    @abstractmethod
    def squares(self) -> Squares:
        """f_0."""

    @cached_property
    def level(self) -> Any:
        """The constant nearest to the targets."""
        y, c = self.squares.targets, self.squares.weights
        # The mean of equal ones may be rounded.
        return np.where(np.ptp(y, axis=0) == 0.0, y[0], np.average(y, 0, c))

    @property
    def posed(self) -> list[tuple[Summand, Any]]:
        """The terms with multipliers, and CVXPY's A where it has rows."""
        n = len(self.squares.targets)
        pairs = ((term, term.map.matrix(n)) for term in self.terms[1:])
        return [(term, constant(A, "A")) for term, A in pairs if A.shape[0]]

    @cached_property
    def origin(self) -> Array:
        """Constant at the level."""
        return np.broadcast_to(self.level, self.squares.targets.shape)

    @cached_property
    def null(self) -> float:
        return self.squares.value(self.origin)

    def dual_value(self, *given: Array) -> float:
        """D of multipliers; -inf where a condition of theirs is missed beyond rounding."""
        near, images = self.completed(given), self.images(self.origin)
        rows = self.conditions(images, near, given)
        if any(row.breaks(ROUNDING) for row in rows if row.kind == "dual_feasibility"):
            return -np.inf
        triples = zip(self.terms, images, near, strict=True)
        left = sum(float(np.sum(t.function.terms(z, u))) for t, (z, _), (u, _) in triples)
        return self.cost_of(images) - left
