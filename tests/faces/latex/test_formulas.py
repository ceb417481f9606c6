"""The formulas of a model are those of the problem that it poses."""

from __future__ import annotations

import re
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.latex.formula_cases import (
    BINARY,
    DATA,
    LOSSES,
    MODELS,
    PENALTIES,
    REAL,
    SYMBOLS,
    WEIGHTS,
    X,
)
from support.latex.rows import rows_of

import convexml as cml
from convexml import losses, penalties
from convexml.losses import EpsilonInsensitive, Hinge
from convexml.penalties import L2


def check_closed(text: str) -> None:
    """No term is left out; that brackets are closed is seen where the line is read."""
    signs = re.sub(r"[_^][-+]", "", text)
    for slip in ("None", "{}", "+ -", "+ +", "- -", ",,", "()", "[]", r",\ ,\ ", "  "):
        assert slip not in signs, (slip, text)
    assert not re.search(r"[-+=,(\[{]\s*[+=,)\]}]|[-+=,]$", signs), text
    assert "&" not in text


def tokens(text: str) -> set[str]:
    """Commands and letters, without words in the text face."""
    text = re.sub(r"\\(text|operatorname)\{[^}]*\}", "", text)
    return {*re.findall(r"\\mathbf\{1\}|\\[A-Za-z]+|[A-Za-z]", text)}


BALANCE = r"\\mathbf\{1\}\^\\top [uU] = 0|\\sum_i (\(.*?\)|[^=x(,]*?) = 0"


def check_structure(problem: Any, intercept: bool, weighted: bool) -> str:
    """What every formula must have and must not have; returns all of it."""
    rows = rows_of(problem)
    lines = [line for group in rows.values() for line in group]
    for line in lines:
        check_closed(line)
    everything = "\n".join(lines)
    used = tokens(everything)
    assert ("b" in used) == intercept, everything
    assert ("s" in used) == weighted, everything
    for label in ("dual", "KKT"):
        balanced = any(re.search(BALANCE, row) for row in rows[label])
        assert balanced == intercept, rows[label]
    if not intercept:
        assert r"\mathbf{1}" not in used
    if weighted:
        assert "n" not in used
    assert "^* =" not in everything
    return everything


@pytest.mark.parametrize("name", MODELS)
def test_names_of_a_formula(name: str) -> None:
    """Those of the data and hyperparameters that there are, and no others."""
    for intercept, s in DATA:
        problem = MODELS[name](fit_intercept=intercept, sample_weight=s)
        text = check_structure(problem, intercept, s is not None)
        used, indicator = tokens(text), problem.objective_parts.loss.is_indicator
        assert ("n" in used) == (not indicator and "C" not in problem._hyper and s is None)
        for hyper, symbol in SYMBOLS.items():
            named = "lambda" in problem.multiplier_names.values() and hyper == "lam"
            named = named or (hyper == "lam" and "lams" in problem._hyper)
            assert (symbol in used) == (hyper in problem._hyper or named), hyper


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name]().multiplier_names])
def test_textbook_multipliers(name: str) -> None:
    """The names in ``multiplier_names`` are those of the formula, and there are no others."""
    problem = MODELS[name]()
    greek = {n.removesuffix("_star") for n in problem.multiplier_names.values()}
    text = problem.latex()
    for word in ("alpha", "beta", "nu", "mu", "lambda"):
        assert (rf"\{word}" in text) == (word in greek), word
    stars = {n for n in problem.multiplier_names.values() if n.endswith("_star")}
    assert (r"\alpha^*" in text) == bool(stars)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_with_every_penalty(loss: str) -> None:
    """Each pair on one kind of data, in turn."""
    part, y = LOSSES[loss]
    assert {*LOSSES} == {*losses.ALL}
    assert {name.split()[0] for name in PENALTIES} == {*penalties.ALL}
    for k, (penalty, make) in enumerate(PENALTIES.items()):
        intercept, s = DATA[(k + [*LOSSES].index(loss)) % len(DATA)]
        term = make(12 if loss == "softmax" else 4)
        given = {"fit_intercept": intercept, "sample_weight": s}
        text = check_structure(
            cml.LearningProblem(X, y, part, term, **given), intercept, s is not None
        )
        assert (r"\omega" in text) == ("weights" in penalty)
        assert not re.search(r"\\operatorname\{(?!(tr|softmax|sign)\})", text)
        assert "sup" not in text


class Unspoken(losses.Squared):
    """A loss of a user: twice the squared loss, and no formula."""

    def value(self, y: Any, z: Any) -> Any:
        return (z - y) ** 2

    def conjugate(self, y: Any, v: Any) -> Any:
        return v**2 / 4.0 + v * y


class Half_L1(penalties.L1):
    """A penalty of a user with another value than the formula that it would inherit."""

    def value(self, w: Any) -> float:
        return 0.5 * super().value(w)


def test_what_is_not_told_goes_by_its_name() -> None:
    problem = cml.LearningProblem(X, REAL, Unspoken(), Half_L1(0.1))
    text = check_structure(problem, True, False)
    assert r"\tfrac1n \sum_i \operatorname{Unspoken}(y_i, z_i) + \operatorname{Half\_L1}(w)" in text
    assert r"\sup_\zeta \left\{v_i \zeta - \operatorname{Unspoken}(y_i, \zeta)\right\}" in text
    assert (
        r"\sup_\omega \left\{\langle X^\top u, \omega \rangle - \operatorname{Half\_L1}(\omega)"
        r"\right\}" in text
    )
    assert r"\tfrac12" not in text
    assert r"\|_1" not in text


# -- symbols that conditions name


@pytest.mark.parametrize("s", [None, WEIGHTS], ids=["", "weights"])
def test_the_multipliers_of_the_slack_form_are_those_defined(s: Any) -> None:
    """alpha and beta by the slack form with 1/n, written and solved without the library."""
    c = np.full(12, 1.0 / 12.0) if s is None else s / s.sum()
    w, b, xi, over = cp.Variable(4), cp.Variable(), cp.Variable(12), cp.Variable(12)
    z = X @ w + b
    rows = [cp.multiply(BINARY, z) >= 1.0 - xi, xi >= 0.0]
    cp.Problem(cp.Minimize(c @ xi + 0.05 * cp.sum_squares(w)), rows).solve(solver=cp.CLARABEL)
    problem = cml.LearningProblem(X, BINARY, Hinge(), L2(0.1), sample_weight=s)
    u = problem.solve(tol=1e-9).dual["u"]
    assert r"\alpha_i = -y_i u_i,\ \beta_i = c_i - \alpha_i" in rows_of(problem)["where"][0]
    np.testing.assert_allclose(rows[0].dual_value, -BINARY * u, atol=1e-6)
    np.testing.assert_allclose(rows[1].dual_value, c + BINARY * u, atol=1e-6)

    rows = [REAL - z <= 0.1 + xi, z - REAL <= 0.1 + over, xi >= 0.0, over >= 0.0]
    cost = c @ (xi + over) + 0.05 * cp.sum_squares(w)
    cp.Problem(cp.Minimize(cost), rows).solve(solver=cp.CLARABEL)
    problem = cml.LearningProblem(X, REAL, EpsilonInsensitive(0.1), L2(0.1), sample_weight=s)
    u = problem.solve(tol=1e-9).dual["u"]
    told = rows_of(problem)["where"][0]
    assert re.search(r"\\alpha_i = \(-u_i\)_\+,\\ \\alpha\^\*_i = \(u_i\)_\+", told)
    expected = np.maximum(-u, 0.0), np.maximum(u, 0.0)
    for row, alpha in zip(rows, [*expected, c - expected[0], c - expected[1]], strict=True):
        np.testing.assert_allclose(row.dual_value, alpha, atol=1e-6)


def test_the_multiplier_of_rho_is_in_lagrangian_and_conditions() -> None:
    """max over rho >= 0 of rho (sum alpha - nu S) is finite where sum alpha = nu S + gamma."""
    problem = cml.NuSVC(X, BINARY, 0.4)
    rows = rows_of(problem)
    assert rows["Lagrangian"][0].endswith(r"- \gamma \rho")
    assert {r"\rho \ge 0", r"\gamma \rho = 0"} <= {*rows["KKT"]}
    assert problem.solve().dual["alpha"].sum() == pytest.approx(0.4 * 12)  # gamma = 0


def test_the_worst_entry_of_a_matrix_has_two_indices() -> None:
    X, Y = np.eye(4), np.arange(12.0).reshape(4, 3)
    problem = cml.MultiTaskLasso(X, Y, 0.01, fit_intercept=False)
    u = -Y / 4.0
    u[2, 1] += 1.0
    rows = {row.name: row for row in problem.certify(np.zeros((4, 3)), 0.0, u).conditions}
    assert rows["u_i/c_i in dl(y_i, z_i)"].where() == "(2, 1)"


# -- formulas that were printed and false, each refuted by numbers of its own

SOME_ZERO = np.where(np.arange(12) == 3, 0.0, WEIGHTS)
KEPT = r"(i : s_i > 0)"


def test_the_multiplier_of_rho_is_not_said_to_be_0() -> None:
    """Hulls that meet: w = 0, rho = 0 and sum alpha = 2 min(n_+, n_-) is more than nu n."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(15, 2))
    problem = cml.NuSVC(np.vstack([points, points]), np.repeat([-1.0, 1.0], 15), 0.3)
    alpha = np.ones(30)  # each point against itself
    certificate = problem.certify(w=np.zeros(2), b=0.0, rho=0.0, xi=np.zeros(30), alpha=alpha)
    assert certificate.primal_objective == 0.0
    assert alpha.sum() - 0.3 * 30 == pytest.approx(21.0)  # gamma
    assert not any(r"\gamma = 0" in line for lines in rows_of(problem).values() for line in lines)


@pytest.mark.parametrize("model", [cml.HardMarginSVM, cml.HalfspaceLP, cml.MinimumNorm])
def test_constraints_of_rows_without_weight_are_in_no_line(model: type) -> None:
    """max over all alpha >= 0 is unbounded where a row that is left out is in the way."""
    x, s = np.array([[1.0], [-1.0], [1.0]]), [1.0, 1.0, 0.0]
    problem = model(x, [1.0, -1.0, -1.0], sample_weight=s)
    assert problem.solve().status == "optimal"
    assert rows_of(problem)["where"][0].startswith(KEPT)  # of all lines
    assert KEPT not in rows_of(problem)["primal"][0]


@pytest.mark.parametrize("make", [
    lambda s: cml.Ridge(X, REAL, 0.1, sample_weight=s),
    lambda s: cml.SoftmaxRegression(X, np.arange(12) % 3, 0.1, sample_weight=s),
    lambda s: cml.MultiTaskLasso(X, np.column_stack([REAL, REAL]), 0.1, sample_weight=s),
    lambda s: cml.LearningProblem(X, BINARY, cml.losses.Hinge(), cml.penalties.L2(0.1),
        sample_weight=s, loss_scale="sum"),
])  # fmt: skip
def test_no_line_divides_by_a_weight_of_0(make: object) -> None:
    rows = rows_of(make(SOME_ZERO))
    dual = rows["dual"][0]
    assert r"}{s_i} u_i" in dual or "u_i / s_i" in dual
    assert rows["where"][0].startswith(KEPT)
    assert not any(KEPT in line for line in rows_of(make(None)).get("where", []))


def test_monotone_regression_divides_by_no_weight_of_0() -> None:
    rows = rows_of(cml.MonotoneRegression(REAL, sample_weight=SOME_ZERO))
    assert r"\sum_{i : c_i > 0} \tfrac{1}{2 c_i} t_i^2" in rows["dual"][0]
    assert r"t_i = 0\ (i : c_i = 0)" in rows["dual"][0]
    plain = rows_of(cml.MonotoneRegression(REAL))
    assert r"\sum_i \tfrac{1}{2 c_i} t_i^2" in plain["dual"][0]
    assert r"\alpha_0 = \alpha_n = 0" in plain["where"][0]


def test_bounds_that_are_not_there_cost_nothing() -> None:
    """lower'lambda_lower of (-inf, 0) is 0 by what is printed; every multiplier has n entries."""
    problem = cml.LinearProgram([1.0, -1.0], bounds=[(0, 3), (None, 2)])
    assert rows_of(problem)["where"] == [r"0 \cdot \infty = 0"]
    assert "where" not in rows_of(cml.LinearProgram([1.0, -1.0], bounds=[(0, 3), (-1, 2)]))
    assert "where" not in rows_of(cml.LinearProgram([1.0], [[-1.0]], [1.0], bounds=(None, None)))
    solution = problem.solve()
    problem.dual.solve()
    assert problem.dual.value == pytest.approx(-2.0, abs=1e-6)
    for name in ("lambda_lower", "lambda_upper"):
        assert problem.multipliers[name].shape == solution.dual[name].shape == (2,)
        np.testing.assert_allclose(problem.multipliers[name].value, solution.dual[name], atol=1e-6)


def test_no_entry_of_the_diagonal_is_penalised() -> None:
    """Theta_jj (S_jj - W_jj) + lambda |Theta_jj| is lambda Theta_jj > 0."""
    rows = rows_of(cml.GaussianLikelihood(X, 0.1))["KKT"]
    assert any(r"\lambda |\Theta_{ij}| = 0\ (i \ne j)" in row for row in rows)
