"""The Dantzig selector and the square-root lasso: closed forms, exact fits, P in 120 digits."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from flint import arb
from scipy import sparse
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import ball, dot, exact, row, table
from support.model_cases import optimal

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError
from convexml.numerics import Array

RNG = np.random.default_rng(7)
N, D = 30, 6
X = RNG.normal(size=(N, D)) * [1.0, 0.5, 2.0, 1.0, 0.7, 1.0] + 0.4
Y = X @ [1.0, -2.0, 0.0, 0.5, 0.0, 0.0] + 0.5 * RNG.normal(size=N) + 3.0
WIDE = RNG.normal(size=(12, 40)) + 1.0
WHOLE = WIDE[:, 0] - 2.0 * WIDE[:, 3]


def pose(lam: float = 0.2, **keywords: Any) -> cml.SquareRootLasso:
    """The square-root lasso on these samples."""
    return cml.SquareRootLasso(X, Y, lam, **keywords)


def test_orthogonal_columns_have_a_closed_form() -> None:
    """X'X = n I: sigma^2 = (|y|^2/n - sum of h_j^2) / (1 - k lam^2) over the k that stay."""
    H = np.array([[1.0]])
    for _ in range(4):
        H = np.block([[H, H], [H, -H]])
    y = H[:, 1] * 3.0 - H[:, 2] + 0.5 * H[:, 9] + 0.2 * H[:, 13]
    A, lam = H[:, 1:5], 0.3  # of these two stay
    sigma = np.sqrt((9.0 + 1.0 + 0.25 + 0.04 - 9.0 - 1.0) / (1.0 - 2.0 * lam**2))
    found = cml.SquareRootLasso(A, y, lam).solve(tol=1e-13)
    expected = np.array([3.0 - lam * sigma, -1.0 + lam * sigma, 0.0, 0.0])
    np.testing.assert_allclose(found.primal["w"], expected, atol=1e-13)
    assert found.objective == pytest.approx(sigma + lam * np.abs(expected).sum(), rel=1e-13)


@pytest.mark.parametrize(("lam", "intercept"), [(1e-6, True), (0.01, False), (0.1, True)])
def test_exact_fits_sit_on_the_kink(lam: float, intercept: bool) -> None:
    """sigma = 0: w is the least |w|_1 that fits, a linear program, and u is none of residuals."""
    problem = cml.SquareRootLasso(WIDE, WHOLE, lam, fit_intercept=intercept)
    found = optimal(problem, tol=1e-8)
    w, b = cp.Variable(40), cp.Variable()
    fits = [WIDE @ w + (b if intercept else 0.0) == WHOLE]
    least = cp.Problem(cp.Minimize(cp.norm1(w)), fits).solve(solver="CLARABEL")
    assert found.objective == pytest.approx(lam * least, rel=1e-6)
    point, u = found.primal, found.dual["u"]
    assert problem.certify(point["w"], point["b"], tol=1e-8).verdict is Verdict.CERTIFIED
    assert problem.certify(point["w"], point["b"], u, tol=1e-8).verdict is Verdict.CERTIFIED
    worse = problem.certify(point["w"] + 1e-3, point["b"])
    assert worse.verdict is Verdict.REFUTED
    assert worse.witness["objective"] == pytest.approx(found.objective, rel=1e-6)


def test_targets_without_a_spread() -> None:
    for lam in (0.0, 0.3):
        found = cml.SquareRootLasso(X, np.full(N, 2.5), lam).solve()
        assert (found.status, found.objective, found.gap) == ("optimal", 0.0, 0.0)
    one = cml.SquareRootLasso(X[:1], Y[:1], 0.1).solve()
    assert (one.status, one.objective) == ("optimal", 0.0)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: pose(-1.0), "SquareRootLasso: lam must be >= 0"),
    (lambda: pose().certify(np.ones(D + 1)), "w must have one coefficient per feature"),
    (lambda: pose().certify(b=0.0), "certify: 'w' is missing; pass the arrays w, b by name"),
    (
        lambda: pose().certify(np.ones(D), w=np.ones(D)),
        r"'w' is passed twice; it takes w, b, u",
    ),
    (
        lambda: pose().certify(np.ones(D), v=np.ones(D)),
        "there is no array 'v'.*Arrays: w, b",
    ),
    (lambda: pose().certify(*[np.ones(D)] * 4), "got 4 arrays; it takes w, b, u"),
    (lambda: pose(fit_intercept=False).certify(np.ones(D), 1.0), "without intercept"),
    (lambda: pose().dual_objective(np.zeros(N), 5), "got 2 arrays; it takes u"),
    (lambda: pose().objective(np.ones(D), junk=1), "objective: there is no array 'junk'"),
    (lambda: pose().certify(np.ones(D), u=np.ones(3)), "u must have one entry per sample"),
    (lambda: cml.SquareRootLasso(X, 1e200 * Y, 0.1), "squares of y are beyond float64"),
])  # fmt: skip
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        call()


def value(w: Array, b: float, A: Array, y: Array, lam: float) -> arb:
    """P in 120 digits, of equal weights."""
    squares = Learning(A, y, ("squared",), ("none",)).value(w, b)
    return ball(2 * squares).sqrt() + ball(exact(lam) * sum(abs(v) for v in row(w)))


@pytest.mark.parametrize(("A", "y", "lam"), [
    (X, Y, 0.2), (X, Y, 0.0), (X + 1e6, Y + 1e9, 0.2), (WIDE, WHOLE, 0.05),
    (np.column_stack([X, X[:, 0]]), Y, 0.05),
], ids=["", "no penalty", "far away", "exact fit", "a column twice"])  # fmt: skip
def test_gaps_cover_what_is_lost(A: Array, y: Array, lam: float) -> None:
    rng = np.random.default_rng(3)
    problem = cml.SquareRootLasso(A, y, lam)
    best = optimal(problem, tol=1e-9)
    w, b = best.primal["w"], float(best.primal["b"])
    least = value(w, b, A, y, lam)  # at least P*
    certified = 0
    for k in range(16):
        size = (0.0, 1e-12, 1e-6, 1e-2)[k % 4]
        at = w * (1.0 + size * rng.normal(size=w.size))
        shift = b * (1.0 + 0.1 * size * rng.normal())
        u = best.dual["u"] + size * rng.normal(size=y.size) / y.size
        found = problem.certify(at, shift, u if k % 3 == 0 else None, tol=1e-8)
        lost = value(at, shift, A, y, lam) - least
        assert lost <= found.gap
        assert found.proved_gap in (found.gap, np.inf)
        assert exact(found.dual_objective) - exact(found.rounding) <= least
        assert not (found.verdict is Verdict.REFUTED and lost <= 0)
        if float(lost) > 2e-8 * max(float(least), 1e-12):
            assert found.verdict is not Verdict.CERTIFIED
        certified += found.verdict is Verdict.CERTIFIED
    assert certified >= 4


def stated_dantzig(
    A: Array, y: Array, lam: float, s: Array | None = None, intercept: bool = False
) -> float:
    """P* by CLARABEL, of the problem written out again."""
    c = np.ones(len(y)) / len(y) if s is None else s / s.sum()
    w, b = cp.Variable(A.shape[1]), cp.Variable()
    r = y - A @ w - (b if intercept else 0.0)
    met = [cp.norm_inf(A.T @ cp.multiply(c, r)) <= lam, *([c @ r == 0.0] if intercept else [])]
    return float(cp.Problem(cp.Minimize(cp.norm1(w)), met).solve(solver="CLARABEL"))


def test_orthogonal_columns_are_shrunk_one_by_one() -> None:
    """X'X = n I: |h_j - w_j| <= lam, so that w = soft(h, lam), exactly as the lasso's."""
    H = np.array([[1.0, 1.0], [1.0, -1.0]])
    H = np.kron(H, np.kron(H, H))
    y = H @ [0.0, 3.0, -1.0, 0.25, 0.0, 0.0, 0.0, -0.5]
    found = cml.DantzigSelector(H[:, 1:5], y, 0.5).solve(tol=1e-13)
    np.testing.assert_allclose(found.primal["w"], [2.5, -0.5, 0.0, 0.0], atol=1e-14)
    assert found.objective == pytest.approx(3.0, rel=1e-14)


@pytest.mark.parametrize("intercept", [True, False])
def test_few_of_many_columns(intercept: bool) -> None:
    A = np.random.default_rng(2).normal(size=(20, 120)) + 2.0
    y = A[:, 0] - 2.0 * A[:, 7] + 0.1 * np.arange(20) % 0.3
    for lam in (1e-6, 0.1):
        problem = cml.DantzigSelector(A, y, lam, fit_intercept=intercept)
        found = problem.solve(tol=1e-8)
        assert (found.status, found.solver) == ("optimal", "highs")
        r = y - A @ found.primal["w"] - found.primal["b"]
        assert np.max(np.abs(A.T @ r)) / 20 <= lam * (1.0 + 1e-6)
    assert found.objective == pytest.approx(stated_dantzig(A, y, 0.1, None, intercept), rel=1e-6)
    thin = cml.DantzigSelector(sparse.csr_array(A), y, 0.1, fit_intercept=intercept).solve()
    assert (thin.status, thin.objective) == ("optimal", pytest.approx(found.objective, rel=1e-9))


def exact_gain(v: Array, A: Array, y: Array, lam: float, intercept: bool, least: int = 0) -> Any:
    """D at v over the largest |X'Cq|, or more, in rationals, of equal weights."""
    c, at = exact(1.0 / len(y)), row(v)
    q = [dot(line, at) for line in table(A)]
    q = [each - sum(q) / len(q) for each in q] if intercept else q
    across = [abs(c * dot(column, q)) for column in table(A.T)]
    gain = c * dot(row(y), q) - exact(lam) * sum(abs(x) for x in at)
    return gain / max([*across, exact(least)]) if any(across) else exact(0)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shift", [0.0, 2.0**20 / 3.0])
def test_bounds_are_those_of_rationals(shift: float, intercept: bool) -> None:
    A, y, rng = X + shift, Y + 10.0 * shift, np.random.default_rng(3)
    problem = cml.DantzigSelector(A, y, 0.1, fit_intercept=intercept)
    best = optimal(problem, tol=1e-6)
    for k in range(6):
        v = best.dual["v"] * (1.0 + 10.0 ** -(3 * k) * rng.normal(size=D))
        known, program = exact_gain(v, A, y, 0.1, intercept), problem.program
        x = best.primal["w"], float(best.primal["b"])
        gap = program.excess(program.images(x), program.shrunk(program.completed([v]), np.inf))
        primal = sum(abs(each) for each in row(x[0]))
        true = primal - known
        assert true <= exact(gap) <= true + exact(1e-4) * abs(known)
        judged = problem.certify(*x, v)
        assert judged.proved_gap == judged.gap
        assert exact(judged.gap) >= primal - exact_gain(v, A, y, 0.1, intercept, 1)


def test_what_violations_gain_is_part_of_the_gap() -> None:
    problem = cml.DantzigSelector(X, Y, 0.1)
    best = optimal(problem, tol=1e-12)
    for less in (1e-9, 1e-7):  # w is shorter than an optimal one
        found = problem.certify((1.0 - less) * best.primal["w"], best.primal["b"], tol=1e-6)
        assert found.verdict is Verdict.CERTIFIED
        assert found.gap >= best.objective - found.primal_objective > 0.5 * less * best.objective


def test_a_point_beside_the_constraint_has_no_gap() -> None:
    """Columns of 1e20 that differ by 1e8: HiGHS finds nothing, and w = 0 misses lam."""
    X = (np.random.default_rng(0).integers(-3, 4, (4, 3)) + 1e12) * 1e8
    y = np.random.default_rng(1).integers(-3, 4, 4).astype(float)
    problem = cml.DantzigSelector(X, y, 0.0, fit_intercept=True)
    problem.lam = 1e-9 * problem.lam_max
    found = problem.solve()
    assert found.status == "optimal" or found.gap == np.inf
    judged = problem.certify(np.zeros(3))
    assert (judged.verdict, judged.gap) == (Verdict.REFUTED, np.inf)
    assert "is violated by" in judged.reason
