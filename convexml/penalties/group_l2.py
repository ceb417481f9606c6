"""The group lasso penalty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..formulas import AtFeatures, Condition, Symbol, Terms, Tex, constant, products, zero_where
from ..modelling import cp
from ..numerics import LEAST_SQUARE, Array, gamma
from ..validation import nonnegative_number, nonnegative_weights, read_labels, refuse_nonfinite
from .base import Manifold, Penalty


class GroupL2(Penalty):
    """The group lasso penalty Omega(w) = lam sum_g s_g |w_g|_2 over disjoint groups g.

    Conjugate: the indicator of |v_g|_2 <= lam s_g (Yuan and Lin, 2006,
    https://doi.org/10.1111/j.1467-9868.2005.00532.x).

    Parameters
    ----------
    lam : float, default 1
        Strength, >= 0.
    groups : array of shape (d,)
        The group of each feature, by any label. Blocks are ordered as ``numpy.unique(groups)``.
    weights : array of shape (G,), optional
        s_g >= 0, in that order; 0 leaves a group unpenalised. By default sqrt(|g|), the square
        root of the number of features in the group.

    Raises
    ------
    InputError
        If lam is not a finite number >= 0, groups is not a vector, or the weights are not one
        number >= 0 for each group.
    """

    name = "group_l2"
    depends_on_sizes = True

    def __init__(self, lam: float = 1.0, groups: Any = None, weights: Array | None = None) -> None:
        self.lam = nonnegative_number(lam, "GroupL2", "lam")
        self.groups = np.array(read_labels(groups, "GroupL2", "groups"))
        if self.groups.ndim != 1 or self.groups.size == 0:
            raise InputError(
                "GroupL2: groups must be a vector with one group label for each feature, "
                f"got {groups!r}, shape {self.groups.shape}. Features of one group have one label, "
                "as [0, 0, 1, 1, 1]."
            )
        self.weights = nonnegative_weights(weights, "GroupL2")
        if self.groups.dtype.kind == "f":
            refuse_nonfinite(self.groups, "GroupL2", "groups")
        try:
            found = np.unique(self.groups, return_inverse=True, return_counts=True)
        except TypeError:
            raise InputError(
                "GroupL2: the labels in groups cannot be ordered; use labels of one kind."
            ) from None
        labels, self._index, sizes = found
        self._share = gamma(int(sizes.max()) + 16)  # of a norm, by rounding
        if self.weights is not None and len(self.weights) != len(labels):
            raise InputError(
                f"GroupL2: weights must have one entry for each of the {len(labels)} groups, "
                f"got {len(self.weights)}."
            )
        self._scale = np.sqrt(sizes) if self.weights is None else self.weights

    @property
    def _level(self) -> Array:
        return self.lam * self._scale

    def _sums(self, x: Array) -> Array:
        return np.bincount(self._index, weights=x, minlength=len(self._scale))

    def _norms(self, x: Array) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            squares = self._sums(x * x)
        lost = ~((squares > LEAST_SQUARE) & (squares < np.inf))
        if lost.any() and x[lost[self._index]].any():
            return self._norms_in_units(x)
        return np.sqrt(squares)

    def _norms_in_units(self, x: Array) -> Array:
        """The norms where squares leave float64."""
        tops = np.zeros(len(self._scale))
        np.maximum.at(tops, self._index, np.abs(x))
        exponents = np.frexp(np.where(np.isfinite(tops), tops, 1.0))[1]
        units = np.ldexp(1.0, np.clip(exponents, -1000, 1000))
        return units * np.sqrt(self._sums(np.square(x / units[self._index])))

    def _common(self, step: float | Array) -> Array:
        """One step for each group, the least of its coordinates, shape (G,)."""
        least = np.full(len(self._scale), np.inf)
        np.minimum.at(least, self._index, np.broadcast_to(step, self._index.shape))
        return least

    def hyperparameters(self) -> dict[str, Any]:
        return {"lam": self.lam}

    def value(self, w: Array) -> float:
        return float(self._level @ self._norms(w))

    def value_rounding(self, w: Array, value: float) -> float:
        return gamma(2 * len(w) + 16) * value

    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        room = self._norms(np.broadcast_to(slack, v.shape))
        return np.inf if np.any(self._norms(v) > self._level + room) else 0.0

    def conjugate_bound(self, v: Array, error: Array) -> float:
        norms = self._norms(np.abs(v) + error) * (1.0 + gamma(len(v) + 16))
        return 0.0 if np.all((norms <= self._level) | (self._level == 0.0)) else np.inf

    def terms(self, w: Array, v: Array) -> Array:
        return self._level * self._norms(w) - self._sums(w * v)

    def excess(self, w: Array, e: Array, v: Array, h: Array) -> Array:
        lost, (size, pull) = self._share, map(self._norms, (w, v))
        near, wide = (self._norms(x) if x.any() else 0.0 * size for x in (e, h))
        within = (pull + wide) * (1.0 + lost) <= self._level * (1.0 - lost)
        free = (self._level == 0.0) & (pull + wide == 0.0)
        moved = (self._level + pull + wide) * near + wide * size
        rounding = 2.0 * lost * (self._level + pull) * size
        terms = self._level * size - self._sums(w * v) + (moved + rounding) * (1.0 + 4.0 * lost)
        return np.where(within | free, np.maximum(terms, 0.0), np.inf)

    @property
    def _inner(self) -> Array:
        """Bounds of the norms, rounded inwards."""
        return self._level * (1.0 - 4.0 * self._share)

    def clip(self, v: Array) -> Array:
        most, sizes = self._inner, self._norms(v)
        share = np.divide(most, sizes, out=np.ones_like(sizes), where=sizes > most)
        return v * share[self._index]

    def leeway(self, v: Array) -> Array:
        room = self._inner - self._norms(v)
        sizes = np.sqrt(np.bincount(self._index, minlength=room.size))
        return (np.maximum(room, 0.0) / np.maximum(sizes, 1.0))[self._index]

    def beyond(self, v: Array) -> Array:
        return self._norms(v - self.clip(v))

    def subgradient(self, w: Array) -> Array:
        norms = self._norms(w)[self._index]
        return self._level[self._index] * w / np.where(norms > 0.0, norms, 1.0)

    def prox(self, w: Array, step: float | Array) -> Array:
        """Shrink each group; a step of shape (d,) must be constant on groups."""
        norms, threshold = self._norms(w), self._common(step) * self._level
        positive = norms > threshold
        ratio = np.where(positive, threshold, 1.0) / np.where(positive, norms, 1.0)
        return (1.0 - ratio)[self._index] * w

    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        common = self._common(step)[self._index]
        moved = self.prox(w + common * v, common)
        active = ((self._norms(moved) > 0.0) | (self._level == 0.0))[self._index]
        # At w_g = 0 there is no gradient: there the step's own end gives the direction.
        at = np.where((self._norms(w) > 0.0)[self._index], w, moved)
        norms = self._norms(at)
        size = np.where(norms > 0.0, norms, 1.0)
        unit, slope = at / size[self._index], self._level / size
        index, direction = self._index[active], unit[active]
        same = index[:, None] == index
        hessian = slope[index] * (np.eye(len(index)) - same * np.outer(direction, direction))
        return Manifold(active, np.zeros_like(w), self._level[index] * direction, hessian)

    def zero_blocks(self, d: int) -> tuple[Array, Array]:
        return self._index, self._level

    def free(self, d: int) -> Array:
        return (self._level == 0.0)[self._index]

    def domain_scale(self, v: Array, slack: float | Array = 0.0) -> float:
        norms, room = self._norms(v), self._norms(np.broadcast_to(slack, v.shape))
        over = (self._level > 0.0) & (norms > self._level + room)
        return float(np.min(self._level[over] / norms[over], initial=1.0))

    def in_units(self, units: Array, factor: float) -> GroupL2 | None:
        if not np.all(units == units[:1]):
            return None
        scale = factor * float(np.max(units, initial=0.0))
        return GroupL2(scale * self.lam, self.groups, self.weights)

    def lam_max(self, v: Array) -> float:
        bound = self._scale > 0.0
        return float(np.max(self._norms(v)[bound] / self._scale[bound], initial=0.0))

    def _sizes(self) -> Any:
        return constant(self._scale, "omega" if self.weights is not None else "sqrt(|g|)")

    def _rows(self, x: Any) -> Any:
        """A CVXPY matrix with one group of x a row, padded with zeros to equal length."""
        from scipy import sparse

        d, sizes = len(self._index), np.bincount(self._index)
        order, width = np.argsort(self._index, kind="stable"), sizes.max()
        rank = np.empty(d, dtype=int)
        rank[order] = np.arange(d) - (np.cumsum(sizes) - sizes)[self._index[order]]
        shape = (len(sizes) * width, d)
        spread = sparse.csr_array(
            (np.ones(d), (self._index * width + rank, np.arange(d))), shape=shape
        )
        groups = constant(spread, "G") @ x
        return cp.reshape(groups, (len(sizes), int(width)), order="C")

    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        return Terms(theta["lam"] * (self._sizes() @ cp.norm(self._rows(w), 2, axis=1)), {})

    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        norms = cp.norm(self._rows(xtu), 2, axis=1)
        return Terms(0.0, {"correlation": norms <= theta["lam"] * self._sizes()})

    def conditions(self, at: AtFeatures) -> list[Condition]:
        level = "lam sqrt|g|" if self.weights is None else "lam omega_g"
        return [
            at.inclusion,
            at.domain.named(f"|X_g'u| <= {level}"),
            products(f"{level} |w_g| + w_g'X_g'u = 0", self.terms(at.w, at.v)),
        ]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        size = r"\sqrt{|g|}" if self.weights is None else r"\omega_g"
        domain = rf"\|{v.block}\|_2 \le {lam} {size}\ \forall g"
        if self.weights is not None and not np.all(self.weights):
            domain += rf",\ {zero_where(v.block, size)}"
        return Tex(rf"{lam}\sum_g {size}\,\|{w.block}\|_2", domain=domain)
