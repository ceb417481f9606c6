"""The problems that CVXPY's own tests solve, certified and solved: a sample of the benchmark."""

import importlib
import subprocess
import sys
from types import SimpleNamespace

import cvxpy as cp
import pytest

import convexml as cml

SLOW = ("test_complex.py", "test_constant_atoms.py", "test_pow_cone_nd.py", "test_suppfunc.py")
COUNTED = (
    "errors that are not convexml's: 0",
    "refuted beside Clarabel's optimum: 0",
    "certified beside another optimum: 0",
)


@pytest.mark.parametrize(
    "name", ["test_domain.py", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]
)
def test_no_raw_error_and_no_false_verdict(repository, name):
    command = [sys.executable, "benchmarks/cvxpy_tests.py", name]
    told = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert "certify: certified, optimal" in told.stdout, told.stdout + told.stderr
    assert [line for line in COUNTED if line not in told.stdout] == [], told.stdout
    assert told.returncode == 0


def test_a_false_verdict_is_counted(repository, monkeypatch):
    monkeypatch.syspath_prepend(str(repository / "benchmarks"))
    watch = importlib.import_module("cvxpy_tests").Watch()
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(x), [x >= 1])
    x.value = 1.0
    for verdict, P in ((cml.Verdict.REFUTED, 1.0), (cml.Verdict.CERTIFIED, 1.1)):
        found = SimpleNamespace(verdict=verdict, primal_objective=P, reason="")
        watch.compared("certify", problem, found)
    assert len(watch.refuted) == len(watch.false) == 1
