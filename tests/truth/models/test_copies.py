"""Copies, pickles and other processes: problems and solutions are judged there again."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.model_rows import ROWS

EVERY = {row.name: row.pose for row in ROWS}


@pytest.mark.parametrize("name", ["Ridge", "LinearProgram", "KernelSVM", "SoftmaxRegression"])
def test_what_cvxpy_compiled_is_posed_anew(name: str) -> None:
    problem = EVERY[name]()
    problem.primal.solve(solver="CLARABEL")
    problem.dual.solve(solver="CLARABEL")
    solution = problem.solve()
    twin = pickle.loads(pickle.dumps(problem))
    assert twin.primal is not problem.primal
    for key in set(solution.primal) & set(twin.variables):  # the last solution is filled in
        assert np.array_equal(twin.variables[key].value, solution.primal[key])
    assert twin.solve("clarabel").status == "optimal"


def test_a_copy_has_parameters_of_its_own() -> None:
    problem = EVERY["Lasso"]()
    problem.primal.solve(solver="CLARABEL")
    twin, value = copy.deepcopy(problem), problem.primal.value
    twin.lam = 2.0 * problem.lam
    twin.primal.solve(solver="CLARABEL")
    assert twin.primal.value > 1.1 * value
    problem.primal.solve(solver="CLARABEL")
    assert problem.primal.value == pytest.approx(value)


def test_an_interval_and_a_trace_are_pickled() -> None:
    problem = EVERY["Lasso"]()
    path = problem.path((1.0, 0.2), everywhere=0.1)
    again = pickle.loads(pickle.dumps(path))
    assert again.worst_gap == path.worst_gap
    solution = pickle.loads(pickle.dumps(problem.solve("fista")))
    assert solution.trace[0].iteration == 0
    assert solution.rate_audit().holds


READ = """
import pickle, sys
for problem, solution, certificate in pickle.load(open(sys.argv[1], "rb")):
    point = next(solution.primal[key] for key in ("w", "q", "x") if key in solution.primal)
    rest = [solution.primal["b"]] if "b" in solution.primal else []
    assert problem.certify(point, *rest).holds(1e-6), problem
    assert certificate.holds()
"""


def test_another_process_reads_them(tmp_path: Path) -> None:
    things = []
    for name in ("Lasso", "KernelSVM", "SoftmaxRegression", "LinearProgram"):
        problem = EVERY[name]()
        solution = problem.solve("clarabel")
        things.append((problem, solution, solution.certificate))
    file = tmp_path / "things.pickle"
    file.write_bytes(pickle.dumps(things))
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", READ, str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
