"""The rows that every learning problem has, each relative to its size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from ...formulas import AtFeatures, AtSamples, Condition, Words, told, worst
from ...losses import Loss
from ...numerics import ROUNDING, Array, gamma
from ...penalties import Penalty
from ...problem import Objective
from ...problem.kernel import KernelObjective
from ..judge import in_units_of_gap

# A point of a learning problem as it was passed, and the sizes that its rows are measured by.


NULL_SHARE = 1e-3
"""Slopes this much smaller than the null model's belong to the share 1e-6 of P_0 in the scale."""
LIMITS = (1e-300, 1e300)
"""Of a prox step: beyond them products leave float64, and the distance is not known (nan)."""


@dataclass(frozen=True, eq=False)
class PassedPoint:
    """(w, b) and u as they were passed, before any repair, with their products.

    Attributes
    ----------
    objective : Objective
    w : array, shape (d,)
    b : float
    u : array, shape (n,)
    z, v : arrays, shapes (n,) and (d,)
        X w + b and -X'u.
    scale : float
        What the gap is measured on.
    slack : array, shape (n,)
        What z may be off by, for a constraint on the predictions.
    """

    objective: Objective
    w: Array
    b: float
    u: Array
    z: Array
    v: Array
    scale: float
    slack: Array | float = 0.0

    @property
    def slopes(self) -> Array:
        """c_i l'(y_i, z_i): the u that belongs to w, (n,)."""
        return self.objective.loss_derivative(self.z)

    @cached_property
    def slope(self) -> Array:
        """Minus the gradient of the losses at (w, b): -X'u where that is it, down to rounding."""
        objective, slopes = self.objective, self.slopes
        moved = objective.column_reach(slopes - self.u)
        near = moved <= gamma(objective.n) * objective.column_reach(slopes)
        return self.v if near.all() else -objective.design.rmatvec(slopes)

    def ask_of_features(self, slope: bool) -> None:
        """Ask X now for what the rows need of it, with or without ``slope``: it may be changed."""
        _ = self.objective.column_sizes, self.slope if slope else None

    @cached_property
    def w_sizes(self) -> Array:
        """The size of each w_j: its own, or that which moves P by ``scale`` against ``v_sizes``."""
        sizes = np.where(self.v_sizes > 0.0, self.v_sizes, np.inf)
        return np.maximum(np.abs(self.w), self.scale / sizes)

    @property
    def u_sizes(self) -> Array:
        """The size of each u_i: c_i times the largest slope."""
        return self.objective.coefficients * self.slope_size

    @cached_property
    def u_size(self) -> float:
        """sum_i |u_i|."""
        return max(float(np.abs(u).sum()) for u in self._duals)

    @cached_property
    def v_sizes(self) -> Array:
        """The size of each row of X'u, (d,): |sqrt(c) X_j| |u / sqrt(c)|.

        Coordinates share a size where the penalty couples them.
        """
        objective = self.objective
        norms = (np.linalg.norm(u / np.sqrt(objective.coefficients)) for u in self._duals)
        sizes = objective.column_sizes * max(norms)
        top = float(np.max(sizes, initial=0.0))
        if not self._is_separable:
            return np.full_like(sizes, top)
        return np.where(sizes > 0.0, sizes, top)

    @cached_property
    def step(self) -> Array | float:
        """scale / v_sizes^2: a prox step that moves w by about its size where v has its own."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = self.scale / self.v_sizes / self.v_sizes
        known = (self.v_sizes > 0.0) & (self.scale > 0.0)
        inside = (step >= LIMITS[0]) & (step <= LIMITS[1])
        step = np.where(known, np.where(inside, step, np.nan), 1.0)
        return step if self._is_separable else float(np.min(step, initial=np.inf))

    def distance(self, v: Array) -> Array:
        """How far v is from dOmega(w): abs(w - prox(w + step v)) / step, (d,).

        Omega(w) + Omega*(v) - w'v is at least the sum of step times its square. Relative to
        ``v_sizes`` it is therefore at most the root of the relative gap, whatever the units.
        """
        moved = self.w - self.objective.penalty.prox(self.w + self.step * v, self.step)
        return np.abs(moved) / self.step

    @cached_property
    def slope_size(self) -> float:
        """The largest abs(u_i / c_i)."""
        c = self.objective.coefficients
        return max(float(np.max(np.abs(u / c), initial=0.0)) for u in self._duals)

    @cached_property
    def _duals(self) -> tuple[Array, Array]:
        """The point u, and a share of the null model's: of u an exact fit leaves only rounding."""
        return self.u, NULL_SHARE * self.objective.null_slopes

    @cached_property
    def _is_separable(self) -> bool:
        zeros = np.zeros(self.objective.d)
        return self.objective.penalty.terms(zeros, zeros).shape == zeros.shape


def stationarity(point: PassedPoint, v: Array, name: str = "-X'u in dOmega(w)") -> Condition:
    """The row v in dOmega(w), for v = -X'u or minus the gradient of the loss."""
    return worst(name, "stationarity", point.distance(v), point.v_sizes)


def slopes(point: PassedPoint) -> Condition:
    """The row u_i/c_i in dl(y_i, z_i): an equation of a smooth loss, else products.

    A kinked loss is measured by its Fenchel-Young terms c_i l(y_i, z_i) + c_i l*(y_i, u_i/c_i) -
    u_i z_i, which are 0 exactly where the inclusion holds.
    """
    objective, u, name = point.objective, point.u, "u_i/c_i in dl(y_i, z_i)"
    if not objective.loss.is_smooth:
        terms = objective.sample_terms(point.z, u)
        return worst(name, "complementary_slackness", terms, point.scale)
    v, slope = u / objective.coefficients, objective.loss.derivative(objective.y, point.z)
    return worst(name, "stationarity", v - slope, np.maximum(np.abs(v), point.slope_size))


def balance(point: PassedPoint, name: str) -> Condition:
    """The row 1'u = 0."""
    return worst(name, "dual_feasibility", point.u.sum(axis=0), point.u_size)


def predictions(point: PassedPoint) -> Condition:
    """The row of a constraint on the predictions."""
    objective = point.objective
    violation = objective.loss.violation(objective.y, point.z)
    scale = prediction_size(objective) if np.any(violation) else 1.0
    return worst("z in dom l", "primal_feasibility", violation, scale, point.slack)


def prediction_size(objective: Objective) -> float:
    """What a violation on the predictions counts against: of equations the spread of y."""
    if objective.loss.labels != "real":
        return 1.0
    middle = float(np.mean(objective.y)) if objective.fit_intercept else 0.0
    spread = float(np.max(np.abs(objective.y - middle)))
    return spread or float(np.max(np.abs(objective.y)))


def loss_domain(point: PassedPoint) -> Condition:
    """How far u is outside of dom F*, relative to the size of the box or of u."""
    u, (lo, hi) = point.u, point.objective.dual_bounds()
    ends = [np.where(np.isfinite(end), np.abs(end), 0.0) for end in (lo, hi)]
    size = np.maximum(np.maximum(*ends), point.u_sizes)
    outside = np.maximum(np.maximum(lo - u, u - hi), 0.0)
    return worst("u/c in dom l*", "dual_feasibility", outside, size)


def penalty_domain(point: PassedPoint) -> Condition:
    """How far v = -X'u is from dom Omega*: relative to its bound, or to the size of X'u at 0."""
    name, kind = "-X'u in dom Omega*", "dual_feasibility"
    penalty, v = point.objective.penalty, point.v
    noise = ROUNDING * point.objective.product_sizes(point.u)
    if penalty.conjugate(v, noise) < np.inf:
        return Condition(name, kind, 0.0)
    outside = penalty.outside(v)
    fixed = np.abs(outside) > noise
    bounded = np.where(outside == 0.0, v, 0.0)
    share = penalty.domain_scale(bounded, noise)
    residual = np.where(fixed, outside, (1.0 - share) * bounded)
    row = worst(name, kind, residual, point.v_sizes)
    if row.index is None or fixed.flat[row.index]:
        return row
    return replace(row, scale=min(row.scale, share * abs(float(bounded.flat[row.index]))))


def coefficients(point: PassedPoint) -> Condition:
    """The row of a constraint on w."""
    objective = point.objective
    violation = objective.penalty.violation(point.w, objective.coefficient_sizes)
    return Condition("w in dom Omega", "primal_feasibility", violation)


# The optimality conditions of a learning problem: those of its loss, its penalty, and both.


@np.errstate(over="ignore", invalid="ignore")
def conditions_at(point: PassedPoint, *, stationary: bool = True) -> list[Condition]:
    """The conditions at a point, as passed: the penalty's, the loss's, and 1'u = 0.

    Each is relative to the size of its row in the data and at the point, which no change of units
    moves; products count relative to ``point.scale``, as the gap does, whose terms they are.

    Parameters
    ----------
    point : PassedPoint
    stationary : bool
        Whether stationarity in w is among them.
    """
    objective = point.objective
    _, words, in_w_alone = _words_of(objective)
    features = at_features(point, words, in_w_alone)
    found = told(objective.penalty, Penalty, "conditions", "value", features)
    if not stationary or (objective.penalty.free(objective.d).all() and not in_w_alone):
        found = [row for row in found if row.kind != "stationarity"]  # it is X'u = 0, the domain
    if names := objective.features:
        found = [row.of_columns(names, *objective.w_shape[1:]) for row in found]
    return in_units_of_gap([*found, *conditions_of_samples(point)], point.scale)


def is_feasible(point: PassedPoint, tol: float) -> bool:
    """Whether the feasibilities are known to be met within ``tol`` before any row is measured.

    -X'u in dom Omega* and u/c in dom l* exactly, 1'u = 0 nearly, where neither w nor z is
    constrained. False where a class that is not of the library may have rows of its own.
    """
    objective, u = point.objective, point.u
    loss, penalty = objective.loss, objective.penalty
    free = not (loss.is_indicator or penalty.restricts or loss.labels == "classes")
    known = _is_of_library(loss) and _is_of_library(penalty)
    if not (free and known and penalty.conjugate(point.v) < np.inf):
        return False
    if not objective.is_unbounded:
        lo, hi = objective.dual_bounds()
        if not ((lo <= u) & (u <= hi)).all():
            return False
    return not objective.fit_intercept or bool(abs(u.sum()) <= tol * np.abs(u).sum())


def conditions_later(point: PassedPoint, stationary: bool) -> Callable[[], list[Condition]]:
    """``conditions_at`` without X, which may be written to: what it has to say is asked now."""
    objective = point.objective
    point.ask_of_features(objective.penalty.is_smooth and _words_of(objective)[2])
    return partial(conditions_at, point, stationary=stationary)


def _words_of(objective: Objective) -> tuple[str, Words, bool]:
    """z and u in words; whether stationarity is that of w alone."""
    z = "Xw + b" if objective.fit_intercept else "Xw"
    words: Words = told(objective.loss, Loss, "words", "value", z)
    return z, words, bool(words.slope) and objective.penalty.is_smooth


def _is_of_library(part: Loss | Penalty) -> bool:
    return type(part).conditions.__module__.partition(".")[0] == __name__.partition(".")[0]


def conditions_of_samples(point: PassedPoint) -> list[Condition]:
    """Those of the loss, and 1'u = 0: all that a point without features has."""
    objective = point.objective
    z, words, _ = _words_of(objective)
    samples = at_samples(point, z)
    found: list[Condition] = told(objective.loss, Loss, "conditions", "value", samples)
    return [*found, balance(point, words.balance)] if objective.fit_intercept else found


def stationarity_of(objective: KernelObjective) -> str:
    """The row K (lam q + u) = 0 in words; models with multipliers of their own have lam = 1."""
    words: Words = told(objective.loss, Loss, "words", "value", "z")
    lam = "" if objective.lam == 1.0 and words.push != Words().push else "lam "
    return f"K ({lam}q + u) = 0"


def of_function(row: Condition) -> Condition:
    """A row of the coordinates of a function, for the kernel matrix in place of its factor."""
    return row.named(row.name.replace("X'u", "Ku"))


ROWS = {"slopes": slopes, "domain": loss_domain, "feasible": predictions}
"""Those that every loss has."""


def at_features(point: PassedPoint, words: Words, in_w_alone: bool) -> AtFeatures:
    """What the penalty is asked about; stationarity of a smooth one may be that of P(w, b)."""
    inclusion = stationarity(point, point.v)
    slope = inclusion.named(words.push)
    if in_w_alone:
        slope = stationarity(point, point.slope, _weighted(point.objective.c, words))
    domain, feasible = penalty_domain(point), coefficients(point)
    sizes = point.w_sizes, point.v_sizes
    return AtFeatures(point.w, point.v, *sizes, words.push, inclusion, domain, feasible, slope)


def at_samples(point: PassedPoint, prediction: str) -> AtSamples:
    """What the loss is asked about."""
    y, c = point.objective.y, point.objective.c
    seen = y, c, point.z, point.u, point.u_sizes
    return AtSamples(*seen, prediction, lambda name: ROWS[name](point))


def _weighted(c: Array, words: Words) -> str:
    """The gradient of the sum of losses in words."""
    if np.all(c == 1.0 / len(c)):
        return f"X'{words.slope}/n"
    return f"X'{words.slope}" if np.all(c == 1.0) else f"X'diag(c){words.slope}"
