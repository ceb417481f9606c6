"""Finding a bound has a budget of work, counted in factorisations and never in seconds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from support.programs.maros import maros, solved

import convexml as cml
from convexml import Verdict
from convexml.audit.cvxpy import problems
from convexml.certificates.algebra import least_change, rows
from convexml.certificates.conic import bounds
from convexml.certificates.conic.optimum import certify_conic
from convexml.certificates.conic.prices import lineality, price
from convexml.certificates.conic.prices.lineality import idle_columns
from convexml.certificates.conic.prices.repair import THOROUGH, repair_conic_dual
from convexml.certificates.conic.search.fit import FittedProgram
from convexml.errors import InputError, SolverError
from convexml.numerics import Array
from convexml.objective.conic.cones import NonnegativeCone, ZeroCone
from convexml.objective.conic.program import cone_program_of


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a metric was factored, and a point inside of all multipliers was looked for."""
    seen: Counter[str] = Counter()

    def count(module: Any, name: str) -> None:
        to = getattr(module, name)

        def counted(*args: Any, **named: Any) -> Any:
            seen[name] += 1
            return to(*args, **named)

        monkeypatch.setattr(module, name, counted)

    count(price, "metric_at")
    count(bounds, "dual_interior")
    return seen


def linear(m: int, n: int, worse: float = 0.0, tilt: float = 0.0) -> cp.Problem:
    """An LP, a point that is ``worse`` than its optimum, and multipliers up to rounding.

    A ``tilt`` of the costs, along a column that is there twice, leaves no bound at all.
    """
    rng = np.random.default_rng(0)
    A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 4.0 / n) + np.eye(m, n)
    active = np.arange(m) < n
    at = rng.random(n)
    b, y = A @ at + np.where(active, 0.0, 1.0), np.where(active, 1.0 + rng.random(m), 0.0)
    at -= np.linalg.solve(A[:n], np.full(n, worse))
    cost = -(A.T @ y)
    if tilt:
        A, at, cost = (np.append(part, part[..., [0]], axis=-1) for part in (A, at, cost))
        at[-1], cost[-1] = 0.0, cost[-1] + tilt
    x = cp.Variable(at.size)
    met = sparse.csr_array(A) @ x <= b
    problem = cp.Problem(cp.Minimize(cost @ x), [met])
    x.save_value(at)
    met.save_dual_value(y)
    return problem


def test_what_the_value_lacks_is_not_priced_again(work: Counter[str]) -> None:
    problem = linear(900, 500, worse=1e-4)
    assert cml.certify(problem).verdict is Verdict.REFUTED
    few = sum(work.values())
    assert few <= 2
    assert cml.certify(problem, effort="full").verdict is Verdict.REFUTED
    assert sum(work.values()) > 5 * few


def test_what_was_not_tried_is_named(work: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the better point is not found, that the point is worse stays undecided."""

    def fail(_: FittedProgram) -> Any:
        raise SolverError("stopped")

    monkeypatch.setattr(FittedProgram, "solve", fail)
    reasons = []
    for effort in ("normal", "full"):
        certificate = cml.certify(linear(900, 500, worse=1e-4), effort=effort)
        assert certificate.verdict is Verdict.UNDECIDED
        reasons.append(" ".join(certificate.reason.split()))
    assert reasons[0].startswith(reasons[1].removesuffix("."))
    assert 'and mixtures; effort="full" tries' in reasons[0]
    assert "not tried" not in reasons[1]


def test_an_exact_elimination_has_a_budget_of_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    """500 equations of the dual that depend on one another but for the last: it took minutes."""
    problem, seen = linear(900, 500, tilt=1e-9), []
    eliminate = rows._eliminate

    def counted(equal: Any, *args: Any) -> Any:
        seen.append(equal.shape)
        return eliminate(equal, *args)

    monkeypatch.setattr(rows, "_eliminate", counted)
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.UNDECIDED
    assert "leave" in certificate.reason
    assert len(seen) <= 2


def test_a_small_problem_has_no_budget(work: Counter[str]) -> None:
    problem = linear(30, 10, tilt=1e-9)
    found = [cml.certify(problem, effort=effort) for effort in ("normal", "full")]
    assert found[0].reason == found[1].reason
    assert found[0].verdict is Verdict.UNDECIDED


def test_gouldqp2_is_refuted_by_few_factorisations(work: Counter[str]) -> None:
    certificate = cml.certify(solved(maros("GOULDQP2")))
    assert certificate.verdict is not Verdict.CERTIFIED
    assert sum(work.values()) <= 6


@pytest.mark.parametrize("effort", ["", "Full", None, 1, True, ["full"]])
def test_another_effort_is_refused(effort: Any) -> None:
    problem = linear(9, 6)
    with pytest.raises(InputError, match="certify: effort must be one of normal, full, got"):
        cml.certify(problem, effort=effort)


def test_an_estimator_takes_the_effort_too() -> None:
    from sklearn.linear_model import Ridge

    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20.0)
    certificates = [cml.certify(Ridge().fit(X, y), X, y, effort=e) for e in ("normal", "full")]
    assert [each.verdict for each in certificates] == 2 * [Verdict.CERTIFIED]


def test_a_dense_row_fills_no_normal_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """x_1 = x_2, x_3 = x_4 ...: a sum of all differences is a row with all columns."""
    n, seen = 2400, []
    solver = lineality.definite_solver

    def counted(G: Any, shift: float) -> Any:
        seen.append(G.nnz)
        return solver(G, shift)

    monkeypatch.setattr(lineality, "definite_solver", counted)
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    pairs = sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n))
    A = sparse.vstack([pairs, sparse.csr_array(signs[None, :])], format="csc")
    program = cone_program_of(None, signs, A, np.zeros(n), [NonnegativeCone(n)])
    assert idle_columns(program).size == 1
    assert max(seen) < 4 * n


def test_a_repair_takes_few_singular_value_decompositions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An equality that no step meets: normal equations do not, and no decomposition does either."""
    rng, seen = np.random.default_rng(1), []
    lstsq = np.linalg.lstsq

    def counted(matrix: Array, *args: Any, **named: Any) -> Any:
        seen.append(matrix.shape)
        return lstsq(matrix, *args, **named)

    monkeypatch.setattr(least_change.np.linalg, "lstsq", counted)
    A = rng.normal(size=(90, 200))
    A[:, 100:] = A[:, :100]
    q = np.concatenate([np.zeros(100), rng.normal(size=100)])  # q_j and q_(j + 100) are to agree
    program = cone_program_of(None, q, A, np.zeros(90), [ZeroCone(40), NonnegativeCone(50)])
    y = np.abs(rng.normal(size=90))
    repair_conic_dual(program, np.zeros(200), y)
    assert 0 < len(seen) <= THOROUGH


def test_multipliers_that_were_all_passed_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are recovered are the same, also where nothing was decided."""
    calls = []

    def counted(*args: Any) -> Any:
        calls.append(args)
        return certify_conic(*args).but(verdict=Verdict.UNDECIDED)

    monkeypatch.setattr(problems, "certify_conic", counted)
    assert cml.certify(solved(linear(30, 10))).verdict is Verdict.UNDECIDED
    assert len(calls) == 1
