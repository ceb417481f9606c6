"""A Solution: read as text, used for predictions, stored as JSON and judged again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from support.model_cases import MODELS, bind, pose_parts, samples, weights

import convexml as cml
from convexml.errors import InputError

X, Y = samples("real")
XB, YB = samples("binary")
S = weights(len(Y))


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_json_there_and_back(case: Any, weighted: bool) -> None:
    A, y = case.data()
    keywords = {"sample_weight": weights(len(y))} if weighted and len(y) > 5 else {}
    problem = case.make(A, y, **keywords)
    solution = problem.solve()
    document = json.loads(solution.to_json())  # strict JSON
    assert document["schema"] == 1
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    assert type(again.problem) is type(problem)
    assert again.objective == pytest.approx(solution.objective, rel=1e-13, abs=1e-13)
    assert again.problem._hyper.keys() == problem._hyper.keys()
    for name, values in solution.primal.items():
        np.testing.assert_allclose(again.primal[name], values, rtol=1e-12, atol=1e-12)
    assert set(again.dual) == set(solution.dual)
    assert np.array_equal(again.predict(A), solution.predict(A))
    assert cml.Solution.from_json(solution.to_json(), problem).status == "optimal"


def test_json_of_any_loss_and_penalty_with_labels() -> None:
    from convexml.losses import EpsilonInsensitive, Pinball
    from convexml.penalties import L1, Box, GroupL2

    for loss, penalty in [
        (Pinball(0.3), GroupL2(0.2, ["a", "b", "a", "c", "b"])),
        (EpsilonInsensitive(0.5), L1(0.1, weights=np.arange(5.0))),
        (Pinball(0.3), Box(-1.0, np.array([1.0, np.inf, 2.0, 0.5, 1.0]))),
    ]:
        solution = pose_parts(loss, penalty, loss_scale=0.5).solve()
        again = cml.Solution.from_json(solution.to_json())
        assert again.status == solution.status == "optimal"
        assert again.objective == pytest.approx(solution.objective, rel=1e-13)
    for labels in (np.array(["ham", "spam"]), np.array([False, True]), np.array([3, 8])):
        y = labels[(YB > 0.0).astype(int)]
        solution = cml.SoftMarginSVM(XB, y).solve()
        again = cml.Solution.from_json(solution.to_json())
        assert list(again.predict(XB)) == list(solution.predict(XB))
        assert list(again.problem.classes) == list(labels)


@pytest.mark.parametrize("tamper", ["w", "status", "u", "sign"])
def test_a_tampered_document_is_not_believed(tamper: str) -> None:
    solution = cml.Ridge(X, Y, 0.3).solve()
    document = json.loads(solution.to_json())
    if tamper == "w":
        document["primal"]["w"][2] += 0.05
    elif tamper == "sign":
        document["primal"]["w"] = [-v for v in document["primal"]["w"]]
    elif tamper == "u":
        document["dual"]["u"] = [10.0 * v for v in document["dual"]["u"]]
    else:
        document["status"] = document["claimed_status"] = "infeasible"
    again = cml.Solution.from_json(json.dumps(document))
    if tamper in ("w", "sign"):
        assert again.status == "inaccurate"
        assert again.gap >= again.objective - solution.objective > 0.0
    else:  # nothing that is claimed is used, so that the point is optimal all the same
        assert again.status == "optimal"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"problem": {"kind": "Nonsense"}}', "null"])
def test_what_is_no_solution_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a stored solution"):
        cml.Solution.from_json(text)


def test_evidence_is_found_again() -> None:
    solution = cml.HardMarginSVM(XB, YB).solve()
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "infeasible"
    assert np.sum(again.evidence["alpha"]) == pytest.approx(1.0)


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_a_solution_reads_as_a_table(case: Any) -> None:
    problem = case.pose()
    solution = problem.solve()
    text = str(solution)
    assert text.startswith(f"{problem.name}: optimal   (solver {solution.solver}")
    assert "primal w" in text
    assert "dual   u" in text
    assert "CERTIFIED at tol 1e-06 (claim: optimal)" in text
    for row in solution.certificate.conditions:
        assert row.name in text
    assert "auto chose" in text
    assert str(solution.certificate) in text
    assert len(repr(solution)) < 300


def test_the_recomputed_numbers_are_those_of_the_certificate() -> None:
    solution = cml.Lasso(X, Y, 0.3).solve()
    assert solution.objective == solution.certificate.primal_objective
    assert solution.dual_objective == solution.certificate.dual_objective
    assert solution.gap == solution.certificate.gap
    assert solution.relative_gap == solution.certificate.relative_gap
    assert solution.kkt == solution.certificate.kkt
    assert solution.choice.startswith("auto chose working_set: the loss is differentiable")
    choice = cml.Ridge(X, Y, 0.3).solve().choice
    assert choice.startswith("auto chose normal_equations: loss and penalty are squares")


def test_seconds_and_the_trace() -> None:
    problem = cml.LogisticRegression(XB, YB, 0.01)
    newton, clarabel = problem.solve("newton"), problem.solve("clarabel")
    assert newton.compile_seconds == 0.0
    assert clarabel.compile_seconds > 0.0
    assert newton.seconds > 0.0
    assert clarabel.iterations > 0
    assert newton.trace[0].iteration == 0
    assert newton.trace[-1].iteration == newton.iterations
    assert newton.trace[-1].relative_gap <= 1e-6
    objectives = [record.objective for record in newton.trace]
    assert objectives == sorted(objectives, reverse=True)
    for record in newton.trace:
        assert record.gap == pytest.approx(record.objective - record.dual_objective)


def test_predictions() -> None:
    solution = cml.Ridge(X, Y, 0.3).solve()
    expected = X[:3] @ solution.primal["w"] + solution.primal["b"]
    assert solution.predict(X[:3]) == pytest.approx(expected, rel=1e-14)
    assert solution.decision_function(X[:3]).shape == (3,)
    counts = cml.PoissonRegression(*samples("count"), 0.1).solve()
    assert counts.predict(X) == pytest.approx(np.exp(counts.decision_function(X)))
    with pytest.raises(InputError, match="X has 4 features, the model was posed with 5"):
        solution.predict(X[:, :4])
    with pytest.raises(InputError, match="X contains nan at row 0, column 1"):
        solution.predict(np.array([[0.0, np.nan, 0.0, 0.0, 0.0]]))


@pytest.mark.parametrize("make", [bind(cml.SoftMarginSVM, 0.7), bind(cml.SoftMarginSVM, 50.0)])
def test_support_vectors(make: Any) -> None:
    solution = make(XB, YB).solve()
    alpha, margins = solution.dual["alpha"], YB * solution.decision_function(XB)
    assert np.array_equal(solution.support, np.flatnonzero(alpha > 1e-7 * alpha.max()))
    assert np.all(margins[solution.support] <= 1.0 + 1e-9)
    outside = np.setdiff1d(np.arange(len(YB)), solution.support)
    assert np.all(alpha[outside] == 0.0)
    assert np.all(margins[outside] >= 1.0 - 1e-9)
    assert solution.margin == pytest.approx(1.0 / np.linalg.norm(solution.primal["w"]))
    assert cml.Ridge(X, Y, 0.3).solve().support is None


def test_no_theorem_is_on_record_for_a_reference_solver() -> None:
    with pytest.raises(InputError, match="no theorem is on record for 'clarabel'"):
        cml.Ridge(X, Y, 0.3).solve("clarabel").rate_audit()


@pytest.mark.parametrize("polish", [True, False])
def test_a_polished_point_is_not_called_the_solvers_own(polish: bool) -> None:
    X, y = np.eye(4)[:, :3], np.array([3.0, 2.0, 0.1, 1.0])
    lasso = cml.Lasso(X, y, 0.1, fit_intercept=False)
    program = cml.LinearProgram([1.0, 1.0], A_ub=[[-1.0, -2.0], [-3.0, -1.0]], b_ub=[-1.0, -1.3])
    for problem in (lasso, program):
        solution = problem.solve("scs", tol=1e-2, polish=polish)
        again = cml.Solution.from_json(solution.to_json())
        for each in (solution, again):
            assert ("scs, then polished" in repr(each)) is polish
            assert ("(solver scs, then polished by " in str(each)) is polish
        assert bool(json.loads(solution.to_json())["polished"]) is polish
    assert "polished" not in str(lasso.solve())
