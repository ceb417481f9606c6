"""The formulas of problems of arrays, evaluated at their solutions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.latex.evaluation import HYPER, RANGES, D, N, all_hold, define
from support.latex.formula_cases import WEIGHTS, X
from support.latex.reader import Reader
from support.latex.rows import rows_of

from convexml import ConvexClustering, SquareRootLasso


def test_convex_clustering_at_its_solution() -> None:
    """V_ji = -V_ij: the formulas name those of i < j alone."""
    points = X[:5, :2]
    problem = ConvexClustering(points, 0.15)
    solution = problem.solve(tol=1e-9)
    V = np.zeros((5, 5, 2))
    V[np.triu_indices(5, 1)] = solution.dual["V"]
    U, w = solution.primal["U"], np.ones((5, 5))
    names = {"x": points, "U": U, "V": V - V.transpose(1, 0, 2), "w": w, r"\lambda": 0.15}
    names["Z"] = U[:, None] - U[None, :]
    ranges, rows = {"i": range(5), "j": range(5)}, rows_of(problem)
    assert np.linalg.matrix_rank(names["V"].reshape(5, 10)) > 1
    check_rows(rows, names, ranges, solution.objective)


def check_rows(rows: Any, names: Any, ranges: Any, value: float) -> None:
    """P = L = D, and every condition holds, of a problem of arrays."""
    for label in ("primal", "Lagrangian", "dual"):
        text = re.sub(r"\\(min|max)_(\w|\{[^}]*\})\\ ", "", rows[label][0])
        goal, _, given = text.partition(r"\quad\text{s.t.}\quad")
        assert Reader(goal, names, ranges).value() == pytest.approx(value, abs=1e-6), label
        define(given, names)
        assert all_hold(given, names, 1e-6, ranges)
    for row in rows["KKT"]:
        if r"\partial" not in row:
            assert all_hold(row, names, 1e-5, ranges), row


@pytest.mark.parametrize("s", [None, WEIGHTS], ids=["", "weights"])
def test_square_root_lasso_at_its_solution(s: Any) -> None:
    """sigma of the conditions is what the last line says, weighted: no Euclidean norm."""
    y = X @ np.arange(1.0, D + 1.0) + np.sin(np.arange(N))
    solution = SquareRootLasso(X, y, 0.1, sample_weight=s).solve(tol=1e-9)
    w, b, u = solution.primal["w"], float(solution.primal["b"]), solution.dual["u"]
    c = np.full(N, 1.0 / N) if s is None else s / s.sum()
    z = X @ w + b
    names = HYPER | {"X": X, "x": X, "w": w, "b": b, "z": z, "u": u, "y": y, "s": s, "v": u / c}
    rows = rows_of(solution.problem)
    check_rows(rows, names, RANGES, solution.objective)
    told = rows["where"][0].removeprefix(r"(i : s_i > 0),\ ").split(r",\ ")
    sigma = Reader(told[1].removeprefix(r"\sigma = "), names, RANGES).value()
    assert Reader(told[0].removeprefix("c_i = "), names, RANGES).value(i=3) == pytest.approx(c[3])
    held = {row.name for row in solution.certificate.conditions}
    for name, left, right in (
        ("u_i = c_i (z_i - y_i) / sigma", u, c * (z - y) / sigma),
        ("sigma + u'(y - z) = 0", sigma, u @ (z - y)),
        ("sqrt(sum_i u_i^2/c_i) <= 1", np.sqrt(np.sum(u**2 / c)), 1.0),
    ):
        assert name in held
        np.testing.assert_allclose(left, right, atol=1e-7)
