"""Numbers at the ends of float64, and slips that once went wrong: a true answer, or none."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR
from support.model_cases import optimal, samples

import convexml as cml
from convexml import Verdict, estimators
from convexml.errors import InputError

X, Y = samples("real")
XB, YB = samples("binary")
BIG = 2**53

# -- numbers that float64 does not hold ------------------------------------------------------------


@pytest.mark.parametrize("X", [
    np.array([[0], [2**64 - 1]], dtype=np.uint64),
    [[0], [2**70 + 1]],
    sparse.csr_array(np.array([[BIG], [BIG + 1]])),
])  # fmt: skip
def test_integers_that_would_be_rounded_are_refused(X: object) -> None:
    with pytest.raises(InputError, match=r"MinimumNorm: X holds \d+ .*which float64 rounds"):
        cml.MinimumNorm(X, [0, 1], fit_intercept=True)


def test_integers_that_float64_holds_are_taken() -> None:
    large = np.array([[BIG + 2], [2**62], [-BIG]])
    assert cml.MinimumNorm(large, [0, 1, 2], fit_intercept=True).name == "MinimumNorm"
    cml.LinearProgram([2**60, 1.0], [[BIG, Fraction(1, 2)]], [1], bounds=(0, 2**60))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is double here")
def test_long_doubles_that_would_be_rounded_are_refused() -> None:
    third = np.array([1.0, 0.5], dtype=np.longdouble) / 3
    with pytest.raises(InputError, match=r"LinearProgram: c holds 0\.33"):
        cml.LinearProgram(third)
    cml.LinearProgram(np.array([1.0, 0.5], dtype=np.longdouble))


@pytest.mark.parametrize(("arguments", "message"), [
    ({"c": [10**400, 1]}, "c has an integer that float64 cannot hold"),
    ({"c": [1.0], "bounds": (np.nan, 1)}, "bounds hold nan; None is no bound"),
    ({"c": [1.0], "bounds": (0, BIG + 1)}, "bounds holds 9007199254740993"),
    ({"c": [1.0], "A_ub": [[BIG + 1]], "b_ub": [1]}, "A_ub holds 9007199254740993"),
    ({"c": None}, "c must hold numbers, got None"),
])  # fmt: skip
def test_a_linear_program_refuses_what_it_would_change(arguments: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cml.LinearProgram(**arguments)


# -- arrays that are read where they are -----------------------------------------------------------


@pytest.mark.parametrize(
    "make", [sparse.csr_array, sparse.csc_matrix, np.array, np.asfortranarray, "large"]
)
def test_a_matrix_that_was_changed_is_refused(make: Any) -> None:
    shape, make = ((400, 300), np.array) if make == "large" else ((40, 30), make)
    raw = make(np.random.default_rng(0).normal(size=shape))
    problem = cml.Ridge(raw, np.arange(float(shape[0])), 0.1)
    numbers = raw.data if sparse.issparse(raw) else raw
    read = problem.objective_parts.design.constant
    assert np.shares_memory(read.data if sparse.issparse(raw) else read, numbers)
    before = problem.solve()
    part = numbers[:] if sparse.issparse(raw) else numbers[:, 1]
    part *= 2.0
    for call in (
        problem.solve,
        lambda: problem.certify(before.primal["w"]),
        lambda: problem.certified_support(before.primal["w"]),
    ):
        with pytest.raises(InputError, match="X was changed after"):
            call()
    part /= 2.0
    assert problem.certify(before.primal["w"]).verdict is before.certificate.verdict
    if sparse.issparse(raw):
        raw.data[:] = 0.0
        raw.eliminate_zeros()  # in place
        with pytest.raises(InputError, match="X was changed after"):
            problem.certify(before.primal["w"])


def test_what_is_read_and_what_is_answered_cannot_be_written_to() -> None:
    for order in ("C", "F"):
        A, y = np.array(X, order=order), np.array(Y)
        problem = cml.Ridge(A, y, 0.1)
        assert not problem.objective_parts.design.constant.flags.writeable
        assert A.flags.writeable
        assert not np.shares_memory(problem.objective_parts.y, y)
        for other in (A.astype(np.float32), A[::2], np.array(A, dtype=object)):
            posed = cml.Ridge(other, y[: len(other)], 0.1)
            assert not np.shares_memory(posed.objective_parts.design.array, A)
    solution = problem.solve()
    for array in (solution.primal["w"], solution.dual["u"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 99.0


# -- points and constants at the ends --------------------------------------------------------------

GAUSSIAN = cml.kernels.Gaussian(1.0)
MODELS = {
    "Ridge": cml.Ridge(X, Y, 0.1),
    "Lasso": cml.Lasso(X, Y, 0.1),
    "ConstrainedLasso": cml.ConstrainedLasso(X, Y, 1.0),
    "MinimumNorm": cml.MinimumNorm(X[:3], Y[:3]),
    "PoissonRegression": cml.PoissonRegression(X, np.abs(Y), 0.1),
    "LogisticRegression": cml.LogisticRegression(XB, YB, 0.1),
    "SoftMarginSVM": cml.SoftMarginSVM(XB, YB),
    "HalfspaceLP": cml.HalfspaceLP(XB, YB),
    "SoftmaxRegression": cml.SoftmaxRegression(X, np.arange(len(X)) % 3, 0.1),
    "KernelRidge": cml.KernelRidge(X, Y, 0.1, GAUSSIAN),
    "KernelSVM": cml.KernelSVM(XB, YB, 1.0, GAUSSIAN),
}


@pytest.mark.parametrize("name", MODELS)
def test_huge_points_are_never_certified_and_huge_dual_points_bound_nothing(name: str) -> None:
    problem = MODELS[name]
    for size in (1e4, 1e155, 1e200, 1e308):
        far = np.full(problem.coefficients_shape, size)
        certificate = problem.certify(far)
        assert certificate.verdict is not Verdict.CERTIFIED
        assert certificate.gap >= 0.0
        assert problem.objective(far) > 0.0
        assert str(certificate)
    n = 3 if name == "MinimumNorm" else len(X)
    best = problem.solve().objective
    for size in (1e155, 1e200, 1e308):
        u = np.full((n, *problem.objective_parts.w_shape[1:]), size)
        certificate = problem.certify(np.zeros(problem.coefficients_shape), None, u)
        assert certificate.dual_objective <= best * (1.0 + 1e-9)
        assert problem.dual_objective(u) == -np.inf


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_coefficients_of_several_targets_that_overflow_have_no_bound(size: float) -> None:
    targets = np.stack([Y, -Y[::-1]], axis=1)
    problem = cml.MultiTaskLasso(size * X, targets, 0.1)
    for far, b in ((1e160, None), (1e308, None), (1e160, 0.0), (1e308, 1e308)):
        for u in (None, np.full(targets.shape, 1e307), 1e-3 * targets):
            certificate = problem.certify(np.full((X.shape[1], 2), far), b, u)
            numbers = (certificate.gap, certificate.relative_gap, certificate.rounding)
            assert not np.isnan(numbers).any()
            assert certificate.verdict is not Verdict.CERTIFIED
            assert np.isfinite(certificate.gap) or certificate.reason
            assert str(certificate)


@pytest.mark.parametrize("sigma", [1e-320, 1e-200, 1e200, 1e308])
@pytest.mark.parametrize("kernel", [cml.kernels.Gaussian, cml.kernels.Laplacian])
def test_kernels_of_extreme_width_are_their_limits(kernel: type, sigma: float) -> None:
    expected = np.eye(len(X)) if sigma < 1.0 else np.ones((len(X), len(X)))
    np.testing.assert_array_equal(kernel(sigma)(X, X), expected)
    assert cml.KernelRidge(X, Y, 0.1, kernel(sigma)).solve().status == "optimal"


# -- slips that once went wrong --------------------------------------------------------------------

RNG = np.random.default_rng(0)
A = RNG.normal(size=(30, 3))
B = A @ [1.0, 2.0, 3.0] + RNG.normal(size=30)


@pytest.mark.parametrize("offset", [1e9, 1.7e12])
def test_an_offset_of_the_target_excuses_nothing(offset: float) -> None:
    y = B + offset
    for problem in (cml.Ridge(A, y, 0.1), cml.HuberRegression(A, y, 1.0, 0.1)):
        wrong = problem.certify(np.zeros(3), float(y.mean()) + 1.0)
        assert wrong.verdict is Verdict.REFUTED


def test_a_sign_constraint_is_measured_in_the_units_of_w() -> None:
    y = A @ [1.0, -1.0, 2.0] * 1e-6
    problem = cml.LearningProblem(A, y, cml.losses.Squared(), cml.penalties.Nonnegative())
    solution = optimal(problem)
    w, b = solution.primal["w"] - [0.0, 4e-7, 0.0], float(solution.primal["b"])
    assert problem.certify(w, b).verdict is Verdict.REFUTED


@pytest.mark.parametrize("program", [
    {"c": [0, -1], "A_ub": [[0, 4e7]], "b_ub": [-2.0], "bounds": (0, 1)},
    {
        "c": [1, -2], "A_ub": [[-1e4, -4e6], [1e4, 4e6], [-2e4, 0]],
        "b_ub": [0.2, 0.03, -0.002], "A_eq": [[-1, -1]], "b_eq": [-3e-5],
        "bounds": [(0, 1), (0, None)],
    },
])  # fmt: skip
def test_a_program_infeasible_by_little_is_not_optimal(program: dict) -> None:
    assert cml.LinearProgram(**program).solve().status == "infeasible"


@pytest.mark.parametrize("problem", [
    cml.SVR(A, np.zeros(30), 1.0, 0.0),
    cml.SVR(A, np.full(30, 3.0), 1.0, 0.0),
    cml.ElasticNet(A, np.full(30, 3.0), 0.1, 0.0),
    cml.LearningProblem(A, np.full(30, 3.0), cml.losses.Absolute(), cml.penalties.L2(1.0)),
], ids=lambda problem: type(problem).__name__)  # fmt: skip
def test_a_constant_target_is_fitted_exactly(problem: cml.LearningProblem) -> None:
    solution = optimal(problem)
    assert not np.any(solution.primal["w"])


def test_where_the_conic_solver_gives_up_our_interior_point_answers() -> None:
    labels = np.where(A[:, 0] + A[:, 1] > 0.0, 1, -1)
    assert cml.HardMarginSVM(A * 1e-8, labels).solve().status == "optimal"
    noisy = np.where(A[:, 0] + RNG.normal(size=30) > 0.0, 1, -1)
    assert cml.SoftMarginSVM(A, noisy, 1e-10).solve().status == "optimal"


class LogisticPlusOne(cml.losses.Logistic):
    """The logistic loss, raised by 1: its infimum along a separating direction is 1."""

    name = "logistic_plus_one"

    def value(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return super().value(y, z) + 1.0

    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        return super().conjugate(y, v) - 1.0


def test_the_bound_of_an_unattained_infimum_is_computed() -> None:
    labels = np.where(A[:, 0] > 0.0, 1, -1)
    problem = cml.LearningProblem(A, labels, LogisticPlusOne(), cml.penalties.Zero())
    solution = problem.solve("newton")
    assert solution.status == "unattained"
    assert solution.dual_objective == pytest.approx(1.0, rel=1e-14)
    assert solution.objective >= 1.0


def test_variables_with_sparsity_are_judged_without_a_warning() -> None:
    V = cp.Variable((3, 3), sparsity=(np.array([0, 1]), np.array([0, 1])))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(V - np.eye(3))), [cp.sum(V) <= 1.0])
    certificate = cml.solve(problem)
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(1.5, rel=1e-6)  # V = diag(1/2, 1/2, 0)
    assert cml.certify(problem).verdict is Verdict.CERTIFIED


# -- estimators ------------------------------------------------------------------------------------

Z = np.random.default_rng(0).normal(size=(40, 3)) + 0.5
T = Z @ np.array([1.0, -2.0, 0.5]) + 0.3 * np.random.default_rng(1).normal(size=40) + 2.0
SIGNS = np.where(T > np.median(T), 1, -1)
CASES = {
    "Ridge": estimators.Ridge(),
    "Lasso": estimators.Lasso(alpha=0.1),
    "ElasticNet": estimators.ElasticNet(alpha=0.1),
    "ElasticNetCV": estimators.ElasticNetCV(alphas=3, cv=2),
    "LogisticRegression": estimators.LogisticRegression(),
}


def residual(X: np.ndarray, w: Any, b: float) -> float:
    """Half the mean square of what (w, b) leave, in long doubles."""
    w = np.asarray(w).ravel().astype(np.longdouble)
    return float(np.mean((X.astype(np.longdouble) @ w + b - T) ** 2) / 2)


@pytest.mark.parametrize("unit", [1e20, 1e200])
@pytest.mark.parametrize("name", ["Ridge", "Lasso"])
def test_a_penalty_that_is_nothing_beside_the_data_is_certified(name: str, unit: float) -> None:
    """Least squares, by NumPy in ordinary units: the penalty is 1e-20 of that or less."""
    best = np.linalg.lstsq(np.hstack([Z, np.ones((40, 1))]), T, rcond=None)[0]
    least = residual(Z, best[:3], best[3])
    model = CASES[name].fit(Z * unit, T)
    assert residual(Z * unit, model.coef_, model.intercept_) <= least * (1.0 + 1e-6)
    assert model.certificate_.relative_gap <= 1e-9
    assert model.certificate_.verdict is Verdict.CERTIFIED
    assert cml.certify(model, Z * unit, T).verdict is Verdict.CERTIFIED
    problem = cml.Ridge(Z * unit, T, 1.0 / 40)
    worse = problem.certify(model.coef_ * (1.0 + 2e-2), model.intercept_)
    assert worse.verdict is not Verdict.CERTIFIED


def test_what_replaces_the_penalty_is_nowhere_larger() -> None:
    """Beside an elastic net the l1 norm alone: no bound is above the least value of the grid."""
    for unit in (1e90, 1e150):
        problem = cml.ElasticNet(Z * unit, T, unit * 0.3, 0.5)
        solution = optimal(problem)
        w, b = solution.primal["w"], float(solution.primal["b"])
        values = [problem.objective(w * t, b + s) for t in (0.9, 1.0, 1.1) for s in (-0.1, 0, 0.1)]
        assert solution.objective - solution.gap <= min(values)
        off = problem.certify(w * 1.05, b)
        assert off.gap >= problem.objective(w * 1.05, b) - min(values)


@pytest.mark.parametrize("name", CASES)
def test_the_fit_and_certify_agree(name: str) -> None:
    model, y = CASES[name], SIGNS if name == "LogisticRegression" else T
    for unit in (1e-200, 1e20) if name == "ElasticNetCV" else (1e-200, 1e-20, 1e20, 1e150):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(Z * unit, y)
            found = cml.certify(model, Z * unit, y)
        assert found.verdict is model.certificate_.verdict
        if found.verdict is Verdict.CERTIFIED:
            assert abs(found.gap - model.gap_) <= 1e-6 * found.scale


@pytest.mark.parametrize("name", ["Ridge", "Lasso", "LinearRegression", "KernelRidge", "SVC"])
def test_max_iter_is_the_namesakes(name: str) -> None:
    for steps in (-3, 1.5, "many", *([0] if name in ("Ridge", "Lasso") else [])):
        with pytest.raises(ValueError, match="max_iter"):
            getattr(estimators, name)(max_iter=steps).fit(Z, SIGNS)


@pytest.mark.parametrize("kind", [SVC, SVR, LinearSVC, LinearSVR])
def test_an_infinite_cost_is_said(kind: type) -> None:
    model = kind(**({"kernel": "linear"} if kind in (SVC, SVR) else {})).fit(Z, SIGNS)
    model.C = np.inf
    with pytest.raises(InputError, match=rf"certify: {kind.__name__}: .*must be finite"):
        cml.certify(model, Z, SIGNS)


def test_a_doubtful_fit_is_told_where_it_was_asked_for() -> None:
    with pytest.warns(ConvergenceWarning) as doubts:
        estimators.Lasso(alpha=1e-3, tol=1e-25).fit(Z, T)
    assert doubts[0].filename == __file__
