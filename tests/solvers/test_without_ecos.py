"""ECOS, which is GPLv3, may be missing: that is said, and nothing else changes."""

from __future__ import annotations

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["ecos"] = None  # as after pip uninstall ecos
sys.path[:] = {path!r}
import cvxpy as cp
import numpy as np
import convexml as cml
X = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 3.0], [3.0, 1.0], [4.0, 5.0]])
problem = cml.Lasso(X, [1.0, 2.0, 2.0, 4.0, 5.0], 0.1)
assert "ECOS" not in cp.installed_solvers()
assert "ecos" not in cml.solvers.available()
found = problem.solve()
assert found.status == "optimal"
assert problem.certify(found.primal["w"], found.primal["b"]).verdict == "certified"
rows = cml.compare([problem], ["ecos", "clarabel"]).records
assert [row.verdict == "certified" for row in rows] == [False, True], rows
assert "not installed" in rows[0].message, rows[0].message
asked = problem.solve("ecos")
assert asked.status == "failed" and "ecos is not installed" in asked.message, asked.message
x = cp.Variable(2, name="x")
stated = cp.Problem(cp.Minimize(cp.norm2(x - 1.0)), [x >= 2.0])
stated.solve(solver="CLARABEL")
assert cml.certify(stated).verdict == "certified"
assert cml.LinearProgram([1.0, 1.0], A_ub=[[-1.0, -2.0]], b_ub=[-2.0]).solve().status == "optimal"
"""


def test_without_ecos_all_works_and_its_absence_is_said() -> None:
    command = [sys.executable, "-W", "error", "-c", WITHOUT.format(path=sys.path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
