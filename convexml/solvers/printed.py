"""The algorithms of the page on a posed problem: what f, g, X and y are there.

x = (w, b), b last and 0 where there is no intercept; P is the mean of
f_i(x) = n c_i l(y_i, x~_i.x) + Omega(w), x~_i = (x_i, 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np

from .. import textbook, theory
from ..numerics import Array
from ..penalties import L2Ball
from ..problem import Objective
from ..theory import corner_slope, round_slope, strong_convexity
from ..theory.constants import (
    has_bounded_slope,
    loss_smoothness,
    row_squares,
    sample_loss_smoothness,
    sample_smoothness,
    smoothness,
)
from ..validation import positive_integer, positive_number
from .composite import Composite
from .driver import Iterate
from .needs import BOUNDED, GENERAL, SCALAR, SMOOTH, SPLIT, by_name
from .steps import Constant, InverseSqrt, InverseTime, Schedule, constant, schedule

PREFIX = "textbook."


class Printed(Composite):
    """An objective in the letters of the page: f, g, f_i and X~, of one variable x.

    Parameters
    ----------
    objective : Objective
    """

    @cached_property
    def X(self) -> Array:
        """X~ = [X 1], with 0 for 1 where there is no intercept."""
        X = self.objective.design.dense()
        return np.column_stack([X, np.full(len(X), float(self.objective.fit_intercept))])

    def start(self, w: Array, b: float) -> Array:
        """(w, b); where w is 0, from 0, as the page begins."""
        return self.pack(w, b if np.any(w) else 0.0)

    def sample(self, x: Array, i: int, by: Callable[[Array], Array]) -> Array:
        """n c_i l'(y_i, x~_i.x) x~_i, and a slope of Omega for w."""
        objective, row = self.objective, self.X[i]
        self.passes += 2.0 / objective.n
        slope = objective.loss.derivative(objective.y[i : i + 1], np.array([row @ x]))
        return self._plus(objective.n * objective.c[i] * slope * row, by(x[:-1]))

    def met(self, x: Array, t: int) -> Array:
        """A subgradient of f_i at x, i = t mod n: the samples are met in their order."""
        return self.sample(x, t % self.objective.n, self.objective.penalty.subgradient)

    def suffered(self, x: Array, t: int) -> float:
        """f_i(x) for the same i."""
        objective, i = self.objective, t % self.objective.n
        loss = objective.loss.value(objective.y[i : i + 1], np.array([self.X[i] @ x]))[0]
        return float(objective.n * objective.c[i] * loss) + objective.penalty.value(x[:-1])

    def hessian(self, x: Array) -> Array:
        """X~'HX~ with H_i = c_i l''(y_i, z_i), and that of Omega; b that is fixed has step 0."""
        objective, (w, b) = self.objective, self.split(x)
        self.passes += objective.d
        h = objective.loss_curvature(objective.predict(w, b))
        level = objective.penalty.manifold(w, np.zeros_like(w), np.ones_like(w)).hessian
        bent = self.X.T @ (h[:, None] * self.X)
        bent[:-1, :-1] += np.diag(level) if level.ndim == 1 else level
        bent[-1, -1] += 0.0 if objective.fit_intercept else 1.0
        return bent

    def project(self, x: Array) -> Array:
        """The projection on the constraints of Omega, where it has any."""
        return self.prox(x, 1.0) if self.objective.penalty.is_constraint else x

    def centred(self) -> tuple[Array, Array, Callable[[Array], float]]:
        """X and y as the page has them, and b of w: (1/2n)|y - X w|^2 is the loss with its best b.

        Rows are multiplied by sqrt(n c_i / sum c), after their weighted means were taken off.
        """
        c, X, y = self.objective.c, self.X[:, :-1], self.objective.y
        if not self.objective.fit_intercept:
            mean, middle = np.zeros(X.shape[1]), 0.0
        else:
            mean, middle = c @ X / c.sum(), float(c @ y / c.sum())
        root = np.sqrt(len(y) * c / c.sum())
        return root[:, None] * (X - mean), root * (y - middle), lambda w: middle - float(mean @ w)


Run = Iterator[Iterate]


def told(page: Printed, points: Iterator[Array], **facts: float) -> Run:
    """What the driver wants to see of the points x of the page."""
    for x in points:
        yield Iterate(*page.split(x), None, page.passes, facts)


def least_step(step: float | None, owner: str, L: float) -> float:
    """The step that was given, else 1/L."""
    given = (1.0 / L if 0.0 < L < np.inf else 1.0) if step is None else step
    return positive_number(given, owner, "step")


def gradient_descent(objective: Objective, w: Array, b: float, *, step: Any = None) -> Run:
    """``textbook.gradient_descent`` for P; step 1/L by default, 1 where no L is known."""
    page = Printed(objective)
    rule = schedule(
        step, "textbook.gradient_descent", lambda: least_step(None, "", smoothness(objective))
    )
    points = textbook.gradient_descent(page.gradient, page.start(w, b), rule)
    for t, x in enumerate(points):
        yield Iterate(*page.split(x), None, page.passes, {"step": rule(max(t - 1, 0))})


def accelerated_gradient(
    objective: Objective, w: Array, b: float, *, step: float | None = None
) -> Run:
    """``textbook.accelerated_gradient`` for P; step 1/L by default."""
    page = Printed(objective)
    gamma = least_step(step, "textbook.accelerated_gradient", smoothness(objective))
    points = textbook.accelerated_gradient(page.gradient, page.start(w, b), gamma)
    return told(page, points, step=gamma, restarted_at=0.0)


def proximal_gradient(
    objective: Objective, w: Array, b: float, *, step: float | None = None
) -> Run:
    """``textbook.proximal_gradient`` for F + Omega, ISTA among it; step 1/L by default."""
    page = Printed(objective)
    gamma = least_step(step, "textbook.proximal_gradient", loss_smoothness(objective))
    points = textbook.proximal_gradient(page.loss_gradient, page.prox, page.start(w, b), gamma)
    return told(page, points, step=gamma)


def fista(objective: Objective, w: Array, b: float, *, step: float | None = None) -> Run:
    """``textbook.fista`` for F + Omega; step 1/L by default."""
    page = Printed(objective)
    gamma = least_step(step, "textbook.fista", loss_smoothness(objective))
    points = textbook.fista(page.loss_gradient, page.prox, page.start(w, b), gamma)
    return told(page, points, step=gamma, restarted_at=0.0)


def subgradient(
    objective: Objective, w: Array, b: float, *, step: Any = None, average: bool = True
) -> Run:
    """``textbook.subgradient`` for P, averaged.

    Steps by default: B / (rho sqrt(t + 1)) with B = 1 and rho = sum c_i |x~_i|.
    """
    page = Printed(objective)
    usual = InverseSqrt(1.0 / float(objective.c @ row_lengths(objective)))
    rule = usual if step is None else schedule(step, "textbook.subgradient", float)
    start, by = page.start(w, b), page.project
    points = textbook.subgradient(page.subgradient, start, rule, by, average=average)
    return counted(page, points, rule, average)


def counted(page: Printed, points: Iterator[Array], rule: Schedule, average: bool) -> Run:
    """The same with the next step, the steps so far, and whether means are yielded."""
    for t, x in enumerate(points):
        facts = {"step": rule(t), "steps": float(t), "averaged": float(average)}
        yield Iterate(*page.split(x), None, page.passes, facts)


def sgd(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: Any = None,
    average: bool = False,
    seed: int = 0,
) -> Run:
    """``textbook.sgd`` for P = mean f_i, an iterate a sample.

    Steps by default: 1 / (2 L_max) where that is known; else 1 / (mu (t + 1)) where P is
    mu-strongly convex by its penalty; else B / (rho sqrt(t + 1)) with B = 1 and
    rho = max n c_i |x~_i|. ``average`` yields the mean of the points so far.
    """
    page = Printed(objective)
    start = page.start(w, b)
    rule = usual_step(objective) if step is None else schedule(step, "textbook.sgd", float)
    by = objective.penalty.subgradient
    points = textbook.sgd(
        lambda x, i: page.sample(x, i, by), objective.n, start, rule, seed, average
    )
    return counted(page, points, rule, average)


def usual_step(objective: Objective) -> Schedule:
    """The steps that the notes take for stochastic gradients: see ``sgd``."""
    L, mu = sample_smoothness(objective), objective.penalty.strong_convexity
    if 0.0 < L < np.inf:
        return Constant(0.5 / L)
    if mu > 0.0 and not objective.fit_intercept:
        return InverseTime(1.0 / mu)
    return InverseSqrt(1.0 / float(np.max(objective.n * objective.c * row_lengths(objective))))


def row_lengths(objective: Objective) -> Array:
    """|x~_i|, at least the smallest number above 0."""
    return np.sqrt(np.maximum(row_squares(objective), np.finfo(float).tiny))


def pegasos(objective: Objective, w: Array, b: float, *, seed: int = 0) -> Run:
    """``textbook.pegasos``: P / sum c is (lam/2)|w|^2 + mean hinge, lam = level / sum c."""
    page = Printed(objective)
    lam = objective.penalty.strong_convexity / float(objective.c.sum())
    for t, mean in enumerate(textbook.pegasos(page.X[:, :-1], objective.y, lam, seed)):
        yield Iterate(mean, 0.0, None, page.passes, {"steps": t + 1.0})
        page.passes += 2.0 / objective.n


def saga(
    objective: Objective, w: Array, b: float, *, step: float | None = None, seed: int = 0
) -> Run:
    """``textbook.saga`` for mean f_i + Omega; step 1 / (4 L_max) by default, its theorem's."""
    page = Printed(objective)
    gamma = least_step(step, "textbook.saga", 4.0 * sample_loss_smoothness(objective))
    points = textbook.saga(
        lambda x, i: page.sample(x, i, np.zeros_like),
        page.prox,
        objective.n,
        page.start(w, b),
        gamma,
        seed,
    )
    return counted(page, points, Constant(gamma), average=False)


def played(page: Printed, points: Iterator[Array], step: float, ball: float) -> Run:
    """The mean of the points played so far, pass after pass, and what they have suffered."""
    mean, suffered = np.zeros(()), 0.0
    for t, x in enumerate(points):
        mean = mean + (x - mean) / (t + 1)
        if t % page.objective.n == 0:
            yield page.iterate(mean, step=step, steps=t, suffered=suffered, ball=ball)
        suffered += page.suffered(x, t)


def rounds(horizon: int | None, objective: Objective, owner: str) -> float:
    """The square root of the number of rounds that a step is made for, 100 n by default."""
    count = 100 * objective.n if horizon is None else positive_integer(horizon, owner, "horizon")
    return float(np.sqrt(count))


def field(
    objective: Objective, x: Array, owner: str, step: Any, ball: Any, horizon: int | None
) -> tuple[float, float, Callable[[Array], Array]]:
    """The radius B of the ball that is played in, the step B / (G sqrt(T)), and the projection.

    The ball holds the solution: mu |x_0 - x*|^2 / 2 <= P(x_0) - P* <= P(x_0), or
    mu |w*|^2 / 2 <= P*. It is one of (w, b) where the slope of the loss is unbounded, else of w;
    where mu = 0 it is all there is, and the step takes P(x_0) / G for B.
    """
    value, penalty, whole = objective.primal(x[:-1], x[-1]), objective.penalty, False
    mu, start = penalty.strong_convexity, 0.0
    if not has_bounded_slope(objective):
        whole, mu, start = True, strong_convexity(objective), float(np.linalg.norm(x))
    if ball is not None:
        ball = positive_number(ball, owner, "ball")
    else:
        ball = start + float(np.sqrt(2.0 * value / mu)) if mu > 0.0 else np.inf
    if isinstance(penalty, L2Ball) and not objective.fit_intercept:
        ball = min(ball, penalty.t)
    G = round_slope(objective, ball) or 1.0
    B = (ball if np.isfinite(ball) else value / G) or 1.0

    def into(x: Array) -> Array:
        x = np.append(penalty.project(x[:-1]), x[-1])
        part = x if whole else x[:-1]
        size = float(np.linalg.norm(part))
        if size > ball:
            part *= ball / size
        return x

    return ball, constant(step, owner, lambda: B / (G * rounds(horizon, objective, owner))), into


def online_gradient_descent(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    ball: float | None = None,
    horizon: int | None = None,
) -> Run:
    """``textbook.online_gradient_descent`` for f_0, f_1, ..., pass after pass: means of the points.

    Step B / (G sqrt(T)) by default, T = ``horizon``, B = ``ball``: see ``field``.
    """
    page, owner = Printed(objective), "textbook.online_gradient_descent"
    x = page.pack(objective.penalty.project(w), b)
    ball, eta, into = field(objective, x, owner, step, ball, horizon)
    points = textbook.online_gradient_descent(page.met, into(x), eta, into)
    return played(page, points, eta, ball)


def follow_the_regularized_leader(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    ball: float | None = None,
    horizon: int | None = None,
) -> Run:
    """``textbook.follow_the_regularized_leader`` for |w - w_0|^2 / 2: means of the leaders.

    Step and ball as for ``online_gradient_descent``.
    """
    page, owner = Printed(objective), "textbook.follow_the_regularized_leader"
    x = page.pack(objective.penalty.project(w), 0.0)
    ball, eta, into = field(objective, x, owner, step, ball, horizon)
    points = textbook.follow_the_regularized_leader(
        lambda x, t: eta * page.met(x, t), len(x), 1.0, lambda moved: into(x + moved)
    )
    return played(page, points, eta, ball)


def exponentiated_gradient(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    horizon: int | None = None,
) -> Run:
    """``textbook.exponentiated_gradient`` on the 2 d corners of |w|_1 <= t: means of the points.

    Step sqrt(2 log(2 d) / T) / G by default, T = ``horizon``; it starts at w = 0, whatever w0.
    """
    page, d, t = Printed(objective), objective.d, objective.penalty.t  # type: ignore[attr-defined]
    owner, corners = "textbook.exponentiated_gradient", t * np.vstack([np.eye(d), -np.eye(d)])
    usual = float(np.sqrt(2.0 * np.log(2.0 * d))) / (corner_slope(objective) or 1.0)
    eta = constant(step, owner, lambda: usual / rounds(horizon, objective, owner))

    def slope(p: Array, k: int) -> Array:
        return corners @ page.met(page.pack(p @ corners, 0.0), k)[:-1]

    shares = textbook.exponentiated_gradient(slope, 2 * d, eta)
    return played(page, (page.pack(p @ corners, 0.0) for p in shares), eta, np.inf)


def newton(objective: Objective, w: Array, b: float) -> Run:
    """``textbook.newton`` for P: t = 1, no search."""
    page = Printed(objective)
    return told(page, textbook.newton(page.gradient, page.hessian, page.start(w, b)))


def damped_newton(
    objective: Objective, w: Array, b: float, *, alpha: float = 0.25, beta: float = 0.5
) -> Run:
    """``textbook.damped_newton`` for P."""
    page = Printed(objective)
    start = page.start(w, b)
    return told(
        page, textbook.damped_newton(page.value, page.gradient, page.hessian, start, alpha, beta)
    )


def irls(objective: Objective, w: Array, b: float) -> Run:
    """``textbook.irls`` on [X 1], or on X where there is no intercept."""
    page = Printed(objective)
    X = page.X if objective.fit_intercept else page.X[:, :-1]
    for x in textbook.irls(X, objective.y, page.start(w, b)[: X.shape[1]]):
        yield page.iterate(x if objective.fit_intercept else page.pack(x, 0.0))
        page.passes += objective.d


def perceptron(objective: Objective, w: Array, b: float) -> Run:
    """``textbook.perceptron`` on [X 1], or on [X 0] where there is no intercept."""
    page = Printed(objective)
    return told(page, textbook.perceptron(page.X, objective.y))


def least_squares(objective: Objective, method: Callable[[Array, Array], Iterator[Array]]) -> Run:
    """What the page does with (1/2n)|y - X w|^2 and a penalty, b at its best for each w."""
    page = Printed(objective)
    X, y, intercept = page.centred()
    for w in method(X, y):
        yield page.iterate(page.pack(w, intercept(w)))
        page.passes += 2.0


def level(objective: Objective) -> float:
    """Lam of the page: that of P / sum c, whose loss is (1/2n)|y - X w|^2 or another mean."""
    slope = objective.penalty.subgradient(np.ones(objective.d))
    return float(np.max(slope, initial=0.0)) / float(objective.c.sum())


def coordinate_descent(
    objective: Objective, w: Array, b: float, *, random: bool = False, seed: int = 0
) -> Run:
    """``textbook.coordinate_descent`` for the lasso; coordinates in turn, or drawn at random."""
    lam, draws = level(objective), seed if random else None
    return least_squares(objective, lambda X, y: textbook.coordinate_descent(X, y, lam, w, draws))


def admm(objective: Objective, w: Array, b: float, *, rho: float = 1.0) -> Run:
    """``textbook.admm`` for the lasso, from 0."""
    lam, rho = level(objective), positive_number(rho, "textbook.admm", "rho")
    return least_squares(objective, lambda X, y: textbook.admm(X, y, lam, rho))


def normal_equations(objective: Objective, w: Array, b: float) -> Run:
    """``textbook.normal_equations`` with n lam: the start, and the solution."""
    lam = level(objective)
    return least_squares(
        objective, lambda X, y: iter((w, textbook.normal_equations(X, y, len(y) * lam)))
    )


def householder(objective: Objective, w: Array, b: float) -> Run:
    """``textbook.qr_least_squares`` by reflections: the start, and the solution."""
    return least_squares(objective, lambda X, y: iter((w, textbook.qr_least_squares(X, y))))


def gram_schmidt(objective: Objective, w: Array, b: float) -> Run:
    """``textbook.qr_least_squares`` by Gram-Schmidt: the start, and the solution."""
    by = textbook.gram_schmidt
    return least_squares(objective, lambda X, y: iter((w, textbook.qr_least_squares(X, y, by))))


def dual_coordinate_ascent(
    objective: Objective, w: Array, b: float, *, random: bool = False, seed: int = 0
) -> Run:
    """``textbook.dual_coordinate_ascent`` for P / lam, C_i = c_i / lam; u_i = -lam y_i alpha_i."""
    page, lam = Printed(objective), objective.penalty.strong_convexity
    X, y, draws = page.X[:, :-1], objective.y, seed if random else None
    for w, alpha in textbook.dual_coordinate_ascent(X, y, objective.c / lam, draws):
        yield page.iterate(page.pack(w, 0.0), -lam * y * alpha)
        page.passes += 2.0 / objective.n


LASSO = (*SCALAR, "squared loss", "uniform l1 penalty")
SLOPED = (*SCALAR, "finite loss", "subgradient of the penalty")
SQUARES = (*SCALAR, "squared loss", "no penalty")
SVM = (*SCALAR, "hinge loss", "uniform l2 penalty", "model without an intercept")
PLAYED = (
    *SCALAR,
    "finite loss",
    "model without an intercept",
    "bounded slope of each sample on its ball",
)
"""What the rounds of a regularised leader need."""
listed = partial(by_name, prefix=PREFIX)
PRINTED = (
    listed(gradient_descent, (*SCALAR, *SMOOTH), 10_000, theory.GradientDescentRate()),
    listed(
        accelerated_gradient,
        (*SCALAR, *SMOOTH, *BOUNDED),
        10_000,
        theory.AcceleratedRate(composite=False),
    ),
    listed(proximal_gradient, (*SCALAR, *SPLIT), 10_000, theory.ProximalGradientRate()),
    listed(fista, (*SCALAR, *SPLIT), 10_000, theory.AcceleratedRate(composite=True)),
    listed(subgradient, SLOPED, 10_000, theory.DecreasingSubgradientRate()),
    listed(sgd, SLOPED, 100_000, theory.SgdRate()),
    listed(pegasos, (*SVM, "equal sample weights"), 100_000, theory.PegasosRate()),
    listed(saga, (*SCALAR, *SPLIT), 100_000, theory.SagaRate()),
    listed(
        online_gradient_descent,
        (*SLOPED, "bounded slope of each sample"),
        500,
        theory.OnlineRegret(),
    ),
    listed(
        follow_the_regularized_leader,
        (*PLAYED, "subgradient of the penalty", "no constraint but a Euclidean ball"),
        500,
        theory.LeaderRegret(),
    ),
    listed(exponentiated_gradient, (*PLAYED, "l1 ball as its penalty"), 500, theory.CornerRegret()),
    listed(newton, (*SCALAR, *SMOOTH), 100, theory.NewtonRate(searched=False)),
    listed(damped_newton, (*SCALAR, *SMOOTH), 100, theory.NewtonRate()),
    listed(
        irls,
        (*GENERAL, "logistic loss", "no penalty", "equal sample weights"),
        100,
        theory.NewtonRate(searched=False),
    ),
    listed(perceptron, (*SCALAR, "separation problem"), 200_000, theory.PerceptronBound()),
    listed(coordinate_descent, LASSO, 100_000, theory.Descent()),
    listed(admm, LASSO, 10_000),
    listed(normal_equations, (*SCALAR, "squared loss", "uniform quadratic penalty"), 1),
    listed(householder, SQUARES, 1),
    listed(gram_schmidt, SQUARES, 1),
    listed(dual_coordinate_ascent, SVM, 100_000, theory.DualAscent()),
)
"""In no default set: they run where they are asked for by name."""
