"""What a penalty is: the protocol that every penalty of the library, and of its users, follows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..formulas import (
    AtFeatures,
    Condition,
    ConvexSum,
    Symbol,
    Terms,
    Tex,
    affine,
    called,
    name_of,
    uncalled,
)
from ..modelling import cp
from ..numerics import EPS, Array, gamma
from ..pictures.functions import PicturedPenalty

FAR = 2.0**500
"""Beyond the ends of every interval."""


@dataclass(frozen=True)
class Manifold:
    """The penalty near a point, restricted to the surface on which it is smooth.

    On the coordinates ``active`` the penalty has this gradient and Hessian; the other coordinates
    are held at ``fixed``. Constraints that hold with equality (a face of a ball, coordinates of one
    size) add the rows ``normal @ step = -residual``, with multipliers in the Newton system.

    Attributes
    ----------
    active : array, shape (d,)
        Boolean mask.
    fixed : array, shape (d,)
        Values of all coordinates, used where not active.
    gradient : array, shape (k,)
        k = active.sum().
    hessian : array, shape (k,) or (k, k)
        Diagonal or full.
    normal : array, shape (m, k), optional
        Gradients of the constraints that hold with equality.
    residual : array, shape (m,), optional
        Values of these constraints: 0 on their surface.
    """

    active: Array
    fixed: Array
    gradient: Array
    hessian: Array
    normal: Array | None = None
    residual: Array | None = None

    def is_surface_of(self, other: Manifold) -> bool:
        """Whether the other one has the same coordinates active, and rows for the same of them."""
        ours, theirs = (np.zeros(0) if m.normal is None else m.normal for m in (self, other))
        same = np.array_equal(ours != 0.0, theirs != 0.0)
        return same and np.array_equal(self.active, other.active)


class Penalty(PicturedPenalty, ABC):
    """A closed convex penalty Omega(w) of the coefficients w, shape (d,).

    The conjugate is Omega*(v) = sup_w <v, w> - Omega(w); its domain is convex and contains 0.
    A penalty of your own subclasses this and works everywhere the built-in ones do.
    """

    name: ClassVar[str]
    __array_ufunc__ = None  # a factor that is one of NumPy's numbers is refused as any other
    __mul__ = __rmul__ = __truediv__ = uncalled
    is_smooth: ClassVar[bool] = False
    """Differentiable everywhere: ``gradient`` and ``manifold`` with all coordinates active."""
    is_constraint: ClassVar[bool] = False
    """Takes only the values 0 and +inf."""
    rises: ClassVar[bool] = False
    """Omega* grows with every v_j."""
    depends_on_sizes: ClassVar[bool] = False
    """Omega grows with every |w_j| and knows no sign: Omega* then does so with every |v_j|."""

    @property
    def strong_convexity(self) -> float:
        """The largest mu with Omega - mu/2 |w|^2 convex."""
        return 0.0

    @property
    def curvature_bound(self) -> float:
        """A Lipschitz constant of the gradient, for smooth penalties; inf if none is known."""
        return np.inf

    def hyperparameters(self) -> dict[str, Any]:
        """The numbers (or arrays) that CVXPY sees as nonnegative Parameters, by name."""
        return {}

    @abstractmethod
    def value(self, w: Array) -> float:
        """Omega(w); constraints: 0 (see ``violation`` for feasibility)."""

    @abstractmethod
    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        """Omega*(v); +inf outside the domain by more than ``slack`` (per coordinate, (d,))."""

    @abstractmethod
    def terms(self, w: Array, v: Array) -> Array:
        """The Fenchel-Young terms of Omega(w) + Omega*(v) - <w, v>, one per separable block.

        For v in the domain; shape (d,) for separable penalties, (G,) for groups, (1,) else.
        """

    @abstractmethod
    def prox(self, w: Array, step: float | Array) -> Array:
        """argmin_x step * Omega(x) + |x - w|^2 / 2; ``step`` a number, or (d,) if separable."""

    @abstractmethod
    def manifold(self, w: Array, v: Array, step: Array) -> Manifold:
        """The smooth surface near w given v = -X'u, identified by a prox step.

        A separable penalty takes coordinate j to be active when prox(w + step v)_j is off its
        kink; ``step`` has shape (d,).
        """

    @abstractmethod
    def expression(self, w: Any, theta: Mapping[str, Any]) -> Terms:
        """Omega(w) as a CVXPY scalar, constraints labelled."""

    @abstractmethod
    def conjugate_expression(self, xtu: Any, d: int, theta: Mapping[str, Any]) -> Terms:
        """Omega*(-X'u) as a CVXPY scalar, given the expression ``xtu`` = X'u of shape (d,).

        DPP and right at lam = 0: divisions by a Parameter are avoided by a variable w with
        X'u + lam w = 0, a helper that is the primal's at the optimum (Wolfe's dual).
        """

    def __call__(self, w: Any) -> ConvexSum:
        """Omega(w) of an affine CVXPY expression, a matrix row by row: a term for ``minimize``.

        Raises
        ------
        InputError
            For what is not affine; where groups, weights or bounds are not one per entry of w.
        """
        owner = type(self).__name__
        w = affine(w, owner, "w")
        vector = w if w.ndim == 1 else cp.vec(w, order="C")
        self.check_size(owner, vector.size, "entry of w", f"w has shape {w.shape}.")
        return called(self, vector, lambda z: self.expression(z, self.hyperparameters()))

    def check_size(self, owner: str, d: int, each: str, advice: str) -> None:
        """Refuse groups, weights or bounds that are not one for each of d coefficients.

        Raises
        ------
        InputError
            In the words of ``owner``: one entry per ``each``, and the advice.
        """
        try:
            self.value(np.zeros(d))
            self.violation(np.zeros(d))
        except (ValueError, IndexError) as error:
            for name, given in vars(self).items():
                if np.ndim(given) == 1 and len(given) != d:
                    raise InputError(
                        f"{owner}: {name} must have one entry per {each} ({d}), got {len(given)}. "
                        f"{advice}"
                    ) from None
            raise InputError(
                f"{owner}: {self!r} does not fit {d} coefficients ({error})."
            ) from None

    def gradient(self, w: Array) -> Array:
        """The gradient, for smooth penalties; a TypeError for others."""
        raise TypeError(f"{self!r} is not differentiable; use its prox.")

    def subgradient(self, w: Array) -> Array:
        """One subgradient at a feasible w: the gradient, 0 for constraints; norms say which."""
        return np.zeros_like(w) if self.is_constraint else self.gradient(w)

    def zero_blocks(self, d: int) -> tuple[Array, Array] | None:
        """The blocks g on which Omega(w) is level_g |w_g|_2 plus something smooth at w_g = 0.

        v in dOmega(w) with |v_g|_2 < level_g forces w_g = 0. Returns the block of each coordinate,
        (d,), and the levels, (G,); None where Omega has no such kinks.
        """
        return None

    def conjugate_gradient(self, v: Array) -> Array | None:
        """The gradient of Omega*, taken entrywise: the w with v in dOmega(w). None: not known."""
        return None

    def value_rounding(self, w: Array, value: float) -> float:
        """A bound on the error of ``value`` = value(w): sums of terms >= 0 do not cancel.

        A penalty that does not state it is not proved.
        """
        return gamma(2 * len(w) + 16) * abs(value)

    def conjugate_bound(self, v: Array, error: Array) -> float:
        """An upper bound of Omega* over all |x - v| <= error that meet the rows of ``outside``.

        inf where bounds on v may be broken. Here, for penalties that do not know better, of first
        order in the error: these are not proved.
        """
        value = self.conjugate(v, np.where(self.outside(v) != 0.0, np.inf, 0.0))
        slope = self.conjugate_gradient(v)
        moved = 0.0 if slope is None else float(np.abs(slope) @ error)
        return value + moved + 64.0 * EPS * abs(value)

    def excess(self, w: Array, e: Array, v: Array, h: Array) -> Array:
        """Omega(w') + Omega*(v') - <w', v'> from above, over |w' - w| <= e and |v' - v| <= h.

        The terms of this sum, rounding included; inf where some v' leaves dom Omega*. What w
        violates of a constraint is not charged.
        """
        pull, top = np.abs(v) + h, float(np.max(e, initial=0.0))
        value, support = self.value(w), self.conjugate_bound(v, h)
        if np.any(self.outside(v + h)) or np.any(self.outside(v - h)) or support == np.inf:
            return np.array([np.inf])
        moved = float(h @ np.abs(w) + pull @ e) + (self.rise(w, top) if top > 0.0 else 0.0)
        sizes = abs(value) + abs(support) + float(pull @ np.abs(w)) + moved
        lost = self.value_rounding(w, value) + gamma(2 * len(w) + 16) * sizes
        return np.array([max(value + support - float(w @ v), 0.0) + moved + lost])

    def clip(self, v: Array) -> Array:
        """A point near v whose floats lie in dom Omega*, exactly."""
        inside = v - self.outside(v)
        return inside * (self.domain_scale(inside) * (1.0 - gamma(2 * len(v) + 32)))

    def beyond(self, v: Array) -> Array:
        """How far v is from dom Omega*, in parts."""
        return v - self.clip(v)

    def leeway(self, v: Array) -> Array:
        """How far entries of v, which clips, may move within dom Omega*; 0 where unknown.

        All at once: where the domain is a product of intervals, the distance to their ends.
        """
        above, below = self.clip(v + FAR) - v, v - self.clip(v - FAR)
        return np.maximum(np.minimum(above, below), 0.0)

    @property
    def restricts(self) -> bool:
        """Whether some w are infeasible."""
        return self.is_constraint

    def free(self, d: int) -> Array:
        """Mask of the coordinates that are not penalised at all: there X'u must be 0."""
        return np.zeros(d, dtype=bool)

    def outside(self, v: Array) -> Array:
        """By how much v misses the rows v_j = 0, v_j >= 0 and v_j <= 0 of dom Omega*, signed, (d,).

        Scaling v cannot repair these; bounds such as |v_j| <= lam are left to ``domain_scale``.
        """
        return np.where(self.free(len(v)), v, 0.0)

    def domain_scale(self, v: Array, slack: float | Array = 0.0) -> float:
        """The largest t in [0, 1] with t v in the domain of Omega*, free coordinates left out."""
        return 1.0

    def project(self, w: Array) -> Array:
        """The nearest feasible point; w itself unless the penalty is a constraint."""
        return w

    def violation(self, w: Array, sizes: float | Array = 1.0) -> float:
        """How far w is from the domain of Omega, relative to its size (radius).

        Without a size of its own, as w >= 0, by the ``sizes`` that the data suggest, (d,).
        """
        return 0.0

    def shrinkage(self, w: Array) -> float:
        """The t >= 0 for which w / (1 + t) is in the domain of Omega for certain."""
        return 0.0

    def room(self, w: Array, free: Array | bool = True) -> float:
        """Radius of a ball about w in the domain of Omega, other entries than ``free`` fixed."""
        return 0.0 if self.is_constraint else np.inf

    def rise(self, w: Array, by: float) -> float:
        """The most that Omega grows by where entries of w move by so much within its domain."""
        return self.value(np.abs(w) + by) - self.value(w) if self.depends_on_sizes else np.inf

    def stretch(self, w: Array) -> float:
        """An s with s w in the domain of Omega, as large as is known, else 0; w is where s >= 1."""
        if not self.is_constraint:
            return np.inf
        return 1.0 if self.violation(w) == self.shrinkage(w) == 0.0 else 0.0

    def contains(self, w: Array) -> bool:
        """Whether w, as it stands in float64, is in the domain of Omega without any rounding."""
        return self.stretch(w) >= 1.0

    def multipliers(self, v: Array) -> dict[str, Array]:
        """Multipliers of the constraints of ``expression``, by label, that belong to v = -X'u."""
        return {}

    def in_units(self, units: Array, factor: float) -> Penalty | None:
        """factor * Omega(units * w) as a penalty of w, exact for powers of two; None where unknown.

        ``units`` has shape (d,); a penalty that treats coordinates alike takes equal ones only.
        """
        return None

    def lam_max(self, v: Array) -> float:
        """The smallest lam with v in the subdifferential at 0, for norms; else a TypeError."""
        raise TypeError(f"{self!r} has no lam_max: its subdifferential at 0 is a single point.")

    def __repr__(self) -> str:
        shown = {k: v for k, v in vars(self).items() if not k.startswith("_") and v is not None}
        inside = ", ".join(f"{name}={value}" for name, value in shown.items())
        return f"{type(self).__name__}({inside})"

    def conditions(self, at: AtFeatures) -> list[Condition]:
        """The optimality conditions on w, in the words of a textbook if it likes."""
        return [at.inclusion, at.domain, *([at.feasible] if self.is_constraint else [])]

    def tex(self, w: Symbol, v: Symbol, lam: str = r"\lambda") -> Tex:
        """The penalty in LaTeX, in the names of w and of v = -X'u; by its own name if not told.

        Where ``depends_on_sizes``, v may be X'u. ``lam`` is the symbol of the strength, empty where
        a model has it fixed at 1.
        """
        name = name_of(self)
        conjugate = rf"\sup_\omega \left\{{\langle {v}, \omega \rangle - {name}(\omega)\right\}}"
        return Tex(f"{name}({w})", conjugate)
