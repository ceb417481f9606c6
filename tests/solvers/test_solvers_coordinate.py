"""Coordinate descent, its dual, and consensus ADMM."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import GROUPS, samples
from support.solvers.loops import forced

import convexml as cml
from convexml import losses, penalties
from convexml.errors import InputError, UnsuitableSolverError
from convexml.numerics import Array
from convexml.solvers import Iterate
from convexml.solvers.coordinate.coordinate_descent import coordinate_descent
from convexml.solvers.coordinate.dual_coordinate_descent import dual_coordinate_descent
from convexml.solvers.first_order.admm import admm

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
REACHED: dict[str, tuple[str, ...]] = {
    "box_least_squares_diabetes": ("admm",),
    "constrained_lasso_diabetes": ("admm",),
    "constrained_ridge_diabetes": ("admm",),
    "elastic_net_wine": ("coordinate_descent", "admm"),
    "epsilon_insensitive_l1_diabetes": ("admm",),
    "exponential_iris": ("admm",),
    "group_lasso_diabetes": ("coordinate_descent", "admm"),
    "halfspace_iris": ("admm",),
    "hard_margin_wine": ("admm",),
    "hinge_l2_wine": ("dual_coordinate_descent", "admm"),
    "huber_diabetes": ("dual_coordinate_descent", "admm"),
    "lasso_diabetes": ("coordinate_descent", "admm"),
    "lasso_diabetes_null": ("coordinate_descent", "admm"),
    "lasso_diabetes_small_lam": ("coordinate_descent", "admm"),
    "lasso_digits": ("coordinate_descent", "admm"),
    "least_absolute_deviations_linnerud": ("admm",),
    "least_squares_diabetes": ("admm",),
    "logistic_breast_cancer": ("admm",),
    "logistic_digits": ("admm",),
    "logistic_l1_breast_cancer": ("coordinate_descent", "admm"),
    "nonnegative_least_squares_wine": ("admm",),
    "poisson_linnerud": ("admm",),
    "ridge_diabetes": ("dual_coordinate_descent", "admm"),
    "ridge_linnerud_weighted": ("dual_coordinate_descent", "admm"),
    "soft_margin_breast_cancer": ("dual_coordinate_descent",),
    "soft_margin_digits": ("dual_coordinate_descent", "admm"),
    "soft_margin_iris": ("dual_coordinate_descent", "admm"),
    "squared_hinge_breast_cancer": ("dual_coordinate_descent", "admm"),
    "svr_diabetes": ("dual_coordinate_descent",),
}
"""Who reaches a verified relative gap of 1e-6 on which problem file."""


LONG = ("soft_margin_iris",)
"""Whose iterations are many: in the slow suite."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in REACHED],
)
def test_the_objective_is_clarabels_at_a_verified_gap(name: str) -> None:
    problem = cml.load(PROBLEMS / f"{name}.toml")
    reference = problem.solve("clarabel", tol=1e-9)
    for solver in REACHED[name]:
        solution = problem.solve(solver, tol=1e-6)
        assert solution.status == "optimal", solver
        assert solution.relative_gap <= 1e-6
        apart = abs(solution.objective - reference.objective)
        assert apart <= 2e-6 * abs(reference.objective) + solution.gap + max(reference.gap, 0.0)
        audit = solution.rate_audit()
        assert audit.holds or solution.iterations == 0, (solver, audit.first_violation)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(
    "penalty",
    [
        penalties.L1(0.3, [1.0, 0.0, 2.0, 0.5, 1.0]),
        penalties.ElasticNet(0.3, 0.5),
        penalties.GroupL2(0.3, GROUPS),
    ],
    ids=lambda penalty: penalty.name,
)
@pytest.mark.parametrize(
    "loss",
    [losses.Squared(), losses.Logistic(), losses.Huber(0.5), losses.SquaredHinge()],
    ids=lambda loss: loss.name,
)
def test_coordinate_descent_on_every_pair(
    loss: Any, penalty: Any, intercept: bool, is_sparse: bool
) -> None:
    X, y = samples(loss.labels)
    data = sparse.csr_array(X) if is_sparse else X
    problem = cml.LearningProblem(data, y, loss, penalty, fit_intercept=intercept)
    solution = problem.solve("coordinate_descent", tol=1e-9, polish=False)
    assert solution.status == "optimal"
    truth = problem.solve("clarabel", tol=1e-10).objective
    assert solution.objective == pytest.approx(truth, rel=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("block", [2, 7, 200])
def test_dual_ascent_with_any_block(intercept: bool, block: int) -> None:
    X, y = samples("real")
    problem = cml.SVR(X, y, 0.5, 0.4, fit_intercept=intercept)
    solution = problem.solve("dual_coordinate_descent", tol=1e-6, block=block, max_iter=20_000)
    assert solution.status == "optimal"
    assert solution.rate_audit().holds
    assert solution.objective == pytest.approx(problem.solve().objective, rel=2e-6)


ITERATES = {
    "coordinate_descent": (
        coordinate_descent,
        lambda: cml.GroupLasso(*samples("real"), 0.3, GROUPS),
        "coordinate_descent",
        "cycle",
    ),
    "pairs": (
        dual_coordinate_descent,
        lambda: cml.SVR(*samples("real"), 0.5, 0.4),
        "dual_coordinate_descent",
        "ascend_pairs",
    ),
    "singles": (
        dual_coordinate_descent,
        lambda: cml.SVR(*samples("real"), 0.5, 0.4, fit_intercept=False),
        "dual_coordinate_descent",
        "ascend_singles",
    ),
}


@pytest.mark.parametrize("name", ITERATES)
def test_numba_and_numpy_give_the_same_iterates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    solver, pose, module, loop = ITERATES[name]
    objective = pose().objective_parts
    start = np.zeros(objective.d)
    forced(monkeypatch, -1.0)
    fast = [(x.w, x.b) for x in islice(solver(objective, start, 0.0), 5)]
    here = sys.modules[f"convexml.solvers.coordinate.{module}"]
    monkeypatch.setattr(here, loop, getattr(here, loop).plain)
    slow = [(x.w, x.b) for x in islice(solver(objective, start, 0.0), 5)]
    assert len(fast) == len(slow) > 1
    for (w, b), (other_w, other_b) in zip(fast, slow, strict=True):
        assert np.allclose(w, other_w, rtol=1e-9, atol=1e-11)
        assert b == pytest.approx(other_b, rel=1e-9, abs=1e-11)


def overshooting(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Coordinate steps 2.5 times too long."""
    while True:
        yield Iterate(w, b)
        ahead = list(islice(coordinate_descent(objective, w, b), 2))[-1]
        w, b = w + 2.5 * (ahead.w - w), b + 2.5 * (ahead.b - b)


def descending(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """Dual points that go forth and back."""
    known = list(islice(dual_coordinate_descent(objective, w, b, block=2), 8))
    for k in (0, 3, 2, 6, 4, 7):
        yield known[k]


def growing(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """ADMM whose prices grow by themselves: neither its equations hold nor does it contract."""
    for k, point in enumerate(admm(objective, w, b, rho=1.0)):
        state = dict(point.state)
        for name in ("s", "p", "z"):
            if name in state:
                state[name] = state[name] * 1.5**k
        yield Iterate(point.w, point.b, point.u, point.passes, point.facts, state)


def silent(objective: Any, w: Array, b: float) -> Iterator[Iterate]:
    """ADMM that shows no copies and says that its residuals fall."""
    for k, point in enumerate(admm(objective, w, b, rho=1.0)):
        yield Iterate(point.w, point.b, facts={"residual": 0.5**k, "rho": 1.0})


@pytest.mark.parametrize(
    ("broken", "theorem", "pose"),
    [
        (overshooting, cml.theory.Descent(), lambda: cml.Lasso(*samples("real"), 0.2)),
        (descending, cml.theory.DualAscent(), lambda: cml.SoftMarginSVM(*samples("binary"), 1.0)),
        (growing, cml.theory.AdmmResiduals(), lambda: cml.Lasso(*samples("real"), 0.2)),
        (silent, cml.theory.AdmmResiduals(), lambda: cml.Lasso(*samples("real"), 0.2)),
    ],
)
def test_a_broken_version_fails_its_audit(broken: Any, theorem: Any, pose: Any) -> None:
    cml.solvers.register("planted", broken, theorem=theorem)
    try:
        audit = pose().solve("planted", max_iter=40, tol=1e-14).rate_audit()
        assert audit.holds is False
    finally:
        cml.solvers.unregister("planted")


@pytest.mark.parametrize(
    ("solver", "pose", "words"),
    [
        ("coordinate_descent", cml.Ridge, "not a sum of norms of blocks"),
        ("coordinate_descent", cml.ConstrainedLasso, "not a sum of norms of blocks"),
        ("dual_coordinate_descent", cml.Lasso, "its penalty is not"),
        ("admm", lambda X, y, lam: cml.MinimumNorm(X[:3], y[:3]), "only in the limit"),
        ("dual_coordinate_descent", cml.PoissonRegression, "not quadratic on a box"),
    ],
)
def test_what_they_cannot_solve_they_say(solver: str, pose: Any, words: str) -> None:
    X, y = samples("count" if pose is cml.PoissonRegression else "real")
    with pytest.raises(UnsuitableSolverError, match=words):
        pose(X, y, 0.5).solve(solver)


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("coordinate_descent", {"growth": 1.0}),
        ("dual_coordinate_descent", {"block": 1}),
        ("admm", {"blocks": 0}),
        ("admm", {"rho": -1.0}),
    ],
)
def test_options_are_checked(solver: str, options: dict[str, Any]) -> None:
    X, y = samples("real")
    problem = cml.SVR(X, y, 0.5, 0.4) if solver.startswith("dual") else cml.Lasso(X, y, 0.2)
    with pytest.raises(InputError, match=next(iter(options))):
        problem.solve(solver, **options)
