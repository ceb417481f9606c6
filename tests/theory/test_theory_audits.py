"""What an audit may not accept: nothing measured, infinite values, and a solver's own word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples, separable
from support.rate_cases import RATES, correlated

import convexml as cml
from convexml import theory
from convexml.models.rates.reference import reference_of
from convexml.numerics import Array
from convexml.solvers import Iterate
from convexml.solvers.first_order.fista import fista
from convexml.solvers.stochastic.online_gradient_descent import online_gradient_descent
from convexml.theory.claim import Claim
from convexml.theory.monotone import never_increases

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
Plant = Callable[[Any, theory.Theorem], str]


@pytest.fixture
def plant() -> Iterator[Plant]:
    """Register a generator with a theorem; it is gone after the test."""

    def register(iterate: Any, theorem: theory.Theorem) -> str:
        cml.solvers.unregister("planted")
        cml.solvers.register("planted", iterate, theorem=theorem)
        return "planted"

    yield register
    cml.solvers.unregister("planted")


def audit(problem: Any, solver: str, max_iter: int = 60, **options: Any) -> Any:
    """Run for a fixed number of iterations and audit."""
    return problem.solve(solver, tol=1e-15, max_iter=max_iter, **options).rate_audit(
        iterations=max_iter
    )


# -- claims ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "holds"),
    [
        ([2.0, 1.0, 1.0], True),
        ([1.0, np.inf], False),
        ([np.inf, 1.0], False),
        ([1.0, np.nan, 0.5], False),
        ([1.0, -np.inf], False),
        ([1e-9, 1.0], False),
        ([1.0, 1.0 + 1e-12], False),  # a room of 1e-3, or of 1e-11, would not see it
        ([1.0, 1.0 + 1e-15], True),
        ([1.0], None),
    ],
)
def test_never_increases_wants_finite_values_and_takes_its_room_from_the_earlier_one(
    values: list[float], holds: bool | None
) -> None:
    assert never_increases("a", np.array(values)).holds is holds


def test_the_room_of_a_rise_is_that_of_the_value_before() -> None:
    # 64 eps of 1e-3 is 1.4e-17; 64 eps of the risen value 1.0 would be a thousand times as much
    risen = 1e-3 * (1.0 + 1e-13)
    assert never_increases("a", np.array([1e-3, risen])).holds is False
    assert never_increases("a", np.array([-1e-3, 1e3])).holds is False
    assert never_increases("a", np.array([0.0, 1e-300])).holds is False
    assert np.all(never_increases("a", np.array([1.0, 5.0])).room <= 2e-14)


def test_a_bound_that_says_nothing_tests_nothing() -> None:
    ones = np.ones(3)
    assert Claim("a", ones, np.full(3, np.inf)).holds is None
    assert Claim("a", np.full(3, np.inf), np.full(3, np.inf)).holds is False
    assert Claim("a", ones, ones, np.inf).holds is None
    assert Claim("a", ones, np.full(3, np.nan)).holds is False
    assert Claim("a", ones, np.array([np.inf, 1.0, 1.0])).holds is True


# -- nothing measured, and P = inf -----------------------------------------------------------------

EVERY = [
    ("gradient_descent", "Ridge"),
    ("accelerated_gradient", "Ridge"),
    ("proximal_gradient", "Lasso"),
    ("fista", "Lasso"),
    ("newton", "Ridge"),
    ("irls", "Ridge"),
    ("coordinate_descent", "Lasso"),
    ("dual_coordinate_descent", "SoftMarginSVM"),
    ("interior_point", "SoftMarginSVM"),
    ("admm", "Lasso"),
    ("sgd", "Ridge"),
    ("saga", "Ridge"),
    ("online_gradient_descent", "Ridge"),
]


@pytest.mark.parametrize(("solver", "name"), EVERY)
def test_a_run_without_a_step_tests_nothing_and_says_so(solver: str, name: str) -> None:
    found = RATES[name]().solve(solver, max_iter=5, tol=1e-15).rate_audit(iterations=0)
    assert found.holds is None, str(found)
    assert found.untested
    assert "not tested" in str(found)


@pytest.mark.parametrize(("solver", "name"), EVERY)
def test_a_run_whose_objective_is_infinite_fails(
    plant: Plant, solver: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from convexml.models.rates import audit as rate_audit
    from convexml.objective import Objective

    problem = RATES[name]()
    solution = problem.solve(solver, max_iter=5, tol=1e-15)
    right = rate_audit.measure

    def infinite(*given: Any) -> Any:
        run = right(*given)
        nothing = np.full_like(run.values, np.inf)
        return replace(run, values=nothing, distances=nothing, duals=-nothing)

    assert isinstance(problem.objective_parts, Objective)
    monkeypatch.setattr(rate_audit, "measure", infinite)
    with np.errstate(all="ignore"):
        found = solution.rate_audit()
    silent = found.silences and not found.claims
    assert found.holds is False or silent, str(found)


def test_one_run_says_nothing_of_an_expectation() -> None:
    solution = RATES["Ridge"]().solve("sgd", max_iter=10, tol=1e-15)
    found = solution.rate_audit(seeds=1)
    assert found.holds is None
    assert "two seeds" in found.untested[0]
    assert solution.rate_audit(seeds=8).holds


def test_dual_ascent_without_dual_points_tests_nothing(plant: Plant) -> None:
    def mute(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        while True:
            yield Iterate(w, b)

    name = plant(mute, theory.DualAscent())
    assert audit(RATES["Ridge"](), name).holds is None


# -- what a solver says of itself ------------------------------------------------------------------


def restarting(every: int) -> Any:
    """FISTA that says it restarted, and did not."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for k, point in enumerate(fista(objective, w, b, restart=False)):
            told = {"restarted_at": float(k - k % every)}
            yield Iterate(point.w, point.b, None, 0.0, {**point.facts, **told})

    return iterate


def test_a_restart_that_did_not_happen_is_noticed(plant: Plant) -> None:
    problem = cml.Lasso(*correlated(), 0.05)
    assert audit(problem, "fista", restart=False).holds
    found = audit(problem, plant(restarting(7), theory.AcceleratedRate(True)))
    assert found.holds is False
    assert found.claims[0].holds is False


def test_a_restart_point_is_judged_against_its_previous_origin() -> None:
    found = audit(cml.Ridge(*correlated(), 1e-3), "accelerated_gradient", max_iter=300)
    _, uphill, value = found.claims
    assert uphill.tested.size > 0
    assert np.array_equal(value.iterations, np.arange(1, 301))  # restart points included
    k = int(uphill.iterations[0])
    L = theory.smoothness(cml.Ridge(*correlated(), 1e-3).objective_parts)
    x = found.reference
    distance = float(np.sum(x.w**2) + (x.b - correlated()[1].mean()) ** 2)  # from w = 0, best b
    assert value.bound[k - 1] == pytest.approx(2.0 * L * distance / (k + 1) ** 2, rel=1e-6)


def test_a_descent_that_says_a_step_which_it_did_not_take_is_noticed(plant: Plant) -> None:
    def lying(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        L = theory.smoothness(objective)
        slope = theory.moves.gradient
        x = np.append(w, b)
        while True:
            yield Iterate(x[:-1], x[-1], facts={"step": 0.5 / L, "searched": False})
            x = x - 0.501 / L * slope(objective, x)

    found = audit(RATES["Ridge"](), plant(lying, theory.GradientDescentRate()), max_iter=20)
    moves, *rest = found.claims
    assert moves.holds is False
    assert all(claim.holds for claim in rest)


def test_a_step_of_a_fista_that_was_longer_once_is_seen(plant: Plant) -> None:
    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for k, point in enumerate(fista(objective, w, b)):
            step = point.facts["step"] * (10.0 if k == 3 else 1.0)
            yield Iterate(point.w, point.b, None, 0.0, {**point.facts, "step": step})

    found = audit(cml.Lasso(*samples("real"), 0.4), plant(iterate, theory.AcceleratedRate(True)))
    assert any("exceeds 1/L" in words for words in found.unmet)
    assert any("not constant" in words for words in found.unmet)


def test_the_regret_is_counted_here(plant: Plant) -> None:
    def boasting(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for point in online_gradient_descent(objective, w, b):
            yield Iterate(point.w, point.b, None, 0.0, {**point.facts, "suffered": -1e9})

    problem = RATES["Ridge"]()
    honest = audit(problem, "online_gradient_descent", max_iter=10)
    found = audit(problem, plant(boasting, theory.OnlineRegret()), max_iter=10)
    assert honest.holds
    assert np.array_equal(found.claims[1].measured, honest.claims[1].measured)


def test_the_complementarity_is_computed_here(plant: Plant) -> None:
    def boasting(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for point in cml.solvers.registry.ALGORITHMS["interior_point"].iterate(objective, w, b):
            yield replace(point, facts={"complementarity": 1e9})

    def shrunk(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        for point in cml.solvers.registry.ALGORITHMS["interior_point"].iterate(objective, w, b):
            state = dict(point.state)
            if state:
                state["s"] = 1e-6 * state["s"]
            yield replace(point, state=state)

    problem = RATES["SoftMarginSVM"]()
    honest = audit(problem, "interior_point", max_iter=12)
    assert honest.holds, str(honest)
    found = audit(problem, plant(boasting, theory.InteriorPointRate()), max_iter=12)
    assert np.array_equal(found.claims[2].bound, honest.claims[2].bound)
    assert audit(problem, plant(shrunk, theory.InteriorPointRate()), max_iter=12).holds is False


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


# -- what is not known is said ---------------------------------------------------------------------


def test_newton_says_where_its_quadratic_phase_is_not_known() -> None:
    found = audit(RATES["PoissonRegression"](), "newton", max_iter=20)
    assert found.holds
    assert "no bound of the third derivative is on record for poisson" in found.untested[0]
    assert "not tested" in str(found)
    assert not audit(RATES["Ridge"](), "newton", max_iter=5).untested


def test_the_radius_is_a_radius_or_infinite() -> None:
    X, y = samples("binary")
    found = audit(cml.LogisticRegression(X, y, 0.05), "newton", max_iter=20).reference
    best = cml.LogisticRegression(X, y, 0.05).solve("newton", tol=1e-15).primal
    assert np.hypot(np.linalg.norm(found.w - best["w"]), found.b - best["b"]) <= found.radius < 1e-4
    twice = cml.LearningProblem(
        np.column_stack([X, X[:, 0]]), y, cml.losses.SquaredHinge(), cml.penalties.L1(0.05)
    )  # the minimisers are a segment: no finite radius is true
    reference = twice.solve("fista", max_iter=20).rate_audit().reference
    assert reference.radius == np.inf


@pytest.mark.parametrize(
    "solver",
    ["gradient_descent", "accelerated_gradient", "proximal_gradient", "fista", "sgd", "saga"],
)
@pytest.mark.parametrize("loss", [cml.losses.Squared(), cml.losses.Huber(1.0)], ids=repr)
def test_L_zero_is_survived(solver: str, loss: Any) -> None:
    problem = cml.LearningProblem(
        np.zeros((4, 2)), [1.0, 2.0, -1.0, 0.0], loss, cml.penalties.Zero(), fit_intercept=False
    )
    found = problem.solve(solver, max_iter=4, tol=1e-15).rate_audit(iterations=4)
    assert found.holds is not False, str(found)


def test_rho_zero_is_survived() -> None:
    problem = cml.LearningProblem(
        np.zeros((3, 2)), np.zeros(3), cml.losses.Absolute(), cml.penalties.Zero()
    )
    for solver in ("subgradient", "online_gradient_descent"):
        assert problem.solve(solver, max_iter=4).status == "optimal"
    zero = cml.LearningProblem(
        np.zeros((3, 2)),
        np.ones(3),
        cml.losses.Absolute(),
        cml.penalties.Zero(),
        fit_intercept=False,
    )
    assert zero.solve("subgradient", max_iter=4, tol=1e-15).rate_audit(iterations=4).holds


@pytest.mark.parametrize("solver", ["newton", "irls", "interior_point", "coordinate_descent"])
@pytest.mark.parametrize("size", [1e9, 1e-9])
def test_runs_in_other_units_are_audited_in_theirs(solver: str, size: float) -> None:
    X, y = samples("real")
    X = X * size + 0.0
    pose = cml.Lasso if solver == "coordinate_descent" else cml.Ridge
    problem = pose(X, 1e5 * y, 1e5 * size if pose is cml.Lasso else 0.1 * size**2)
    found = problem.solve(solver, tol=1e-10).rate_audit()
    assert found.holds, str(found)
    run = problem.solve(solver, tol=1e-10).recorded
    last = list(islice(run.iterates(), 40))[-1]
    inner = run.objective.primal(last.w, last.b)
    assert inner == pytest.approx(found.reference.value, rel=1e-6)
    value, floor = found.reference.value, found.reference.floor
    assert value * (1.0 - 1e-6) <= floor < value


def test_raw_breast_cancer_with_a_large_C_raises_no_alarm() -> None:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    problem = cml.SoftMarginSVM(X, 2.0 * y - 1.0, 100.0)
    found = problem.solve("interior_point", max_iter=60).rate_audit()
    assert found.holds, str(found)


# -- linear programs -------------------------------------------------------------------------------

PROGRAMS = ["lp_wyndor", "lp_diet", "lp_transport", "lp_max_flow", "lp_chebyshev_center"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interior_points_of_a_linear_program_are_audited(name: str) -> None:
    solution = cml.load(PROBLEMS / f"{name}.toml").solve("interior_point", tol=1e-9)
    found = solution.rate_audit()
    assert found.holds, str(found)
    assert found.claims[1].tested.size == solution.iterations
    assert solution.rate_audit(iterations=0).claims[1].holds is None


@pytest.mark.parametrize("name", ["s", "z", "nu", "x"])
def test_a_linear_program_whose_points_are_not_newtons_fails(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from convexml.models.rates import program as program_audit

    solution = cml.load(PROBLEMS / "lp_max_flow.toml").solve("interior_point", tol=1e-9)
    right = program_audit.RecordedProgram.first

    def wrong(self: Any, count: int) -> Iterator[Iterate]:
        for k, point in enumerate(right(self, count)):
            moved = point.state | {name: point.state[name] * (1.0 + 1e-3 * (k == 4))}
            yield replace(point, state=moved)

    monkeypatch.setattr(program_audit.RecordedProgram, "first", wrong)
    assert solution.rate_audit().holds is False


# -- ADMM's copies ---------------------------------------------------------------------------------


def admm_run(problem: Any, name: str, factor: float) -> Any:
    """ADMM with one array of its state wrong at one iteration."""

    def iterate(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
        run = cml.solvers.registry.ALGORITHMS["admm"].iterate(objective, w, b)
        for k, point in enumerate(run):
            state = dict(point.state)
            if k == 9:
                state[name] = factor * state[name]
            yield replace(point, state=state)

    return iterate


@pytest.mark.parametrize("name", ["x", "z", "p", "s", "t", "v"])
def test_ADMM_with_one_equation_wrong_fails(plant: Plant, name: str) -> None:
    problem = cml.Lasso(*samples("real"), 0.2)
    right = audit(problem, plant(admm_run(problem, name, 1.0), theory.AdmmResiduals()), 20)
    assert right.holds, str(right)
    wrong = audit(problem, plant(admm_run(problem, name, 1.001), theory.AdmmResiduals()), 20)
    assert wrong.claims[0].holds is False


def test_the_residual_of_ADMM_is_that_of_its_copies() -> None:
    problem = cml.Lasso(*samples("real"), 0.2)
    solution = problem.solve("admm", tol=1e-15, max_iter=12)
    _, fall = solution.rate_audit().claims
    points = list(islice(solution.recorded.iterates(), 13))
    for k, measured in zip(fall.iterations, fall.measured, strict=True):
        now, old = points[k].state, points[k - 1].state
        parts = [now["z"] - now["p"], now["p"] - old["p"]]
        scaled = [np.sqrt(now["tau"]) * each for each in (now["v"] - now["x"], now["x"] - old["x"])]
        total = sum(float(np.sum(each**2)) for each in (*parts, *scaled))
        assert measured == pytest.approx(now["rho"] * total, rel=1e-12)


def test_the_floor_of_a_rough_reference_is_below_the_optimum() -> None:
    X, y = samples("real")
    problem = cml.Ridge(X, y, 0.3, fit_intercept=False)

    class Rough:
        name, coordinates = "rough", staticmethod(problem.coordinates)

        def snapshot(self) -> Any:
            return self

        def solve(self, *_: Any, **__: Any) -> Any:
            return problem.solve("gradient_descent", tol=1e-15, max_iter=4)

    found = reference_of(Rough(), problem.objective_parts)
    best = np.linalg.solve(X.T @ X / len(y) + 0.3 * np.eye(5), X.T @ y / len(y))
    value = float(np.mean((X @ best - y) ** 2) / 2.0 + 0.15 * best @ best)
    assert found.floor <= value < found.value
    assert np.linalg.norm(found.w - best) <= found.radius


def test_the_floor_is_certified_and_the_radius_follows_from_it() -> None:
    X, y = samples("real")
    problem = cml.Ridge(X, y, 0.3, fit_intercept=False)
    solution = problem.solve("gradient_descent", tol=1e-6)
    found = solution.rate_audit().reference
    best = np.linalg.solve(X.T @ X / len(y) + 0.3 * np.eye(5), X.T @ y / len(y))
    value = float(np.mean((X @ best - y) ** 2) / 2.0 + 0.15 * best @ best)
    assert found.floor <= value * (1.0 - 1e-16)
    assert found.floor < found.value
    mu = float(np.linalg.eigvalsh(X.T @ X / len(y))[0]) + 0.3
    gap = found.value - found.floor + 4.0 * np.finfo(float).eps * abs(found.value)
    assert found.radius == pytest.approx(np.sqrt(2.0 * gap / mu), rel=1e-6)
