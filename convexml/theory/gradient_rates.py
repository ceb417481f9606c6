"""Rates of gradient descent, proximal gradients, their acceleration, and subgradients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..numerics import ROUNDING, Array
from ..problem import Objective
from .constants import (
    has_bounded_slope,
    lipschitz,
    loss_smoothness,
    loss_strong_convexity,
    penalty_strong_convexity,
    smoothness,
    strong_convexity,
)
from .theorem import (
    AT_LEAST_ONE,
    NONNEGATIVE,
    POSITIVE,
    Claim,
    Theorem,
    Trajectory,
    descent_step,
    deviations,
    domains,
    follows,
    never_increases,
    pack,
    proximal_step,
    room,
    subgradient,
)

# Gradient descent with a constant step on a smooth convex function.


MARGIN = 1.0 + 1e-9


@domains(t=NONNEGATIVE, step=POSITIVE, mu=NONNEGATIVE, distance=NONNEGATIVE)
def gradient_descent_distance(
    t: Array | float, *, step: float, mu: float, distance: float
) -> Array:
    """Bound on |x_t - x*|^2: (1 - step mu)^t |x_0 - x*|^2, for step <= 1/L.

    Parameters
    ----------
    t : float or array
        Number of steps.
    step : float
        Constant step, at most 1/L.
    mu : float
        Strong convexity, >= 0.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, *Introduction to Machine Learning*, section 4.2.2 (the number of steps corrected).
    """
    return np.maximum(1.0 - step * mu, 0.0) ** np.asarray(t, dtype=float) * distance


@domains(t=NONNEGATIVE, step=POSITIVE, distance=NONNEGATIVE)
def gradient_descent_value(t: Array | float, *, step: Array | float, distance: float) -> Array:
    """Bound on f(x_t) - f*: |x_0 - x*|^2 / (2 step t), for step <= 1/L; inf at t = 0.

    Parameters
    ----------
    t : float or array
        Number of steps.
    step : float or array
        The mean of the steps, each at most 1/L.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Nesterov, *Lectures on Convex Optimization*, section 2.1.5.
    """
    with np.errstate(divide="ignore"):
        return np.divide(distance, 2.0 * step * np.asarray(t, dtype=float))


@domains(step=POSITIVE, L=POSITIVE, square=NONNEGATIVE)
def descent_decrease(*, step: float, L: float, square: float) -> float:
    """What a gradient step of an L-smooth f decreases it by, at least: step (1 - L step / 2) |g|^2.

    Negative for a step above 2/L: then f may rise.

    Parameters
    ----------
    step : float
        gamma of x - gamma grad f(x).
    L : float
        The gradient is L-Lipschitz.
    square : float
        |grad f(x)|^2.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Nesterov, *Lectures on Convex Optimization*, section 1.2.3 (the descent lemma).
    """
    return step * (1.0 - L * step / 2.0) * square


@domains(eps=POSITIVE, step=POSITIVE, mu=POSITIVE, distance=NONNEGATIVE)
def gradient_descent_steps(*, eps: float, step: float, mu: float, distance: float) -> int:
    """Steps after which |x_T - x*|^2 <= eps: T = log(|x_0 - x*|^2 / eps) / (step mu), step <= 1/L.

    Parameters
    ----------
    eps : float
        Of the squared distance, > 0.
    step : float
        Constant step, at most 1/L.
    mu : float
        Strong convexity, > 0.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    int
        Rounded up; 0 where the start is near enough.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, *Introduction to Machine Learning*, section 4.2.2 (the number of steps corrected).
    """
    return math.ceil(math.log(distance / eps) / (step * mu)) if distance > eps else 0


def accumulated(factors: Array, drifts: Array) -> tuple[Array, Array]:
    """(prod q_k, e_T) for each T = 1, 2, ...: e_{T+1} = q_T e_T + drift_T, from e_0 = 0."""
    decay, drift = np.empty(len(factors)), np.empty(len(factors))
    q, e = 1.0, 0.0
    for k, (factor, each) in enumerate(zip(factors, drifts, strict=True)):
        q, e = factor * q, factor * e + each
        decay[k], drift[k] = q, e
    return decay, drift


def too_long(run: Trajectory, L: float, name: str, share: float = 1.0) -> Iterator[str]:
    """That every step is at most share / L, in words where one is not; L = 0 allows all."""
    step = run.fact("step")
    if L > 0.0 and not step * L <= MARGIN * share:
        yield f"the step {step:.10g} exceeds 1/{name} = {share / L:.10g}"


def varying(run: Trajectory, *names: str) -> Iterator[str]:
    """Which of these facts is not constant over the run, in words."""
    yield from (f"the {name} is not constant" for name in names if run.varies(name))


def value_ahead(run: Trajectory, t: float, factor: float) -> float:
    """The bound of f(x_t) - f* of a constant step: from x_0, or a step from x_{t-1} near x*."""
    step, D0 = run.fact("step"), run.start_distance
    if run.varies("step") or t < 1.0:
        return np.inf
    near = max(factor, 0.0) ** (t - 1.0) * run.far_distance
    return float(min(gradient_descent_value(t, step=step, distance=D0), near / (2.0 * step)))


class GradientDescentRate(Theorem):
    """The three statements on gradient descent with steps of at most 1/L.

    L and mu are computed here, from the data; the steps told are held against the iterates. Steps
    that vary count one by one: prod (1 - gamma_k mu), and sum gamma_k for gamma T.
    """

    statement = (
        "gamma <= 1/L: |x_T - x*|^2 <= (1 - gamma mu)^T |x_0 - x*|^2, f does not increase, "
        "f - f* <= |x_0 - x*|^2 / (2 gamma T)"
    )
    source = "Groudiev 4.2.2; Nesterov 2.1.5"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma <= 1/L, at every step."""
        yield from too_long(run, smoothness(run.objective), "L")

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """Of a constant step."""
        return value_ahead(run, t, 1.0 - run.fact("step") * strong_convexity(run.objective))

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The moves, distance, value and descent."""
        (run,) = runs
        yield follows("x_{T+1} = x_T - gamma grad f(x_T)", run, descent_step(run.objective))
        mu = strong_convexity(run.objective)
        taken = run.facts["step"][1:]
        yield from rates(
            run, taken, np.maximum(1.0 - taken * mu, 0.0), 2.0 * taken, "(1 - gamma mu)^T"
        )
        yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)


def rates(
    run: Trajectory, taken: Array, factors: Array, drifts: Array, name: str
) -> Iterator[Claim]:
    """Distance and value after steps ``taken``, each a contraction by its factor.

    For any y with f(y) <= f* + e a step gives |x_+ - y|^2 <= q |x - y|^2 + drift e, so that the
    reference need not be x* itself.
    """
    at, D0 = np.arange(1, len(run.values)), run.start_distance
    decay, drift = accumulated(factors, drifts)
    yield Claim(
        f"|x_T - x*|^2 <= {name} |x_0 - x*|^2",
        run.distances[1:],
        decay * D0,
        drift * run.doubt + run.distance_rounding,
        at,
    )
    yield Claim(
        "f(x_T) - f* <= |x_0 - x*|^2 / (2 gamma T)",
        run.gaps[1:],
        gradient_descent_value(1.0, step=np.cumsum(taken), distance=D0),
        run.value_room,
        at,
    )


class SearchedDescent(GradientDescentRate):
    """Constant steps are held to their rate, searched ones to: f does not increase."""

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma <= 1/L, at every step, where none is searched."""
        if not run.facts["searched"].any():
            yield from super().preconditions(run)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The rate, or the descent."""
        (run,) = runs
        if run.facts["searched"].any():
            yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)
        else:
            yield from super().claims(runs)


# Nesterov's acceleration, with and without a prox (FISTA).


@domains(t=NONNEGATIVE, L=NONNEGATIVE, distance=NONNEGATIVE)
def accelerated_value(t: Array | float, *, L: float, distance: Array | float) -> Array:
    """Bound on f(x_t) - f*: 2 L |x_0 - x*|^2 / (t + 1)^2, for the step 1/L.

    Parameters
    ----------
    t : float or array
        Number of steps since the start, or since a restart at x_0.
    L : float
        Lipschitz constant of the gradient (of the smooth part); 1/step.
    distance : float or array
        |x_0 - x*|^2.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Beck and Teboulle, 2009, theorem 4.4, https://doi.org/10.1137/080716542
    """
    return 2.0 * L * distance / (np.asarray(t, dtype=float) + 1.0) ** 2


class AcceleratedRate(Theorem):
    """The rate f - f* <= 2 L |x_0 - x*|^2 / (T+1)^2, counted from the last restart before T.

    Parameters
    ----------
    composite : bool
        Whether the penalty is handled by its prox: L is then that of the loss alone.
    """

    statement = "gamma <= 1/L: f(x_T) - f* <= 2 |x_0 - x*|^2 / (gamma (T+1)^2)"
    source = "Beck and Teboulle 2009, theorem 4.4"

    def __init__(self, composite: bool) -> None:
        self.composite = composite

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma is constant and <= 1/L."""
        yield from varying(run, "step")
        L = loss_smoothness(run.objective) if self.composite else smoothness(run.objective)
        yield from too_long(run, L, "L")

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """Without restarts."""
        return accelerated_value(t, L=1.0 / run.fact("step"), distance=run.start_distance)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The moves, the restarts, and the value from the origin that the last step had."""
        (run,) = runs
        yield from self._moves(run)
        if "restarted_at" not in run.facts:
            return
        origin = run.facts["restarted_at"].astype(int)[:-1]  # a restart at T begins after it
        at = np.arange(1, len(run.values))
        bound = accelerated_value(
            at - origin, L=1.0 / run.fact("step"), distance=run.distances[origin]
        )
        yield Claim(self.statement, run.gaps[1:], bound, run.value_room, at)

    def _moves(self, run: Trajectory) -> Iterator[Claim]:
        """That iterates follow from one another, and that only uphill moves restart."""
        objective, rows, uphill, at = run.objective, [], [], []
        step = proximal_step(objective) if self.composite else descent_step(objective)
        x = y = np.empty(0)
        t, origin = 1.0, 0.0
        for k, point in enumerate(run.replay()):
            ahead, told = pack(point), point.facts.get("restarted_at", np.nan)
            if k == 0:
                x = y = ahead
                continue
            goal = step(y, float(point.facts.get("step", np.nan)))
            away = float(np.linalg.norm(ahead - goal))
            rows.append((away if told in (origin, k) else np.inf, room(y, goal, ahead)))
            if told == k:
                slope = y - ahead
                allowed = room(y, ahead, x) * (_norm(slope) + _norm(ahead - x))
                uphill.append((-float(slope @ (ahead - x)), allowed))
                at.append(k)
                y, t, origin = ahead, 1.0, told
            else:
                following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
                y, t = ahead + (t - 1.0) / following * (ahead - x), following
            x = ahead
        yield deviations("x_{T+1} is a step of gamma from y_T", rows)
        yield replace(deviations("only uphill moves restart", uphill), iterations=np.array(at, int))


def _norm(x: Array) -> float:
    return float(np.linalg.norm(x))


# Proximal gradient descent with a constant step.


@domains(step=POSITIVE, mu_f=NONNEGATIVE, mu_g=NONNEGATIVE)
def proximal_gradient_rate(*, step: float, mu_f: float, mu_g: float) -> float:
    """Factor q of |x_{t+1} - x*|^2 <= q |x_t - x*|^2: (1 - step mu_f) / (1 + step mu_g).

    Parameters
    ----------
    step : float
        Constant step, at most 1/L_f.
    mu_f, mu_g : float
        Strong convexity of the smooth part and of the penalty, >= 0.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Bach, *Learning Theory from First Principles*, section 5.2.5; the factor of the penalty is the
    contraction of its prox.
    """
    return max(1.0 - step * mu_f, 0.0) / (1.0 + step * mu_g)


class ProximalGradientRate(Theorem):
    """The factor q of |x - x*|^2, no increase of f, and f - f* <= |x_0 - x*|^2 / (2 gamma T)."""

    statement = (
        "gamma <= 1/L_f: |x_T - x*|^2 <= q^T |x_0 - x*|^2, q = (1 - gamma mu_f) / (1 + gamma mu_g)"
    )
    source = "Beck and Teboulle 2009, theorem 3.1, for the value"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That gamma <= 1/L_f, at every step."""
        yield from too_long(run, loss_smoothness(run.objective), "L_f")

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """Of a constant step."""
        mu_f, mu_g = loss_strong_convexity(run.objective), penalty_strong_convexity(run.objective)
        factor = proximal_gradient_rate(step=run.fact("step"), mu_f=mu_f, mu_g=mu_g)
        return value_ahead(run, t, factor)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The moves, distance, value and descent."""
        (run,) = runs
        yield follows("x_{T+1} = prox(x_T - gamma grad f(x_T))", run, proximal_step(run.objective))
        mu_f, mu_g = loss_strong_convexity(run.objective), penalty_strong_convexity(run.objective)
        taken = run.facts["step"][1:]
        factors = np.array([proximal_gradient_rate(step=s, mu_f=mu_f, mu_g=mu_g) for s in taken])
        yield from rates(run, taken, factors, 2.0 * taken / (1.0 + taken * mu_g), "q^T")
        yield never_increases("f(x_{T+1}) <= f(x_T)", run.values)


# The subgradient method with a constant step, averaged.


@domains(t=NONNEGATIVE, step=POSITIVE, rho=NONNEGATIVE, distance=NONNEGATIVE)
def subgradient_value(t: Array | float, *, step: float, rho: float, distance: float) -> Array:
    """Bound on f(mean of x_0 ... x_{t-1}) - f*: |x_0 - x*|^2 / (2 step t) + step rho^2 / 2.

    Parameters
    ----------
    t : float or array
        Number of iterates averaged; the bound at t = 0 is infinite.
    step : float
        The constant step eta.
    rho : float
        The longest subgradient met.
    distance : float
        |x_0 - x*|^2, at most B^2 from 0.

    Returns
    -------
    float or array
        With step = B / (rho sqrt(T)) this is B rho / sqrt(T) at t = T.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, lemma 14.1.
    """
    with np.errstate(divide="ignore"):
        return np.divide(distance, 2.0 * step * np.asarray(t, dtype=float)) + step * rho**2 / 2.0


@domains(t=AT_LEAST_ONE, scale=POSITIVE, rho=NONNEGATIVE, distance=NONNEGATIVE)
def decreasing_subgradient_value(
    t: Array | float, *, scale: float, rho: float, distance: float
) -> Array:
    """Bound on f(mean of x_0 ... x_{t-1}) - f* with steps scale / sqrt(s + 1).

    It is (distance / scale + scale rho^2 (3 + log t)) / (2 sqrt(t)).

    Parameters
    ----------
    t : float or array
        Number of points averaged, >= 1.
    scale : float
        The first step.
    rho : float
        The longest subgradient met.
    distance : float
        |x_0 - x*|^2.

    Returns
    -------
    float or array

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, lemma 14.1, summed by parts with
    |x_t - x*|^2 <= distance + rho^2 (sum of the squared steps).
    """
    t = np.asarray(t, dtype=float)
    return (distance / scale + scale * rho**2 * (3.0 + np.log(t))) / (2.0 * np.sqrt(t))


class SubgradientRate(Theorem):
    """The averaged iterate of the (projected) subgradient method."""

    statement = "f(mean_T) - f* <= |x_0 - x*|^2 / (2 eta T) + eta rho^2 / 2"
    source = "Shalev-Shwartz and Ben-David, lemma 14.1"

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """That the step is constant, and that the reference lies in the ball projected onto."""
        yield from varying(run, "step", "ball")
        ball, norm = run.fact("ball"), float(np.linalg.norm(run.reference.w))
        if not norm <= MARGIN * ball:
            yield f"|w*| = {norm:.6g} lies outside the ball of radius {ball:.6g}"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The moves; the value of the average of the first T iterates, one more than the steps."""
        (run,) = runs
        yield self._moves(run)
        rho = lipschitz(run.objective, run.fact("ball"))
        bound = subgradient_value(
            run.steps + 1.0, step=run.fact("step"), rho=rho, distance=run.start_distance
        )
        yield Claim(self.statement, run.gaps, bound, run.value_room)

    def _moves(self, run: Trajectory) -> Claim:
        """That x_{T+1} = project(x_T - eta v), the points x recovered from their means.

        A point at a kink, where rounding decides which subgradient was met, is passed over.
        """
        rng = np.random.default_rng(0)
        x, mean, objective = np.empty(0), np.empty(0), run.objective
        rows = []
        for T, point in enumerate(run.replay()):
            fresh = pack(point)
            ahead = (T + 1.0) * fresh - T * mean if T else fresh
            if T:
                step, ball = (float(point.facts.get(name, np.nan)) for name in ("step", "ball"))
                slope = subgradient(objective, x)
                nudge = KINK * (1.0 + np.abs(x)) * rng.normal(size=len(x))
                others = [subgradient(objective, x + sign * nudge) - slope for sign in (-1.0, 1.0)]
                goal = project(objective, x - step * slope, ball)
                away = float(np.linalg.norm(ahead - goal))
                allowed = room(x, goal, ahead) + (T + 1.0) * room(mean, mean, fresh) * KINK
                allowed += ROUNDING * T * float(np.linalg.norm(fresh) + np.linalg.norm(mean))
                smooth = max(map(np.linalg.norm, others)) <= 1e-3 * np.linalg.norm(slope)
                rows.append((away, allowed) if smooth else (0.0, np.inf))
            x, mean = ahead, fresh
        return deviations("x_{T+1} = project(x_T - eta v_T)", rows)


class DecreasingSubgradientRate(Theorem):
    """The mean of the points of subgradient steps scale / sqrt(t + 1), from 0."""

    statement = "f(mean_T) - f* <= (|x_0 - x*|^2 / c + c rho^2 (3 + log T)) / (2 sqrt T)"
    source = "Shalev-Shwartz and Ben-David, lemma 14.1, summed by parts"

    def silences(self, run: Trajectory) -> Iterator[str]:
        """Other points, other steps, or subgradients that have no bound."""
        if run.fact("averaged") != 1.0:
            yield "the points are yielded, not their means"
        steps = run.facts["step"] * np.sqrt(run.steps + 1.0)
        if not np.allclose(steps, steps[0]):
            yield "the steps are not c / sqrt(t + 1)"
        if not np.isfinite(self._slope(run)):
            yield "no bound of the subgradients is known"

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """After t points."""
        scale, distance = float(run.facts["step"][0]), run.start_distance
        return decreasing_subgradient_value(t, scale=scale, rho=self._slope(run), distance=distance)

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The value of the mean."""
        (run,) = runs
        yield Claim(self.statement, run.gaps, self.ahead(run, run.steps + 1.0), run.value_room)

    def _slope(self, run: Trajectory) -> float:
        """Rho; steps of at most 1/mu keep |w| <= max(|w_0|, G / mu), mu that of the penalty."""
        objective, penalty = run.objective, run.objective.penalty
        mu, step = penalty.strong_convexity, float(run.facts["step"][0])
        bent = penalty.curvature_bound if penalty.is_smooth else mu
        if mu == 0.0 or step * bent > 1.0 or not has_bounded_slope(objective):
            return lipschitz(objective)
        start = float(np.linalg.norm(next(run.replay()).w))
        return lipschitz(objective, max(start, lipschitz(objective, 0.0) / mu))


KINK = 1e-7
"""A subgradient that changes over this distance is one of several."""


def project(objective: Objective, x: Array, ball: float) -> Array:
    """The nearest point within the penalty's constraint, and with |w| <= ball."""
    w = objective.penalty.project(x[: objective.d])
    norm = float(np.linalg.norm(w))
    return np.append(w * min(1.0, ball / norm) if norm > 0.0 else w, x[objective.d :])
