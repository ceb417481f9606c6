"""dualize at its edges: refusals, names, constants, parameters, complex numbers, LaTeX, faults."""

from __future__ import annotations

import re
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from dualize_cases import HELPERS, close, holds, solve

import convexml as cml
from convexml.duality import assemble, eliminate, parts
from convexml.duality.forms import Matrix
from convexml.errors import InputError

x = cp.Variable(3, name="x")

# -- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (cp.Problem(cp.Minimize(cp.sqrt(x[0]))), "not DCP"),
        (cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, integer=True, name="k")))), "k is integer"),
        (cp.Problem(cp.Minimize(cp.Variable(boolean=True, name="on"))), "on is integer"),
        (cp.Problem(cp.Minimize(cp.Parameter(3, name="price") @ x)), "price has no value"),
        ("min x", "expected a cvxpy.Problem, got str"),
    ],
    ids=["curvature", "integer", "boolean", "parameter", "type"],
)
def test_refusals(problem: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cml.dualize(problem)


def test_an_unknown_label_is_answered_with_the_nearest() -> None:
    dual = cml.dualize(cp.Problem(cp.Minimize(cp.sum(x)), [(x >= 1).set_label("floor")]))
    with pytest.raises(KeyError, match="Did you mean 'floor'"):
        dual.multipliers["flor"]


# -- names ------------------------------------------------------------------------------------


def test_names_of_labelled_and_unlabelled_constraints() -> None:
    constraints = [
        (x <= 4).set_label("cap"),
        x >= 1,
        cp.sum(x) == 6,
        (x <= 5).set_label("cap"),
        cp.SOC(x[0] + 9, x),
    ]
    dual = cml.dualize(cp.Problem(cp.Minimize(cp.sum_squares(x)), constraints))
    expected = ["cap", "lambda_2", "nu_3", "cap (2)", "cone_5"]
    assert list(dual.multipliers.names) == expected
    assert [v.name() for v in dual.multipliers[constraints[4]]] == ["cone_5.lambda", "cone_5.u"]
    assert len({v.name() for v in dual.problem.variables()}) == len(dual.problem.variables())
    assert len(dual.multipliers) == 5
    assert "nu_3" in repr(dual.multipliers)


def test_a_constraint_that_stands_twice_counts_once() -> None:
    floor = x >= 1
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [floor, floor])
    dual = cml.dualize(problem)
    assert len(dual.problem.variables()) == 1
    assert close(solve(dual.problem), 3.0)


# -- edges ------------------------------------------------------------------------------------


def test_without_variables_or_constraints() -> None:
    assert solve(cml.dualize(cp.Problem(cp.Minimize(3))).problem) == 3.0
    assert solve(cml.dualize(cp.Problem(cp.Maximize(-cp.norm(x)))).problem) == pytest.approx(0.0)
    free = cml.dualize(cp.Problem(cp.Minimize(cp.sum(x)))).problem
    free.solve(solver="CLARABEL")
    assert free.status == "infeasible"


def test_values_of_the_user_stay() -> None:
    x.value = np.arange(3.0)
    cml.dualize(cp.Problem(cp.Minimize(cp.norm(x)), [x >= 1]))
    np.testing.assert_array_equal(x.value, np.arange(3.0))
    x.value = None


def test_parameters_stand_with_their_values() -> None:
    level = cp.Parameter(nonneg=True, value=1.0)
    width = cp.Parameter(nonneg=True, value=0.5)
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.huber(x - 3, width)) + level * cp.sum_squares(x)),
        [cp.sum(cp.huber(x, width)) <= 2 * level],
    )
    for value in (1.0, 0.3):
        level.value = value
        assert close(solve(problem), solve(cml.dualize(problem).problem))


def test_complex_numbers() -> None:
    z = cp.Variable(3, complex=True, name="z")
    H = cp.Variable((2, 2), hermitian=True, name="H")
    bound = np.array([[1.0, 0.5j], [-0.5j, 2.0]])
    problem = cp.Problem(
        cp.Minimize(cp.norm(z) + cp.real(cp.trace(H)) + cp.abs(H[0, 1] - 1.0)),
        [(z[0] + z[1] == 1 + 2j).set_label("sum"), H >> bound],
    )
    dual = cml.dualize(problem)
    assert close(solve(problem), solve(dual.problem))
    real, imaginary = dual.multipliers["sum"]
    expected = problem.constraints[0].dual_value
    assert real.value + 1j * imaginary.value == pytest.approx(expected, abs=1e-5)


# -- LaTeX ------------------------------------------------------------------------------------

LP = r"""\begin{aligned}
\text{primal}\quad & \min_{x}\ c^\top x \\
\text{s.t.}\quad & \quad A_{\text{flow\_in}} x = b_{\text{flow\_in}} \\
\quad & \quad x \ge 0 \\
\text{Lagrangian}\quad & L(x; \nu_{\text{flow\_in}}, \lambda_{x \ge 0}) = c^\top x + \nu_{\text{flow\_in}}^\top (A_{\text{flow\_in}} x - b_{\text{flow\_in}}) - \lambda_{x \ge 0}^\top x \\
\text{dual}\quad & \max_{\nu_{\text{flow\_in}}, \lambda_{x \ge 0}}\ -b_{\text{flow\_in}}^\top \nu_{\text{flow\_in}} \\
\text{s.t.}\quad & \quad A_{\text{flow\_in}}^\top \nu_{\text{flow\_in}} + c - \lambda_{x \ge 0} = 0 \\
\quad & \quad \lambda_{x \ge 0} \ge 0
\end{aligned}"""  # noqa: E501


def test_latex_of_a_linear_program() -> None:
    y = cp.Variable(3, nonneg=True, name="x")
    A = np.arange(6.0).reshape(2, 3)
    flow = (A @ y == [1.0, 2.0]).set_label("flow_in")
    assert cml.dualize(cp.Problem(cp.Minimize([1.0, 2.0, 3.0] @ y), [flow])).latex() == LP


def is_balanced(latex: str) -> bool:
    """Braces, \\left and \\right, one alignment mark a row, environments, no stray specials."""
    body = latex.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
    plain = re.sub(r"\\[{}_&%#$]", "", body)
    depth = 0
    for character in plain:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    rows = plain.split("\\\\\n")
    inside_text = re.findall(r"\\text\{([^{}]*)\}", plain)
    return (
        body != latex
        and depth == 0
        and latex.count("\\left") == latex.count("\\right")
        and all(row.count("&") == 1 for row in rows)
        and not any(set(words) & set("_^&%#$~") for words in inside_text)
        and "None" not in body
        and "nan" not in body
    )


@pytest.mark.parametrize("name", HELPERS)
def test_latex_is_well_formed(name: str) -> None:
    dual = cml.dualize(HELPERS[name]().prob)
    assert is_balanced(dual.latex())
    assert dual._repr_latex_().startswith("$")


def test_latex_of_awkward_labels() -> None:
    label = r"50% of {A & B}_i^2 \ #1 ~ $"
    y = cp.Variable(2, name="two words")
    dual = cml.dualize(cp.Problem(cp.Minimize(cp.norm(y)), [(y >= 1).set_label(label)]))
    assert is_balanced(dual.latex())
    assert r"50\% of \{A \& B\}\_i" in dual.latex()


@pytest.mark.parametrize(
    ("atom", "shown"),
    [
        (cp.norm(x), r"\left\| x \right\|_2"),
        (cp.norm1(x), r"\left\| x \right\|_1"),
        (cp.norm_inf(x), r"\left\| x \right\|_\infty"),
        (cp.max(x), r"\max\left( x \right)"),
        (cp.sum_squares(x), r"\|x\|_2^2"),
        (0.5 * cp.sum_squares(x), r"\tfrac{1}{2} \|x\|_2^2"),
        (cp.quad_form(x, np.diag([1.0, 2.0, 3.0])), r"\tfrac{1}{2} x^\top P x"),
        (cp.sum(cp.exp(x)), r"\in \mathcal{K}_{\exp}"),
    ],
    ids=["2", "1", "inf", "max", "squares", "half", "quad_form", "exp"],
)
def test_latex_of_atoms(atom: Any, shown: str) -> None:
    latex = cml.dualize(cp.Problem(cp.Minimize(atom), [cp.sum(x) == 1])).latex()
    assert shown in latex
    assert r"\mathbf{1}^\top x = 1" in latex
    assert is_balanced(latex)


# -- faults in the construction are noticed ---------------------------------------------------

PROBES = ("lp_2", "socp_1", "expcone_1", "pcp_2", "sdp_2", "qp_0")


def probes() -> list[Any]:
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(6, 3)), rng.normal(size=6)
    y = cp.Variable(3, name="y", nonneg=True)
    fits = cp.sum_squares(A @ y - b) + cp.norm1(y) + cp.norm(A @ y) + cp.max(A @ y)
    problem = cp.Problem(cp.Minimize(fits), [cp.sum(y) == 1.0, y[0] >= 0.2])
    return [problem, *(HELPERS[name]().prob for name in PROBES)]


def flipped_argument(name: str) -> Any:
    original = parts._argument

    def argument(constraint: Any, position: int, owner: Any) -> Any:
        expression, sign, flipped = original(constraint, position, owner)
        wrong = type(constraint).__name__ == name
        return expression, -sign if wrong else sign, flipped

    return argument


FAULTS = {
    **{
        f"sign of {name}": (parts, "_argument", flipped_argument(name))
        for name in ("Inequality", "Equality", "SOC", "PSD", "ExpCone", "PowCone3D")
    },
    "inverse": (
        Matrix,
        "inverse",
        lambda self, original=Matrix.inverse: original(self) and original(self) * -1.0,
    ),
    "constants": (eliminate.Lagrangian, "constants", lambda self: eliminate.Form(1)),
    "factor": (
        assemble,
        "conjugate_factor",
        lambda P, original=assemble.conjugate_factor: (2.0 * original(P)[0], original(P)[1]),
    ),
    "cones": (assemble, "_membership", lambda member, y: iter(())),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(holds(problem) for problem in probes())
    monkeypatch.setattr(*FAULTS[fault])
    assert not all(holds(problem) for problem in probes())
