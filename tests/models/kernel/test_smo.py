"""Working sets of the dual: linear models and kernels against other solvers, awkward data, rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from support.sizes import sizes

import convexml as cml
from convexml.kernels import Gaussian, Linear, Polynomial, Precomputed
from convexml.kernels import matrix as kernel_matrix
from convexml.losses import Huber, Pinball, SquaredEpsilonInsensitive, SquaredHinge
from convexml.numerics import Array
from convexml.penalties import L2
from convexml.solvers.coordinate.dual_steps import most_violating
from convexml.solvers.dual import smo as module
from convexml.solvers.dual.free_steps import few_step, newton_step, settle, settle_few

RNG = np.random.default_rng(0)


def samples(n: int, noise: float = 0.3, seed: int = 1) -> tuple[Array, Array, Array]:
    """Two features, a curved boundary, and a curved target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=n)
    return X, np.where(f > 0.0, 1.0, -1.0), f


X, LABELS, REAL = samples(60)
LINEAR: dict[str, Any] = {
    "hinge": lambda **kw: cml.SoftMarginSVM(X, LABELS, 2.0, **kw),
    "epsilon": lambda **kw: cml.SVR(X, REAL, 2.0, 0.3, **kw),
    "squared hinge": lambda **kw: cml.LearningProblem(X, LABELS, SquaredHinge(), L2(0.1), **kw),
    "pinball": lambda **kw: cml.LearningProblem(X, REAL, Pinball(0.3), L2(0.1), **kw),
    "huber": lambda **kw: cml.LearningProblem(X, REAL, Huber(0.5), L2(0.1), **kw),
    "squared epsilon": lambda **kw: cml.LearningProblem(
        X, REAL, SquaredEpsilonInsensitive(0.2), L2(0.1), **kw
    ),
    "ridge": lambda **kw: cml.Ridge(X, REAL, 0.1, **kw),
}


@pytest.mark.parametrize("whole", [10, 250])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", LINEAR)
def test_linear_models(
    name: str, intercept: bool, whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all samples in the working set, and from a coarse start with sets of 8."""
    monkeypatch.setattr(module, "WHOLE", whole)
    problem = LINEAR[name](fit_intercept=intercept)
    solution = problem.solve("smo", tol=1e-9, size=8)
    assert solution.status == "optimal"
    truth = problem.solve("clarabel", tol=1e-10).objective
    assert solution.objective == pytest.approx(truth, rel=1e-8)
    assert solution.rate_audit().holds


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kernel", [Gaussian(0.5), Gaussian(3.0), Polynomial(3, 1.0), Linear()])
def test_kernels(kernel: Any, C: float) -> None:
    problem = cml.KernelSVM(X, LABELS, C, kernel)
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.solver == "smo"
    truth = problem.solve("clarabel", tol=1e-10)
    assert solution.objective == pytest.approx(truth.objective, rel=1e-7)
    assert np.array_equal(solution.predict(X), truth.predict(X))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression_with_weights(epsilon: float, intercept: bool) -> None:
    weights = np.arange(60.0) % 4
    problem = cml.KernelSVR(
        X, REAL, 2.0, epsilon, Gaussian(0.7), sample_weight=weights, fit_intercept=intercept
    )
    solution = problem.solve(tol=1e-9)
    assert (solution.status, solution.solver) == ("optimal", "smo")
    assert np.all(solution.primal["q"][weights == 0.0] == 0.0)
    truth = problem.solve("clarabel", tol=1e-10).objective
    assert solution.objective == pytest.approx(truth, rel=1e-7)


@pytest.mark.parametrize("n", sizes(120, 400))
def test_a_kernel_run_is_held_to_its_theorem(n: int) -> None:
    points, labels, _ = samples(n)
    solution = cml.KernelSVM(points, labels, 1.0, Gaussian(0.5)).solve("smo", size=16)
    assert solution.status == "optimal"
    audit = solution.rate_audit()
    assert audit.holds
    assert len(audit.claims) == 1


def test_repeated_samples_and_a_precomputed_kernel() -> None:
    points, labels = np.repeat(X[:20], 3, axis=0), np.repeat(LABELS[:20], 3)
    twice = cml.KernelSVM(points, labels, 1.0, Gaussian(0.5)).solve(tol=1e-9)
    once = cml.KernelSVM(X[:20], LABELS[:20], 3.0, Gaussian(0.5)).solve(tol=1e-9)
    assert (twice.status, twice.solver) == ("optimal", "smo")
    assert twice.objective == pytest.approx(once.objective, rel=1e-9)
    K = Gaussian(0.5)(points, points)
    known = cml.KernelSVM(K, labels, 1.0, Precomputed()).solve(tol=1e-9)
    assert (known.status, known.solver) == ("optimal", "smo")
    assert known.objective == pytest.approx(twice.objective, rel=1e-9)


def test_few_rows_are_made_and_no_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1500 rows those of the support and of working sets; never all of K."""
    made: list[int] = []

    def counted(self: Any, A: Any) -> Any:
        rows = rows_of(self, A)

        def entries(index: Array, columns: Array | None = None) -> Array:
            made.append(len(index) * (len(A) if columns is None else len(columns)))
            found: Array = rows(index, columns)
            return found

        return entries

    rows_of = Gaussian.rows_of
    monkeypatch.setattr(Gaussian, "rows_of", counted)
    monkeypatch.setattr(kernel_matrix, "factor", None)
    points, labels, _ = samples(1500, 0.1)
    problem = cml.KernelSVM(points, labels, 1.0, Gaussian(1.0))
    solution = problem.solve(tol=1e-9)
    assert (solution.status, solution.solver) == ("optimal", "smo")
    assert problem.certify(solution.primal["q"], solution.primal["b"]).holds(1e-9)
    assert solution.margin > 0.0
    assert "KernelSVM" in repr(problem)
    assert len(solution.support) < 400
    assert sum(made) < 900 * 1500
    # A start at the solution of a near C costs less than none.
    before = sum(made)
    problem.C = 1.1
    assert problem.solve(tol=1e-9, w0=solution.primal["q"]).status == "optimal"
    assert sum(made) - before < 600 * 1500


def test_what_does_not_end_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def idle(objective: Any, w: Array, b: float) -> Any:
        yield module.Iterate(w, b, np.zeros(objective.n))

    algorithm = cml.solvers.registry.ALGORITHMS["smo"]
    monkeypatch.setitem(
        cml.solvers.registry.ALGORITHMS,
        "smo",
        type(algorithm)("smo", idle, algorithm.needs, 10, algorithm.theorem),
    )
    solution = cml.KernelSVM(X, LABELS, 1.0, Gaussian(0.5)).solve()
    assert solution.status == "optimal"
    assert solution.solver != "smo"
    assert "smo ended inaccurate" in solution.choice


@pytest.mark.parametrize("settle", [settle, settle_few])
def test_the_exact_step_is_that_of_a_solver(settle: Any) -> None:
    """Inside wide boxes the QP with 1'u = 0 is solved in one step; in narrow ones ends are met."""
    A = RNG.normal(size=(8, 8))
    Q, y = A @ A.T, RNG.normal(size=8)
    u, g = np.zeros(8), y.copy()
    settle(Q, g, u, np.full(8, -1e3), np.full(8, 1e3), 0.0, True)
    bordered = np.block([[Q, np.ones((8, 1))], [np.ones((1, 8)), np.zeros((1, 1))]])
    exact = np.linalg.solve(bordered, np.append(-y, 0.0))[:8]
    np.testing.assert_allclose(u, exact, rtol=1e-7)
    np.testing.assert_allclose(g, y + Q @ u, atol=1e-7)
    u, g = np.zeros(8), y.copy()
    settle(Q, g, u, np.full(8, -0.05), np.full(8, 0.05), 0.0, False)
    assert np.all(np.abs(u) <= 0.05)
    root = np.linalg.cholesky(Q).T
    bounded = lsq_linear(root, -np.linalg.solve(root.T, y), (-0.05, 0.05)).x
    value, start = y @ u + 0.5 * u @ Q @ u, y @ bounded + 0.5 * bounded @ Q @ bounded
    assert start - 1e-12 <= value < 0.0


@pytest.mark.parametrize("steps", [newton_step, few_step])
def test_a_singular_step_still_descends(steps: Any) -> None:
    A = RNG.normal(size=(6, 2))
    Q, slope = A @ A.T, A @ np.array([1.0, -2.0])
    step = steps(Q, slope, False)
    assert step is not None
    np.testing.assert_allclose(Q @ step, -slope, atol=1e-4)
    none = steps(np.zeros((3, 3)), np.ones(3), True)
    assert none is None or not none.any()


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("paired", [True, False])
def test_few_samples_are_settled_as_many_are(paired: bool, epsilon: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        A, u = rng.normal(size=(12, 12)), rng.uniform(-1.0, 1.0, 12).round(1)
        Q, y = A @ A.T, rng.normal(size=12)
        one, other = u.copy(), u.copy()
        g, h = y + Q @ u, y + Q @ u
        box = np.full(12, -1.0), np.full(12, 1.0), epsilon, paired
        settle(Q, g, one, *box)
        assert not settle_few(Q, h, other, *box)
        np.testing.assert_allclose(one, other, atol=1e-9)
        np.testing.assert_allclose(g, h, atol=1e-8)
    assert settle_few(np.eye(60), np.ones(60), np.zeros(60), -np.ones(60), np.ones(60), 0.0, False)


def test_the_most_violating_by_hand() -> None:
    """Rising gains -g, falling g; samples at an end move one way only."""
    u = np.array([0.0, 1.0, 0.5, 0.0, 1.0, 0.0])
    g = np.array([-3.0, 2.0, 0.1, -1.0, -5.0, 4.0])
    lo, hi = np.zeros(6), np.ones(6)
    chosen, up, down = most_violating(g, u, lo, hi, 0.0, True, 3, 10)
    assert (up, down) == (3.0, 2.0)
    assert chosen.tolist() == [0, 1, 2]  # the free one, and the best of each side
    chosen, up, down = most_violating(g, u, lo, hi, 0.0, True, 6, 10)
    assert chosen.tolist() == [0, 1, 2, 3]  # 4 cannot rise, 5 cannot fall
    chosen, up, down = most_violating(g, u, lo, hi, 0.0, True, 6, 0)
    assert chosen.tolist() == [0, 1, 2, 3]  # 2 by its gain: free ones are too many
    chosen, up, down = most_violating(g, u, lo, hi, 0.5, False, 2, 10)
    assert (up, down) == (2.5, 2.5)
    assert chosen.tolist() == [0, 2]


def test_the_most_violating_are_no_worse_than_any_other() -> None:
    """Also where many violate alike: then as many are chosen, from all over."""
    rng = np.random.default_rng(2)
    for n, levels in ((200, 1), (200, 3), (200, 1000)):
        g = -1.0 - rng.integers(0, levels, n)  # all may rise, none fall
        u, lo, hi = np.zeros(n), np.zeros(n), np.ones(n)
        chosen, up, _ = most_violating(g, u, lo, hi, 0.0, False, 24, 10)
        assert len(set(chosen)) == 24
        assert up == -g.min()
        assert np.max(g[chosen]) <= np.delete(g, chosen).min()
    chosen, _, _ = most_violating(np.full(n, -1.0), u, lo, hi, 0.0, False, 24, 10)
    assert np.diff(chosen).max() <= 9


@pytest.mark.parametrize("size", [1, 2.5])
def test_a_size_that_is_none(size: Any) -> None:
    with pytest.raises(cml.errors.InputError, match="size must be a whole number >= 2"):
        cml.KernelSVM(X, LABELS, 1.0, Gaussian(0.5)).solve("smo", size=size)


def test_who_cannot_be_solved() -> None:
    with pytest.raises(cml.errors.UnsuitableSolverError, match="smo needs a box dual"):
        cml.KernelLogistic(X, LABELS, 0.1, Gaussian(0.5)).solve("smo")
