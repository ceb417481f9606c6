"""Points and multipliers that somebody passes: units, rough ones, duals that hold or do not."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import Verdict, losses, penalties
from convexml.formulas import AtFeatures, Condition
from convexml.kernels import Gaussian
from convexml.losses import Hinge
from convexml.penalties import Box

SIX = np.array([[1.0, 0.5], [-0.5, 1.0], [2.0, -1.0], [0.0, 1.5], [-1.5, -0.5], [0.5, 2.0]])
Y = np.array([1.0, 0.2, 2.5, -1.0, -2.0, 0.4])


def pairs() -> dict[str, tuple[Any, Any, Any]]:
    """Problems with (w, b) and u in closed form or solved by NumPy alone."""
    centred, mean = SIX - SIX.mean(axis=0), SIX.mean(axis=0)
    shrunk = np.linalg.solve(centred.T @ centred / 6 + 0.3 * np.eye(2), centred.T @ (Y / 6))
    b = Y.mean() - mean @ shrunk
    # Of one column the lasso is soft thresholding.
    x = centred[:, 0]
    w = (x @ Y / 6 - 0.1) / (x @ x / 6)
    return {
        "ridge": (cml.Ridge(SIX, Y, 0.3), (shrunk, b), (SIX @ shrunk + b - Y) / 6),
        "lasso": (cml.Lasso(x[:, None], Y, 0.1), ([w], Y.mean()), (x * w + Y.mean() - Y) / 6),
    }


@pytest.mark.parametrize("name", ["ridge", "lasso"])
def test_a_u_that_was_passed_holds_only_where_it_is_optimal(name: str) -> None:
    problem, point, u = pairs()[name]
    assert problem.certify(*point).multipliers == "not passed"
    for near in (u, u * (1.0 - 1e-13), u * (1.0 + 1e-8)):
        found = problem.certify(*point, near)
        assert (found.verdict, found.multipliers) == (Verdict.CERTIFIED, "hold")
        assert found.dual_source == "passed"
        assert found.holds()
    for wrong in (-u, 2.0 * u, 0.5 * u, 0.0 * u, u + 0.1):
        found = problem.certify(*point, wrong)
        assert found.multipliers == "do not hold"
        assert not found.holds()
        assert found.verdict is Verdict.UNDECIDED  # nothing is better than w
        assert "the passed multipliers do not hold: " in str(found).splitlines()[1]


def test_a_bound_from_another_u_is_a_constructed_one() -> None:
    problem, point, u = pairs()["lasso"]
    found = problem.certify(*point, 2.0 * u)  # |x'u| = 2 lam: it is shrunk
    assert found.dual_source == "constructed"
    assert found.moved.relative == pytest.approx(1.0)
    assert "lam" in found.moved.name


@pytest.mark.parametrize("shared", [True, False])
def test_covariances_that_were_passed_hold_only_where_they_are_those_of_all_classes(
    shared: bool,
) -> None:
    problem = cml.DiscriminantAnalysis(np.vstack([SIX, SIX**2]), np.repeat([0, 1], 6), shared)
    W = np.linalg.inv(Theta := problem.solve().primal["Theta"])
    assert problem.certify(Theta).multipliers == "not passed"
    assert problem.certify(Theta, W=W).multipliers == "hold"
    W.flat[-1] *= 1.001
    found = problem.certify(Theta, W=W)
    assert (found.multipliers, found.dual_source) == ("do not hold", "constructed")
    assert found.moved.name == ("W = S" if shared else "class 1: W = S")


def test_multipliers_of_a_linear_program_that_were_passed() -> None:
    """min x + 2 y + z/2, x + y >= 1, x + y + z = 2, x, y, z >= 0: (1, 0, 1), duals (1/2, -1/2)."""
    problem = cml.LinearProgram(
        [1.0, 2.0, 0.5], [[-1.0, -1.0, 0.0]], [-1.0], [[1.0, 1.0, 1.0]], [2.0]
    )
    x, ub, nu = [1.0, 0.0, 1.0], np.array([0.5]), np.array([-0.5])
    assert problem.certify(x).multipliers == "not passed"
    for passed in ({"lambda_ub": ub, "nu": nu}, {"nu": nu}, {"lambda_ub": ub}):
        found = problem.certify(x, passed)
        assert (found.verdict, found.multipliers) == (Verdict.CERTIFIED, "hold")
        for name in passed:
            for factor in (-1.0, 0.0, 2.0):
                found = problem.certify(x, passed | {name: factor * passed[name]})
                assert found.multipliers == "do not hold", (name, factor)
                assert not found.holds()


def test_multipliers_beside_a_point_that_is_violated_are_judged_by_their_value() -> None:
    """min x, x >= 1, x >= 0, at x = 1 - 1e-5: the multiplier of x >= 1 explains what P lacks."""
    problem = cml.LinearProgram([1.0], [[-1.0]], [-1.0])
    found = problem.certify([1.0 - 1e-5], {"lambda_ub": [1.0]})
    assert (found.verdict, found.multipliers) == (Verdict.REFUTED, "hold")
    found = problem.certify([1.0 - 1e-5], {"lambda_ub": [0.0]})
    assert (found.verdict, found.multipliers) == (Verdict.REFUTED, "do not hold")


def test_a_box_with_one_bound_at_zero_is_measured_by_the_other() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)), np.sign(rng.normal(size=20))
    problem = cml.LearningProblem(X, y, Hinge(), Box(0.0, 1e-6), fit_intercept=False)
    certificate = problem.certify(np.array([-1e-8, 0.0]))
    rows = {row.name: row.relative for row in certificate.conditions}
    assert rows["w in dom Omega"] == pytest.approx(1e-2)


N, D = 150, 800
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, D))
SCORE = X[:, :5].sum(axis=1) + RNG.normal(size=N)
NOISE = RNG.normal(size=D) / np.sqrt(D)
CASES = [
    (losses.Hinge(), penalties.L2(0.1)),
    (losses.Logistic(), penalties.L2(0.1)),
    (losses.Squared(), penalties.L1(0.2)),
]


def pose(loss: Any, penalty: Any) -> Any:
    y = np.sign(SCORE) if loss.labels == "binary" else SCORE
    return cml.LearningProblem(X, y, loss, penalty)


@pytest.mark.parametrize("share", [1e-2])
@pytest.mark.parametrize(("loss", "penalty"), CASES, ids=repr)
def test_rough_points_of_large_problems_are_refuted(loss: Any, penalty: Any, share: float) -> None:
    problem = pose(loss, penalty)
    best = problem.solve(tol=1e-8)
    w = best.primal["w"] + share * NOISE * np.linalg.norm(best.primal["w"])
    certificate = problem.certify(w, best.primal["b"])
    assert certificate.verdict.name == "REFUTED"
    truth = problem.objective_parts.primal(w, best.primal["b"]) - best.objective
    assert certificate.gap >= truth * (1.0 - 1e-6)


DRAWS = np.random.default_rng(0)
DATA = DRAWS.normal(size=(40, 5))
TARGETS = DATA[:, 0] - DATA[:, 1] + DRAWS.normal(size=40)
SIGNS = np.where(TARGETS > 0.0, 1.0, -1.0)
POSED = {
    "lasso": lambda X: cml.Lasso(X, TARGETS, 0.1),
    "group lasso": lambda X: cml.GroupLasso(X, TARGETS, 0.1, np.array([0, 0, 1, 1, 1])),
    "ridge": lambda X: cml.Ridge(X, TARGETS, 0.1),
    "weighted": lambda X: cml.Ridge(X, TARGETS, 0.1, sample_weight=1.0 + np.arange(40.0)),
    "least squares": lambda X: cml.LeastSquares(X, TARGETS),
    "huber": lambda X: cml.HuberRegression(X, TARGETS, 1.0, 0.1),
    "quantile": lambda X: cml.QuantileRegression(X, TARGETS, 0.3, 0.01),
    "logistic": lambda X: cml.LogisticRegression(X, SIGNS, 0.1),
    "soft margin": lambda X: cml.SoftMarginSVM(X, SIGNS),
}


@pytest.mark.parametrize("name", POSED)
def test_rows_on_demand_are_those_measured_at_once_whatever_becomes_of_x(name: str) -> None:
    raw = DATA.copy()
    later = POSED[name](raw).solve().certificate
    at_once = POSED[name](DATA).solve().certificate
    assert at_once.conditions
    raw[:] = 1e3 * DRAWS.normal(size=DATA.shape)
    assert later.conditions == at_once.conditions
    assert (later.verdict, later.gap) == (at_once.verdict, at_once.gap)


@pytest.mark.parametrize("name", ["lasso", "soft margin"])
def test_a_point_that_is_written_to_after_it_was_judged_does_not_move_its_rows(name: str) -> None:
    problem = POSED[name](DATA)
    solution = problem.solve()
    w, b = solution.primal["w"].copy(), float(solution.primal["b"])
    certificate, twin = problem.certify(w, b), problem.certify(w, b)
    first = twin.conditions
    w += 1.0
    assert certificate.conditions == first


def test_a_dual_point_that_is_written_to_is_not_taken_for_the_one_judged_last() -> None:
    rng = np.random.default_rng(0)
    ordinary = rng.uniform(-1.0, 1.0, size=(30, 3))
    ordinary[0] = 1.0  # columns, targets and weights of size 1: no units are between
    y = ordinary @ np.array([0.3, -0.2, 0.1]) + 0.1 * rng.normal(size=30)
    problem = cml.Ridge(ordinary, y / np.abs(y).max(), 0.05)
    solution = problem.solve()
    w, b = solution.primal["w"], float(solution.primal["b"])
    u = problem.certify(w, b).dual["u"]
    known = u.copy()
    u += 0.02 * (ordinary[:, 0] - ordinary[:, 0].mean())
    twin = cml.Ridge(ordinary.copy(), problem.objective_parts.y, 0.05)
    assert problem.certify(w, b, u).gap == twin.certify(w, b, u).gap > 0.1
    np.testing.assert_array_equal(problem.certify(w, b).dual["u"], known)


def test_copies_and_stored_certificates_have_their_rows() -> None:
    certificate = POSED["lasso"](DATA).solve().certificate
    copied, stored = copy.deepcopy(certificate), pickle.loads(pickle.dumps(certificate))
    other = replace(certificate, reason="another")
    assert copied.conditions == stored.conditions == other.conditions == certificate.conditions
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = certificate.no_such_name


class Unmet(cml.penalties.L1):
    """The lasso penalty with a constraint of its own, which is broken everywhere."""

    def conditions(self, at: AtFeatures) -> list[Condition]:
        return [*super().conditions(at), Condition("own row", "primal_feasibility", 1.0)]


def test_rows_of_a_class_of_ones_own_are_measured_for_the_verdict() -> None:
    problem = cml.LearningProblem(DATA, TARGETS, cml.losses.Squared(), Unmet(0.1))
    certificate = problem.solve().certificate
    assert certificate.verdict is cml.Verdict.REFUTED
    assert "own row" in certificate.reason


def test_a_dual_point_is_judged_as_it_is_passed() -> None:
    X = np.random.default_rng(0).normal(size=(12, 3))
    problem = cml.KernelSVM(X, np.where(X[:, 0] > 0.0, 1.0, -1.0), 1.0, Gaussian(1.0))
    solution = problem.solve(tol=1e-9)
    q, b, u = solution.primal["q"], float(solution.primal["b"]), solution.dual["u"]
    assert problem.certify(q, b, u).relative_gap <= 1e-9
    assert problem.certify(q, b, 0.5 * u).gap > 0.1
    outside = problem.certify(q, b, 3.0 * u)
    assert outside.repaired > 0.5
    assert outside.gap > 0.1
    assert outside.infeasibility > 0.1
    assert problem.certify(q, None).relative_gap <= 1e-9
