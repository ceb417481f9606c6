"""Certificates of cone programs, against published values and mutations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.programs.arrays import certify_arrays
from support.sizes import sizes

from convexml.certificates import Verdict
from convexml.certificates.algebra.clarabel import solve_cone_program
from convexml.certificates.linear.program import certify_linear
from convexml.duality import cone_program
from convexml.errors import InputError, SolverError
from convexml.objective.conic.cones import (
    NonnegativeCone,
    SecondOrder,
    Semidefinite,
    ZeroCone,
)
from convexml.objective.conic.curved import ExponentialCone
from convexml.objective.conic.program import ConeProgram, cone_program_of
from convexml.objective.linear.data import read_linear_data

# -- certificates of CVXPY problems -----------------------------------------------------------


def cvxpy_problems() -> dict[str, Callable[[], object]]:
    """One problem for each combination of cones, with offsets and both senses."""
    import cvxpy as cp

    rng = np.random.default_rng(0)
    n, d = 25, 4
    X = rng.normal(size=(n, d))
    t = X @ np.ones(d) + rng.normal(size=n)
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=n))
    S = np.cov(X[:, :3].T)
    w, b = cp.Variable(d), cp.Variable()
    xi, Z = cp.Variable(n), cp.Variable((3, 3), symmetric=True)
    square = cp.sum_squares(X @ w + b - t) / (2 * n)
    margin = cp.multiply(y, X @ w + b)
    logistic = cp.sum(cp.logistic(-margin)) / n
    return {
        "ridge": lambda: cp.Problem(cp.Minimize(square + 0.05 * cp.sum_squares(w) + 3.0)),
        "lasso": lambda: cp.Problem(cp.Minimize(square + 0.1 * cp.norm1(w))),
        "ball": lambda: cp.Problem(cp.Minimize(square), [cp.norm(w) <= 0.5]),
        "groups": lambda: cp.Problem(cp.Minimize(square + 0.3 * cp.norm(w[:2]))),
        "svm": lambda: cp.Problem(
            cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(xi)), [xi >= 0, margin >= 1 - xi]
        ),
        "logistic": lambda: cp.Problem(cp.Minimize(logistic + 0.05 * cp.sum_squares(w))),
        "sparse logistic": lambda: cp.Problem(cp.Minimize(logistic + 0.02 * cp.norm1(w))),
        "entropy": lambda: cp.Problem(
            cp.Maximize(cp.sum(cp.entr(w)) + 2.0), [cp.sum(w) == 1, w[0] <= 0.1]
        ),
        "first eigenvalue": lambda: cp.Problem(
            cp.Maximize(cp.trace(S @ Z)), [Z >> 0, cp.trace(Z) == 1]
        ),
        "power": lambda: cp.Problem(cp.Minimize(cp.sum(cp.power(cp.abs(X @ w - t), 1.5)) / n)),
    }


NAMES = tuple(cvxpy_problems())


@pytest.mark.parametrize("name", NAMES)
def test_clarabels_solution_is_certified_and_recovered(name: str) -> None:
    problem = cvxpy_problems()[name]()
    value = problem.solve(solver="CLARABEL")
    canonical = cone_program(problem)
    x, _, y = solve_cone_program(canonical.program)
    certificate = certify_arrays(canonical.program, x, y)
    assert certificate.verdict is Verdict.CERTIFIED, str(certificate)
    assert canonical.sign * certificate.primal_objective == pytest.approx(value, abs=1e-6)
    assert certificate.gap > -1e-7
    values, duals = canonical.recover(x, y)
    for variable, found in values.items():
        np.testing.assert_allclose(found, variable.value, atol=1e-5)
    for constraint, found in duals.items():
        np.testing.assert_allclose(found, constraint.dual_value, atol=1e-5)


def test_the_first_eigenvalue_is_the_value_of_its_program() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 4))
    largest = np.linalg.eigvalsh(np.cov(X[:, :3].T))[-1]
    canonical = cone_program(cvxpy_problems()["first eigenvalue"]())
    x, _, y = solve_cone_program(canonical.program)
    certificate = certify_arrays(canonical.program, x, y)
    assert -certificate.primal_objective == pytest.approx(largest, abs=1e-7)
    assert -certificate.dual_objective == pytest.approx(largest, abs=1e-7)


# -- the bound --------------------------------------------------------------------------------


def wrong_sign() -> ConeProgram:
    """Minimise x^2 / 2 + x subject to x <= 0, whose minimiser is -1."""
    return cone_program_of([[1.0]], [1.0], [[1.0]], [0.0], [NonnegativeCone(1)])


def test_a_multiplier_of_the_wrong_sign_is_refused() -> None:
    certificate = certify_arrays(wrong_sign(), [0.0], y=[-1.0])
    assert certificate.verdict is not Verdict.CERTIFIED
    assert certificate.kkt["dual_feasibility"] == 1.0
    assert certificate.gap >= 0.5
    assert certify_arrays(wrong_sign(), [-1.0], y=[0.0]).verdict is Verdict.CERTIFIED


def test_the_better_point_is_the_witness() -> None:
    certificate = certify_arrays(wrong_sign(), [0.0], y=[-1.0])
    assert certificate.verdict is Verdict.REFUTED
    assert certificate.witness["x"] == pytest.approx([-1.0])


def test_a_dual_residual_is_never_ignored() -> None:
    """Minimise x subject to x >= 0, with y = 1 - 1e-3 where y must be 1; x may be anywhere."""
    program = cone_program_of(None, [1.0, 0.0], [[-1.0, 0.0]], [0.0], [NonnegativeCone(1)])
    assert certify_arrays(program, [0.0, 3.0], y=[0.999]).gap == 0.0
    free = cone_program_of(None, [1.0, 1e-3], [[-1.0, 0.0]], [0.0], [NonnegativeCone(1)])
    certificate = certify_arrays(free, [0.0, 3.0], y=[1.0], R=5.0)
    assert (certificate.verdict, certificate.within) == (Verdict.REFUTED, 5.0)  # x[1] may fall
    assert free.objective(certificate.witness["x"]) < 3e-3
    assert certificate.gap == pytest.approx(5e-3)
    assert certify_arrays(free, [0.0, 3.0], y=[1.0]).gap == np.inf


def random_program(rng: np.random.Generator) -> ConeProgram:
    """A quadratic objective over all self-made cones, strictly feasible on both sides."""
    cones = [ZeroCone(1), NonnegativeCone(3), SecondOrder(3), ExponentialCone(), Semidefinite(3)]
    m, n = sum(cone.dim for cone in cones), 5
    A, root = rng.normal(size=(m, n)), rng.normal(size=(3, n))
    interior = np.array([0.0, 1, 1, 1, 2, 0.5, 0.5, 0, 1, 2, 1, 0, 1])
    dual = np.array([1.0, 1, 1, 1, 2, 0.5, 0.5, -1, 0, 1, 1, 0, 1])
    x0 = rng.normal(size=n)
    P = root.T @ root
    return cone_program_of(P, -A.T @ dual - P @ x0, A, A @ x0 + interior, cones)


COUNTS = sizes(2, 16)


@pytest.mark.parametrize("count", COUNTS)
def test_the_bound_holds_for_any_point_and_any_multiplier(count: int) -> None:
    rng = np.random.default_rng(2)
    bounded = 0
    for _ in range(count):
        program = random_program(rng)
        x, _, y = solve_cone_program(program)
        value = program.objective(x)
        for _ in range(20):
            size = 10.0 ** rng.uniform(-9, 1)
            point = x + size * rng.normal(size=x.size)
            multiplier = y + size * rng.normal(size=y.size)
            certificate = certify_arrays(program, point, y=multiplier)
            bounded += np.isfinite(certificate.gap)
            suboptimality = program.objective(point) - value
            assert certificate.gap >= suboptimality - 1e-6 * (1.0 + abs(value))
            local = certify_arrays(program, point, y=multiplier, R=20.0)
            assert local.gap >= suboptimality - 1e-6 * (1 + abs(value))
    assert bounded > 7.5 * count


@pytest.mark.parametrize("count", COUNTS)
def test_no_mutation_is_certified(count: int) -> None:
    """The value and the residuals of an independent route: Clarabel's optimum, CVXPY's cones."""
    rng, tol = np.random.default_rng(3), 1e-6
    wrong = 0
    for _ in range(count):
        program = random_program(rng)
        x, _, y = solve_cone_program(program)
        best = program.objective(x)
        assert certify_arrays(program, x, y=y, tol=tol).verdict is Verdict.CERTIFIED
        for size in (1e-4, 1e-3, 1e-1):
            moved = size * rng.normal(size=x.size)
            cases = [(x + moved, y), (x, y + size * rng.normal(size=y.size)), (x, (1 + size) * y)]
            cases += [(-x, y), (x, -y), (x, rng.permutation(y)), (rng.permutation(x), y)]
            for point, multiplier in cases:
                certificate = certify_arrays(program, point, y=multiplier, tol=tol)
                scale = max(1.0, abs(best), abs(program.objective(point)))
                s = program.slack(point)
                outside = [
                    bool(abs(s[0]) > 1e-3),
                    bool(np.any(s[1:4] < -1e-3)),
                    bool(np.hypot(s[5], s[6]) > s[4] + 1e-3),
                    bool(s[8] <= 0.0 or s[8] * np.exp(min(s[7] / s[8], 50.0)) > s[9] + 1e-3),
                    bool(s[10] * s[12] - 0.5 * s[11] ** 2 < -1e-3),
                ]
                rose = program.objective(point) > best + 2.0 * tol * scale
                fell = np.any(multiplier[1:4] < -1e-3)
                if rose or fell or any(outside):
                    wrong += 1
                    assert certificate.verdict is not Verdict.CERTIFIED
    assert wrong > 8 * count


def test_linear_and_conic_certificates_agree() -> None:
    import cvxpy as cp

    rng = np.random.default_rng(0)
    A, c = rng.normal(size=(6, 4)), rng.uniform(0.0, 1.0, 4)
    b = rng.uniform(1.0, 2.0, 6)
    x = cp.Variable(4)
    problem = cp.Problem(cp.Minimize(c @ x), [A @ x <= b, x >= -1, x <= 1])
    canonical = cone_program(problem)
    point, _, y = solve_cone_program(canonical.program)
    values, duals = canonical.recover(point, y)
    ub, lower, upper = duals.values()
    data = read_linear_data(c, A, b, None, None, (-1, 1), "test")
    multipliers = {"lambda_ub": ub, "lambda_lower": lower, "lambda_upper": upper}
    linear = certify_linear(data, values[x], multipliers)
    conic = certify_arrays(canonical.program, point, y)
    assert linear.verdict is conic.verdict is Verdict.CERTIFIED
    assert linear.primal_objective == pytest.approx(conic.primal_objective, abs=1e-12)
    assert linear.dual_objective == pytest.approx(conic.dual_objective, abs=1e-7)


# -- texts ------------------------------------------------------------------------------------


def test_bad_data_is_refused() -> None:
    import cvxpy as cp

    with pytest.raises(InputError, match="do not fit together"):
        cone_program_of(None, [1.0], [[1.0]], [0.0], [NonnegativeCone(2)])
    with pytest.raises(InputError, match="P must be symmetric"):
        cone_program_of([[1.0, 1.0], [0.0, 1.0]], [1.0, 1.0], np.eye(2), [0, 0], [ZeroCone(2)])
    with pytest.raises(InputError, match="A contains nan at row 0, column 0"):
        cone_program_of(None, [1.0], [[np.nan]], [0.0], [NonnegativeCone(1)])
    x = cp.Variable()
    with pytest.raises(SolverError, match="CVXPY refuses the problem"):
        cone_program(cp.Problem(cp.Minimize(cp.sqrt(x))))
