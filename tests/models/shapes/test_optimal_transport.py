"""Optimal transport: SciPy's assignments and programs, exact bounds, broken plans."""

from __future__ import annotations

from fractions import Fraction

import highspy
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance
from sklearn.datasets import load_digits

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError
from convexml.numerics import Array

DIGITS = load_digits().images
PIXELS = np.argwhere(np.ones((8, 8))).astype(float)


def images() -> tuple[Array, Array, Array]:
    """The ink of a 0 and of an 8, and the distances of their pixels."""
    a, b = (DIGITS[k].ravel() / DIGITS[k].sum() for k in (0, 8))
    return a, b, cdist(PIXELS, PIXELS)


def by_linprog(a: Array, b: Array, C: Array) -> float:
    """The same as a program, one equality left out."""
    m, n = C.shape
    rows = np.vstack([np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n))])
    return linprog(C.ravel(), A_eq=rows[:-1], b_eq=np.concatenate([a, b])[:-1]).fun


def test_digits_are_moved_as_linprog_does() -> None:
    a, b, C = images()
    problem = cml.OptimalTransport(a, b, C)
    solution = problem.solve(tol=1e-12)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(by_linprog(a, b, C), rel=1e-12)
    f, g = solution.dual["f"], solution.dual["g"]
    assert problem.dual_objective(f=f, g=g) == pytest.approx(solution.objective, rel=1e-12)
    used = solution.primal["plan"] > 1e-12
    np.testing.assert_allclose((C - f[:, None] - g)[used], 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_assignments_and_lines(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 20
    x, y = rng.normal(size=(2, n))
    C = np.abs(x[:, None] - y)
    ones = np.full(n, 1.0 / n)
    solution = cml.OptimalTransport(ones, ones, C).solve(tol=1e-12)
    assert solution.objective == pytest.approx(wasserstein_distance(x, y), rel=1e-12)
    C = rng.normal(size=(n, n))
    solution = cml.OptimalTransport(ones, ones, C).solve(tol=1e-12)
    i, j = linear_sum_assignment(C)
    np.testing.assert_array_equal(np.argmax(solution.primal["plan"], axis=1), j)
    assert solution.objective == pytest.approx(C[i, j].mean(), rel=1e-12)


def test_cvxpy_and_both_engines_agree() -> None:
    rng = np.random.default_rng(5)
    a, b, C = np.full(6, 4.0), np.full(8, 3.0), rng.normal(size=(6, 8))
    problem = cml.OptimalTransport(a, b, C)
    best = problem.solve().objective
    for form in (problem.primal, problem.dual):
        assert form.is_dcp(dpp=True)
        assert form.solve(solver="CLARABEL") == pytest.approx(best, rel=1e-6)
        assert cml.certify(form).verdict is Verdict.CERTIFIED  # by the conic engine
    for solver in ("clarabel", "highs"):
        assert problem.solve(solver).status == "optimal"
    problem.solve()
    f = problem.constraints["sent"].dual_value
    np.testing.assert_array_equal(-f, problem.solve().dual["f"])


def exact(values: Array) -> list[Fraction]:
    return [Fraction(float(v)) for v in values.ravel()]


def exact_line(a: Array, b: Array, x: Array, y: Array) -> Fraction:
    """On a line: the integral of |F - G|, the largest b defined by the others."""
    sent, received = exact(a), exact(b)
    received[int(np.argmax(b))] += sum(sent) - sum(received)
    jumps = sorted(
        [(p, s) for p, s in zip(exact(x), sent, strict=True)]
        + [(p, -s) for p, s in zip(exact(y), received, strict=True)]
    )
    total, level = Fraction(0), Fraction(0)
    for (here, step), (there, _) in zip(jumps, [*jumps[1:], jumps[-1]], strict=True):
        level += step
        total += abs(level) * (there - here)
    return total


@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_for_any_potentials(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = 5, 7
    x, y = rng.integers(-9, 9, m).astype(float), rng.integers(-9, 9, n).astype(float)
    a, b = rng.random(m), rng.random(n)
    b[0] = 0.0
    b *= a.sum() / b.sum()
    C = np.abs(x[:, None] - y)  # exactly
    problem, least = cml.OptimalTransport(a, b, C), exact_line(a, b, x, y)
    best = problem.solve()
    assert best.status == "optimal"
    for _ in range(30):
        size = rng.choice([0.0, 1e-15, 1e-8, 1.0, 1e6])
        given = {
            "f": best.dual["f"] + size * rng.normal(size=m),
            "g": best.dual["g"] + size * rng.normal(size=n),
        }
        kept = {name: given[name] for name in given if rng.integers(0, 2)}
        found = problem.certify(best.primal["plan"], **kept)
        assert Fraction(found.dual_objective) - Fraction(found.rounding) <= least
        worse = problem.certify(np.outer(a, b) / a.sum(), **kept)
        assert worse.gap >= problem.program.cost(np.outer(a, b) / a.sum()) - float(least) - 1e-12
        assert worse.verdict is not Verdict.CERTIFIED
        if size <= 1.0 or not kept:
            assert worse.verdict is Verdict.REFUTED


def test_what_is_broken_is_not_certified() -> None:
    a, b, C = images()
    problem = cml.OptimalTransport(a, b, C)
    solution = problem.solve()
    plan, dual = solution.primal["plan"], solution.dual
    assert problem.certify(plan).verdict is Verdict.CERTIFIED
    assert problem.certify(plan, **dual).verdict is Verdict.CERTIFIED
    assert problem.certify(plan, f=dual["f"] + 3.0, g=dual["g"] - 3.0).verdict is Verdict.CERTIFIED
    negative = plan.copy()
    i, j = np.argwhere(plan > 1e-3)[0]
    k, m = np.argwhere(plan[np.arange(64) != i][:, np.arange(64) != j] == 0.0)[-1] + 1
    assert i < k
    assert j < m
    negative[[i, k], [j, m]] += 1e-3
    negative[[i, k], [m, j]] -= 1e-3
    for wrong in (plan.T, 1.001 * plan, plan + 1e-6, -plan, negative):
        assert problem.certify(wrong).verdict is Verdict.REFUTED
        assert problem.objective(wrong) == np.inf
    product = problem.certify(np.outer(a, b))
    assert product.verdict is Verdict.REFUTED
    assert product.witness["objective"] == pytest.approx(solution.objective)
    for f in (1.1 * dual["f"], dual["f"] + 0.01 * np.arange(64), -dual["f"]):
        assert problem.certify(plan, f=f, g=dual["g"]).verdict is Verdict.UNDECIDED
    assert problem.dual_objective(f=dual["f"] + 1e-6, g=dual["g"]) == -np.inf


@pytest.mark.parametrize("power", [-200, -20, 20, 200])
def test_units_change_nothing(power: int) -> None:
    a, b, C = images()
    here = cml.OptimalTransport(a, b, C).solve()
    for there in (
        cml.OptimalTransport(a, b, 2.0**power * C).solve(),
        cml.OptimalTransport(2.0**power * a, 2.0**power * b, C).solve(),
    ):
        assert there.status == "optimal"
        assert there.objective == pytest.approx(2.0**power * here.objective, rel=1e-12)


def test_json_zero_costs_and_sums_in_their_last_digits() -> None:
    a = np.full(10, 0.1)
    solution = cml.OptimalTransport(a, [1.0], np.zeros((10, 1))).solve()
    assert (solution.status, solution.objective) == ("optimal", 0.0)
    assert sum(Fraction(x) for x in a.tolist()) != 1
    found = cml.OptimalTransport(a, [1.0], np.arange(10.0)[:, None]).solve(tol=1e-12)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(4.5, rel=1e-15)
    again = cml.Solution.from_json(found.to_json())
    assert (again.status, again.objective) == ("optimal", found.objective)


@pytest.mark.parametrize(("mass", "cost"), [(1e-200, 1.0), (1.0, 1e300), (1e300, 1e-300)])
def test_units_may_be_far_from_one(mass: float, cost: float) -> None:
    rng = np.random.default_rng(0)
    a, C = np.full(5, 0.25), rng.uniform(size=(5, 5))
    best = cml.OptimalTransport(a, a, C).solve().objective
    solution = cml.OptimalTransport(a * mass, a * mass, C * cost).solve()
    assert solution.status == "optimal"
    assert solution.objective / mass / cost == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize(("mass", "cost"), [(1e-200, 1e-200), (1e200, 1e200)])
def test_a_cost_that_is_no_float_is_refused(mass: float, cost: float) -> None:
    a = np.full(3, mass)
    with pytest.raises(InputError, match="total cost beyond float64; change the unit"):
        cml.OptimalTransport(a, a, np.full((3, 3), cost))
    free = cml.OptimalTransport(a, a, np.zeros((3, 3))).solve()
    assert (free.status, free.objective) == ("optimal", 0.0)


def test_a_limit_of_time_is_kept_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    a, C = np.full(5, 0.2), np.random.default_rng(0).uniform(size=(5, 5))
    problem = cml.OptimalTransport(a, a, C)
    monkeypatch.setattr("convexml.certificates.algebra.highs.seconds_left", lambda: 0.0)
    assert problem.solve("highs").status == "failed"
    asked: list[float] = []

    class Told(highspy.Highs):
        def setOptionValue(self, name: str, value: float) -> object:
            asked.extend([value] if name == "time_limit" else [])
            return super().setOptionValue(name, value)

    monkeypatch.setattr("convexml.certificates.algebra.highs.seconds_left", lambda: 7.0)
    monkeypatch.setattr("highspy.Highs", Told)
    assert problem.solve("highs").status == "optimal"
    assert asked == [7.0]
