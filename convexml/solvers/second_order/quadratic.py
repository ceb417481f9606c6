"""Methods that minimise a quadratic model of the loss, and the penalty as it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from ...data import ahead, rowwise
from ...losses.softmax import hessian_of_shares, shares
from ...numerics import EPS, ROUNDING, Array
from ...penalties import Penalty
from ...problem import Objective
from ...problem.classes import MulticlassObjective, class_sums
from ...problem.objective import solve_symmetric
from ..composite import curvatures, search
from ..driver import Iterate
from ..first_order.gradient import next_weight
from .augmented_lagrangian import Smoothed
from .newton import Sample

# The minimum of a quadratic of d unknowns and a penalty: no products with X are needed for it.


PENALISED_MOST, EVERY = 4000, 40
"""Accelerated steps at most, and after how many of them the surface that they are on is tried."""
ROUNDS = 6
"""Newton steps on one surface: on a flat one the first is the last."""
EXACT, SHARE = 64.0 * EPS, 1e-8
"""What a residual may be beside the terms that it is the difference of, or beside the first one."""


class Penalised:
    """The function v'M v / 2 - r'v + Omega(v), M positive semidefinite.

    Parameters
    ----------
    M : array, shape (d, d)
    r : array, shape (d,)
    penalty : Penalty
    """

    def __init__(self, M: Array, r: Array, penalty: Penalty) -> None:
        self.M, self.r, self.penalty = M, r, penalty
        unit = self._units(M.diagonal())
        root = np.sqrt(unit)
        largest = _largest(M * root * root[:, None])
        self.step = unit / largest if largest > 0.0 else unit

    def _units(self, diagonal: Array) -> Array:
        """1 / M_jj where the prox takes a step for each w_j, 1 / max M_jj over a group, or of all.

        The prox of a penalty that is neither a sum over j nor over groups takes one step for all.
        """
        d, zero = len(diagonal), np.zeros(len(diagonal))
        blocks = self.penalty.zero_blocks(d)
        if self.penalty.terms(zero, zero).shape == zero.shape:
            sizes = diagonal
        elif blocks is not None:
            sizes = np.zeros(len(blocks[1]))
            np.maximum.at(sizes, blocks[0], diagonal)
            sizes = sizes[blocks[0]]
        else:
            sizes = zero + diagonal.max(initial=0.0)
        largest = float(sizes.max(initial=0.0)) or 1.0
        return 1.0 / np.maximum(sizes, EPS * largest)

    def value(self, v: Array) -> float:
        """The function at a feasible v."""
        return 0.5 * float(v @ (self.M @ v)) - float(self.r @ v) + self.penalty.value(v)

    def moved(self, v: Array) -> Array:
        """The proximal gradient step from v."""
        return self._prox(v + self.step * (self.r - self.M @ v))

    def _prox(self, v: Array) -> Array:
        alike = self.step[0] == self.step[-1] and np.all(self.step == self.step[0])
        return self.penalty.prox(v, float(self.step[0]) if alike else self.step)

    def residual(self, v: Array) -> float:
        """The length of that step in its own units; 0 at the minimum alone."""
        return float(np.linalg.norm((self.moved(v) - v) / np.sqrt(self.step)))

    def rounding(self, v: Array) -> float:
        """What the residual is made of at rounding."""
        terms = np.abs(self.r) + np.abs(self.M) @ np.abs(v)
        return EXACT * float(np.linalg.norm(np.sqrt(self.step) * terms))

    def on_its_surface(self, v: Array, missed: float) -> tuple[Array, float]:
        """Newton steps on the surface that v is on, as long as they pay: the end, its residual."""
        for _ in range(ROUNDS):
            there = self._newton(v)
            left = self.residual(there) if np.all(np.isfinite(there)) else np.inf
            if not (left < missed and self._is_no_worse(there, v)):
                break
            v, missed = there, left
        return v, missed

    def _is_no_worse(self, there: Array, v: Array) -> bool:
        value = self.value(v)
        return self.value(there) <= value + EXACT * (abs(value) + float(np.abs(self.r) @ np.abs(v)))

    def _newton(self, v: Array) -> Array:
        surface = self.penalty.manifold(v, self.r - self.M @ v, self.step)
        free, hessian = surface.active, surface.hessian
        there = np.where(free, v, surface.fixed)
        rows = np.zeros((0, int(free.sum()))) if surface.normal is None else surface.normal
        k, m = rows.shape[1], rows.shape[0]
        system, right = np.zeros((k + m, k + m)), np.zeros(k + m)
        system[:k, :k] = self.M[np.ix_(free, free)]
        system[:k, :k] += np.diag(hessian) if hessian.ndim == 1 else hessian
        system[k:, :k], system[:k, k:] = rows, rows.T
        right[:k] = (self.r - self.M @ there)[free] - surface.gradient
        if surface.residual is not None:
            right[k:] = -surface.residual
        there[free] += solve_symmetric(system, right)[:k]
        return self.penalty.project(there)

    def minimum(self, start: Array) -> Array:
        """Its minimiser, from a start that may be on the right surface already.

        Accelerated proximal gradient steps find the surface, Newton steps the point on it.
        """
        first = self.residual(start)
        best, least = self.on_its_surface(start, first)
        x = y = best
        t = 1.0
        for k in range(1, PENALISED_MOST + 1):
            if least <= max(self.rounding(best), SHARE * first):
                break
            ahead = self.moved(y)
            if float(((y - ahead) / self.step) @ (ahead - x)) > 0.0:
                y, t = ahead, 1.0
            else:
                weight, t = next_weight(t)
                y = ahead + weight * (ahead - x)
            x = ahead
            if k % EVERY == 0:
                found, left = self.on_its_surface(x, self.residual(x))
                if left < least:
                    best, least = found, left
        return best


def _largest(M: Array) -> float:
    """The largest eigenvalue."""
    d = len(M)
    return float(linalg.eigh(M, eigvals_only=True, subset_by_index=[d - 1, d - 1])[0]) if d else 0.0


# Losses as they are modelled by quadratics: what each model asks of the rows, in one visit.


@dataclass(frozen=True)
class Move:
    """A step of (w, b), what its predictions change by, and the fall of P that its model lets hope.

    ``fall`` is pull'dw + total'db + Omega(w + dw) - Omega(w), not above 0.
    """

    dw: Array
    db: Any
    fall: float


@dataclass(frozen=True)
class QuadraticModel:
    """F at (w, b) + s by its slope and curvature: pull's_w + total's_b + s'matrix s / 2.

    Attributes
    ----------
    pull : array, shape (d,)
        X'u.
    total : array, shape (k,)
        1'u, one for each intercept.
    matrix : array, shape (d + k, d + k)
    expected : callable
        Dz -> the slopes that the model has where predictions have moved by dz, shape (n,).
    """

    pull: Array
    total: Array
    matrix: Array
    expected: Callable[[Array], Array]

    def move(self, penalty: Any, w: Array, b: Any) -> Move:
        """To the minimum of the model and Omega; b is eliminated, the best one for each w."""
        d = w.size
        Q, B = self.matrix[:d, d:], self.matrix[d:, d:]
        inverse = np.linalg.pinv(B, hermitian=True)
        M = self.matrix[:d, :d] - Q @ inverse @ Q.T
        slope = self.pull - Q @ (inverse @ self.total)
        dw = Penalised(M, M @ w - slope, penalty).minimum(w) - w
        shift = -inverse @ (self.total + Q.T @ dw)
        fall = float(self.pull @ dw + self.total @ shift) + penalty.value(w + dw) - penalty.value(w)
        if not shift.size:
            return Move(dw, 0.0 * b, fall)
        return Move(dw, shift if np.ndim(b) else float(shift[0]), fall)


class ModelledLoss(ABC):
    """A differentiable function of the predictions, with a curvature almost everywhere."""

    objective: Objective

    @abstractmethod
    def value(self, z: Array) -> float:
        """The function at z."""

    @abstractmethod
    def model(self, z: Array, floor: float) -> QuadraticModel:
        """Its model there, for one visit of the rows.

        Curvatures are at least the share ``floor`` of the largest there are: where the function is
        flat its model might have no minimum; with a floor of 1 it is above the function, as far
        as that is known.
        """

    def _scalar(self, u: Array, h: Array) -> QuadraticModel:
        """Of slopes u and curvatures h of one prediction a sample."""
        objective, design = self.objective, self.objective.design
        free = objective.fit_intercept
        ahead(design, [u], h, free, sums=[u])
        pull = design.rmatvec(u)
        total = np.array([u.sum()] if free else [])
        matrix = design.bordered_gram(h) if free else design.gram(h)
        return QuadraticModel(pull, total, matrix, lambda dz: u + h * dz)


class OwnLoss(ModelledLoss):
    """F itself, where it is differentiable: of one prediction a sample, or of K."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def value(self, z: Array) -> float:
        return self.objective.loss_value(z)

    def model(self, z: Array, floor: float) -> QuadraticModel:
        objective = self.objective
        u = objective.loss_derivative(z)
        if not isinstance(objective, MulticlassObjective):
            h, bound = objective.loss_curvature(z), objective.loss.curvature_bound
            least = objective.c * bound if np.isfinite(bound) else float(h.max())
            return self._scalar(u, np.maximum(h, floor * least))
        base: Any = objective.design.base
        free = objective.fit_intercept
        p = shares(z)
        p = p + floor * (1.0 / objective.classes - p)
        pull, blocks = class_sums(base, u, objective.c, p, free)
        size = blocks.shape[0] * blocks.shape[1]
        total = u.sum(axis=0) if free else np.zeros(0)
        bent = hessian_of_shares(p, objective.coefficients)
        return QuadraticModel(pull, total, blocks.reshape(size, size), lambda dz: u + bent(dz))


class SmoothedLoss(ModelledLoss):
    """max_u { u'z - F*(u) - |u - v|^2_D / 2 }: F, smoothed in bands about its kinks.

    F* is quadratic on a bounded box, and D = omega / (hi - lo): see ``Smoothed``.
    """

    def __init__(self, objective: Objective, centre: Array, omega: float) -> None:
        self.objective, self.centre, self.omega = objective, centre, omega
        self.epsilon = float(getattr(objective.loss, "epsilon", 0.0))

    def seen(self, z: Array) -> tuple[Array, Array, Array]:
        """The slopes u at z, the curvatures and the values of the smoothed terms, each (n,)."""
        objective = self.objective
        how: dict[str, Any] = {"epsilon": self.epsilon, "omega": self.omega}
        rows = objective.y, curvatures(objective), *objective.dual_bounds(), self.centre, z
        found: tuple[Array, Array, Array] = _seen(*rows, **how)
        return found

    def value(self, z: Array) -> float:
        return float(self.seen(z)[2].sum())

    def model(self, z: Array, floor: float) -> QuadraticModel:
        u, h, _ = self.seen(z)
        return self._scalar(u, np.maximum(h, floor * self.rate))

    @property
    def rate(self) -> Array:
        """The curvatures in the bands."""
        lo, hi = self.objective.dual_bounds()
        return 1.0 / (self.omega / (hi - lo) + curvatures(self.objective))

    def clipped(self, u: Array) -> Array:
        """The nearest u in the box."""
        return np.clip(u, *self.objective.dual_bounds())

    def hidden(self, z: Array, u: Array) -> float:
        """F(z) + F*(u) - u'z of the loss as it is, not below 0."""
        terms = self.objective.sample_terms(z, u)
        return max(float(terms.sum()), 0.0)


@rowwise
def _seen(
    y: Array,
    K: Array,
    lo: Array,
    hi: Array,
    centre: Array,
    z: Array,
    *,
    epsilon: float,
    omega: float,
) -> tuple[Array, Array, Array]:
    smooth = Smoothed(y, K, (lo, hi), epsilon, centre, omega)
    u, inside = smooth.slope(z)
    away = u - centre
    values = u * (z - y - 0.5 * K * u) - epsilon * np.abs(u) - 0.5 * smooth.D * away * away
    return u, np.where(inside, smooth.rate, 0.0), values


# Newton's method for a differentiable loss and any penalty that has a prox.


LEAST, MOST = 1e-8, 1.0
"""Curvatures of a model are at least this share of the largest there are, at first and at most;"""
FIRMER, LOOSER = 100.0, 0.1
"""it rises by the first factor where a step is cut short, and falls by the second where none is."""
SHORT = 0.5
"""Steps below this are cut short."""
FAR = 0.1
"""A step that was to gain more of P ends far from the solution: it is not evaluated."""


def proximal_newton(
    objective: Objective, w: Array, b: Any, *, sample: int = 0, seed: int = 0
) -> Iterator[Iterate]:
    """Minimise a differentiable loss plus any penalty by quadratic models of the loss.

    A step goes to the minimum of F(z) + u'dz + dz'F''(z) dz / 2 + Omega(w + dw), found over w alone
    (``Penalised``): it takes one Gram matrix, however long that lasts. Armijo's rule then asks for
    P(x + t dx) <= P(x) + 1e-4 t (u'dz + Omega(w + dw) - Omega(w)); w + t dw is feasible for t <= 1.
    A full step brings the dual point u + F''(z) dz with it, for which -X'u is a subgradient of the
    penalty at w + dw: feasible, whatever the penalty (Lee, Sun and Saunders, 2014,
    https://doi.org/10.1137/130921428). The start is the solution on ``sample`` rows drawn at
    random, where that is lower.
    """
    w, passes = objective.penalty.project(w), 1.0
    yield Iterate(w, b, None, passes, promise=np.inf)
    loss = OwnLoss(objective)
    at = reached(objective, loss, w, b)
    if 0 < sample < objective.n:
        rows = np.random.default_rng(seed).choice(objective.n, sample, replace=False)
        (w, b), more = Sample(objective, rows).solved(proximal_newton, w, b)
        other, passes = reached(objective, loss, w, b), passes + more
        at = min(at, other, key=lambda point: point.value)
    floor = LEAST
    while np.isfinite(at.value):
        model = loss.model(at.z, floor)
        before, (at, fall, t) = at, step(objective, loss, at, model)
        passes += 3.0 + objective.d
        if t == 0.0 and (floor == MOST or not fall < 0.0):
            return
        floor = next_floor(floor, t)
        if t == 0.0:
            continue
        u = model.expected(at.z - before.z) if t == 1.0 else None
        far = -fall > FAR * abs(at.value)
        yield Iterate(at.w, at.b, u, passes, {"step": t}, promise=np.inf if far else np.nan)
        if -fall <= EPS * abs(at.value):  # no further step changes P beyond rounding
            return


@dataclass(frozen=True)
class ModelledPoint:
    """(w, b), its predictions, and the loss modelled there plus the penalty."""

    w: Array
    b: Any
    z: Array
    value: float


def reached(objective: Objective, loss: ModelledLoss, w: Array, b: Any) -> ModelledPoint:
    """The point (w, b) as it is seen by products with X."""
    z = objective.predict(w, b)
    return ModelledPoint(w, b, z, loss.value(z) + objective.penalty.value(w))


def step(
    objective: Objective,
    loss: ModelledLoss,
    at: ModelledPoint,
    model: QuadraticModel,
) -> tuple[ModelledPoint, float, float]:
    """The point that a model leads to, the fall it promised, and the share t of the way gone."""
    penalty, w, b, z = objective.penalty, at.w, at.b, at.z
    move = model.move(penalty, w, b)
    if not (np.all(np.isfinite(move.dw)) and move.fall < 0.0):
        return at, move.fall, 0.0
    dz = objective.design.matvec(move.dw) + move.db

    def along(t: float) -> float:
        there = w + t * move.dw
        if t > 1.0 and not penalty.violation(there) <= ROUNDING:
            return np.inf
        return loss.value(z + t * dz) + penalty.value(there)

    t, value, _ = search(along, at.value, move.fall)
    there = penalty.project(w + t * move.dw)
    return ModelledPoint(there, b + t * move.db, z + t * dz, value), move.fall, t


def next_floor(floor: float, t: float) -> float:
    """More where a step was cut short, less where it was not."""
    factor = FIRMER if t < SHORT else LOOSER if t >= 1.0 else 1.0
    return min(max(factor * floor, LEAST), MOST)


# The method of multipliers for losses with kinks and any penalty that has a prox.


FIRST = 2.4
"""The first bands reach so many times as far as predictions miss the targets by."""
NARROWER = ((2, 0.25), (4, 0.45), (29, 0.7))
"""After so many models at most, the next bands are narrower by this factor;"""
WIDER = 4.0
"""after more they are wider: too few samples were in them."""
NARROWEST = 1e-8
"""Of the first width: u is rounded by EPS / NARROWEST of its box."""
CLOSE = 0.1
"""Models go on until one promises to gain no more than this share of what the bands hide,"""
STEPS = 30
"""or for so many of them."""
PATIENCE = 8
"""Centres without a smaller gap before it ends."""


def method_of_multipliers(objective: Objective, w: Array, b: float) -> Iterator[Iterate]:
    """Maximise D by proximal points u <- argmax D(u) - |u - v|^2_D / 2, v <- u, whatever Omega.

    Each is found through its own dual, F_v(X w + b) + Omega(w), whose loss is smoothed in bands
    about its kinks: models of it are minimised over w alone, each for two visits of the rows
    (``proximal_newton``). Then the centre v moves to u, and the bands get narrower. What the bands
    hide, F(z) + F*(u) - u'z, is the gap, for -X'u is a subgradient of Omega (Rockafellar, 1976,
    https://doi.org/10.1287/moor.1.2.97). Nothing but sums over the rows is asked of these.
    """
    w, passes = objective.penalty.project(w), 1.0
    if objective.fit_intercept and not w.any():
        b = float(objective.c @ objective.y) / float(objective.c.sum())
    yield Iterate(w, b, None, passes, promise=np.inf)
    far = np.abs(objective.predict(w, b) - objective.y)
    widest = FIRST * min(float(far.max()), 4.0 * float(far.mean())) or 1.0
    lo, hi = objective.dual_bounds()
    loss = SmoothedLoss(objective, 0.5 * (lo + hi), widest)
    at, floor, least, waited = reached(objective, loss, w, b), LEAST, np.inf, 0
    while waited < PATIENCE:
        at, u, hidden, count, floor = _solved(objective, loss, at, floor)
        passes += count * (3.0 + objective.d)
        size = objective.loss_value(at.z) + objective.penalty.value(at.w)
        promise = hidden / size if size > 0.0 else np.nan
        yield Iterate(at.w, at.b, u, passes, {"width": loss.omega}, promise=promise)
        waited = 0 if hidden < 0.5 * least else waited + 1
        least = min(hidden, least)
        share = next((share for most, share in NARROWER if count <= most), WIDER)
        width = min(max(share * loss.omega, NARROWEST * widest), widest)
        loss = SmoothedLoss(objective, loss.seen(at.z)[0], width)


def _solved(
    objective: Objective, loss: SmoothedLoss, at: ModelledPoint, floor: float
) -> tuple[ModelledPoint, Array, float, int, float]:
    """The minimum of the smoothed loss and the penalty, from there.

    Returns it with its u, what the bands hide there, how many models it took, and their floor.
    """
    at = replace(at, value=loss.value(at.z) + objective.penalty.value(at.w))
    count = 0
    while True:
        model = loss.model(at.z, floor)
        before, (at, fall, t) = at, step(objective, loss, at, model)
        stuck, floor, count = t == 0.0 and floor == MOST, next_floor(floor, t), count + 1
        u = loss.clipped(model.expected(at.z - before.z))
        hidden = loss.hidden(at.z, u)
        is_solved = t == 1.0 and -fall <= CLOSE * min(loss.hidden(at.z, loss.seen(at.z)[0]), hidden)
        if is_solved or stuck or not fall < -EPS * abs(at.value) or count == STEPS:
            return at, u, hidden, count, floor
