"""cml.solve: rescaling, falling back, and what is left in the problem."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.installed import need

import convexml as cml
from convexml import Verdict
from convexml.audit.cvxpy import solving
from convexml.audit.cvxpy.direct import Direct
from convexml.certificates.conic.search.scaling import equilibrate_cone, solve_scaled
from convexml.duality import cone_program
from convexml.errors import InputError, SolverError, UnknownSolverError, UnsuitableSolverError
from convexml.solvers.reference import ReferenceRun


def least_squares(scale: float = 1.0) -> tuple[cp.Problem, cp.Variable]:
    rng = np.random.default_rng(0)
    A, t = scale * rng.normal(size=(20, 4)), rng.normal(size=20)
    w = cp.Variable(4, name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ w - t)), [(w <= 0.1).set_label("cap")]), w


def test_values_and_duals_are_filled() -> None:
    problem, w = least_squares()
    certificate = cml.solve(problem)
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.reason == ""
    assert problem.status == "optimal"
    assert problem.value == pytest.approx(certificate.primal_objective)
    assert w.value is not None
    assert problem.constraints[0].dual_value is not None
    assert cml.certify(problem).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("solver", ["clarabel", "OSQP", "scs", "ECOS", "HIGHS"])
def test_the_solver_is_tried_first(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(solver)
    asked = []
    ask = solving._ask
    monkeypatch.setattr(
        solving, "_ask", lambda p, name, tol: asked.append(name) or ask(p, name, tol)
    )
    problem, _ = least_squares()
    assert cml.solve(problem, solver).verdict is Verdict.CERTIFIED
    assert asked[0] == solver.lower()


def test_a_panic_is_followed_by_another_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(problem: cp.Problem, name: str, **options: object) -> ReferenceRun:
        return ReferenceRun("error", 0.0, 0.0, 0, "PanicException: called on a None value")

    monkeypatch.setattr(solving, "run_reference", broken)
    problem, w = least_squares()
    certificate = cml.solve(problem, "clarabel")
    assert certificate.verdict is Verdict.CERTIFIED
    assert "clarabel: PanicException" in certificate.reason
    assert "answer of clarabel, rescaled" in certificate.reason
    assert w.value is not None
    monkeypatch.setattr(solving, "_solve_rescaled", lambda posed: ("nothing", None))
    monkeypatch.setattr(solving, "solve_quadratic", lambda *_: Direct("nothing", None, {}))
    assert cml.solve(problem, "clarabel").verdict is not Verdict.CERTIFIED
    assert w.value is None


def test_a_false_optimum_falls_through_to_a_true_one(monkeypatch: pytest.MonkeyPatch) -> None:
    run = solving.run_reference

    def ones(problem: cp.Problem, name: str, **options: object) -> ReferenceRun:
        if name != "clarabel":
            return run(problem, name, **options)
        for variable in problem.variables():
            variable.save_value(np.zeros(variable.shape))
        return ReferenceRun("optimal", 0.0, 0.0, 1)

    monkeypatch.setattr(solving, "run_reference", ones)
    monkeypatch.setattr(solving, "_solve_rescaled", lambda posed: ("nothing", None))
    problem, _ = least_squares()
    certificate = cml.solve(problem, "clarabel")
    assert certificate.verdict is Verdict.CERTIFIED
    assert "not verified before: clarabel: optimal" in certificate.reason


def test_absence_is_an_answer_with_evidence() -> None:
    x = cp.Variable(2, name="x")
    infeasible = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) <= 1])
    certificate = cml.solve(infeasible)
    assert (certificate.claim, certificate.verdict) == ("infeasible", Verdict.CERTIFIED)
    assert (infeasible.status, infeasible.value) == ("infeasible", np.inf)
    unbounded = cp.Problem(cp.Maximize(cp.sum(x)), [x >= 1])
    certificate = cml.solve(unbounded)
    assert (certificate.claim, certificate.verdict) == ("unbounded", Verdict.CERTIFIED)
    assert unbounded.value == np.inf


def test_unknown_and_unsuitable_solvers_are_refused() -> None:
    x = cp.Variable(2)
    with pytest.raises(UnknownSolverError, match="Did you mean 'clarabel'"):
        cml.solve(cp.Problem(cp.Minimize(cp.sum_squares(x))), "clarable")
    with pytest.raises(UnsuitableSolverError, match="other cones"):
        cml.solve(cp.Problem(cp.Minimize(cp.sum(cp.exp(x)))), "osqp")
    with pytest.raises(InputError, match="not DCP"):
        cml.solve(cp.Problem(cp.Minimize(cp.sqrt(x[0]))))


# -- scaling ----------------------------------------------------------------------------------


def test_scaling_keeps_the_solution_and_evens_out_the_data() -> None:
    rng = np.random.default_rng(0)
    x = cp.Variable(4)
    A = rng.normal(size=(5, 4)) * np.array([1e5, 1.0, 1e-4, 1.0])
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(A @ x - 1e3) + cp.norm(x)), [cp.sum_squares(A @ x) <= 1e6]
    )
    program = cone_program(problem).program
    scaled = equilibrate_cone(program)
    sizes = np.abs(scaled.program.A.data)
    assert sizes.max() <= 2.0
    w, y = rng.normal(size=program.q.size), rng.normal(size=program.b.size)
    np.testing.assert_allclose(scaled.x_out(scaled.x_in(w)), w)
    np.testing.assert_allclose(scaled.y_out(scaled.y_in(y)), y, rtol=1e-9)
    left = scaled.program.stationarity(scaled.x_in(w), scaled.y_in(y))
    own = program.stationarity(w, y)  # the equality is the same one, in other units
    np.testing.assert_allclose(left, own * scaled.columns * scaled.unit / scaled.cost, rtol=1e-7)


def test_boosts_keep_the_second_order_cone() -> None:
    from convexml.certificates.conic.search.scaling import _boosts
    from convexml.objective.conic.cones import SecondOrder
    from convexml.objective.conic.program import cone_program_of

    cone = SecondOrder(4)
    A = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1e3], [0.0, 5e2]]) * 1e3
    turn = _boosts(cone_program_of(None, np.ones(2), A, [1.0, 1.0, 0, 0], [cone])).toarray()
    rng = np.random.default_rng(0)
    for _ in range(50):
        s = cone.project(rng.normal(size=4))
        assert cone.distance(turn @ s)[0] <= 1e-9 * np.abs(turn @ s).max()
    lorentz = np.diag([1.0, -1.0, -1.0, -1.0])
    np.testing.assert_allclose(turn.T @ lorentz @ turn, lorentz, atol=1e-6)


def test_a_breakdown_is_one_of_our_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(*_: object, **__: object) -> None:
        raise PanicException("index out of bounds")

    monkeypatch.setattr("convexml.certificates.conic.search.scaling.solve_cone_program", panic)
    problem, _ = least_squares()
    with pytest.raises(SolverError, match="Clarabel broke down: index out of bounds"):
        solve_scaled(cone_program(problem).program)


@pytest.mark.parametrize("solver", ["highs", "clarabel"])
def test_an_active_set_that_goes_round_is_stopped(solver: str) -> None:
    """HiGHS alone never ends here. P* = -3657433046/9; without its curvature there is none."""
    a, d = np.array([-1.0, 4.0, -7.0]), np.array([1.0, 2.0, 1.0])
    A, b = np.stack([a, a + np.array([0.0, 0.0, 2.0**-25]), -a]), np.array([-3.0, -3.0, 7.0])
    x = cp.Variable(3)
    cost = [1.0, -2.0, 2.0] @ x + 0.5 * cp.quad_form(x, cp.psd_wrap(2.0**-26 * np.outer(d, d)))
    found = cml.solve(cp.Problem(cp.Minimize(cost), [A @ x <= b]), solver)
    assert found.verdict is Verdict.UNDECIDED or found.claim == "optimal"
