"""Every loss with every penalty, in odd data: primal and dual agree, and the conditions hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.model_cases import MODELS, parts, pose_parts, samples, separable, weights
from support.sizes import by_turns

import convexml as cml
from convexml.losses import HardMargin, Squared
from convexml.numerics import Array
from convexml.penalties import SortedL1

TOL = 1e-6
GRID = parts()


def near(value: float, truth: float) -> bool:
    """Whether a value agrees to 1e-6, relative to the truth; absolute where that is 0."""
    return abs(value - truth) <= TOL * (abs(truth) if abs(truth) > 1e-9 else 1.0)


def check(problem: Any) -> None:
    """Pose, solve by CLARABEL and by ourselves, and compare."""
    values = []
    for posed in (problem.primal, problem.dual):
        assert posed.is_dcp()
        assert posed.is_dcp(dpp=True)
        assert all(constraint.label for constraint in posed.constraints)
        assert all(variable.attributes["nonneg"] is False for variable in posed.variables())
        posed.solve(solver="CLARABEL")
        assert posed.status == "optimal"
        values.append(posed.value)
    assert problem.primal.objective.NAME == "minimize"
    assert problem.dual.objective.NAME == "maximize"
    solution = problem.solve()
    assert solution.status == "optimal"
    primal = problem.objective(solution.primal["w"], solution.primal["b"])
    dual = problem.dual_objective(solution.dual["u"])
    assert primal == pytest.approx(solution.objective, rel=1e-12, abs=1e-12)
    assert dual == pytest.approx(solution.dual_objective, rel=1e-12, abs=1e-12)
    # Strong duality, tighter than the solver's 1e-6: the solution is polished.
    assert primal - dual <= 1e-9 * max(abs(primal), abs(dual), 1e-3)
    assert near(values[0], primal)
    assert near(values[1], primal)
    certificate = problem.certify(solution.primal["w"], solution.primal["b"], solution.dual["u"])
    assert certificate.holds(TOL)
    worst = {row.name: row.residual for row in certificate.conditions if row.residual > TOL}
    assert worst == {}
    assert set(certificate.kkt) == {
        "stationarity",
        "primal_feasibility",
        "dual_feasibility",
        "complementary_slackness",
    }


@pytest.mark.parametrize(
    "at", by_turns(range(len(GRID)), 3), ids=lambda k: "-".join(p.name for p in GRID[k])
)
def test_duality_of_a_loss_and_a_penalty(at: int) -> None:
    check(pose_parts(*GRID[at], fit_intercept=at % 2 == 0))


@pytest.mark.parametrize("scale", ["mean", "sum", 2.5])
def test_loss_scale(scale: str | float) -> None:
    from convexml import LearningProblem, losses, penalties

    X, y = MODELS[0].data()
    s = weights(len(y))
    problem = LearningProblem(
        X, y, losses.Huber(0.7), penalties.L2(0.4), sample_weight=s, loss_scale=scale
    )
    w, b = np.linspace(-1.0, 1.0, 5), 0.3
    r = np.abs(X @ w + b - y)
    terms = np.where(r <= 0.7, 0.5 * r**2, 0.7 * (r - 0.35))
    c = s / s.sum() if scale == "mean" else s * (1.0 if scale == "sum" else scale)
    assert problem.objective(w, b) == pytest.approx(c @ terms + 0.2 * w @ w, rel=1e-13)
    check(problem)


Edge = Callable[[Array, Array], tuple[Array, Array]]


def column(values: Callable[[Array], Array]) -> Edge:
    """The data with the last feature replaced."""
    return lambda X, y: (np.column_stack([X[:, :4], values(X)]), y)


def two(y: Array) -> Array:
    """Two targets, one of each class where they are labels."""
    return np.array([1.0, -1.0]) if set(y) <= {-1.0, 1.0} else y[:2]


EDGES: dict[str, Edge] = {
    "a column of 1": column(lambda X: np.ones(len(X))),
    "a column of 1e8": column(lambda X: 1e8 * X[:, 4]),
    "all of 1e6": lambda X, y: (1e6 * X, y),
    "far from 0": lambda X, y: (X + 1e4, y),
    "every row twice": lambda X, y: (np.repeat(X, 2, axis=0), np.repeat(y, 2)),
    "two rows": lambda X, y: (X[:2], two(y)),
    "no information": lambda X, y: (0.0 * X, y),
}
TARGETS: dict[str, Edge] = {
    "y constant": lambda X, y: (X, np.full_like(y, 2.0)),
    "y zero": lambda X, y: (X, np.zeros_like(y)),
    "y of 1e6": lambda X, y: (X, 1e6 * y),
    "y of 1e-6": lambda X, y: (X, 1e-6 * y),
    "one row": lambda X, y: (X[:1], y[:1]),
}
OTHERWISE = {
    ("MinimumNorm", "no information"): "infeasible",
    ("HardMarginSVM", "no information"): "infeasible",
    ("HalfspaceLP", "no information"): "infeasible",
    ("LogisticRegression-none", "two rows"): "unattained",
    ("PoissonRegression", "y zero"): "unattained",  # e^b falls for ever
}
CASES = [(case, name, edge) for case in MODELS for name, edge in EDGES.items()]
CASES += [
    (case, name, edge)
    for case in MODELS
    for name, edge in TARGETS.items()
    if not set(case.data()[1]) <= {-1.0, 1.0}
]


@pytest.mark.parametrize(("case", "name", "edge"), by_turns(CASES))
def test_every_model_answers(case: Any, name: str, edge: Edge) -> None:
    solution = case.make(*edge(*case.data())).solve()
    assert solution.status == OTHERWISE.get((case.name, name), "optimal")
    if solution.status == "optimal":
        assert solution.certificate.holds(1e-6)
    else:
        assert solution.evidence


def test_a_tie_is_found_and_certified_to_rounding() -> None:
    X, y = samples("real", n=60)
    problem = cml.LearningProblem(X, y, Squared(), SortedL1(np.linspace(2.0, 1.0, 5), 0.3))
    solution = problem.solve(tol=1e-12)
    sizes = np.abs(solution.primal["w"])
    assert len(np.unique(sizes[sizes > 0.0])) < np.count_nonzero(sizes)
    assert solution.relative_gap < 1e-12
    w = solution.primal["w"] * (1.0 + 1e-4 * np.arange(5))
    b = float(solution.primal["b"])
    assert problem.certify(w, b).gap >= problem.objective(w, b) - solution.objective > 0.0


def test_a_tie_that_the_first_step_misses_is_found() -> None:
    """A linear program: a surface has the coefficients of another active, and a tie more."""
    penalty = SortedL1([3.0, 2.0, 2.0, 0.5, 0.0], 0.7)
    problem = cml.LearningProblem(*separable(), HardMargin(), penalty)
    assert problem.solve().relative_gap < 1e-11
