"""Every solver that says it suits a loss and a penalty ends at the optimum of a conic solver."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import GROUPS, consistent, samples, separable

import convexml as cml
from convexml import losses, penalties

UNEVEN = [1.0, 0.0, 2.0, 0.5, 1.0]
LOSSES = (
    *(losses.Squared(), losses.Absolute(), losses.Pinball(0.2), losses.Huber(0.5)),
    *(losses.EpsilonInsensitive(0.3), losses.SquaredEpsilonInsensitive(0.3), losses.Poisson()),
    *(losses.Logistic(), losses.Hinge(), losses.SquaredHinge(), losses.Exponential()),
    *(losses.HardMargin(), losses.Interpolation()),
)
PENALTIES = (
    *(penalties.L2(0.3), penalties.L2(0.3, [1.0, 0.1, 2.0, 0.5, 1.0]), penalties.L2(0.3, UNEVEN)),
    *(penalties.L1(0.1), penalties.L1(0.1, UNEVEN), penalties.ElasticNet(0.2, 0.5)),
    *(penalties.ElasticNet(0.1, 1e-5), penalties.GroupL2(0.1, GROUPS), penalties.L1Ball(2.0)),
    *(penalties.GroupL2(0.2, GROUPS, np.arange(len(set(GROUPS)))), penalties.L2Ball(1.0)),
    *(penalties.Box(-0.5, 0.5), penalties.SortedL1([0.5, 0.4, 0.2, 0.1, 0.0])),
)
TOLERANCES = {
    **dict.fromkeys(("newton", "irls", "newton_cg", "normal_equations", "qr"), 1e-10),
    **dict.fromkeys(("coordinate_descent", "augmented_lagrangian", "proximal_point"), 1e-9),
    **dict.fromkeys(("interior_point", "proximal_newton", "method_of_multipliers"), 1e-8),
    **dict.fromkeys(("dual_coordinate_descent", "saga"), 1e-6),
    **dict.fromkeys(
        ("gradient_descent", "accelerated_gradient", "proximal_gradient", "fista"), 1e-5
    ),
    "admm": 1e-5,
}
"""The gap that each is asked for; subgradients and SGD promise no such thing in a short time."""
AUDITED = ("augmented_lagrangian", "interior_point", "admm", "newton_cg")


@cache
def posed(loss: Any, penalty: Any, intercept: bool, weighted: bool, is_sparse: bool) -> Any:
    X, y = samples(loss.labels)
    if loss.is_indicator:
        X, y = separable() if loss.labels == "binary" else consistent()
    weights = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.0 + np.arange(len(y)) % 3)
    if loss.is_indicator or not weighted:
        weights = None
    data = sparse.csr_array(X) if is_sparse else X
    return cml.LearningProblem(
        data, y, loss, penalty, fit_intercept=intercept, sample_weight=weights
    )


@cache
def truth(loss: Any, penalty: Any, intercept: bool, weighted: bool) -> Any:
    return posed(loss, penalty, intercept, weighted, False).solve("clarabel", tol=1e-10)


def cells(loss: Any, penalty: Any) -> list[tuple[bool, bool, bool]]:
    """Some of the eight of (intercept, weights, sparse), by turns."""
    every = list(product((True, False), repeat=3))
    turn = 3 * LOSSES.index(loss) + PENALTIES.index(penalty)
    return [every[turn % 8]]


def solved_by_kernels(problem: Any, best: Any) -> None:
    """The same loss on a linear kernel, where ``smo`` takes it."""
    parts = problem.objective_parts
    given = {"fit_intercept": parts.fit_intercept, "sample_weight": parts.c, "loss_scale": "sum"}
    X, kernel = parts.design.dense(), cml.kernels.Linear()
    machine = cml.KernelProblem(X, parts.y, parts.loss, 0.3, kernel, **given)
    if cml.solvers.supports("smo", machine)[0]:
        found = machine.solve("smo", tol=1e-8, polish=False)
        assert (found.solver, found.status) == ("smo", "optimal"), str(found)
        apart = abs(found.objective - best.objective)
        assert apart <= 1e-8 * abs(best.objective) + found.gap + max(best.gap, 0.0)


PAIRS = [
    pytest.param(loss, penalty, marks=[pytest.mark.slow] if (j + k) % 4 else [])
    for j, loss in enumerate(LOSSES)
    for k, penalty in enumerate(PENALTIES)
]


@pytest.mark.parametrize(("loss", "penalty"), PAIRS, ids=repr)
def test_every_solver_ends_at_the_optimum(loss: Any, penalty: Any) -> None:
    for intercept, weighted, is_sparse in cells(loss, penalty):
        problem = posed(loss, penalty, intercept, weighted, is_sparse)
        best = truth(loss, penalty, intercept, weighted)
        if best.status != "optimal":
            continue
        if penalty is PENALTIES[0]:
            solved_by_kernels(problem, best)
        turn = LOSSES.index(loss) + PENALTIES.index(penalty)
        slow = {"method_of_multipliers"} if turn % 3 else set()
        slow |= {"admm", "saga"} if penalty is not PENALTIES[0] or weighted else set()
        for solver, tol in TOLERANCES.items():
            if not cml.solvers.supports(solver, problem)[0] or solver in slow:
                continue
            found = problem.solve(solver, tol=tol, polish=False)
            said = (solver, intercept, weighted, is_sparse, str(found))
            assert found.status == "optimal", said
            assert found.relative_gap <= tol, said
            apart = abs(found.objective - best.objective)
            assert apart <= 1e-8 * abs(best.objective) + found.gap + max(best.gap, 0.0), said
            assert solver != "interior_point" or found.iterations <= 30
            if solver in AUDITED and penalty in PENALTIES[:2]:
                audit = found.rate_audit()
                assert audit.holds is not False, (said, audit.first_violation)
