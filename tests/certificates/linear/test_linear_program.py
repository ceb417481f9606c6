"""Linear programs: SciPy's meaning, duality, certificates that no mutation gets past, evidence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from convexml.certificates import Verdict
from convexml.errors import InputError, UnknownSolverError, UnsuitableSolverError
from convexml.models import HalfspaceLP, LinearProgram
from convexml.models.solution import Solution

DIET = {
    "c": [3.0, 24.0, 13.0, 9.0, 20.0, 19.0],
    "A_ub": [
        [-110.0, -205.0, -160.0, -160.0, -420.0, -260.0],
        [-4.0, -32.0, -13.0, -8.0, -4.0, -14.0],
        [-2.0, -12.0, -54.0, -285.0, -22.0, -80.0],
    ],
    "b_ub": [-2000.0, -55.0, -800.0],
    "bounds": [(0, 4), (0, 3), (0, 2), (0, 8), (0, 2), (0, 2)],
}
BOUNDS = [(0.0, None), (None, 2.0), (-1.0, 3.0), (None, None), (0.5, 0.5)]


def entries(low: int, high: int) -> st.SearchStrategy[float]:
    return st.integers(low, high).map(float)


@st.composite
def programs(draw: st.DrawFn) -> dict[str, object]:
    """Programs with small integers, of any status; columns of a size of their own."""
    n, m, p = draw(st.integers(1, 5)), draw(st.integers(0, 5)), draw(st.integers(0, 2))
    vector = lambda k, low=-4, high=4: np.array(  # noqa: E731
        draw(st.lists(entries(low, high), min_size=k, max_size=k))
    )
    units = np.array(draw(st.lists(st.sampled_from([1.0, 1.0, 0.3]), min_size=n, max_size=n)))
    bounds = draw(st.lists(st.sampled_from(BOUNDS), min_size=n, max_size=n))
    return {
        "c": vector(n) * units,
        "A_ub": (vector(m * n).reshape(m, n) * units) if m else None,
        "b_ub": vector(m, -3, 6) if m else None,
        "A_eq": (vector(p * n).reshape(p, n) * units) if p else None,
        "b_eq": vector(p, -2, 2) if p else None,
        "bounds": bounds,
    }


def oracle(data: dict[str, object]) -> tuple[str, object]:
    result = linprog(**data, method="highs")
    return {0: "optimal", 2: "infeasible", 3: "unbounded"}.get(result.status, "unknown"), result


def certificates_multipliers(result: object) -> dict[str, np.ndarray]:
    """SciPy's marginals with our signs."""
    return {
        "lambda_ub": -result.ineqlin.marginals,
        "nu": -result.eqlin.marginals,
        "lambda_lower": result.lower.marginals,
        "lambda_upper": -result.upper.marginals,
    }


# -- against SciPy ----------------------------------------------------------------------------


@settings(max_examples=120)
@given(programs())
def test_status_value_and_evidence_agree_with_scipy(data: dict[str, object]) -> None:
    status, result = oracle(data)
    assume(status != "unknown")
    solution = LinearProgram(**data).solve()
    assert solution.status == status
    if status == "optimal":
        assert solution.objective == pytest.approx(result.fun, abs=1e-9)
        assert solution.certificate.verdict is Verdict.CERTIFIED
    else:
        assert solution.certificate.claim == status
        assert solution.certificate.verdict is Verdict.CERTIFIED


@settings(max_examples=60)
@given(programs())
def test_scipys_marginals_are_our_multipliers(data: dict[str, object]) -> None:
    status, result = oracle(data)
    assume(status == "optimal")
    problem = LinearProgram(**data)
    certificate = problem.certify(result.x, certificates_multipliers(result))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.dual_source == "passed"
    prices = problem.shadow_prices(certificates_multipliers(result))
    np.testing.assert_allclose(prices["ub"], result.ineqlin.marginals)
    np.testing.assert_allclose(prices["eq"], result.eqlin.marginals)
    np.testing.assert_allclose(prices["lower"], result.lower.marginals)
    np.testing.assert_allclose(prices["upper"], result.upper.marginals)


@pytest.mark.parametrize(
    "bounds", [(0, None), None, [], (None, None), (-1, 2), [(0, 1), (None, 3)], [(0,), (5,)]]
)
def test_bounds_mean_what_they_mean_to_scipy(bounds: object) -> None:
    data = {"c": [1.0, -1.0], "A_ub": [[1.0, 2.0], [-1.0, -1.0]], "b_ub": [4.0, 3.0]}
    ours = LinearProgram(**data, bounds=bounds).solve()
    theirs = linprog(**data, bounds=bounds)
    assert ours.objective == pytest.approx(theirs.fun, abs=1e-9)


@pytest.mark.parametrize("solver", ["highs", "clarabel", "ecos", "scs", "osqp", "piqp"])
def test_every_reference_solver_solves_the_diet(solver: str) -> None:
    solution = LinearProgram(**DIET).solve(solver)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(92.5, rel=1e-6)
    assert solution.solver == solver


def test_sparse_matrices_give_the_same() -> None:
    data = DIET | {"A_ub": sparse.csr_array(DIET["A_ub"])}
    dense, thin = LinearProgram(**DIET).solve(), LinearProgram(**data).solve()
    np.testing.assert_allclose(thin.primal["x"], dense.primal["x"], atol=1e-12)
    assert thin.certificate.verdict is Verdict.CERTIFIED


# -- duality ----------------------------------------------------------------------------------


@settings(max_examples=25)
@given(programs())
def test_primal_and_dual_are_dpp_and_agree(data: dict[str, object]) -> None:
    assume(oracle(data)[0] == "optimal")
    problem = LinearProgram(**data)
    assert problem.primal.is_dcp(dpp=True)
    assert problem.dual.is_dcp(dpp=True)
    primal, dual = problem.primal.solve("HIGHS"), problem.dual.solve("HIGHS")
    assert dual == pytest.approx(primal, abs=1e-8)


def test_multipliers_left_by_cvxpy_have_the_documented_signs() -> None:
    problem = LinearProgram(**DIET, A_eq=[[1.0, 0.0, 0.0, -1.0, 0.0, 0.0]], b_eq=[-1.0])
    problem.primal.solve("CLARABEL")
    x = problem.variables["x"].value
    certificate = problem.certify(x, problem.constraint_duals())
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.dual_source == "passed"
    assert max(certificate.kkt.values()) < 1e-5


def test_shadow_prices_are_slopes() -> None:
    rng = np.random.default_rng(0)
    A, x0 = rng.normal(size=(6, 4)), rng.uniform(0.5, 1.5, 4)
    E, c = rng.normal(size=(1, 4)), rng.normal(size=4)
    b, e = A @ x0 + rng.uniform(0.0, 1.0, 6), E @ x0
    prices = LinearProgram(c, A, b, E, e, (0, 2)).solve().shadow_prices
    step = 1e-6

    def value(b: np.ndarray, e: np.ndarray, upper: np.ndarray) -> float:
        return linprog(c, A, b, E, e, np.column_stack([np.zeros(4), upper])).fun

    base, upper = value(b, e, np.full(4, 2.0)), np.full(4, 2.0)
    for i, price in enumerate(prices["ub"]):
        moved = value(b + step * np.eye(6)[i], e, upper)
        assert (moved - base) / step == pytest.approx(price, abs=1e-5)
    moved = value(b, e + step, upper)
    assert (moved - base) / step == pytest.approx(prices["eq"][0], abs=1e-5)
    for j, price in enumerate(prices["upper"]):
        moved = value(b, e, upper + step * np.eye(4)[j])
        assert (moved - base) / step == pytest.approx(price, abs=1e-5)


def game(payoff: np.ndarray) -> tuple[LinearProgram, LinearProgram]:
    """The row player maximises v, the column player minimises it; each by an LP over (p, v)."""
    m, n = payoff.shape
    one = lambda k: np.array([[1.0] * k + [0.0]])  # noqa: E731
    row = LinearProgram(
        [0.0] * m + [-1.0],
        np.column_stack([-payoff.T, np.ones(n)]),
        np.zeros(n),
        one(m),
        [1.0],
        [(0, None)] * m + [(None, None)],
    )
    column = LinearProgram(
        [0.0] * n + [1.0],
        np.column_stack([payoff, -np.ones(m)]),
        np.zeros(m),
        one(n),
        [1.0],
        [(0, None)] * n + [(None, None)],
    )
    return row, column


@pytest.mark.parametrize(
    "payoff",
    [[[3.0, -1.0], [-2.0, 1.0]], [[0.0, 1.0, -2.0], [-1.0, 0.0, 3.0], [2.0, -3.0, 0.0]]],
)
def test_a_players_multipliers_are_the_others_strategy(payoff: list[list[float]]) -> None:
    row, column = (problem.solve() for problem in game(np.array(payoff)))
    assert row.status == column.status == "optimal"
    assert -row.objective == pytest.approx(column.objective, abs=1e-12)
    np.testing.assert_allclose(row.dual["lambda_ub"], column.primal["x"][:-1], atol=1e-12)
    np.testing.assert_allclose(column.dual["lambda_ub"], row.primal["x"][:-1], atol=1e-12)


def test_the_value_zero_of_a_fair_game_is_certified() -> None:
    row, _ = game(np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 1.0], [1.0, -1.0, 0.0]]))
    assert row.solve("clarabel").status == "optimal"


def test_the_multipliers_of_a_maximal_flow_are_a_minimal_cut() -> None:
    edges = {(0, 1): 3.0, (0, 2): 2.0, (1, 2): 1.0, (1, 3): 2.0, (2, 3): 4.0}
    balance = np.zeros((2, 5))  # inflow minus outflow of nodes 1 and 2
    for k, (tail, head) in enumerate(edges):
        for node, sign in ((tail, -1.0), (head, 1.0)):
            if node in (1, 2):
                balance[node - 1, k] = sign
    problem = LinearProgram(
        [-1.0, -1.0, 0.0, 0.0, 0.0],
        A_eq=balance,
        b_eq=[0.0, 0.0],
        bounds=[(0, capacity) for capacity in edges.values()],
    )
    solution = problem.solve()
    cut = solution.dual["lambda_upper"]
    assert set(np.round(cut, 12)) <= {0.0, 1.0}
    assert -solution.objective == pytest.approx(cut @ list(edges.values())) == 5.0


# -- mutations --------------------------------------------------------------------------------


def feasible_program(rng: np.random.Generator) -> dict[str, object]:
    n, m, p = rng.integers(2, 6), rng.integers(1, 7), rng.integers(0, 3)
    A, E = rng.normal(size=(m, n)), rng.normal(size=(p, n))
    x0 = rng.uniform(0.0, 2.0, n)
    bounds = [BOUNDS[0] if k == 4 else BOUNDS[k] for k in rng.integers(0, 5, n)]
    x0 = np.clip(x0, [b[0] or 0.0 for b in bounds], [b[1] or 9.0 for b in bounds])
    c = rng.normal(size=n) + A.T @ -rng.uniform(0.0, 1.0, m)
    return {
        "c": c,
        "A_ub": A,
        "b_ub": A @ x0 + rng.integers(0, 2, m) * rng.uniform(0.0, 1.0, m),
        "A_eq": E if p else None,
        "b_eq": E @ x0 if p else None,
        "bounds": bounds,
    }


def changes(rng: np.random.Generator, values: np.ndarray) -> Iterator[np.ndarray]:
    """Perturbed, flipped, permuted, scaled, one entry moved or dropped."""
    for size in (1e-9, 1e-5, 1e-3, 0.1):
        yield values + size * rng.normal(size=values.size)
    yield -values
    yield rng.permutation(values)
    yield values * rng.uniform(0.9, 1.1)
    for shift in (1e-3, -1e-3):
        yield values + shift * np.eye(values.size)[rng.integers(values.size)]
    yield values * (np.arange(values.size) != rng.integers(values.size))


def is_wrong(
    data: dict[str, object], best: float, x: np.ndarray, m: dict[str, np.ndarray], tol: float
) -> bool:
    """Whether P rose, D fell or feasibility broke by clearly more than tol; plain NumPy."""
    lower = np.array([-np.inf if b[0] is None else b[0] for b in data["bounds"]])
    upper = np.array([np.inf if b[1] is None else b[1] for b in data["bounds"]])
    E = np.zeros((0, x.size)) if data["A_eq"] is None else data["A_eq"]
    e = np.zeros(0) if data["b_eq"] is None else data["b_eq"]
    A, b, c = data["A_ub"], data["b_ub"], data["c"]

    def broken(residual: np.ndarray, scale: np.ndarray) -> bool:
        return bool(np.any(residual > 2.0 * tol * np.maximum(1.0, scale)))

    ub = broken(A @ x - b, abs(A) @ abs(x) + abs(b))
    eq = broken(abs(E @ x - e), abs(E) @ abs(x) + abs(e))
    box = broken(np.maximum(lower - x, x - upper), abs(x))
    signs = any(broken(-m[k], abs(m[k])) for k in ("lambda_ub", "lambda_lower", "lambda_upper"))
    gradient = c + A.T @ m["lambda_ub"] + E.T @ m["nu"] - m["lambda_lower"] + m["lambda_upper"]
    sizes = abs(c) + abs(A).T @ abs(m["lambda_ub"]) + abs(E).T @ abs(m["nu"])
    stationary = broken(abs(gradient), sizes + m["lambda_lower"] + m["lambda_upper"])
    dual = -b @ m["lambda_ub"] - e @ m["nu"]
    dual += m["lambda_lower"] @ np.where(np.isfinite(lower), lower, 0.0)
    dual -= m["lambda_upper"] @ np.where(np.isfinite(upper), upper, 0.0)
    scale = max(1.0, abs(best), abs(c @ x))
    rose, fell = c @ x > best + 2.0 * tol * scale, dual < best - 2.0 * tol * scale
    return ub or eq or box or signs or stationary or bool(rose) or bool(fell)


def test_no_mutation_of_point_or_multipliers_is_certified() -> None:
    rng, tol = np.random.default_rng(5), 1e-6
    tries = wrong = 0
    while tries < 2000:
        data = feasible_program(rng)
        status, result = oracle(data)
        if status != "optimal":
            continue
        problem, good = LinearProgram(**data), certificates_multipliers(result)
        assert problem.certify(result.x, good, tol=tol).verdict is Verdict.CERTIFIED
        cases = [(x, good) for x in changes(rng, result.x)]
        for name, values in good.items():
            if values.size:
                cases += [(result.x, good | {name: v}) for v in changes(rng, values)]
        for x, multipliers in cases:
            tries += 1
            certificate = problem.certify(x, multipliers, tol=tol)
            if is_wrong(data, result.fun, x, multipliers, tol):
                wrong += 1
                assert certificate.verdict is not Verdict.CERTIFIED, (data, x, multipliers)
            assert certificate.gap >= data["c"] @ x - result.fun - 1e-9 * (1 + abs(result.fun))
    assert wrong > 1000


@settings(max_examples=60)
@given(programs(), st.integers(0, 10**6))
def test_the_gap_bounds_the_suboptimality_for_any_multipliers(
    data: dict[str, object], seed: int
) -> None:
    status, result = oracle(data)
    assume(status == "optimal")
    rng, problem = np.random.default_rng(seed), LinearProgram(**data)
    x = result.x + rng.normal(size=result.x.size)
    multipliers = {
        "lambda_ub": rng.exponential(size=problem.data.b_ub.size),
        "nu": rng.normal(size=problem.data.b_eq.size),
    }
    for passed in (None, multipliers):
        certificate = problem.certify(x, passed)
        assert certificate.gap >= problem.data.c @ x - result.fun - 1e-9 * (1 + abs(result.fun))


# -- verdicts and repair ----------------------------------------------------------------------


def test_a_feasible_point_is_refuted_by_a_better_one() -> None:
    certificate = LinearProgram(**DIET).certify([4.0, 3.0, 2.0, 8.0, 2.0, 2.0])
    assert certificate.verdict is Verdict.REFUTED
    assert DIET["c"] @ certificate.witness["x"] == pytest.approx(92.5)


def test_an_infeasible_point_is_refuted_by_name_and_index() -> None:
    certificate = LinearProgram(**DIET).certify([4.0, 0.0, 0.0, 4.0, 2.0, 0.0])
    assert certificate.verdict is Verdict.REFUTED
    assert "'A_ub x <= b_ub' is violated by 80 at 0" in certificate.reason


def test_a_point_of_an_unbounded_program_is_refuted() -> None:
    certificate = LinearProgram([1.0, -1.0], [[1.0, -2.0]], [0.0]).certify([3.0, 3.0])
    assert certificate.verdict is Verdict.REFUTED
    assert certificate.witness["x"] @ [1.0, -1.0] < -0.5


def test_wrong_signs_are_never_certified() -> None:
    problem = LinearProgram(**DIET)
    solution = problem.solve()
    flipped = solution.dual | {"lambda_ub": -solution.dual["lambda_ub"]}
    certificate = problem.certify(solution.primal["x"], flipped)
    assert certificate.verdict is Verdict.UNDECIDED
    assert "lambda_ub >= 0" in certificate.reason


def test_almost_feasible_multipliers_are_repaired_and_the_distance_is_told() -> None:
    free = LinearProgram([1.0, 2.0], [[-1.0, -1.0], [0.0, -1.0]], [-1.0, 0.0], bounds=(None, None))
    certificate = free.certify([1.0, 0.0], {"lambda_ub": [1.0 + 1e-9, 1.0 - 1e-9]})
    assert certificate.verdict is Verdict.CERTIFIED
    assert 1e-10 < certificate.repaired < 1e-8
    assert certificate.gap < 1e-12


def test_no_bound_is_inf_with_the_reason() -> None:
    free = LinearProgram([1.0], [[-1.0]], [-1.0], bounds=(None, None))
    certificate = free.certify([1.0], {"lambda_ub": [0.0]})
    assert certificate.gap == np.inf
    assert "on x[0], where no bound can carry it" in certificate.reason


def test_missing_multipliers_are_constructed_and_given_ones_kept() -> None:
    problem = LinearProgram([1.0, 1.0], [[-1.0, -2.0]], [-2.0], [[1.0, -1.0]], [0.0])
    x = np.array([2.0, 2.0]) / 3.0
    assert problem.certify(x).verdict is Verdict.CERTIFIED
    given = problem.certify(x, {"lambda_ub": [2.0 / 3.0]})
    assert given.verdict is Verdict.CERTIFIED
    assert given.dual["lambda_ub"] == pytest.approx([2.0 / 3.0], abs=1e-12)
    assert problem.certify(x, {"lambda_ub": [0.5]}).verdict is not Verdict.CERTIFIED


def test_polish_reaches_the_vertex() -> None:
    problem = LinearProgram(**DIET)
    rng, exact = np.random.default_rng(0), problem.solve()
    noisy = exact.primal["x"] + 1e-6 * rng.normal(size=6)
    rough = {name: v + 1e-6 * rng.normal(size=v.size) for name, v in exact.dual.items()}
    x, multipliers = problem.polish(noisy, rough)
    np.testing.assert_allclose(x, [4.0, 0.0, 0.0, 4.5, 2.0, 0.0], atol=1e-14)
    assert problem.certify(x, multipliers).relative_gap < 1e-15


def test_objectives_are_infinite_where_infeasible() -> None:
    problem = LinearProgram(**DIET)
    assert problem.objective([4.0, 0.0, 0.0, 4.5, 2.0, 0.0]) == 92.5
    assert problem.objective([0.0] * 6) == np.inf
    assert problem.dual_objective({"lambda_ub": [0.05625, 0.0, 0.0]}) == pytest.approx(92.5)
    assert problem.dual_objective({"lambda_ub": [-1.0, 0.0, 0.0]}) == -np.inf


# -- evidence ---------------------------------------------------------------------------------


def test_farkas_multipliers_are_verified_and_corrupted_ones_refused() -> None:
    problem = LinearProgram([1.0, 1.0], [[1.0, 1.0], [-1.0, 0.0]], [1.0, -2.0])
    evidence = problem.find_evidence().evidence
    assert evidence["value"] < 0.0
    names = ("lambda_ub", "nu", "lambda_lower", "lambda_upper")
    good = {name: evidence[name] for name in names}
    assert sum(np.abs(v).sum() for v in good.values()) == pytest.approx(1.0)
    assert problem.certify_infeasible(good).verdict is Verdict.CERTIFIED
    for bad in ({"lambda_ub": -good["lambda_ub"]}, {"lambda_ub": [1.0, 0.0]}, {}):
        assert problem.certify_infeasible(bad).verdict is not Verdict.CERTIFIED


def test_a_feasible_program_has_no_evidence() -> None:
    problem = LinearProgram(**DIET)
    assert problem.find_evidence() is None
    rng = np.random.default_rng(1)
    for _ in range(200):
        passed = {"lambda_ub": rng.normal(size=3), "lambda_upper": rng.normal(size=6)}
        assert problem.certify_infeasible(passed).verdict is not Verdict.CERTIFIED
        verdict = problem.certify_unbounded(rng.normal(size=6), [4.0, 0, 0, 4.5, 2.0, 0]).verdict
        assert verdict is not Verdict.CERTIFIED


def test_rays_are_verified_and_corrupted_ones_refused() -> None:
    problem = LinearProgram([-1.0, 0.0], [[1.0, -1.0]], [1.0])
    good = problem.find_evidence().evidence
    assert problem.certify_unbounded(good["ray"], good["point"]).verdict is Verdict.CERTIFIED
    for ray, point in (
        (-good["ray"], good["point"]),
        ([1.0, 0.5], good["point"]),
        (good["ray"], [-1.0, 0.0]),
        ([0.0, 1.0], good["point"]),
    ):
        assert problem.certify_unbounded(ray, point).verdict is not Verdict.CERTIFIED


def test_a_halfspace_or_the_proof_that_there_is_none() -> None:
    X = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, -2.0]])
    separable = HalfspaceLP(X, ["b", "b", "a"])
    solution = separable.solve()
    assert solution.status == "optimal"
    assert np.all([1, 1, -1] * (X @ solution.primal["w"]) >= 1.0)
    inseparable = HalfspaceLP(X, ["b", "a", "a"]), np.array([1.0, -1.0, -1.0])
    X2 = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    problem, y = HalfspaceLP(X2, [1, -1, 1]), np.array([1.0, -1.0, 1.0])
    alpha = problem.solve().evidence["alpha"]
    assert inseparable[0].solve().status == "optimal"
    assert np.all(alpha >= 0.0)
    assert alpha.sum() == pytest.approx(1.0)
    assert np.linalg.norm(X2.T @ (alpha * y)) <= 1e-9 * 3.0
    assert set(separable.constraints) == {"halfspace"}
    assert separable.primal.is_dcp(dpp=True)
    assert separable.dual.is_dcp(dpp=True)


# -- texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"c": []}, "c must be a non-empty vector"),
        ({"c": [1.0, np.nan]}, "c has nan in entry 1"),
        ({"c": [1.0, 2.0], "A_ub": [[1.0, np.inf]], "b_ub": [1.0]}, "A_ub has inf in row 0, col"),
        (
            {"c": [1.0], "A_eq": sparse.csr_array([[0.0], [np.nan]]), "b_eq": [1.0, 1.0]},
            "A_eq has nan in row 1, column 0",
        ),
        ({"c": [1.0], "A_ub": [[1.0, 2.0]], "b_ub": [1.0]}, "one column for each of the 1"),
        ({"c": [1.0], "A_ub": [[1.0]], "b_ub": [1.0, 2.0]}, "one entry for each of the 1 rows"),
        ({"c": [1.0], "A_ub": [[1.0]]}, "A_ub is given but b_ub is not"),
        ({"c": [1.0, 1.0], "bounds": [(0, 1), (3, 2)]}, r"bounds\[1\] = \(3, 2\) is empty"),
        ({"c": [1.0, 1.0], "bounds": [(0, 1)] * 3}, "one pair .* or 2 of them"),
    ],
)
def test_bad_data_is_refused_by_name(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        LinearProgram(**arguments)


def test_bad_points_and_solvers_are_refused_by_name() -> None:
    problem = LinearProgram([1.0, 1.0], [[1.0, 1.0]], [1.0])
    with pytest.raises(InputError, match=r"x must have shape \(2,\), got \(3,\)"):
        problem.certify([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match=r"'lambda'. Did you mean 'lambda_ub'"):
        problem.certify([0.0, 0.0], {"lambda": [1.0]})
    with pytest.raises(InputError, match=r"lambda_ub must have shape \(1,\)"):
        problem.certify([0.0, 0.0], {"lambda_ub": [1.0, 1.0]})
    with pytest.raises(UnknownSolverError, match="Did you mean 'highs'"):
        problem.solve("highhs")
    with pytest.raises(UnsuitableSolverError, match="newton needs a learning problem"):
        problem.solve("newton")


def test_a_solution_fills_the_statement_and_survives_json() -> None:
    problem = LinearProgram(**DIET)
    solution = problem.solve()
    np.testing.assert_array_equal(problem.variables["x"].value, solution.primal["x"])
    np.testing.assert_array_equal(problem.constraints["ub"].dual_value, solution.dual["lambda_ub"])
    again = Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    assert again.objective == solution.objective
    assert "LinearProgram: optimal" in str(solution)


def test_latex_states_what_is_there() -> None:
    text = LinearProgram(**DIET).latex()
    assert r"\lambda_{ub}" in text
    assert r"\nu" not in text


def test_solving_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearProgram([-1.0], bounds=(0, None)).solve()


@pytest.mark.parametrize("c", [[5e-324, -5e-324], [1e-320, -1e-300]])
def test_objectives_below_the_least_normal_float_are_no_error(c):
    certificate = LinearProgram(c, bounds=(0, 1)).solve().certificate
    assert certificate.claim == "optimal"
    assert certificate.verdict is not Verdict.REFUTED
    if certificate.verdict is Verdict.CERTIFIED:
        assert abs(certificate.primal_objective - c[1]) <= 1e-6 * abs(c[1])
