"""LaTeX of duals: one symbol, one object; matrices in upper case, their rows in lower case."""

from __future__ import annotations

from collections import Counter
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.dualize_cases import HELPERS

import convexml as cml
from convexml.duality.forms import TRANSPOSE, Matrix, is_plain

M = np.array([[1.0, 2.0], [0.0, 3.0]])
v = cp.Variable(3, name="v")
w = cp.Variable(2, name="w")
x = cp.Variable(name="x")
X = cp.Variable((2, 2), name="X")
Y = cp.Variable((2, 2), name="Y")
c = cp.Variable(2, complex=True, name="c")

ROWS: dict[str, tuple[Any, list[Any], str]] = {
    "scalar exponential cone": (
        cp.sum(v),
        [
            cp.ExpCone(
                np.array([1.0, 2, 3]) @ v, np.array([1.0, 0, 3]) @ v, np.array([0.0, 1, 2]) @ v
            )
        ],
        r"\left( c_{1}^\top v,\ a_{1}^\top v,\ q_{1}^\top v \right) \in \mathcal{K}_{\exp}",
    ),
    "matrices in an exponential cone": (
        cp.sum(Y),
        [cp.ExpCone(M @ X, X + np.array([[1.0, 2.0], [3.0, 4.0]]), Y), X == 1],
        r"\left( C_{1} X,\ X + B_{1},\ Y \right) \in \mathcal{K}_{\exp}",
    ),
    "vectors under norms of columns": (
        cp.sum(w),
        [cp.SOC(M @ w + np.array([1.0, 2.0]), M @ X + 1, axis=0), X == 2],
        r"\left\| A_{1} X + \mathbf{1} \right\|_{2, \text{columns}} \le C_{1} w + d_{1}",
    ),
    "vectors under norms of rows": (
        cp.sum(w),
        [cp.SOC(w, M @ X + 1, axis=1), X == 2],
        r"\left\| A_{1} X + \mathbf{1} \right\|_{2, \text{rows}} \le w",
    ),
    "linear matrix inequality": (
        x,
        [x * np.array([[1.0, 2.0], [2.0, 3.0]]) >> -np.array([[5.0, 1.0], [1.0, 7.0]])],
        r"A_{1} x \succeq B_{1}",
    ),
    "matrix equality": (
        cp.sum(X),
        [M @ X == np.array([[1.0, 2.0], [3.0, 4.0]])],
        r"A_{1} X = B_{1}",
    ),
    "complex norm": (
        cp.norm(c),
        [],
        r"\min_{\operatorname{Re} c, \operatorname{Im} c}\ \left\| F_{1, \operatorname{Re} c} "
        r"\operatorname{Re} c + F_{1, \operatorname{Im} c} \operatorname{Im} c \right\|_2 \\",
    ),
    "complex norm 1": (
        cp.norm1(c),
        [],
        r"\operatorname{Re} c + F_{1, \operatorname{Im} c} \operatorname{Im} c \right\|_{2, 1} \\",
    ),
    "complex norm inf": (
        cp.norm_inf(c),
        [],
        r"c + F_{1, \operatorname{Im} c} \operatorname{Im} c \right\|_{2, \infty} \\",
    ),
    "a multiplier beside w": (
        cp.sum(cp.maximum(w, cp.exp(w))),
        [],
        r"\left( \mathbf{1} - \eta_{2},\ \sigma_{1},\ \eta_{2} \right) \in \mathcal{K}_{\exp}^*",
    ),
    "no unit vectors": (
        cp.quad_over_lin(w, np.array([1.0, 2.0]) @ w)
        + cp.quad_over_lin(w, np.array([1.0, 3.0]) @ w),
        [],
        r"\right\|_2 \le z_{2} + j_{2}^\top w",
    ),
    "no matrix of unit vectors": (
        cp.sum(cp.power(M @ w + 1, 3)),
        [],
        r"\right\|_{2, \text{columns}} \le z_{1} + J_{2} w + \mathbf{1}",
    ),
    "a row beside the data of least squares": (
        cp.sum_squares(M @ w - np.array([1.0, 2.0])),
        [np.array([1.0, 2.0]) @ w == 1],
        "\\|G_{1} w - h_{1}\\|_2^2 \\\\\n\\text{s.t.}\\quad & \\quad a_{1}^\\top w = 1 ",
    ),
    "a variable called F": (
        cp.norm(M @ cp.Variable(2, name="F")),
        [],
        r"\min_{F}\ \left\| \tilde{F}_{1} F \right\|_2",
    ),
    "a variable called lambda": (
        cp.sum(cp.Variable(2, nonneg=True, name="lambda")),
        [],
        r"\max_{\tilde{\lambda}_{\lambda \ge 0}}\ 0",
    ),
    "a variable called z": (
        cp.sum(cp.exp(cp.Variable(2, name="z"))),
        [],
        r"\left( z,\ \mathbf{1},\ \zeta_{1} \right) \in \mathcal{K}_{\exp}",
    ),
}


def posed(name: str) -> Any:
    objective, constraints, _ = ROWS[name]
    return cp.Problem(cp.Minimize(objective), constraints)


@pytest.mark.parametrize("name", ROWS)
def test_latex_of(name: str) -> None:
    assert ROWS[name][2] in cml.dualize(posed(name)).latex()


def test_a_complex_norm_is_written_once() -> None:
    for norm in (cp.norm, cp.norm1, cp.norm_inf):
        latex = cml.dualize(cp.Problem(cp.Minimize(norm(c - [1.0, 2.0j])))).latex()
        assert latex.split("\\\\")[0].count(r"\left\|") == 1


def symbols(problem: Any) -> list[str]:
    """Every symbol that the Lagrangian of the problem gives: variables, multipliers, matrices."""
    lagrangian = cml.dualize(problem)._lagrangian
    matrices: list[Matrix | None] = []
    found = [column.tex for column in lagrangian.columns]
    for column in lagrangian.columns:
        matrices += [column.quadratic, column.linear]
    for part in lagrangian.parts:
        found.append(part.tex)
        matrices += [*part.form.terms.values(), part.form.constant]
    given = [each for each in matrices if each is not None and not is_plain(each)]
    return found + [each.name.removesuffix(TRANSPOSE) for each in given]


@pytest.mark.parametrize("name", [*ROWS, *HELPERS])
def test_no_symbol_stands_for_two_objects(name: str) -> None:
    found = symbols(posed(name) if name in ROWS else HELPERS[name]().prob)
    assert {symbol: count for symbol, count in Counter(found).items() if count > 1} == {}
