"""A broken method, step or constant fails the audit of its theorem; the right one passes.

A solver's own word proves nothing: restarts, steps, regret and residuals are computed again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples, separable
from support.rate_cases import RATES, axes, correlated

import convexml as cml
from convexml import losses, penalties, theory
from convexml.numerics import Array
from convexml.solvers import Composite, Iterate, steps
from convexml.solvers.registry import ALGORITHMS

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
Change = Callable[[int, Iterate, Iterate], Iterate]


def audit(problem: Any, method: Any, theorem: Any = None, max_iter: int = 60, **given: Any) -> Any:
    """Run a solver, or a generator that is registered for this run only, and audit it."""
    seeds = given.pop("seeds", None)
    name = method if theorem is None else "planted"
    if theorem is not None:
        cml.solvers.register(name, method, (), theorem=theorem)
    try:
        found = problem.solve(name, tol=1e-15, max_iter=max_iter, **given)
        return found.rate_audit(iterations=max_iter, seeds=seeds)
    finally:
        cml.solvers.unregister("planted")


def changed(solver: str, change: Change, **options: Any) -> Any:
    """A solver of the library, each iterate changed before it is shown."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        before = None
        for k, point in enumerate(ALGORITHMS[solver].iterate(objective, w, b, **options)):
            yield change(k, before or point, point)
            before = point

    return iterate


def told(**facts: Callable[[int, float], float]) -> Change:
    """Some of the facts changed: a new value from k and the old one."""

    def change(k: int, before: Iterate, point: Iterate) -> Iterate:
        new = {name: f(k, point.facts.get(name, np.nan)) for name, f in facts.items()}
        return replace(point, facts={**point.facts, **new})

    return change


def kept(at: int | None = None, **factors: float) -> Change:
    """Arrays of the state times a factor, at one iteration or at all of them."""

    def change(k: int, before: Iterate, point: Iterate) -> Iterate:
        if at not in (None, k) or not point.state:
            return point
        state = dict(point.state)
        return replace(point, state=state | {n: f * state[n] for n, f in factors.items()})

    return change


def honest(k: int, before: Iterate, point: Iterate) -> Iterate:
    return point


# -- methods written anew, right or with one mistake -----------------------------------------------


def repeated(constant: Any, move: Any, said: float = 1.0, **facts: Any) -> Any:
    """Points that ``move`` takes from one to the next by a step ``said`` / L."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        P, step = Composite(objective), said / constant(objective)
        x = P.pack(w, b)
        while True:
            yield P.iterate(x, step=step, **facts)
            x = move(P, x, step)

    return iterate


def descent(factor: float, said: float = 1.0, **facts: Any) -> Any:
    """Gradient descent whose steps are ``factor`` times what it says."""
    facts = facts or {"searched": False}
    move = lambda P, x, step: x - factor * step * P.gradient(x)  # noqa: E731
    return repeated(theory.smoothness, move, said, **facts)


def ahead(P: Any, x: Array, step: float, of: float = 1.0, by: float = 1.0) -> Array:
    """The prox ``by`` times the step, after a slope ``of`` times the step."""
    return P.prox(x - of * step * P.loss_gradient(x), by * step)


PROXES: dict[str, Any] = {
    "right": ahead,
    "wrong sign": lambda P, x, step: 2.0 * (x - step * P.loss_gradient(x)) - ahead(P, x, step),
    "twice the step": partial(ahead, by=2.0),
    "too long": partial(ahead, of=2.5, by=2.5),
}


def proximal(kind: str) -> Any:
    """Proximal gradient, or with a mistake in the prox."""
    return repeated(theory.loss_smoothness, PROXES[kind], restarted_at=0.0)


def subgradient(factor: float, objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Averages of steps of ``factor`` eta, said to be eta."""
    P = Composite(objective)
    x = mean = P.pack(w, b)
    for count in itertools.count(2):
        yield P.iterate(mean, step=0.1, ball=np.inf)
        x = x - factor * 0.1 * P.subgradient(x)
        mean = mean + (x - mean) / count


def online(
    factor: float, ball: float, leader: bool, objective: Any, w: Array, b: float
) -> Iterator[Iterate]:
    """|w - 1| from 0 by steps ``factor`` eta, said to be eta; a leader adds them up."""
    x, total, mean, eta = 0.0, 0.0, 0.0, 0.02
    for T in itertools.count():
        facts = {"step": eta, "steps": T, "suffered": 0.0, "ball": ball}
        yield Iterate(np.array([mean]), 0.0, None, 0.0, facts)
        total += factor * eta * np.sign(x - 1.0)
        x = -total
        if leader:
            x = np.clip(x, -ball, ball) if ball > 2.0 else ball * np.tanh(ball * x)
        mean += (x - mean) / (T + 2)


def saga(kind: str, objective: Any, w: Array, b: float, *, seed: int) -> Iterator[Iterate]:
    """SAGA as it is written in the paper, or with a mistake; dense and slow."""
    X, n, rng = objective.design.constant, objective.n, np.random.default_rng(seed)
    step = 0.25 / theory.sample_loss_smoothness(objective)
    taken = 10.0 * step if kind == "too long" else step
    sign = -1.0 if kind == "wrong sign" else 1.0
    w = w.copy()
    table = X * (X @ w - objective.y)[:, None]
    for T in itertools.count(0, n):
        yield Iterate(w.copy(), 0.0, None, 0.0, {"step": step, "steps": float(T)})
        for i in rng.integers(n, size=n):
            new = X[i] * (X[i] @ w - objective.y[i])
            w = w - taken * (new - sign * (table[i] - table.mean(axis=0)))
            table[i] = table[i] if kind == "stale table" else new


def pegasos(factor: float, objective: Any, w: Array, b: float, *, seed: int) -> Iterator[Iterate]:
    """Steps ``factor`` / (lam t), averaged."""
    rule = steps.InverseTime(factor / objective.penalty.strong_convexity)
    run = ALGORITHMS["sgd"].iterate(objective, w, b, step=rule, average=True, seed=seed)
    for each in run:
        yield Iterate(each.w, each.b, None, 0.0, {"steps": each.facts["steps"] + 1.0})


def uphill(objective: Any, w: Array, b: float, *, seed: int = 0) -> Iterator[Iterate]:
    """Stochastic subgradients of an absolute loss, up instead of down."""
    A = np.column_stack([objective.design.constant, np.ones(objective.n)])
    rng, eta = np.random.default_rng(seed), 0.02
    x = mean = np.append(w, b)
    for T in itertools.count(1):
        yield Iterate(mean[:-1].copy(), mean[-1], None, 0.0, {"step": eta, "steps": T})
        i = rng.integers(objective.n)
        x = x + eta * np.sign(A[i] @ x - objective.y[i]) * A[i]
        mean = mean + (x - mean) / (T + 1)


def resumed(solver: str, factor: float, objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Steps of a solver, each begun anew and ``factor`` times as long."""
    while True:
        yield Iterate(w, b)
        *_, ahead = islice(ALGORITHMS[solver].iterate(objective, w, b), 2)
        w, b = w + factor * (ahead.w - w), b + factor * (ahead.b - b)


def forth_and_back(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    known = list(islice(ALGORITHMS["dual_coordinate_descent"].iterate(objective, w, b, block=2), 8))
    for k in (0, 3, 2, 6, 4, 7):
        yield known[k]


def eager(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """A perceptron that asks for a margin: an update wherever y theta'x <= 1."""
    X, y = objective.design.constant, objective.y
    theta, updates = np.zeros(objective.d), 0
    yield Iterate(theta, 0.0, None, 0.0, {"updates": 0.0})
    while np.any(y * (X @ theta) <= 1.0):
        i = int(np.argmax(y * (X @ theta) <= 1.0))
        theta, updates = theta + y[i] * X[i], updates + 1
        yield Iterate(theta, 0.0, None, 0.0, {"updates": float(updates)})


def elsewhere(k: int, before: Iterate, point: Iterate) -> Iterate:
    """A centre that is not the point before, about which u is a proximal point too."""
    if k != 4:
        return point
    state = dict(point.state)
    state |= {"centre": 2.0 * state["centre"] - point.u, "D": 0.5 * state["D"]}
    return replace(point, state=state)


def half_way(k: int, before: Iterate, point: Iterate) -> Iterate:
    return replace(point, w=0.5 * (before.w + point.w), b=0.5 * (before.b + point.b), u=None)


def growing(k: int, before: Iterate, point: Iterate) -> Iterate:
    """Prices that grow by themselves: neither ADMM's equations hold nor does it contract."""
    return kept(s=1.5**k, p=1.5**k, z=1.5**k)(k, before, point)


def one(x: float, y: float, loss: Any, penalty: Any = None) -> Any:
    """One sample of one feature."""
    return cml.LearningProblem([[x]], [y], loss, penalty or penalties.Zero(), fit_intercept=False)


REAL, BINARY = samples("real"), samples("binary")
LASSO, RIDGE, SVM = cml.Lasso(*REAL, 0.4), cml.Ridge(*REAL, 0.3), cml.SoftMarginSVM(*BINARY, 1.0)
SLOW_LASSO, LOGISTIC = cml.Lasso(*correlated(), 0.05), cml.LogisticRegression(*BINARY, 0.05)
SQUARES = cml.LeastSquares(*REAL, fit_intercept=False)
STEEP = one(1.0, 0.0, losses.Huber(1.0 / 41.0))  # the worst function of gradient descent, from 1
AXES = cml.HardMarginSVM(np.eye(4), [1.0, -1.0, 1.0, -1.0], fit_intercept=False)
ABSOLUTE = cml.LearningProblem(*REAL, losses.Absolute(), penalties.Zero())
T = theory
NEWTON, INEXACT, DESCENT = T.NewtonRate(), T.InexactNewtonRate(), T.GradientDescentRate()
FAST, ADMM, INNER = T.AcceleratedRate(True), T.AdmmResiduals(), T.InteriorPointRate()
OUTER = T.AugmentedLagrangianRate()
newton_cg, fista, admm, interior, lagrangian = (
    partial(changed, solver)
    for solver in ("newton_cg", "fista", "admm", "interior_point", "augmented_lagrangian")
)
Row = tuple[Any, Any, Any, bool, str, dict[str, Any]]


def right(problem: Any, method: Any, theorem: Any, **given: Any) -> Row:
    """A method that keeps its theorem, and the options of its run."""
    return problem, method, theorem, True, "", given


def wrong(problem: Any, method: Any, theorem: Any, words: str = "", **given: Any) -> Row:
    """A method that does not, and words of the first violation."""
    return problem, method, theorem, False, words, given


def by_factor(factor: float) -> Any:
    """Whether a row is right by the factor of its steps."""
    return right if factor == 1.0 else wrong


def online_row(name: str, factor: float) -> Row:
    theorem, penalty, ball, leader, size = ONLINE[name]
    problem = one(1.0, 1.0, losses.Absolute(), penalty)
    method = partial(online, factor, ball, leader)
    return by_factor(factor)(problem, method, theorem, max_iter=size)


ONLINE: dict[str, tuple[Any, Any, float, bool, int]] = {
    "online descent": (T.OnlineRegret(), penalties.Zero(), np.inf, False, 400),
    "leader in a ball": (T.LeaderRegret(), penalties.L2Ball(3.0), 3.0, True, 80),
    "leader in corners": (T.CornerRegret(), penalties.L1Ball(1.5), 1.5, True, 80),
}
PULLED = one(1.0, 1.0, losses.Absolute(), penalties.L2(5.0))
ROWS: dict[str, Row] = {
    "descent": right(cml.LeastSquares(*REAL), descent(1.0), DESCENT),
    **{f"descent, {factor} of its step": wrong(SQUARES, descent(factor), DESCENT, "iteration")
       for factor in (2.5, 0.1, -1.0)},
    "unaccelerated": wrong(STEEP, descent(1.0, restarted_at=0), T.AcceleratedRate(False),
        "iteration", w0=np.ones(1), max_iter=40),
    "a step a little longer than it says": wrong(RIDGE, descent(1.002), DESCENT),
    "prox": right(LASSO, proximal("right"), T.ProximalGradientRate()),
    **{f"prox, {kind}, {type(theorem).__name__}": wrong(LASSO, proximal(kind), theorem)
       for kind in PROXES if kind != "right" for theorem in (T.ProximalGradientRate(), FAST)},
    **{f"subgradient, {factor}": by_factor(factor)(one(1.0, 0.0, losses.Absolute()),
        partial(subgradient, factor), T.SubgradientRate(), w0=np.array([0.025 * abs(factor)]),
        max_iter=400) for factor in (1.0, 30.0, -1.0)},
    **{f"{name}, {factor}": online_row(name, factor)
       for name in ONLINE for factor in (1.0, -1.0, 0.2)},
    "saga, right": right(axes(8, 4), partial(saga, "right"), T.SagaRate()),
    **{f"saga, {kind}": wrong(axes(8, 4), partial(saga, kind), T.SagaRate())
       for kind in ("too long", "wrong sign", "stale table")},
    **{f"pegasos, {factor}": by_factor(factor)(PULLED, partial(pegasos, factor), T.PegasosRate(),
        max_iter=80) for factor in (1.0, 60.0, 0.001)},
    "stochastic subgradients uphill": wrong(ABSOLUTE, uphill, T.StochasticSubgradientRate(),
        max_iter=250, seeds=8),
    "half of Newton's steps": wrong(LOGISTIC, partial(resumed, "newton", 0.5), NEWTON, "M r^2",
        max_iter=30),
    "Newton undamped": wrong(LOGISTIC, partial(resumed, "newton", 2.5), NEWTON, max_iter=8),
    "residuals": right(LOGISTIC, newton_cg(honest), INEXACT, max_iter=3),
    "residuals half way": wrong(LOGISTIC, newton_cg(half_way), INEXACT, "eta_T", max_iter=3),
    "residuals of another step": wrong(LOGISTIC, newton_cg(told(step=lambda k, v: 0.5)), INEXACT,
        "eta_T", max_iter=3),
    "forcing terms below the residual": wrong(LOGISTIC,
        newton_cg(told(forcing=lambda k, v: 1e-3 * v)), INEXACT, "eta", max_iter=6),
    "restarts that did not happen": wrong(SLOW_LASSO,
        fista(told(restarted_at=lambda k, v: float(k - k % 7)), restart=False), FAST),
    "a step longer once": wrong(LASSO,
        fista(told(step=lambda k, v: v * (10.0 if k == 3 else 1.0))), FAST, "exceeds 1/L"),
    "coordinate steps too long": wrong(LASSO, partial(resumed, "coordinate_descent", 2.5),
        T.Descent(), max_iter=40),
    "dual points forth and back": wrong(SVM, forth_and_back, T.DualAscent(), max_iter=5),
    "ADMM whose prices grow": wrong(LASSO, admm(growing, rho=1.0), ADMM, max_iter=40),
    "ADMM that shows no copies": wrong(LASSO, admm(lambda k, before, point: Iterate(
        point.w, point.b, facts={"residual": 0.5**k, "rho": 1.0})), ADMM, max_iter=40),
    "ADMM": right(LASSO, admm(honest), ADMM, max_iter=20),
    **{f"ADMM, {name} wrong once": wrong(LASSO, admm(kept(9, **{name: 1.001})), ADMM, max_iter=20)
       for name in "xzpstv"},
    "augmented Lagrangian": right(SVM, lagrangian(honest), OUTER, max_iter=12),
    "about another centre": wrong(SVM, lagrangian(elsewhere), OUTER, "v_{t+1}", max_iter=12),
    "u that is no proximal point": wrong(SVM, lagrangian(lambda k, before, point: point
        if point.u is None else replace(point, u=0.999 * point.u)), OUTER, "F(y)", max_iter=12),
    "weights that boast": wrong(SVM, lagrangian(kept(D=1e-3)), OUTER, "F(y)", max_iter=12),
    "interior points": right(SVM, interior(honest), INNER, max_iter=12),
    "slacks of the wrong side": wrong(SVM, interior(lambda k, before, point: replace(
        point, state={n: v - 0.1 if n == "s" else v for n, v in point.state.items()})), INNER,
        "s, z >= 0"),
    "residuals left behind": wrong(SVM, interior(lambda k, before, point: replace(
        point, w=(1.0 + 0.01 / (k + 1)) * point.w)), INNER, "r_t"),
    "slacks a millionth": wrong(RATES["SoftMarginSVM"](), interior(kept(s=1e-6)), INNER,
        max_iter=12),
    "a perceptron that asks for a margin": wrong(AXES, eager, T.PerceptronBound(),
        "iteration 2: an update adds", max_iter=30),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_only_the_right_method_keeps_its_theorem(name: str) -> None:
    problem, method, theorem, holds, words, given = ROWS[name]
    found = audit(problem, method, theorem, **given)
    assert found.holds is holds, str(found)
    assert words in f"{found.unmet} {found.first_violation}", str(found)
    assert name != "restarts that did not happen" or found.claims[0].holds is False


# -- steps and constants ---------------------------------------------------------------------------


def too_long(problem: Any, factor: float, constant: str) -> dict[str, float]:
    return {"step": factor / getattr(theory, constant)(problem.objective_parts)}


@pytest.mark.parametrize(("problem", "solver", "factor", "constant", "words"), [
    (RIDGE, "gradient_descent", 2.5, "smoothness", "exceeds 1/L"),
    (axes(), "sgd", 2.5, "sample_smoothness", "exceeds 1/(2 L_max)"),
    (axes(), "saga", 0.3, "sample_smoothness", "exceeds 1/(4 L_max)"),
])  # fmt: skip
def test_a_step_that_is_too_long_is_named(
    problem: Any, solver: str, factor: float, constant: str, words: str
) -> None:
    given = {} if solver == "gradient_descent" else {"seeds": 16}
    found = audit(problem, solver, max_iter=12, **given, **too_long(problem, factor, constant))
    assert found.holds is False
    assert words in found.first_violation
    assert solver == "saga" or not all(claim.holds for claim in found.claims)


def test_a_ball_that_leaves_the_solution_out_is_noticed() -> None:
    found = audit(cml.Ridge(*REAL, 0.01), "textbook.online_gradient_descent", max_iter=40, ball=0.1)
    assert "outside the ball" in found.first_violation


def test_decreasing_steps_are_outside_the_theorem_of_the_constant_one() -> None:
    found = audit(axes(), "sgd", max_iter=20, step=steps.InverseSqrt(0.05), seeds=2)
    assert found.first_violation == "precondition: the step is not constant"


# -- what is computed again ------------------------------------------------------------------------


def test_a_descent_that_says_a_step_which_it_did_not_take_is_noticed() -> None:
    """Half of 1/L, said exactly, taken a little longer: no rate is broken, the move is."""
    moves, *rest = audit(RATES["Ridge"](), descent(1.002, 0.5), DESCENT, 20).claims
    assert moves.holds is False
    assert all(claim.holds for claim in rest)


def test_a_restart_point_is_judged_against_its_previous_origin() -> None:
    problem = cml.Ridge(*correlated(), 1e-3)
    found = audit(problem, "accelerated_gradient", max_iter=300)
    _, uphill_, value = found.claims
    assert uphill_.tested.size > 0
    assert np.array_equal(value.iterations, np.arange(1, 301))  # restart points included
    k, L = int(uphill_.iterations[0]), theory.smoothness(problem.objective_parts)
    x = found.reference
    distance = float(np.sum(x.w**2) + (x.b - correlated()[1].mean()) ** 2)  # from w = 0, best b
    assert value.bound[k - 1] == pytest.approx(2.0 * L * distance / (k + 1) ** 2, rel=1e-6)


def test_perceptron_updates_are_counted_and_its_reference_is_the_hard_margin() -> None:
    X, y = separable()
    machine = cml.HardMarginSVM(X, y)
    best = machine.solve(tol=1e-9).primal
    for problem in (machine, cml.HalfspaceLP(X, y, fit_intercept=True)):
        found = problem.solve("perceptron").rate_audit()
        assert found.holds, str(found)
        R2 = float(np.max(np.sum(X**2, axis=1))) + 1.0
        limit = R2 * (float(best["w"] @ best["w"]) + float(best["b"]) ** 2)
        assert found.claims[1].bound[0] == pytest.approx(limit, rel=1e-4)


def test_the_residual_of_ADMM_is_that_of_its_copies() -> None:
    solution = cml.Lasso(*REAL, 0.2).solve("admm", tol=1e-15, max_iter=12)
    _, fall = solution.rate_audit().claims
    points = list(islice(solution.recorded.iterates(), 13))
    for k, measured in zip(fall.iterations, fall.measured, strict=True):
        now, old = points[k].state, points[k - 1].state
        parts = [now["z"] - now["p"], now["p"] - old["p"]]
        scaled = [np.sqrt(now["tau"]) * each for each in (now["v"] - now["x"], now["x"] - old["x"])]
        total = sum(float(np.sum(each**2)) for each in (*parts, *scaled))
        assert measured == pytest.approx(now["rho"] * total, rel=1e-12)


@pytest.mark.parametrize("name", ["s", "z", "nu", "x"])
def test_a_linear_program_whose_points_are_not_newtons_fails(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from convexml.models import rate_audit as program

    solution = cml.load(PROBLEMS / "lp_max_flow.toml").solve("interior_point", tol=1e-9)
    found = solution.rate_audit()
    assert found.holds
    assert found.claims[1].tested.size == solution.iterations
    assert solution.rate_audit(iterations=0).claims[1].holds is None
    right, change = program.RecordedProgram.first, kept(4, **{name: 1.001})
    monkeypatch.setattr(
        program.RecordedProgram,
        "first",
        lambda self, count: (change(k, p, p) for k, p in enumerate(right(self, count))),
    )
    assert solution.rate_audit().holds is False


@pytest.mark.parametrize("seed", [0, 7])
def test_every_run_of_an_expectation_has_a_seed_of_its_own(seed: int) -> None:
    """Measured is the mean of |x_T - x*|^2 and 2.33 standard errors, here of two runs by hand."""
    solution = axes().solve("sgd", tol=1e-15, max_iter=6, seed=seed)
    found = solution.rate_audit(iterations=6, seeds=2)
    (claim,) = found.claims
    runs = [list(islice(solution.recorded.iterates(seed + k), 7)) for k in range(2)]
    squares = np.array([[np.sum((p.w - found.reference.w) ** 2) for p in run] for run in runs])
    limit = squares.mean(axis=0) + 2.3263478740408408 * np.ptp(squares, axis=0) / 2.0
    assert claim.measured == pytest.approx(limit[claim.iterations], rel=1e-12)
    assert np.ptp(squares, axis=0)[1:].min() > 0.0
