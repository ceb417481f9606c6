"""The facts in problems/ are true: each is recomputed by a route that is not convexml."""

from __future__ import annotations

import shutil
import tomllib
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.optimize import linprog
from support.latex.rows import undefined
from support.oracles import likelihoods, machines, regressions, shapes, smooth
from support.problem_files import given, posed
from support.sizes import by_turns, quick

import convexml as cml
from convexml import models
from convexml.library import check_fact, load, load_file, read_table_of
from convexml.library.names import snake_case

PROBLEMS = Path(__file__).resolve().parents[3] / "problems"
FILES = sorted(PROBLEMS.glob("*.toml"))

ROOMS = (likelihoods, machines, regressions, shapes, smooth)
OTHERS = {
    "poisson_regression": smooth.smooth(smooth.poisson_loss),
    "squared + nonnegative": regressions.nonnegative_least_squares,
    "squared + box": regressions.box_least_squares,
    "squared_hinge + l2": smooth.smooth(smooth.squared_hinge_loss),
    "exponential + l2": smooth.smooth(smooth.exponential_loss),
    "absolute + zero": regressions.piecewise_linear,
    "epsilon_insensitive + l1": regressions.piecewise_linear,
    "hinge + l2": machines.hinge_l2,
}
"""Other routes that are not called as what they check."""


def route(kind: str) -> Any:
    """The one other route to the facts of a model, a statement, or a loss and a penalty."""
    (found,) = {getattr(room, kind) for room in ROOMS if hasattr(room, kind)} or {OTHERS[kind]}
    return found


def kind(table) -> str:
    if table.objective:
        return f"{table.objective.loss['name']} + {table.objective.penalty['name']}"
    return table.model or Path(table.statement).stem


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the library, in which files are written."""
    return Path(shutil.copytree(PROBLEMS, tmp_path_factory.mktemp("copy") / "problems"))


@cache
def arrays(problems: Path, stem: str) -> dict[str, Any]:
    """The data of a file as they are handed to a statement."""
    data = tomllib.loads((PROBLEMS / f"{stem}.toml").read_text("utf-8"))["data"]
    data.pop("blocks", None)
    found = {k: v for k, v in vars(given(problems, **data)).items() if v is not None}
    return {name: found[name] for name in found.keys() - {"file", "features"}}


def recomputed(problems: Path, path: Path) -> dict[str, Any]:
    table = read_table_of(path)
    oracle, parameters = route(kind(table)), dict(table.parameters)
    given = dict(arrays(problems, path.stem))
    if "Q" not in signature(oracle).parameters:
        given.pop("Q", None)
    if table.objective:
        for part in (table.objective.loss, table.objective.penalty):
            parameters |= {key: value for key, value in part.items() if key != "name"}
    return oracle(**given, **parameters)


QUICK = [path for path in FILES if path.stem != "softmax_digits"]
"""Whose other route takes no seconds."""


@pytest.mark.parametrize("path", quick(FILES, QUICK), ids=lambda path: path.stem)
def test_facts_are_true(problems, path):
    table = read_table_of(path)
    if table.expected.status != "optimal":
        assert table.expected.source, "say how the status is known"
        return
    assert any(fact.name == "objective" for fact in table.expected.facts)
    found = recomputed(problems, path)
    for fact in table.expected.facts:
        assert fact.name in found, f"no oracle knows {fact.name}"
        exact = fact.name in ("nonzeros", "support_size")
        rtol = 0 if exact else 1e-9
        np.testing.assert_allclose(found[fact.name], fact.value, rtol=rtol, atol=1e-9)


LINEAR_PROGRAMS = [path for path in FILES if path.stem.startswith("lp_")]


@pytest.mark.parametrize("path", LINEAR_PROGRAMS, ids=lambda path: path.stem)
def test_status_of_linear_programs(problems, path):
    table = read_table_of(path)
    result = linprog(**arrays(problems, path.stem))
    assert {0: "optimal", 2: "infeasible", 3: "unbounded"}[result.status] == table.expected.status


def is_separable(X, y) -> bool:
    rows = y[:, None] * np.column_stack([X, np.ones(len(X))])
    bounds = (None, None)
    result = linprog(np.zeros(rows.shape[1]), -rows, -np.ones(len(y)), bounds=bounds)
    return {0: True, 2: False}[result.status]


SEPARABILITY = {
    "hard_margin_iris": True,
    "hard_margin_wine": True,
    "logistic_iris_separable": True,
    "logistic_breast_cancer_separable": True,
    "halfspace_iris": True,
    "hard_margin_iris_inseparable": False,
    "halfspace_iris_inseparable": False,  # not even with an intercept
    "logistic_iris": False,
}


@pytest.mark.parametrize(("stem", "separable"), SEPARABILITY.items(), ids=str)
def test_separability(problems, stem, separable):
    data = arrays(problems, stem)
    assert is_separable(data["X"], data["y"]) == separable


def test_longley_has_the_certified_coefficients(problems):
    """NIST Statistical Reference Datasets, Longley: all certified digits that float64 can hold."""
    found = regressions.least_squares(**arrays(problems, "least_squares_longley"))
    certified = [
        15.0618722713733, -0.358191792925910e-01, -2.02022980381683, -1.03322686717359,
        -0.511041056535807e-01, 1829.15146461355,
    ]  # fmt: skip
    np.testing.assert_allclose(found["w"], certified, rtol=1e-10)
    assert found["b"] == pytest.approx(-3482258.63459582, rel=1e-10)
    assert found["objective"] == pytest.approx(836424.055505915 / 32, rel=1e-12)


def test_the_game_is_fair_to_both():
    """The dual facts of one player's file are the other player's strategy."""
    row, column = (
        {fact.name: fact.value for fact in read_table_of(path).expected.facts}
        for path in (PROBLEMS / "lp_game_row.toml", PROBLEMS / "lp_game_column.toml")
    )
    assert row["dual.lambda_ub"] == pytest.approx(column["x"][:2])
    assert column["dual.lambda_ub"] == pytest.approx(row["x"][:2])
    assert row["objective"] == pytest.approx(-column["objective"])


def test_the_library_covers_what_it_should():
    """Every model but the one of any loss and penalty, and every way to end."""
    statuses = {read_table_of(path).expected.status for path in FILES}
    assert statuses == {"optimal", "infeasible", "unbounded", "unattained"}
    posed = {read_table_of(path).model for path in FILES}
    assert {snake_case(name) for name in models.__all__} - posed == {"learning_problem"}
    assert set(OTHERS) <= {kind(read_table_of(path)) for path in FILES}


# -- what the library itself finds ---------------------------------------------------------------

MODEL_FILES = [path for path in FILES if read_table_of(path).statement is None]


@pytest.mark.parametrize("path", MODEL_FILES, ids=lambda p: p.stem)
def test_a_model_file_is_solved_to_its_facts(path):
    """And its conditions and multipliers are in the symbols of its formulas."""
    record = load_file(path)
    solution = record.problem.solve(tol=1e-6)
    assert solution.status == record.expected.status
    checks = [check_fact(fact, record.problem, solution) for fact in record.expected.facts]
    assert [check for check in checks if not check.holds] == []
    for fact in record.expected.facts:
        other = fact.model_copy(update={"value": (1.0 + 2.0 * np.abs(fact.value)).tolist()})
        assert not check_fact(other, record.problem, solution).holds
    if solution.status != "optimal":
        assert solution.evidence
    named = [row.name for row in solution.certificate.conditions]
    named += [name for name, value in solution.dual.items() if np.any(value)]
    assert undefined(named, record.problem.latex()) == set()


# -- statements in plain CVXPY -------------------------------------------------------------------

CHOSEN = {
    "kernel_logistic": "statement_kernel_logistic",
    "kernel_ridge": "statement_kernel_ridge",
    "kernel_svm": "statement_kernel_svm",
    "least_squares": "least_squares_diabetes",
    "linear_program": "lp_diet",
    "maximum_a_posteriori": "maximum_a_posteriori_laplace",
    "principal_components": "principal_components_iris",
    "quantile_regression": "quantile_wine",
    "ridge": "ridge_diabetes",
    "softmax_regression": "statement_softmax",
    "sparse_logistic_regression": "logistic_l1_breast_cancer",
}
"""The file that a statement is tried on, where it is not the first that poses it."""
STATEMENTS = [path.stem for path in sorted(PROBLEMS.glob("*.py"))]


@cache
def posing(statement: str) -> str:
    if statement in CHOSEN:
        return CHOSEN[statement]
    tables = ((path, read_table_of(path)) for path in FILES)
    return next(p.stem for p, t in tables if kind(t) == statement and t.expected.status[0] == "o")


@cache
def stated(folder: Path, statement: str, form: str, stem: str = "") -> cp.Problem:
    """The statement with the data and parameters of a file of its model, solved."""
    table = tomllib.loads((PROBLEMS / f"{stem or posing(statement)}.toml").read_text("utf-8"))
    parameters = {k: v for k, v in table.get("parameters", {}).items() if k != "penalty"}
    keys = {"statement": f"{statement}.py", "form": form, "parameters": parameters}
    problem = posed(folder, data=table["data"], **keys).problem
    problem.solve(solver=cp.CLARABEL)
    return problem


@pytest.mark.parametrize("statement", by_turns(STATEMENTS))
def test_values_of_primal_and_dual_agree(problems: Path, statement: str) -> None:
    assert 20 <= len((PROBLEMS / f"{statement}.py").read_text("utf-8").splitlines()) <= 60
    primal, dual = (stated(problems, statement, form) for form in ("primal", "dual"))
    assert isinstance(primal.objective, cp.Minimize)
    assert isinstance(dual.objective, cp.Maximize)
    facts = read_table_of(PROBLEMS / f"{posing(statement)}.toml").expected.facts
    known = next(fact.value for fact in facts if fact.name == "objective")
    for form in (primal, dual):
        assert form.is_dcp(dpp=True)
        labels = [constraint.label for constraint in form.constraints]
        assert None not in labels
        assert len(set(labels)) == len(labels)
        assert not any(variable.attributes["nonneg"] for variable in form.variables())
        assert form.status == cp.OPTIMAL
        assert form.value == pytest.approx(known, rel=1e-6, abs=1e-7)


SMOOTH = "least_squares ridge lasso constrained_lasso elastic_net logistic_regression "
SMOOTH += "sparse_logistic_regression maximum_a_posteriori"


@pytest.mark.parametrize("statement", SMOOTH.split())
def test_the_multiplier_of_the_predictions_is_u(problems: Path, statement: str) -> None:
    primal, dual = (stated(problems, statement, form) for form in ("primal", "dual"))
    multiplier = next(c.dual_value for c in primal.constraints if c.label == "predictions")
    u = dual.var_dict["u"].value
    np.testing.assert_allclose(multiplier, u, atol=1e-4 * np.abs(u).max())


def test_the_multipliers_of_the_svm_are_alpha_and_beta(problems: Path) -> None:
    primal = stated(problems, "soft_margin_svm", "primal")
    alpha, beta = (constraint.dual_value for constraint in primal.constraints)
    np.testing.assert_allclose(alpha + beta, 1.0, atol=1e-6)
    xi, w, b = (primal.var_dict[name].value for name in ("xi", "w", "b"))
    data = arrays(problems, "soft_margin_breast_cancer")
    np.testing.assert_allclose(data["X"].T @ (alpha * data["y"]), w, atol=1e-4)
    margin = data["y"] * (data["X"] @ w + b)
    assert np.abs(alpha * (margin - 1 + xi)).max() < 1e-4
    assert np.abs(beta * xi).max() < 1e-4


def test_the_dual_of_an_inseparable_halfspace_is_unbounded(problems: Path) -> None:
    dual = stated(problems, "halfspace_lp", "dual", "halfspace_iris_inseparable")
    assert dual.status == cp.UNBOUNDED


STATEMENT_FILES = [path for path in FILES if path not in MODEL_FILES]


@pytest.mark.parametrize("path", STATEMENT_FILES, ids=lambda path: path.stem)
def test_a_statement_file_is_solved_to_its_facts(path: Path) -> None:
    problem = load(path)
    certificate = cml.solve(problem)
    assert certificate.holds()
    checks = [check_fact(fact, problem, certificate) for fact in read_table_of(path).expected.facts]
    assert [check for check in checks if not check.holds] == []


H, STRONG, WEAK = hadamard(8), 0.3, 0.5
TARGETS = 3.0 * H[:, 1] - H[:, 2] + 0.25 * H[:, 4]
SIGMA = 0.25 / np.sqrt(1.0 - 2.0 * STRONG**2)
CLOSED = {
    "square_root_lasso": (STRONG, [3.0 - STRONG * SIGMA, STRONG * SIGMA - 1.0, 0.0]),
    "dantzig_selector": (WEAK, [2.5, -0.5, 0.0]),
}
"""Of columns with X'X = n I, each coefficient is shrunk by itself."""


@pytest.mark.parametrize("statement", CLOSED)
def test_orthogonal_columns_have_a_closed_form(problems: Path, statement: str) -> None:
    lam, w = CLOSED[statement]
    data = {"X": H[:, 1:4].tolist(), "y": TARGETS.tolist()}
    keys = {"statement": f"{statement}.py", "parameters": {"lam": lam}}
    problem = posed(problems, data=data, **keys).problem
    assert cml.solve(problem, tol=1e-8).holds()
    np.testing.assert_allclose(problem.var_dict["w"].value, w, atol=1e-5)
