"""Problems, solutions and certificates are copied and pickled, whoever has solved them."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_cases import MODELS
from support.models import kernel, softmax

import convexml as cml
from convexml.solvers import supports
from convexml.solvers.reference import REFERENCE, installed

OTHERS: dict[str, Callable[[], Any]] = {
    "OneClassSVM": lambda: cml.OneClassSVM(kernel.X, 0.3),
    "OneClassSVM-kernel": lambda: cml.OneClassSVM(kernel.X, 0.3, kernel.KERNELS[0]),
    "MultiTaskLasso": lambda: cml.MultiTaskLasso(kernel.X, kernel.X[:, :2] + 1.0, 0.1),
    "GaussianLikelihood": lambda: cml.GaussianLikelihood(kernel.X, 0.1),
    "BernoulliLikelihood": lambda: cml.BernoulliLikelihood([0, 1, 1]),
    "CategoricalLikelihood": lambda: cml.CategoricalLikelihood(["a", "b", "b"]),
    "NearestNeighbors": lambda: cml.NearestNeighbors(kernel.X[4:], kernel.X[:4], 3),
    "SpanningTree": lambda: cml.SpanningTree([[0, 1, 2], [1, 0, 3], [2, 3, 0]]),
    "ConvexClustering": lambda: cml.ConvexClustering(kernel.X[:8], 0.1),
    "KMeansBound": lambda: cml.KMeansBound(kernel.X[:8], 2),
    "PrincipalComponents": lambda: cml.PrincipalComponents(kernel.X, 2),
    "OptimalTransport": lambda: cml.OptimalTransport([1, 2], [2, 1], [[1, 2], [3, 1]]),
    "EnclosingBall": lambda: cml.EnclosingBall(kernel.X),
    "MonotoneRegression": lambda: cml.MonotoneRegression([1.0, 3.0, 2.0]),
    "ConvexRegression": lambda: cml.ConvexRegression(kernel.X[:8], np.arange(8) % 3),
    "GeneralizedLasso": lambda: cml.GeneralizedLasso(
        kernel.X, np.arange(len(kernel.X)), 0.1, np.eye(kernel.X.shape[1])
    ),
    "TrendFilter": lambda: cml.TrendFilter([1.0, 3.0, 2.0, 5.0], 0.1),
    "DantzigSelector": lambda: cml.DantzigSelector(kernel.X, kernel.X[:, 0] + 1.0, 0.1),
    "SquareRootLasso": lambda: cml.SquareRootLasso(kernel.X, kernel.X[:, 0] + 1.0, 0.1),
    "AdaBoost": lambda: cml.AdaBoost([[0], [1], [2], [1]], [0, 1, 0, 0], 3),
    "LPBoost": lambda: cml.LPBoost(kernel.X[:8], [0, 1] * 4, 0.5),
    "LinearProgram": lambda: cml.LinearProgram([1.0, 2.0], [[-1.0, -1.0]], [-1.0]),
    "SoftmaxRegression": lambda: softmax.pose("l2", 0.1),
    **{name: partial(make, kernel.KERNELS[0]) for name, make in kernel.MODELS.items()},
}
EVERY: dict[str, Callable[[], Any]] = {**{case.name: case.pose for case in MODELS}, **OTHERS}
THERE = [solver for solver in REFERENCE if installed(solver)]
COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def judged_again(problem: Any, solution: Any) -> cml.Certificate:
    primal = solution.primal
    if "b" in primal:
        return problem.certify(primal["q" if "q" in primal else "w"], primal["b"])
    return problem.certify(**primal)


def check_copies(problem: Any, solution: Any) -> None:
    for make in COPIES.values():
        twin, other = make(problem), make(solution)
        assert repr(twin) == repr(problem)
        assert str(other) == str(solution)
        assert str(make(solution.certificate)) == str(solution.certificate)
        again, before = judged_again(twin, other), judged_again(problem, solution)
        assert again.primal_objective == pytest.approx(before.primal_objective, rel=1e-12)
        # Where an array lies decides in what order BLAS adds it up: rounding differs.
        assert again.gap == pytest.approx(before.gap, rel=1e-2, abs=1e-15 * before.scale)
        for array in [*other.primal.values(), *other.dual.values()]:
            assert not (isinstance(array, np.ndarray) and array.flags.writeable)


@pytest.mark.parametrize("name", EVERY)
def test_after_a_solve(name: str) -> None:
    problem = EVERY[name]()
    assert repr(pickle.loads(pickle.dumps(problem))) == repr(problem)
    check_copies(problem, problem.solve())


@pytest.mark.parametrize(("solver", "name"), [*zip(THERE * 3, EVERY, strict=False)])
def test_after_a_reference_solver(solver: str, name: str) -> None:
    problem = EVERY[name]()
    if supports(solver, problem)[0]:
        check_copies(problem, problem.solve(solver))


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_after_every_reference_solver(name: str) -> None:
    for solver in THERE:
        problem = EVERY[name]()
        solution = problem.solve(solver, max_seconds=2.0) if supports(solver, problem)[0] else None
        if solution is not None and solution.primal:
            check_copies(problem, solution)


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
    case = next(case for case in MODELS if case.name == "Lasso")
    problem = case.pose()
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
