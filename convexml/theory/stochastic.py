"""Rates in expectation, regret, and mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np
from scipy.special import softmax

from ..data import rows_in_blocks
from ..numerics import Array
from ..problem import Objective
from .constants import (
    gradient_noise,
    has_bounded_slope,
    loss_smoothness,
    loss_strong_convexity,
    penalty_slope,
    penalty_strong_convexity,
    radius,
    row_squares,
    sample_loss_smoothness,
    sample_smoothness,
    smoothness,
    steepest,
    strong_convexity,
)
from .gradient_rates import subgradient_value, too_long, varying
from .theorem import (
    AT_LEAST_ONE,
    COUNT,
    NONNEGATIVE,
    POSITIVE,
    REAL,
    Claim,
    Theorem,
    Trajectory,
    deviations,
    domains,
    loss_gradient,
    pack,
)

# Means over seeds, with a one-sided confidence limit, at a few checkpoints.


Z99 = 2.3263478740408408
"""The 99 % quantile of the normal distribution."""
CHECKPOINTS = 24


def checkpoints(length: int) -> Array:
    """Iterations 1 ... length - 1, thinned to a geometric grid, the last included."""
    if length < 2:
        return np.empty(0, dtype=int)
    grid = np.geomspace(1.0, length - 1.0, CHECKPOINTS)
    return np.unique(np.rint(grid).astype(int))


def upper_limit(samples: Sequence[Array], at: Array) -> Array:
    """The mean over the runs, plus 2.33 standard errors of it, at these iterations.

    The true mean lies below with 99 % confidence, so that a bound which holds for this holds for
    the expectation.
    """
    table = np.stack([each[at] for each in samples])
    spread = table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros(len(at))
    return table.mean(axis=0) + Z99 * spread / np.sqrt(len(table))


# Online gradient descent: regret against the best fixed point.


@domains(t=NONNEGATIVE, step=POSITIVE, slope=NONNEGATIVE, distance=NONNEGATIVE)
def online_regret(t: Array | float, *, step: float, slope: float, distance: float) -> Array:
    """Bound on sum_{s<t} f_s(x_s) - f_s(x*): |x_0 - x*|^2 / (2 step) + step slope^2 t / 2.

    Parameters
    ----------
    t : float or array
        Number of rounds.
    step : float
        The constant step eta; with eta = B / (G sqrt(T)) the bound is B G sqrt(T) at T.
    slope : float
        G, the longest (sub)gradient of a round.
    distance : float
        |x_0 - x*|^2, at most B^2.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Zinkevich, 2003; Hazan, *Introduction to Online Convex Optimization*, theorem 3.1.
    """
    return distance / (2.0 * step) + 0.5 * step * slope**2 * np.asarray(t, dtype=float)


def round_slope(objective: Objective, ball: float = np.inf) -> float:
    """The longest subgradient G of a round f_i = n c_i l(y_i, x_i.w + b) + Omega(w).

    Parameters
    ----------
    objective : Objective
        Design, loss, penalty and coefficients.
    ball : float
        The iterates stay in |w| <= ball, which bounds the slope of the penalty; in |(w, b)| <= ball
        where the slope of the loss is unbounded.

    Returns
    -------
    float
    """
    r = np.sqrt(row_squares(objective))
    slope = steepest(objective, r, ball)
    if not np.all(np.isfinite(slope)):
        return np.inf
    largest = float(np.max(objective.n * objective.c * slope * r, initial=0.0))
    return largest + penalty_slope(objective, ball)


class OnlineRegret(Theorem):
    """Regret after whole passes, where the best fixed point is the problem's own solution.

    The rounds are played again, from x_0 with the step and the ball told: the means of their
    points are to be the iterates, and what they suffer is counted here. ``ROUNDS`` of them.
    eta = B / (G sqrt(T)) makes it B G sqrt(T) for every x* in the ball of radius B.
    """

    statement = "sum_t f_t(x_t) - T f* <= |x_0 - x*|^2 / (2 eta) + eta G^2 T / 2"
    source = "Zinkevich 2003"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the step is constant, and the reference lies in the ball projected onto."""
        yield from self.constants(run)
        ball, reference = run.fact("ball"), run.reference
        b = 0.0 if has_bounded_slope(run.objective) else reference.b
        size = float(np.hypot(np.linalg.norm(reference.w), np.linalg.norm(b)))
        if not size <= ball * (1.0 + 1e-9):
            yield f"the solution, of size {size:.6g}, lies outside the ball of radius {ball:.6g}"

    @staticmethod
    def constants(run: Trajectory) -> Iterator[str]:
        """That the step is constant, and the ball."""
        yield from varying(run, "step", "ball")

    def game(self, run: Trajectory, x: Array) -> Iterator[tuple[Array, float]]:
        """(mean of all points, losses suffered) after each pass from x."""
        return rounds(run.objective, x, run.fact("step"), run.fact("ball"))

    def bound(self, run: Trajectory, played: Array) -> Array:
        """The right side after so many rounds."""
        slope = round_slope(run.objective, run.fact("ball"))
        distance = run.start_distance
        return online_regret(played, step=run.fact("step"), slope=slope, distance=distance)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The means of the points, and the regret after each whole pass."""
        (run,) = runs
        objective = run.objective
        rows, suffered, T = [], [], []
        points = run.replay()
        game = self.game(run, pack(next(points)))
        passes = max(ROUNDS // objective.n, 1)
        for point, (mean, loss) in zip(islice(points, passes), game, strict=False):
            shown = pack(point)
            size = float(np.linalg.norm(mean) + np.linalg.norm(shown))
            rows.append((float(np.linalg.norm(shown - mean)), SAME * size))
            suffered.append(loss)
            T.append(float(objective.n * len(rows)))
        at = np.arange(1, len(rows) + 1)
        yield deviations("the iterates are the means of the points played", rows)
        played = np.array(T)
        bound = self.bound(run, played)
        regret = np.array(suffered) - played * run.reference.floor
        yield Claim(self.statement, regret, bound, played * run.value_room, at)


ROUNDS = 50_000
"""Rounds that an audit plays again."""
SAME = 1e-6
"""Two runs of the rounds agree to this share: kinks met may be decided by rounding."""


def rounds(
    objective: Objective, x: Array, step: float, ball: float
) -> Iterator[tuple[Array, float]]:
    """(mean of all points, losses suffered) after each pass over the samples in their order."""
    X, y, loss, penalty = objective.design, objective.y, objective.loss, objective.penalty
    d, whole, free = objective.d, not has_bounded_slope(objective), objective.fit_intercept
    scale = objective.n * objective.c
    rows = X.dense()
    x = _into(np.append(penalty.project(x[:d]), x[d:]), ball, whole)
    mean, count, suffered = x.copy(), 1, 0.0
    while True:
        scores = np.empty(objective.n)
        for i, row in enumerate(rows):
            w, b = x[:d], x[d]
            scores[i] = row @ w + b
            suffered += penalty.value(w)
            slope = scale[i] * loss.derivative(y[i : i + 1], scores[i : i + 1])[0]
            moved = w - step * (slope * row + penalty.subgradient(w))
            moved = np.append(penalty.project(moved), b - step * slope * free)
            x = _into(moved, ball, whole)
            count += 1
            mean = mean + (x - mean) / count
        suffered += float(np.sum(scale * loss.value(y, scores)))
        yield mean, suffered


def _into(x: Array, ball: float, whole: bool) -> Array:
    """The nearest (w, b) with |w| <= ball, or with |(w, b)| <= ball."""
    norm = float(np.linalg.norm(x if whole else x[:-1]))
    if norm <= ball:
        return x
    return x * (ball / norm) if whole else np.append(x[:-1] * (ball / norm), x[-1])


# The regularised leader: regret against the best fixed point, in two geometries.


@domains(t=NONNEGATIVE, step=POSITIVE, slope=NONNEGATIVE, spread=NONNEGATIVE)
def leader_regret(t: Array | float, *, step: float, slope: float, spread: float) -> Array:
    """Bound on sum_{s<t} f_s(x_s) - f_s(x*): spread / step + step slope^2 t / 2.

    Parameters
    ----------
    t : float or array
        Number of rounds.
    step : float
        The constant step eta of x = argmin (v_1 + ... + v_t).x + R(x) / eta, R strongly convex
        with constant 1.
    slope : float
        G, the longest (sub)gradient of a round in the dual norm of that of R.
    spread : float
        R(x*) - min R: |x_0 - x*|^2 / 2 for R = |x - x_0|^2 / 2, at most log(d) for the negative
        entropy of the simplex, whose norm is l1 and whose dual norm is the largest entry.

    Returns
    -------
    float or array
        With eta = sqrt(2 spread / T) / G that is G sqrt(2 T spread) at T: B G sqrt(T) in a ball
        around x_0, G sqrt(2 T log(d)) on the simplex.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz, *Online Learning and Online Convex Optimization*, theorems 2.11 and 2.22, with
    the half that the smoothness of the conjugate of R gives.
    """
    return spread / step + 0.5 * step * slope**2 * np.asarray(t, dtype=float)


def corner_slope(objective: Objective) -> float:
    """G = t max |v_j| over the slopes v of rounds f_i(w) = n c_i l(y_i, x_i.w) on |w|_1 <= t.

    Parameters
    ----------
    objective : Objective
        Design, loss and coefficients; its penalty is the l1 ball of radius t.

    Returns
    -------
    float
        inf where the slope of the loss is unbounded on the ball.
    """
    t = objective.penalty.t  # type: ignore[attr-defined]
    blocks = [np.abs(part.dense()) for _, part in objective.design.row_blocks(BLOCK)]
    largest = np.concatenate([np.max(block, axis=1, initial=0.0) for block in blocks])
    slope = steepest(objective, largest, t)
    return float(t * np.max(objective.n * objective.c * slope * largest, initial=0.0))


BLOCK = 1024
"""Rows whose largest entries are looked for at once."""


class LeaderRegret(OnlineRegret):
    """Regret after whole passes of the leader for |w - w_0|^2 / 2, played again.

    w is the best against all slopes so far, with |w - w_0|^2 / (2 eta) added; eta = B / (G sqrt(T))
    makes it B G sqrt(T) for every x* in the ball of radius B.
    """

    statement = "sum_t f_t(x_t) - T f* <= |x_0 - x*|^2 / (2 eta) + eta G^2 T / 2"
    source = "Shalev-Shwartz 2012, theorem 2.11"

    def game(self, run: Trajectory, x: Array) -> Iterator[tuple[Array, float]]:
        """(mean, losses suffered) after each pass."""
        ball, start = run.fact("ball"), x
        return leaders(run.objective, x, run.fact("step"), lambda s: nearest(start - s, ball))

    def bound(self, run: Trajectory, played: Array) -> Array:
        """The right side after so many rounds."""
        slope = round_slope(run.objective, run.fact("ball"))
        spread = 0.5 * run.start_distance
        return leader_regret(played, step=run.fact("step"), slope=slope, spread=spread)


class CornerRegret(OnlineRegret):
    """Regret after whole passes of exponentiated gradients on the corners of |w|_1 <= t.

    A slope v multiplies the weights of the 2 d corners by exp(-eta v) at each;
    eta = sqrt(2 log(2 d) / T) / G makes it G sqrt(2 T log(2 d)).
    """

    statement = "sum_t f_t(w_t) - T f* <= log(2 d) / eta + eta G^2 T / 2, G = t max |v_j|"
    source = "Kivinen and Warmuth 1997; Shalev-Shwartz 2012, theorem 2.22"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That step and ball are constant; the solution lies in the ball of the problem itself."""
        yield from self.constants(run)

    def game(self, run: Trajectory, x: Array) -> Iterator[tuple[Array, float]]:
        """(mean, losses suffered) after each pass, from weights that are equal."""
        t = run.objective.penalty.t  # type: ignore[attr-defined]
        return leaders(run.objective, np.zeros_like(x), run.fact("step"), lambda s: weighted(s, t))

    def bound(self, run: Trajectory, played: Array) -> Array:
        """The right side after so many rounds."""
        spread = float(np.log(2.0 * run.objective.d))
        slope = corner_slope(run.objective)
        return leader_regret(played, step=run.fact("step"), slope=slope, spread=spread)


def leaders(
    objective: Objective, x: Array, step: float, lead: Callable[[Array], Array]
) -> Iterator[tuple[Array, float]]:
    """(mean of all points, losses suffered) after each pass, x = lead(step (v_1 + ... + v_t))."""
    y, loss, penalty = objective.y, objective.loss, objective.penalty
    scale = objective.n * objective.c
    X, total = objective.design.dense(), np.zeros_like(x)
    x = lead(total)
    mean, count, suffered = x.copy(), 1, 0.0
    while True:
        for i, row in enumerate(X):
            w, z = x[:-1], np.array([row @ x[:-1]])
            suffered += penalty.value(w) + float(scale[i] * loss.value(y[i : i + 1], z)[0])
            slope = float(scale[i] * loss.derivative(y[i : i + 1], z)[0])
            total = total + step * np.append(slope * row + penalty.subgradient(w), 0.0)
            x = lead(total)
            count += 1
            mean = mean + (x - mean) / count
        yield mean, suffered


def nearest(x: Array, ball: float) -> Array:
    """The point of |x| <= ball that is nearest to x."""
    norm = float(np.linalg.norm(x))
    return x if norm <= ball else x * (ball / norm)


def weighted(total: Array, t: float) -> Array:
    """w = t (p - q), (p, q) the softmax of (-t total, t total); b = 0."""
    corners = softmax(t * np.concatenate([-total[:-1], total[:-1]]))
    p, q = np.split(corners, 2)
    return np.append(t * (p - q), 0.0)


# Pegasos: stochastic subgradient steps 1/(lam t) on a lam-strongly convex objective, averaged.


@domains(t=AT_LEAST_ONE, lam=POSITIVE, rho=NONNEGATIVE)
def pegasos_value(t: Array | float, *, lam: float, rho: float) -> Array:
    """Bound on E f(mean of t iterates) - f*: rho^2 (1 + log t) / (2 lam t).

    Parameters
    ----------
    t : float or array
        Number of iterates averaged, >= 1.
    lam : float
        Strong convexity: f = loss + (lam / 2) |w|^2.
    rho : float
        The longest stochastic subgradient met.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, theorem 14.11, for lam-strong convexity.
    """
    t = np.asarray(t, dtype=float)
    return rho**2 * (1.0 + np.log(t)) / (2.0 * lam * t)


def pegasos_slope(objective: Objective) -> float:
    """Bound rho = 2 R on the subgradients that Pegasos meets, R = max_i n c_i |l'| |x_i|.

    Parameters
    ----------
    objective : Objective
        A loss of bounded slope |l'|, 1 for the hinge, without an intercept.

    Returns
    -------
    float
        From |w| <= R/lam on, the iterates are means of subgradients of the loss over lam, hence
        |lam w| <= R.
    """
    r = np.sqrt(objective.design.row_squares())
    sizes = objective.n * objective.c * steepest(objective, r) * r
    return 2.0 * float(np.max(sizes, initial=0.0))


class PegasosRate(Theorem):
    """The mean over seeds of f at the averaged iterate, T of them at fact "steps" = T.

    The step is 1/(lam t); R = max_i n c_i |x_i| for the hinge.
    """

    statement = "E f(mean_T) - f* <= rho^2 (1 + log T) / (2 lam T), rho = 2 R"
    source = "Shalev-Shwartz and Ben-David, theorem 14.11"
    seeds = 64

    def silences(self, run: Trajectory) -> Iterator[str]:
        """That the intercept is free, or lam = 0."""
        if run.objective.fit_intercept:
            yield "the intercept is free, so that the objective is not strongly convex"
        if run.objective.penalty.strong_convexity <= 0.0:
            yield "the penalty is not strongly convex"

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """After t points."""
        lam, rho = run.objective.penalty.strong_convexity, pegasos_slope(run.objective)
        return pegasos_value(t, lam=lam, rho=rho)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality, at checkpoints."""
        run = runs[0]
        at = checkpoints(len(run.values))
        at = at[run.steps[at] >= 1.0]
        measured = upper_limit([each.gaps for each in runs], at)
        yield Claim(self.statement, measured, self.ahead(run, run.steps[at]), run.value_room, at)


# The perceptron's mistake bound.


@domains(radius=NONNEGATIVE, w=REAL, b=REAL)
def perceptron_updates(*, radius: float, w: Array, b: float = 0.0) -> float:
    """Bound on the updates from 0: R^2 (|w|^2 + b^2), with y_i (w.x_i + b) >= 1 for all i.

    Parameters
    ----------
    radius : float
        R = max_i |(x_i, 1)|; without an intercept max_i |x_i|.
    w : array, shape (d,)
        A separating direction of margin 1, for instance the hard-margin solution.
    b : float
        Its intercept.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Novikoff, 1962; Shalev-Shwartz and Ben-David, theorem 9.1.
    """
    return radius**2 * (float(np.vdot(w, w)) + b**2)


class PerceptronBound(Theorem):
    """The number of updates, one for each iterate, against a separating direction of margin 1.

    The hard-margin solution is the reference, whatever problem the perceptron was asked to solve.
    """

    statement = "updates <= (max|x_i|^2 + 1) (|w|^2 + b^2)"
    source = "Novikoff 1962"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the reference separates the data with margin 1."""
        objective, reference = run.objective, run.reference
        margin = float(np.min(objective.y * objective.predict(reference.w, reference.b)))
        if not margin >= 1.0 - 1e-9:
            yield f"the reference has margin {margin:.10g}, not 1"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The updates counted, each of them by a sample on the wrong side."""
        (run,) = runs
        reference, objective = run.reference, run.objective
        rows = [update(objective, *pair) for pair in pairwise(map(pack, run.replay()))]
        yield deviations("an update adds y_i (x_i, 1) of a sample on the wrong side", rows)
        limit = perceptron_updates(radius=radius(objective), w=reference.w, b=reference.b)
        updates = np.arange(1.0, len(run.values))
        bound = np.full(len(updates), limit)
        yield Claim(self.statement, updates, bound, 1e-9 * limit, updates.astype(int))


def update(objective: Objective, x: Array, ahead: Array) -> tuple[float, float]:
    """How far ``ahead`` is from the nearest update of x, and what rounding allows.

    The last point, without a mistake, may be scaled to margin 1.
    """
    y, scores = objective.y, objective.predict(x[:-1], x[-1])
    wrong = np.flatnonzero(y * scores <= 0.0)
    if not wrong.size:
        return np.inf, 0.0
    pulls = objective.design.rows(wrong).dense()
    edge = np.full((len(wrong), 1), float(objective.fit_intercept))
    goals = x + y[wrong][:, None] * np.hstack([pulls, edge])
    away = np.linalg.norm(goals - ahead, axis=1)
    least = float(np.min(y * objective.predict(ahead[:-1], ahead[-1])))
    if abs(least - 1.0) <= 1e-9:
        scale = goals @ ahead / float(ahead @ ahead)
        away = np.minimum(away, np.linalg.norm(goals - scale[:, None] * ahead, axis=1))
    size = float(np.linalg.norm(x)) + float(np.abs(goals).max())
    return float(away.min()), 1e-9 * size


# SAGA: a linear rate in expectation, down to x* itself.


@domains(step=POSITIVE, n=COUNT, mu_f=NONNEGATIVE, mu_g=NONNEGATIVE)
def saga_factor(*, step: float, n: int, mu_f: float, mu_g: float = 0.0) -> float:
    """Factor of the error of one SAGA step in expectation, for a step <= 1 / (4 L_max).

    Parameters
    ----------
    step : float
        Constant step gamma.
    n : int
        Number of samples.
    mu_f, mu_g : float
        Strong convexity of the smooth part and of the penalty in (w, b), >= 0.

    Returns
    -------
    float
        max(q - (3/4) (2q - 1) step mu_f, 1 - 1/(3n)), q = max((1 + step mu_g)^-2, 1/2). Without a
        penalty and at step = 1 / (4 L_max) it is 1 - min(3 mu / (16 L_max), 1 / (3n)).

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Bach, *Learning Theory from First Principles*, section 5.4.4. With a penalty, the prox contracts
    squared distances by q, and the same Lyapunov function |x - x*|^2 + 3 n step^2 B decreases, B
    the mean of |table_i - grad f_i(x*)|^2.
    """
    q = max((1.0 + step * mu_g) ** -2, 0.5)
    return max(q - 0.75 * (2.0 * q - 1.0) * step * mu_f, 1.0 - 1.0 / (3.0 * n))


@domains(t=NONNEGATIVE, factor=NONNEGATIVE, start=NONNEGATIVE)
def saga_distance(t: Array | float, *, factor: float, start: float) -> Array:
    """Bound on E |x_t - x*|^2: factor^t start.

    Parameters
    ----------
    t : float or array
        Number of stochastic steps.
    factor : float
        ``saga_factor``.
    start : float
        |x_0 - x*|^2 + 3 n step^2 B_0, at most (1 + 3 n step^2 L_max L_f) |x_0 - x*|^2 where the
        table starts with the gradients at x_0; L_f is the smoothness of the whole smooth part.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Bach, *Learning Theory from First Principles*, section 5.4.4.
    """
    return factor ** np.asarray(t, dtype=float) * start


class SagaRate(Theorem):
    """The mean over seeds of |x_T - x*|^2, the table filled at x_0. Facts: "step", "steps".

    q is ``saga_factor``: 1 - min(3 mu_f / (16 L_max), 1 / (3 n)) for gamma = 1 / (4 L_max) without
    a penalty.
    """

    statement = "E|x_T - x*|^2 <= q^T (1 + 3 n gamma^2 L_max L_f) |x_0 - x*|^2"
    source = "Bach, Learning Theory from First Principles, section 5.4.4"
    seeds = 64

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma is constant and <= 1 / (4 L_max)."""
        yield from varying(run, "step")
        yield from too_long(run, sample_loss_smoothness(run.objective), "(4 L_max)", 0.25)

    def silences(self, run: Trajectory) -> Iterator[str]:
        """That mu = 0, or that samples are drawn from one block of rows after the other."""
        if rows_in_blocks(run.objective):
            yield "the rows lie in blocks: samples are not drawn from all of them each time"
        mu = max(loss_strong_convexity(run.objective), penalty_strong_convexity(run.objective))
        if mu <= 0.0:
            yield "neither loss nor penalty is known to be strongly convex in (w, b): mu = 0"

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """f - f* <= 2 K r + L r^2 / 2 at r = |x - x*|, K a slope at x* of what is not smooth."""
        objective, x = run.objective, run.reference
        penalty = objective.penalty
        bent = penalty.curvature_bound if penalty.is_smooth else penalty.strong_convexity
        K = penalty_slope(objective, 0.0)
        if penalty.is_constraint:
            K = 0.5 * float(np.linalg.norm(loss_gradient(objective, np.append(x.w, x.b))))
        square = self._distance(run, t)
        return 2.0 * K * square**0.5 + 0.5 * (loss_smoothness(objective) + bent) * square

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality, at checkpoints."""
        run, at = runs[0], checkpoints(len(runs[0].values))
        bound = self._distance(run, run.steps[at])
        measured = upper_limit([each.distances for each in runs], at)
        yield Claim(self.statement, measured, bound, run.distance_room(bound), at)

    def _distance(self, run: Trajectory, steps: Any) -> Any:
        """What E |x_t - x*|^2 is at most."""
        step, objective = run.fact("step"), run.objective
        mu_f, mu_g = loss_strong_convexity(objective), penalty_strong_convexity(objective)
        factor = saga_factor(step=step, n=objective.n, mu_f=mu_f, mu_g=mu_g)
        L_max, L_f = sample_loss_smoothness(objective), loss_smoothness(objective)
        start = run.far_distance * (1.0 + 3.0 * objective.n * step**2 * L_max * L_f)
        return saga_distance(steps, factor=factor, start=start)


# Stochastic gradient descent with a constant step: a linear rate down to a noise floor.


@domains(t=NONNEGATIVE, step=POSITIVE, mu=POSITIVE, noise=NONNEGATIVE, distance=NONNEGATIVE)
def sgd_distance(
    t: Array | float, *, step: float, mu: float, noise: float, distance: float
) -> Array:
    """Bound on E |x_t - x*|^2: (1 - step mu)^t |x_0 - x*|^2 + 2 (step / mu) noise.

    Parameters
    ----------
    t : float or array
        Number of stochastic steps.
    step : float
        Constant step, at most 1 / (2 L_max).
    mu : float
        Strong convexity, > 0.
    noise : float
        The variance of the stochastic gradient at x*, divided by the size of a mini-batch.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    float or array
        It does not go to 0: a constant step stops short of x*.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Garrigos and Gower, 2023, theorem 5.8, https://arxiv.org/abs/2301.11235; Groudiev 4.2.3 (his
    corollary, which drops the floor, is wrong).
    """
    return (1.0 - step * mu) ** np.asarray(t, dtype=float) * distance + 2.0 * step / mu * noise


class SgdRate(Theorem):
    """The mean over seeds of |x_T - x*|^2, for a constant step and uniform sampling.

    Facts: "step", "steps", and "batch" where more than one sample is drawn, with replacement.
    """

    statement = "E|x_T - x*|^2 <= (1 - gamma mu)^T |x_0 - x*|^2 + 2 (gamma / mu) sigma*^2"
    source = "Garrigos and Gower 2023, theorem 5.8"
    seeds = 64

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma is constant and <= 1 / (2 L_max)."""
        L = sample_smoothness(run.objective)
        if np.isfinite(L):
            yield from varying(run, "step")
            yield from too_long(run, L, "(2 L_max)", 0.5)

    def silences(self, run: Trajectory) -> Iterator[str]:
        """That mu = 0, that the f_i are not smooth, or that means of the points are yielded."""
        if not np.isfinite(sample_smoothness(run.objective)):
            yield "the gradients of samples are not Lipschitz"
        if run.fact("averaged") == 1.0:
            yield "means of the points are yielded"
        if strong_convexity(run.objective) <= 0.0:
            yield "the objective is not known to be strongly convex in (w, b): mu = 0"

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """f - f* <= L |x - x*|^2 / 2."""
        mu, x = strong_convexity(run.objective), run.reference
        noise = gradient_noise(run.objective, x.w, x.b)
        known = {"step": run.fact("step"), "mu": mu, "noise": noise, "distance": run.far_distance}
        return 0.5 * smoothness(run.objective) * sgd_distance(t, **known)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality, at checkpoints."""
        run, at = runs[0], checkpoints(len(runs[0].values))
        mu, reference = strong_convexity(run.objective), run.reference
        noise = gradient_noise(run.objective, reference.w, reference.b)
        bound = sgd_distance(
            run.steps[at],
            step=run.fact("step"),
            mu=mu,
            noise=noise / float(np.nan_to_num(run.fact("batch"), nan=1.0)),
            distance=run.far_distance,
        )
        measured = upper_limit([each.distances for each in runs], at)
        yield Claim(self.statement, measured, bound, run.distance_room(bound), at)


# Stochastic subgradients of constant step, averaged: regret, divided by the rounds.


class StochasticSubgradientRate(Theorem):
    """The mean over seeds of f at the averaged iterate, T of them at fact "steps" = T."""

    statement = "E f(mean_T) - f* <= |x_0 - x*|^2 / (2 eta T) + eta G^2 / 2"
    source = "Shalev-Shwartz and Ben-David, theorem 14.8"
    seeds = 64

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the step is constant."""
        yield from varying(run, "step")

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality, at checkpoints."""
        run = runs[0]
        at = checkpoints(len(run.values))
        bound = subgradient_value(
            run.steps[at],
            step=run.fact("step"),
            rho=round_slope(run.objective),
            distance=run.start_distance,
        )
        measured = upper_limit([each.gaps for each in runs], at)
        yield Claim(self.statement, measured, bound, run.value_room, at)
