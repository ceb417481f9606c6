"""What a loss is: the protocol that every loss of the library, and of its users, follows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from ..compiled import Loop
from ..data import rowwise
from ..errors import InputError
from ..formulas import (
    AtSamples,
    Condition,
    ConvexSum,
    Form,
    Symbol,
    Terms,
    Tex,
    Weights,
    Words,
    affine,
    called,
    name_of,
    uncalled,
)
from ..modelling import cp
from ..numerics import EPS, Array, outward
from ..pictures.functions import PicturedLoss
from ..validation import finite_array, nonnegative_weights

KINDS = {
    "real": "real numbers",
    "binary": "-1 and +1",
    "count": "numbers >= 0",
    "classes": "indices 0 ... K-1 of classes",
}
"""Targets in words, by the ``labels`` of a loss."""


class Loss(PicturedLoss, ABC):
    """A closed convex loss l(y, z) of the prediction z, for one sample.

    Everything is elementwise over arrays ``y`` and ``z`` of shape (n,), float64. Labels are real
    numbers (``labels = "real"``), -1 and +1 (``"binary"``) or numbers >= 0 (``"count"``).

    A loss of your own subclasses this, implements the abstract methods, and works everywhere the
    built-in ones do: posing, solving, certifying. The conjugate is
    l*(y, v) = sup_z v z - l(y, z); it must be +inf outside ``domain(y)``, which contains 0.
    """

    name: ClassVar[str]
    __array_ufunc__ = None  # a factor that is one of NumPy's numbers is refused as any other
    __mul__ = __rmul__ = __truediv__ = uncalled
    labels: ClassVar[Literal["real", "binary", "count", "classes"]] = "real"
    is_smooth: ClassVar[bool] = True
    """Differentiable in z, with ``curvature`` the second derivative almost everywhere."""
    is_indicator: ClassVar[bool] = False
    """l takes only the values 0 and +inf: a constraint on the prediction."""
    is_strictly_convex: ClassVar[bool] = False
    moves_with_y: ClassVar[bool] = False
    """l(y + t, z + t) = l(y, z): real targets may be centred."""
    slope_of_one: ClassVar[Loop | None] = None
    """``derivative`` for one sample, (y, z, level) as ``compiled`` numbers; level is the first of
    ``hyperparameters``, 0 without any. None: stochastic solvers call ``derivative``, slowly."""
    conjugate_curvature: ClassVar[float | None] = None
    """The k where l*(y, v) = y v + epsilon |v| + (k/2) v^2 on its domain: the dual is a QP in a box
    (epsilon is the loss's own, or 0). None: l* is not of this form."""

    @property
    def curvature_bound(self) -> float:
        """sup l'' over all y, z: 1/curvature_bound is the strong convexity of l*. inf if none."""
        return np.inf

    @property
    def strong_convexity(self) -> float:
        """inf l'' over all y, z: the largest mu with l - mu/2 z^2 convex in z."""
        return 0.0

    def probabilities(self, z: Array) -> Array | None:
        """P(class | z) for every class in their order, shape (n, K); None where z tells none."""
        return None

    def hyperparameters(self) -> dict[str, float]:
        """The numbers that CVXPY sees as Parameters, by name (chosen so that all is DPP)."""
        return {}

    @abstractmethod
    def value(self, y: Array, z: Array) -> Array:
        """l(y, z), shape (n,)."""

    @abstractmethod
    def derivative(self, y: Array, z: Array) -> Array:
        """dl/dz; at a kink, the subgradient of least magnitude."""

    @abstractmethod
    def conjugate(self, y: Array, v: Array) -> Array:
        """l*(y, v), +inf outside the domain."""

    @abstractmethod
    def domain(self, y: Array) -> tuple[Array, Array]:
        """The ends (lo, hi) of the interval on which l*(y, .) is finite, +-inf where unbounded."""

    @abstractmethod
    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        """argmin_x step * l(y, x) + (x - z)^2 / 2."""

    @abstractmethod
    def expression(self, y: Array, z: Any, theta: Mapping[str, Any]) -> Terms:
        """l(y, z) as a CVXPY vector of shape (n,); ``theta`` maps hyperparameters to Parameters."""

    @abstractmethod
    def conjugate_expression(self, y: Array, u: Any, c: Any, theta: Mapping[str, Any]) -> Terms:
        """c l*(y, u / c) as a CVXPY vector of shape (n,), for c > 0.

        ``c`` is an array; losses whose conjugate is linear on an interval also accept a CVXPY
        expression that is affine in Parameters.
        """

    def __call__(self, z: Any, y: Any = None, *, weights: Any = None) -> ConvexSum:
        """The sum of weights_i l(y_i, z_i), a term for ``minimize``: no 1/n is hidden in it.

        Parameters
        ----------
        z : cvxpy.Expression
            Predictions, affine in the variables, one for each sample; a matrix is taken entry by
            entry, of a loss of classes it has shape (n, K).
        y : array, or a number for all
            Targets of the loss's kind of ``labels``, indices 0 ... K-1 of classes. Real ones are 0
            where they are left out.
        weights : array of shape (n,), optional
            Of the samples, >= 0; ones by default. Those of weight 0 are left out.

        Raises
        ------
        InputError
            If z is not affine; for targets or weights of a wrong shape or kind.
        """
        owner = type(self).__name__
        z = affine(z, owner, "z")
        if self.labels != "classes":
            z, shape = cp.vec(z, order="C"), z.shape
        elif z.ndim == 2:
            shape = z.shape[:1]
        else:
            raise InputError(f"{owner}: z must have shape (n, K), got {z.shape}. Pass X @ W + b.")
        y = self._targets(y, owner, shape, z.shape[-1])
        c = nonnegative_weights(weights, owner)
        if c is not None and c.shape != z.shape[:1]:
            raise InputError(
                f"{owner}: weights must have one entry per prediction ({z.shape[0]}), got shape "
                f"{c.shape}. Pass one number for each."
            )
        if c is not None and not c.all():  # a constraint of weight 0 is none
            y, z, c = y[c > 0.0], z[c > 0.0], c[c > 0.0]
        if not z.size:
            raise InputError(f"{owner}: there are no predictions. Pass one for each sample.")
        return called(self, z, lambda z: self.expression(y, z, self.hyperparameters()), y, c)

    def _targets(self, y: Any, owner: str, shape: tuple[int, ...], classes: int) -> Array:
        """Targets for predictions of this shape, as a vector."""
        if y is None and self.labels == "real":
            y = 0.0
        if y is None:
            raise InputError(f"{owner}: y is missing; pass the targets, {KINDS[self.labels]}.")
        given = finite_array(y, owner, "y")
        if given.shape not in ((), shape):
            raise InputError(
                f"{owner}: y must have the shape of the predictions, {shape}, got {given.shape}. "
                "Pass one target for each, or one number for all."
            )
        found = np.broadcast_to(given, shape).ravel()
        wrong = {
            "real": np.zeros(found.shape, dtype=bool),
            "binary": np.abs(found) != 1.0,
            "count": found < 0.0,
            "classes": (found != np.floor(found)) | (found < 0.0) | (found >= classes),
        }[self.labels]
        if wrong.any():
            i = int(np.argmax(wrong))
            raise InputError(
                f"{owner}: y must hold {KINDS[self.labels]}, got {found[i]:g} at entry {i}."
                + " Pass np.where(y == one_class, 1, -1)." * (self.labels == "binary")
            )
        return found.astype(int) if self.labels == "classes" else found

    @property
    def compiled_slope(self) -> Loop | None:
        """``slope_of_one``, unless a subclass has changed ``derivative`` since."""
        for kind in type(self).__mro__:
            if "slope_of_one" in vars(kind):
                return vars(kind)["slope_of_one"]
            if "derivative" in vars(kind):
                break
        return None

    def curvature(self, y: Array, z: Array) -> Array:
        """d^2l/dz^2 where it exists; 0 for piecewise linear losses."""
        return np.zeros_like(np.asarray(z, dtype=float))

    def curvature_floor(self, y: Array, lo: Array, hi: Array) -> Array:
        """A lower bound of d^2l/dz^2 on lo <= z <= hi, shape (n,); 0 claims nothing."""
        return np.zeros_like(np.asarray(lo, dtype=float))

    def slope_bound(self, y: Array, z: Array, reach: float) -> Array:
        """A bound of |dl/dz| on z +- reach, by its curvature: a convex loss is steepest at an end.

        The ends are taken further out, so that no kink hides in their rounding.
        """
        far = outward(z, reach)
        if self.curvature_bound < np.inf:
            slopes = np.abs(self.derivative(y, z)) + self.curvature_bound * far
            return slopes * (1.0 + 64.0 * EPS)
        below, above = self.derivative(y, z - far), self.derivative(y, z + far)
        found = np.maximum(np.abs(below), np.abs(above))
        found *= 1.0 + 64.0 * EPS
        return found

    def value_rounding(self, y: Array, z: Array, value: Array) -> Array:
        """A bound on the error of ``value`` = value(y, z), (n,): a share of it if none cancels.

        A loss that does not state it, and ``conjugate_rounding``, is not proved.
        """
        return 16.0 * EPS * np.abs(value)

    def conjugate_rounding(self, y: Array, v: Array, value: Array) -> Array:
        """A bound on the error of ``value`` = conjugate(y, v), (n,), for a v rounded once."""
        return 8.0 * EPS * (np.abs(value) + np.abs(v * y) + v * v)

    def excess(self, y: Array, c: Array, z: Array, e: Array, u: Array, h: Array) -> Array:
        """c l(y, z') + c l*(y, u'/c) - z' u' from above, over |z' - z| <= e and |u' - u| <= h.

        Of each sample, rounding included. inf where some u'/c leaves the domain. What z violates of
        a constraint is not charged. Convex in z', it is largest at an end.
        """
        v = u / c
        off = np.where(h > 0.0, (h / c) * (1.0 + 4.0 * EPS) + 4.0 * EPS * np.abs(v), 0.0)
        ends = (v - off, v + off) if off.any() else (v,)
        support = [(at, self.conjugate(y, at)) for at in ends]
        highest = np.max([s + self.conjugate_rounding(y, at, s) for at, s in support], axis=0)
        far = np.where(e > 0.0, e * (1.0 + 4.0 * EPS) + EPS * np.abs(z), 0.0)
        risen, sizes = np.full_like(z, -np.inf), np.abs(highest)
        for at in (z - far, z + far) if far.any() else (z,):
            value = np.zeros_like(z) if self.is_indicator else self.value(y, at)
            lost = self.value_rounding(y, at, value)
            risen = np.maximum(risen, value + lost - at * v)
            sizes = sizes + np.abs(value) + np.abs(at * v)
        moved = (np.abs(z) + far) * off
        found = np.maximum(risen + highest, 0.0) + moved + 4.0 * EPS * (sizes + moved)
        inside = np.isfinite(highest) & np.isfinite(found)
        return np.where(inside, c * found * (1.0 + 8.0 * EPS), np.inf)

    def kinks(self, y: Array) -> tuple[Array, ...]:
        """The predictions at which l(y, .) is not differentiable, arrays of shape (n,)."""
        return ()

    def best_constant(self, above: float, below: float) -> float | None:
        """The t minimising above l(1, t) + below l(-1, t), both > 0; None: no formula is known."""
        return None

    def violation(self, y: Array, z: Array) -> Array:
        """How far z is from the domain of l(y, .), shape (n,)."""
        return np.zeros_like(np.asarray(z, dtype=float))

    def in_units(self, unit: float) -> tuple[Loss, int] | None:
        """(l', p) with l(unit y, unit z) = unit^p l'(y, z), exact for powers of two; else None."""
        return None

    def slacks(self, y: Array, z: Array) -> dict[str, Array]:
        """Best values of the auxiliary variables of ``expression``, by name."""
        return {}

    def multipliers(self, y: Array, u: Array, c: Array) -> dict[str, Array]:
        """Multipliers of the constraints of ``expression``, by label, that belong to u."""
        return {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _take_blocks(cls)

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value:g}" for key, value in vars(self).items())
        return f"{type(self).__name__}({inside})"

    def words(self, z: str) -> Words:
        """What the loss calls u in the conditions, for predictions ``z`` in words."""
        return Words()

    def conditions(self, at: AtSamples) -> list[Condition]:
        """The optimality conditions on the samples, in the words of a textbook if it likes."""
        return [at.slopes, at.domain, *([at.feasible] if self.is_indicator else [])]

    def tex(self) -> Tex:
        """The loss in LaTeX, in y_i and z_i; its conjugate in y_i and v_i. By name if not told."""
        value = rf"{name_of(self)}(y_i, \zeta)"
        conjugate = rf"\sup_\zeta \left\{{v_i \zeta - {value}\right\}}"
        return Tex(value.replace(r"\zeta", "z_i"), conjugate)

    def textbook_tex(self, z: Symbol, c: Weights) -> Form | None:
        """In slacks and multipliers of their own, for the models that name these.

        ``z`` is the prediction of sample i; its entry, the same as a factor.
        """
        return None


BY_ROWS = (
    "value",
    "derivative",
    "curvature",
    "curvature_floor",
    "conjugate",
    "domain",
    "prox",
    "kinks",
    "violation",
    "slope_bound",
    "value_rounding",
    "conjugate_rounding",
    "probabilities",
    "multipliers",
    "slacks",
)
"""The methods that say something of every sample by itself: they take arrays in blocks as well."""


def _take_blocks(kind: type[Any]) -> None:
    for name in BY_ROWS:
        if name in vars(kind):
            setattr(kind, name, rowwise(vars(kind)[name]))


_take_blocks(Loss)


class Tube(Loss):
    """A loss of what |z - y| has beyond epsilon."""

    moves_with_y = True
    epsilon: float

    def hyperparameters(self) -> dict[str, float]:
        return {"epsilon": self.epsilon}

    def slacks(self, y: Array, z: Array) -> dict[str, Array]:
        residual = y - z
        return {
            "xi": np.maximum(residual - self.epsilon, 0.0),
            "xi_star": np.maximum(-residual - self.epsilon, 0.0),
        }


class Cornered(Loss):
    """A loss of straight pieces with one kink, at y, whose conjugate is y v on its domain."""

    is_smooth = False

    def kinks(self, y: Array) -> tuple[Array, ...]:
        return (y,)
