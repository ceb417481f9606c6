"""The step of the page from a student's own iterates, in parts that a mistake alters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..numerics import Array
from ..solvers.printed import Printed, level
from ..theory.constants import loss_smoothness, sample_smoothness, smoothness
from .recipes import Recipe, admm, coordinate_descent

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
