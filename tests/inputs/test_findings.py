"""Slips and extremes that once went wrong, each with the answer that is right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.certificates import quick_gap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = X @ [1.0, 2.0, 3.0] + RNG.normal(size=30)


@pytest.mark.parametrize("offset", [1e9, 1e12, 1.7e12])
@pytest.mark.parametrize("model", ["ridge", "huber"])
def test_an_offset_of_the_target_excuses_nothing(model: str, offset: float) -> None:
    y = Y + offset
    ridge, huber = cml.Ridge(X, y, 0.1), cml.HuberRegression(X, y, 1.0, 0.1)
    problem = ridge if model == "ridge" else huber
    wrong = problem.certify(np.zeros(3), float(y.mean()) + 1.0)
    assert wrong.verdict is cml.Verdict.REFUTED


def test_a_sign_constraint_is_measured_in_the_units_of_w() -> None:
    y = X @ [1.0, -1.0, 2.0] * 1e-6
    problem = cml.LearningProblem(X, y, cml.losses.Squared(), cml.penalties.Nonnegative())
    solution = problem.solve()
    assert solution.status == "optimal"
    w, b = solution.primal["w"] - [0.0, 4e-7, 0.0], float(solution.primal["b"])
    assert problem.certify(w, b).verdict is cml.Verdict.REFUTED


@pytest.mark.parametrize(
    "program",
    [
        {"c": [0, -1], "A_ub": [[0, 4e7]], "b_ub": [-2.0], "bounds": (0, 1)},
        {
            "c": [1, -2],
            "A_ub": [[-1e4, -4e6], [1e4, 4e6], [-2e4, 0]],
            "b_ub": [0.2, 0.03, -0.002],
            "A_eq": [[-1, -1]],
            "b_eq": [-3e-5],
            "bounds": [(0, 1), (0, None)],
        },
    ],
)
def test_a_program_infeasible_by_little_is_not_optimal(program: dict) -> None:
    assert cml.LinearProgram(**program).solve().status == "infeasible"


def test_nearly_contradicting_equations_are_no_proof() -> None:
    # w = (1 - 1/e, 1/e) with e = (1 + 1e-12) - 1 solves the first system exactly.
    solvable = cml.MinimumNorm([[1.0, 1.0], [1.0, 1.0 + 1e-12]], [1.0, 2.0]).solve()
    assert solvable.status != "infeasible"
    assert cml.MinimumNorm([[1.0, 1.0], [1.0, 1.0]], [1.0, 2.0]).solve().status == "infeasible"
    assert cml.MinimumNorm([[1.0], [1.0]], [1e-8, 2e-8]).solve().status == "infeasible"


def test_sparse_numbers_are_read_where_they_are_and_refused_once_changed() -> None:
    matrix = sparse.csr_array(X)
    problem = cml.Ridge(matrix, Y, 0.1)
    solution = problem.solve()
    matrix.data[:] = 0.0
    with pytest.raises(cml.errors.InputError, match="X was changed after the problem was posed"):
        problem.certify(solution.primal["w"], float(solution.primal["b"]))


@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_numbers_are_read_where_they_are(order: str) -> None:
    A, y = np.array(X, order=order), np.array(Y)
    problem = cml.Ridge(A, y, 0.1)
    read = problem.objective_parts.design.constant
    assert np.shares_memory(read, A)
    assert not read.flags.writeable
    assert A.flags.writeable
    assert not np.shares_memory(problem.objective_parts.y, y)
    for other in (A.astype(np.float32), A[::2], np.array(A, dtype=object)):
        rows = len(other)
        assert not np.shares_memory(cml.Ridge(other, y[:rows], 0.1).objective_parts.design.array, A)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_numbers_whose_squares_overflow_are_no_infinite_ones(bad: float) -> None:
    huge = np.full((3, 2), 1e200) * [[1.0, 2.0], [-1.0, 1.0], [0.5, 3.0]]
    assert cml.Ridge(huge, [1.0, 2.0, 0.0], 0.1).objective_parts.n == 3
    huge[1, 1] = bad
    with pytest.raises(cml.errors.InputError, match="row 1, column 1"):
        cml.Ridge(huge, [1.0, 2.0, 0.0], 0.1)
    with pytest.raises(cml.errors.InputError, match="row 1, column 1"):
        cml.Ridge(sparse.csc_array(huge), [1.0, 2.0, 0.0], 0.1)


def test_sparse_columns_give_the_certificate_of_sparse_rows() -> None:
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    by_rows, by_columns = (
        cml.Lasso(make(thin), Y, 0.05) for make in (sparse.csr_array, sparse.csc_array)
    )
    w = 0.9 * by_rows.solve().primal["w"]  # a gap that is more than rounding, whose sums differ
    one, other = (problem.certify(w) for problem in (by_rows, by_columns))
    assert by_columns.objective_parts.design.constant.format == "csc"
    assert one.verdict is other.verdict
    assert one.primal_objective == pytest.approx(other.primal_objective, rel=1e-14)
    assert one.gap == pytest.approx(other.gap, rel=1e-12)
    assert by_columns.solve("saga", max_iter=3).objective == pytest.approx(
        by_rows.solve("saga", max_iter=3).objective, rel=1e-12
    )


@pytest.mark.parametrize(
    "problem",
    [
        cml.SVR(X, np.zeros(30), 1.0, 0.0),
        cml.SVR(X, np.full(30, 3.0), 1.0, 0.0),
        cml.ElasticNet(X, np.full(30, 3.0), 0.1, 0.0),
        cml.LearningProblem(X, np.full(30, 3.0), cml.losses.Absolute(), cml.penalties.L2(1.0)),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_a_constant_target_is_fitted_exactly(problem: cml.LearningProblem) -> None:
    solution = problem.solve()
    assert solution.status == "optimal"
    assert not np.any(solution.primal["w"])


def test_what_a_certificate_speaks_of_cannot_be_written_to() -> None:
    solution = cml.Ridge(X, Y, 0.1).solve()
    with pytest.raises(ValueError, match="read-only"):
        solution.primal["w"][0] = 99.0
    with pytest.raises(ValueError, match="read-only"):
        solution.dual["u"][0] = 99.0


def test_only_hyperparameters_are_set() -> None:
    problem = cml.KernelRidge(X, Y, 0.1, cml.kernels.Gaussian(1.0))
    for name in ("objective", "kernel", "penalty"):
        with pytest.raises(AttributeError, match=rf"no attribute '{name}' to set"):
            setattr(problem, name, 3)


def test_an_infeasible_start_is_not_solved() -> None:
    problem = cml.MinimumNorm(X[:2], [1.0, 2.0])
    value, _ = quick_gap(problem.objective_parts, np.zeros(3), 0.0)
    assert value == np.inf
    w = np.linalg.lstsq(X[:2], np.array([1.0, 2.0]), rcond=None)[0]
    value, _ = quick_gap(problem.objective_parts, w, 0.0)
    assert value == pytest.approx(0.5 * w @ w, rel=1e-14)


def test_where_the_conic_solver_gives_up_our_interior_point_answers() -> None:
    labels = np.where(X[:, 0] + X[:, 1] > 0.0, 1, -1)
    assert cml.HardMarginSVM(X * 1e-8, labels).solve().status == "optimal"
    noisy = np.where(X[:, 0] + RNG.normal(size=30) > 0.0, 1, -1)
    assert cml.SoftMarginSVM(X, noisy, 1e-10).solve().status == "optimal"


class LogisticPlusOne(cml.losses.Logistic):
    """The logistic loss, raised by 1: its infimum along a separating direction is 1."""

    name = "logistic_plus_one"

    def value(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return super().value(y, z) + 1.0

    def conjugate(self, y: np.ndarray, v: np.ndarray) -> np.ndarray:
        return super().conjugate(y, v) - 1.0


def test_the_bound_of_an_unattained_infimum_is_computed() -> None:
    labels = np.where(X[:, 0] > 0.0, 1, -1)
    problem = cml.LearningProblem(X, labels, LogisticPlusOne(), cml.penalties.Zero())
    solution = problem.solve("newton")
    assert solution.status == "unattained"
    assert solution.dual_objective == pytest.approx(1.0, rel=1e-14)
    assert solution.objective >= 1.0
