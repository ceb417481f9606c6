"""Mistakes that students make: what each does to the parts of a step, and its name in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any, ClassVar

import numpy as np

from ..numerics import Array, soft_threshold
from ..solvers.printed import Printed, level
from ..theory.constants import loss_smoothness, sample_smoothness, smoothness

# Methods of the lasso that are no gradient steps, with the mistakes that are made in them.


@dataclass(frozen=True)
class Recipe:
    """The next point, or all that are right, from those before; ``options`` make mistakes.

    b is the student's own: the certificate alone judges it.
    """

    move: Callable[..., Array]
    page: Printed
    step: Callable[[int], float]
    options: Mapping[str, Any] = field(default_factory=dict)
    hessian: ClassVar[None] = None
    is_sampled: ClassVar[bool] = False

    def next(self, xs: Sequence[Array], k: int) -> Array:
        """x_{k+1}, or a row for each coordinate that may have been taken."""
        X, y, _ = self.page.centred()
        if "raw" in self.options:
            X, y = self.page.X[:, :-1], self.page.objective.y
        lam, ws = level(self.page.objective), [x[:-1] for x in xs]
        found = np.atleast_2d(self.move(X, y, lam, self.step(k), ws, k, self.options))
        return np.column_stack([found, np.full(len(found), xs[k + 1][-1])])


def coordinate_descent(
    X: Array, y: Array, lam: float, step: float, ws: Sequence[Array], k: int, o: Any
) -> Array:
    """w after each single coordinate, or after all of them in turn."""
    n, d = X.shape
    sizes, w = np.sum(X * X, axis=0) / n, ws[k]
    t = lam * o.get("threshold", 1.0) / (n if "sum" in o else 1)
    start = w if "sweep" in o else ws[k - k % d]

    def taken(w: Array, j: int) -> Array:
        size = 1.0 if "undivided" in o else sizes[j]
        c = X[:, j] @ (y - X @ (start if "stale" in o else w)) / n
        c = c if "alone" in o else c + sizes[j] * w[j]
        value = soft_threshold(c / size, t) if "inside" in o else soft_threshold(c, t) / size
        return np.where(np.arange(d) == j, value, w)

    return reduce(taken, range(d), w) if "sweep" in o else np.array([taken(w, j) for j in range(d)])


def admm(X: Array, y: Array, lam: float, rho: float, ws: Sequence[Array], k: int, o: Any) -> Array:
    """v (or w) after k + 1 steps from 0, v that of the student where it is shown."""
    m, d = o.get("m", len(y)), X.shape[1]
    v, q, H = np.zeros(d), np.zeros(d), X.T @ X / m + rho * np.eye(d)
    for t in range(k + 1):
        v = v if "shows w" in o else ws[t]
        drawn = rho ** o.get("weight", 1.0) * (v - o.get("pull", 1.0) * q)
        w = np.linalg.solve(H, X.T @ y / m + drawn)
        level = lam * o.get("threshold", 1.0) * rho ** o.get("power", -1.0)
        v = soft_threshold(w if "alone" in o else w + q, level)
        q = q + o.get("sign", 1.0) * (w - (v if "shows w" in o or t == k else ws[t + 1]))
    return w if "shows w" in o else v


# The step of the page from a student's own iterates, in parts that a mistake alters.


Field = Callable[[Array], Array]


@dataclass(frozen=True)
class Parts:
    """x_{k+1} = prox_{s g}(y_k - s B^-1 (slope(a) + pull(a))), y_k = x_k + m_k (x_k - x_{k-1}).

    The gradient is taken at a = y_k, or at x_{k - late}; B is the Hessian, or I where there is
    none. A ``slope`` of shape (n, d + 1) has those of single samples, one of which was drawn.
    """

    step: Callable[[int], float]
    slope: Field
    pull: Field
    prox: Callable[[Array, float], Array]
    hessian: Field | None = None
    momentum: Callable[[int], float] = lambda k: 0.0
    late: int | None = None
    is_sampled: bool = False

    def direction(self, xs: Sequence[Array], k: int) -> tuple[Array, Array]:
        """y_k, and what is taken off it for a step of 1."""
        y = xs[k] + self.momentum(k) * (xs[k] - xs[max(k - 1, 0)])
        at = y if self.late is None else xs[max(k - self.late, 0)]
        gradient = self.slope(at) + self.pull(at)
        return y, gradient if self.hessian is None else solved(self.hessian(at), gradient)

    def next(self, xs: Sequence[Array], k: int) -> Array:
        """x_{k+1}, or a row for each sample that may have been drawn."""
        y, along = self.direction(xs, k)
        return self.prox(y - self.step(k) * along, self.step(k))


def solved(H: Array, g: Array) -> Array:
    """H^-1 g, by least squares where H is singular."""
    return np.linalg.lstsq(H, g, rcond=None)[0]


def slope_of(page: Printed, y: Array | None = None, c: Array | None = None) -> Field:
    """The gradient of sum_i c_i l(y_i, x~_i.x)."""
    objective = page.objective
    labels, weights = objective.y if y is None else y, objective.c if c is None else c
    return lambda x: page.X.T @ (weights * objective.loss.derivative(labels, page.X @ x))


def slopes_of(page: Printed, y: Array | None = None) -> Field:
    """Rows n c_i l'(y_i, x~_i.x) x~_i."""
    objective = page.objective
    labels, c = objective.y if y is None else y, objective.n * objective.c
    return lambda x: (c * objective.loss.derivative(labels, page.X @ x))[:, None] * page.X


def pull_of(page: Printed) -> Field:
    """A slope of Omega for w, 0 for b."""
    return lambda x: np.append(page.objective.penalty.subgradient(x[:-1]), 0.0)


def nothing(x: Array) -> Array:
    """0."""
    return np.zeros_like(x)


def same(x: Array, step: float) -> Array:
    """No prox."""
    return x


def theta(k: int) -> float:
    """theta_0 = 1, theta_{k+1} = (1 + sqrt(1 + 4 theta_k^2)) / 2."""
    value = 1.0
    for _ in range(k):
        value = (1.0 + np.sqrt(1.0 + 4.0 * value**2)) / 2.0
    return value


def momentum(k: int) -> float:
    """That of y_k: (theta_{k-1} - 1) / theta_k."""
    return (theta(k - 1) - 1.0) / theta(k) if k else 0.0


def gradient_descent(page: Printed, step: Callable[[int], float]) -> Parts:
    """x - s grad P(x)."""
    return Parts(step, slope_of(page), pull_of(page), same)


def subgradient(page: Printed, step: Callable[[int], float]) -> Parts:
    """Pi(x - s v), v a subgradient of P at x."""
    return Parts(step, slope_of(page), pull_of(page), lambda x, s: page.project(x))


def proximal_gradient(page: Printed, step: Callable[[int], float]) -> Parts:
    """prox_{s Omega}(x - s grad F(x))."""
    return Parts(step, slope_of(page), nothing, page.prox)


def accelerated_gradient(page: Printed, step: Callable[[int], float]) -> Parts:
    """y - s grad P(y)."""
    return Parts(step, slope_of(page), pull_of(page), same, momentum=momentum)


def fista(page: Printed, step: Callable[[int], float]) -> Parts:
    """prox_{s Omega}(y - s grad F(y))."""
    return Parts(step, slope_of(page), nothing, page.prox, momentum=momentum)


def newton(page: Printed, step: Callable[[int], float]) -> Parts:
    """x - H^-1 grad P(x)."""
    return Parts(step, slope_of(page), pull_of(page), same, page.hessian)


def sgd(page: Printed, step: Callable[[int], float]) -> Parts:
    """x - s grad f_i(x), i drawn."""
    return Parts(step, slopes_of(page), pull_of(page), same, is_sampled=True)


def pegasos(
    page: Printed, step: Callable[[int], float], first: int = 1, ball: bool = False
) -> Parts:
    """Stochastic subgradient steps 1 / (mu (k + first)), within |w| <= 1 / sqrt(lam) or not."""
    mu, size = page.objective.penalty.strong_convexity, level(page.objective) ** -0.5

    def into(x: Array, s: float) -> Array:
        return x * np.minimum(1.0, size / np.linalg.norm(x, axis=-1, keepdims=True))

    prox = into if ball else same
    falling = Parts(lambda k: 1.0 / (mu * (k + first)), slopes_of(page), pull_of(page), prox)
    return replace(falling, is_sampled=True)


def recipe(move: Callable[..., Array], options: Any = None) -> Callable[..., Recipe]:
    """A method of the lasso, as a kind."""
    return lambda page, step: Recipe(move, page, step, options or {})


@dataclass(frozen=True)
class Kind:
    """A kind of solver: its step, the L of its theorem, other forms and readings that are right.

    ``page`` is its name in ``textbook``, ``usual`` the step where none is declared, 1/L if None;
    ``is_fixed`` says that there is none to declare.
    """

    parts: Callable[..., Any]
    L: Callable[..., float] | None = None
    also: tuple[Callable[..., Any], ...] = ()
    reads: tuple[str, ...] = ("not averaged",)
    page: str = ""
    usual: float | None = None
    is_fixed: bool = False


MEANS = ("averaged", "averaged without the start")
PEGASOS = tuple(
    partial(pegasos, first=first, ball=ball) for first, ball in ((2, False), (1, True), (2, True))
)
KINDS = {
    "gradient_descent": Kind(gradient_descent, smoothness),
    "accelerated_gradient": Kind(accelerated_gradient, smoothness),
    "proximal_gradient": Kind(proximal_gradient, loss_smoothness),
    "fista": Kind(fista, loss_smoothness),
    "subgradient": Kind(subgradient),
    "averaged_subgradient": Kind(subgradient, reads=MEANS, page="subgradient"),
    "newton": Kind(newton, is_fixed=True),
    "sgd": Kind(sgd, sample_smoothness),
    "averaged_sgd": Kind(sgd, sample_smoothness, reads=MEANS, page="sgd"),
    "pegasos": Kind(pegasos, also=PEGASOS, reads=("not averaged", *MEANS), is_fixed=True),
    "coordinate_descent": Kind(
        recipe(coordinate_descent),
        also=(recipe(coordinate_descent, {"sweep": True}),),
        is_fixed=True,
    ),
    "admm": Kind(recipe(admm), also=(recipe(admm, {"shows w": True}),), usual=0.5),
}
"""What can be graded, by the names of ``textbook``, and means of the points."""


Alter = Callable[[Parts, Printed], Parts | None]


def times(factor: Callable[[Printed], float], what: str) -> Alter:
    """A part, ``slope`` or ``pull``, multiplied."""

    def alter(parts: Parts, page: Printed) -> Parts:
        part, share = getattr(parts, what), factor(page)
        changed: dict[str, Any] = {what: lambda x: share * part(x)}
        return replace(parts, **changed)

    return alter


def stepped(rule: Callable[[float, int, Printed], float]) -> Alter:
    """Another step: of that which was declared, and k."""

    def alter(parts: Parts, page: Printed) -> Parts:
        return replace(parts, step=lambda k: rule(parts.step(0), k, page))

    return alter


def shrunk(prox: Callable[[Parts, Printed], Callable[[Array, float], Array]]) -> Alter:
    """Another prox or projection, where there is one."""

    def alter(parts: Parts, page: Printed) -> Parts | None:
        is_there = parts.prox is not same and not parts.is_sampled
        return replace(parts, prox=prox(parts, page)) if is_there else None

    return alter


def proxed(step: Callable[[float], float]) -> Alter:
    """The prox of another step."""
    return shrunk(lambda parts, page: lambda x, s: parts.prox(x, step(s)))


def relabelled(labels: Callable[[Array], Array]) -> Alter:
    """Other labels of two classes."""

    def alter(parts: Parts, page: Printed) -> Parts | None:
        y = page.objective.y
        if set(np.unique(y)) != {-1.0, 1.0}:
            return None
        of = slopes_of if parts.is_sampled else slope_of
        return replace(parts, slope=of(page, labels(y)))

    return alter


def some(rows: Callable[[int], slice]) -> Alter:
    """Some of the samples alone, as if there were no others."""

    def alter(parts: Parts, page: Printed) -> Parts | None:
        c, kept = page.objective.c, np.zeros(page.objective.n)
        kept[rows(len(c))] = 1.0
        part = c * kept * (c.sum() / float(c @ kept)) if c @ kept else c
        return None if parts.is_sampled else replace(parts, slope=slope_of(page, c=part))

    return alter


def intercept(factor: Callable[[Printed], float]) -> Alter:
    """Another slope for b."""

    def alter(parts: Parts, page: Printed) -> Parts | None:
        if not page.objective.fit_intercept:
            return None
        shares = np.append(np.ones(page.objective.d), factor(page))
        return replace(parts, slope=lambda x: shares * parts.slope(x))

    return alter


def penalised(parts: Parts, page: Printed) -> Parts | None:
    """B in the penalty, too."""
    if not page.objective.fit_intercept or parts.pull is nothing:
        return None
    level = page.objective.penalty.strong_convexity
    return replace(parts, pull=lambda x: np.append(parts.pull(x)[:-1], level * x[-1]))


def in_turn(parts: Parts, page: Printed) -> Parts | None:
    """The slope of b at the new w."""
    if not page.objective.fit_intercept or parts.is_sampled or parts.hessian is not None:
        return None

    def slope(x: Array) -> Array:
        first = parts.slope(x)
        ahead = x - parts.step(0) * (first + parts.pull(x))
        return np.append(first[:-1], parts.slope(np.append(ahead[:-1], x[-1]))[-1])

    return replace(parts, slope=slope)


def p_alone(parts: Parts, page: Printed) -> Parts | None:
    """H of p_i in place of p_i (1 - p_i)."""
    if parts.hessian is None or page.objective.loss.labels != "binary":
        return None

    def hessian(x: Array) -> Array:
        p = 1.0 / (1.0 + np.exp(-(page.X @ x)))
        return page.hessian(x) + page.X.T @ ((page.objective.c * p**2)[:, None] * page.X)

    return replace(parts, hessian=hessian)


def bent(hessian: Callable[[Parts, Printed, Array], Array]) -> Alter:
    """Another Hessian, where there is one."""

    def alter(parts: Parts, page: Printed) -> Parts | None:
        if parts.hessian is None:
            return None
        return replace(parts, hessian=lambda x: hessian(parts, page, x))

    return alter


def without_level(parts: Parts, page: Printed, x: Array) -> Array:
    """The Hessian of the loss alone."""
    of = page.objective
    curvature = of.c * of.loss.curvature(of.y, page.X @ x)
    return page.X.T @ (curvature[:, None] * page.X)


def moving(momentum: Callable[[Parts, int], float]) -> Alter:
    """Another momentum, where there is one."""

    def alter(parts: Parts, page: Printed) -> Parts | None:
        if not parts.momentum(5):
            return None
        return replace(parts, momentum=lambda k: momentum(parts, k))

    return alter


def at_x(parts: Parts, page: Printed) -> Parts | None:
    """The gradient at x_k, where the page takes that at y_k."""
    return replace(parts, late=0) if parts.momentum(5) else None


def late(parts: Parts, page: Printed) -> Parts:
    """The gradient at x_{k-1}."""
    return replace(parts, late=1)


def twice(parts: Parts, page: Printed) -> Parts | None:
    """The penalty in the gradient and in the prox."""
    return replace(parts, pull=pull_of(page)) if parts.pull is nothing else None


def prox_first(parts: Parts, page: Printed) -> Parts | None:
    """The prox before the gradient step, not after it."""
    if parts.prox is same or parts.momentum(5):
        return None

    def before(x: Array, s: float) -> Array:
        return x

    start = parts.prox

    def slope(x: Array) -> Array:
        near = start(x, parts.step(0))
        return (x - near) / parts.step(0) + parts.slope(near) + parts.pull(near)

    return replace(parts, slope=slope, pull=nothing, prox=before)


def reversed_margin(parts: Parts, page: Printed) -> Parts | None:
    """Samples that are on the right side pull, the others do not."""
    loss, y = page.objective.loss, page.objective.y
    if loss.is_smooth or set(np.unique(y)) != {-1.0, 1.0}:
        return None
    c = page.objective.c * (page.objective.n if parts.is_sampled else 1.0)

    def slope(x: Array) -> Array:
        u = -c * y * (y * (page.X @ x) >= 1.0)
        return u[:, None] * page.X if parts.is_sampled else page.X.T @ u

    return replace(parts, slope=slope)


def always(parts: Parts, page: Printed) -> Parts | None:
    """Every sample pulls, whatever its margin."""
    y, c = page.objective.y, page.objective.c * (page.objective.n if parts.is_sampled else 1.0)
    if page.objective.loss.is_smooth or set(np.unique(y)) != {-1.0, 1.0}:
        return None
    pulls = -(c * y)[:, None] * page.X
    constant = pulls if parts.is_sampled else pulls.sum(axis=0)
    return replace(parts, slope=lambda x: constant)


def minus_y(parts: Parts, page: Printed) -> Parts | None:
    """P - y with y = -1 or +1, where p is the probability of +1."""
    y, of = page.objective.y, page.objective
    if not of.loss.is_smooth or set(np.unique(y)) != {-1.0, 1.0} or parts.is_sampled:
        return None
    return replace(
        parts, slope=lambda x: page.X.T @ (of.c * (1.0 / (1.0 + np.exp(-(page.X @ x))) - y))
    )


def all_of_them(parts: Parts, page: Printed) -> Parts | None:
    """The gradient of all samples, where one is drawn."""
    return replace(parts, slope=slope_of(page), is_sampled=False) if parts.is_sampled else None


def clipped(parts: Parts, page: Printed) -> Callable[[Array, float], Array]:
    """Each coordinate cut at the length that the projection leaves."""

    def prox(x: Array, s: float) -> Array:
        size = float(np.linalg.norm(parts.prox(1e9 * np.ones_like(x), s)[:-1]))
        return np.append(np.clip(x[:-1], -size, size), x[-1])

    return prox


def onto_sphere(parts: Parts, page: Printed) -> Callable[[Array, float], Array]:
    """Every point is scaled to the length of the ball, those inside too."""

    def prox(x: Array, s: float) -> Array:
        size = float(np.linalg.norm(parts.prox(1e9 * np.ones_like(x), s)[:-1]))
        return np.append(x[:-1] * size / (float(np.linalg.norm(x[:-1])) or 1.0), x[-1])

    return prox


def hard(parts: Parts, page: Printed) -> Callable[[Array, float], Array]:
    """What is not set to 0 is not shrunk."""
    return lambda x, s: np.where(parts.prox(x, s) == 0.0, 0.0, x)


def with_b(parts: Parts, page: Printed) -> Callable[[Array, float], Array]:
    """The prox of (w, b), b among the coordinates."""
    return lambda x, s: page.objective.penalty.prox(x, s)


def n_of(page: Printed) -> float:
    """N samples."""
    return float(page.objective.n)


MISTAKES: dict[str, tuple[str, Alter]] = {
    "sign": ("the step goes uphill: + in place of -", stepped(lambda s, k, p: -s)),
    "sum": ("the slope of the loss is n times too large: 1/n is missing", times(n_of, "slope")),
    "mean": (
        "the slope of the loss is divided by n once too often",
        times(lambda p: 1 / n_of(p), "slope"),
    ),
    "no penalty": ("the slope of the penalty is missing", times(lambda p: 0.0, "pull")),
    "penalty twice": ("the penalty is twice: its slope is lam w", times(lambda p: 2.0, "pull")),
    "half the penalty": ("the penalty counts by half", times(lambda p: 0.5, "pull")),
    "penalty / n": ("the penalty is divided by n", times(lambda p: 1.0 / n_of(p), "pull")),
    "n times the penalty": ("the penalty is multiplied by n", times(n_of, "pull")),
    "sign of the penalty": ("the penalty has the wrong sign", times(lambda p: -1.0, "pull")),
    "square without 1/2": ("the slope forgets the 1/2 of the loss", times(lambda p: 2.0, "slope")),
    "half the loss": ("the slope of the loss is half of what it is", times(lambda p: 0.5, "slope")),
    "sign of the loss": ("the slope of the loss has a wrong sign", times(lambda p: -1.0, "slope")),
    "margin reversed": ("samples beyond the margin pull, and those within do not", reversed_margin),
    "labels 0 and 1": ("the labels are 0 and 1, not -1 and +1", relabelled(lambda y: (y + 1) / 2)),
    "labels swapped": ("the two classes are exchanged", relabelled(lambda y: -y)),
    "p - y": ("p - y takes labels 0 and 1; these are -1 and +1", minus_y),
    "b penalised": ("b is in the penalty; it is not penalised", penalised),
    "b fixed": ("b is never updated", intercept(lambda p: 0.0)),
    "b summed": ("the slope of b is a sum, that of w a mean", intercept(n_of)),
    "b averaged twice": ("the slope of b is divided by n twice", intercept(lambda p: 1 / n_of(p))),
    "sign of b": ("b moves the wrong way", intercept(lambda p: -1.0)),
    "w before b": ("b is updated with the new w: both take the slope at the old point", in_turn),
    "half the data": ("the slope is that of half the samples", some(lambda n: slice(0, n // 2))),
    "last sample": ("the last sample is left out", some(lambda n: slice(0, n - 1))),
    "first sample": ("the first sample is left out", some(lambda n: slice(1, n))),
    "no margin": ("every sample pulls, those beyond the margin too", always),
    "stale gradient": ("the slope is that of the iterate before", late),
    "gradient at x": ("the slope is taken at x_k; the page takes it at y_k", at_x),
    "no momentum": ("there is no momentum", moving(lambda p, k: 0.0)),
    "momentum of the other sign": ("the momentum is negative", moving(lambda p, k: -p.momentum(k))),
    "momentum too late": ("the momentum is a step late", moving(lambda p, k: p.momentum(k - 1))),
    "momentum 1": ("the momentum is 1 from the beginning", moving(lambda p, k: float(k > 0))),
    "no prox": ("the prox or projection is missing", shrunk(lambda p, page: same)),
    "threshold without step": ("the threshold is lam; it is step times lam", proxed(lambda s: 1.0)),
    "threshold twice": ("the threshold is twice too large", proxed(lambda s: 2.0 * s)),
    "half the threshold": ("the threshold is half of what it is", proxed(lambda s: 0.5 * s)),
    "hard threshold": ("what is above the threshold is not shrunk", shrunk(hard)),
    "b thresholded": ("b is in the prox; it is not penalised", shrunk(with_b)),
    "clipped": ("each coordinate is cut; the projection on a ball scales w", shrunk(clipped)),
    "onto the sphere": ("points inside of the ball are moved to its border", shrunk(onto_sphere)),
    "penalty in both": ("the penalty is in the slope and in the prox", twice),
    "prox first": ("the prox comes before the slope: it comes after the step", prox_first),
    "Hessian without lam": ("lam I is missing in the Hessian", bent(without_level)),
    "Hessian of the sum": ("the Hessian lacks 1/n", bent(lambda p, q, x: n_of(q) * q.hessian(x))),
    "Hessian of p": ("the weights of the Hessian are p; they are p (1 - p)", p_alone),
    "diagonal Hessian": (
        "the Hessian is its diagonal alone",
        bent(lambda p, q, x: np.diag(np.diag(q.hessian(x)))),
    ),
    "no Hessian": ("the Hessian is missing: a gradient step", bent(lambda p, q, x: np.eye(len(x)))),
    "Hessian at 0": ("the Hessian is that of the start", bent(lambda p, q, x: q.hessian(0.0 * x))),
    "step doubled": ("the step is twice the declared one", stepped(lambda s, k, p: 2.0 * s)),
    "step halved": ("the step is half the declared one", stepped(lambda s, k, p: 0.5 * s)),
    "step times n": ("the step is n times the declared one", stepped(lambda s, k, p: n_of(p) * s)),
    "step / n": ("the step is 1/n of the declared one", stepped(lambda s, k, p: s / n_of(p))),
    "step 1/t": ("the steps fall as 1/(t + 1), undeclared", stepped(lambda s, k, p: s / (k + 1))),
    "step 1/sqrt(t)": ("the steps fall as 1/sqrt(t)", stepped(lambda s, k, p: s / (k + 1) ** 0.5)),
    "step constant": ("the step stays that of the start, undeclared", stepped(lambda s, k, p: s)),
    "step of the next": (
        "each step is that of the next iteration",
        lambda p, page: replace(p, step=lambda k: p.step(k + 1)),
    ),
    "step without lam": (
        "the step has a factor lam too much: of 1/(lam t) it leaves 1/t",
        lambda p, page: replace(p, step=lambda k: level(page.objective) * p.step(k)),
    ),
    "step 1/(n lam t)": (
        "the steps are 1/(n lam t); they are 1/(lam t)",
        lambda p, page: replace(p, step=lambda k: p.step(k) / n_of(page)),
    ),
    "all samples": ("the slope is that of all samples; one is to be drawn", all_of_them),
}
"""In the order in which they are tried: the first that explains all steps is named."""


SLIPS: dict[Any, dict[str, tuple[str, dict[str, Any]]]] = {
    coordinate_descent: {
        "no threshold": ("the threshold is missing", {"threshold": 0.0}),
        "threshold without 1/|x_j|^2": (
            "lam is taken off after the division: the threshold is lam / (|x_j|^2 / n)",
            {"inside": True},
        ),
        "not divided": ("the division by |x_j|^2 / n is missing", {"undivided": True}),
        "own part": ("x_j w_j is not added back to the residual", {"alone": True}),
        "stale residual": ("the residual is that of the sweep's start", {"stale": True}),
        "threshold twice": ("the threshold is twice too large", {"threshold": 2.0}),
        "half the threshold": ("the threshold is half of what it is", {"threshold": 0.5}),
        "sum": ("the threshold of the sums x_j.r is lam; it is n lam", {"sum": True}),
        "not centred": ("X and y are not centred: b is not at its best", {"raw": True}),
    },
    admm: {
        "no threshold": ("the threshold is missing", {"threshold": 0.0}),
        "threshold without rho": ("the threshold is lam; it is lam / rho", {"power": 0.0}),
        "threshold times rho": ("the threshold is lam rho; it is lam / rho", {"power": 1.0}),
        "no dual update": ("q is never updated", {"sign": 0.0}),
        "sign of the dual update": ("q is q - w + v; it is q + w - v", {"sign": -1.0}),
        "sign of q": ("w is drawn to v + q; it is to v - q", {"pull": -1.0}),
        "q left out": ("v is the threshold of w; it is that of w + q", {"alone": True}),
        "wrong rho": ("the right side has v - q without rho", {"weight": 0.0}),
        "sum": ("X'X and X'y are not divided by n", {"m": 1.0}),
        "not centred": ("X and y are not centred: b is not at its best", {"raw": True}),
    },
}
"""Mistakes by the recipe in which they are made: name, words, options."""


def mistakes(parts: Any, page: Printed) -> Iterator[tuple[str, str, Any]]:
    """The name of each mistake, its words, and what it makes of the parts of the page."""
    if isinstance(parts, Recipe):
        for name, (words, changed) in SLIPS[parts.move].items():
            yield name, words, replace(parts, options={**parts.options, **changed})
        return
    for name, (words, alter) in MISTAKES.items():
        altered = alter(parts, page)
        if altered is not None:
            yield name, words, altered
