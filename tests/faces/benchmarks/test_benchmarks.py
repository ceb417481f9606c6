"""The benchmarks: peers are timed on what is verified, faults find their text and their tests."""

import importlib
import re
from pathlib import Path
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from support.processes import python
from support.sizes import quick

import convexml as cml
from convexml import models

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def folder_of_the_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def module(name):
    return importlib.import_module(f"peers.{name}")


def record(who, least, outcome="", n=3, memory=5.0):
    facts = {"who": who, "threads": 1, "n": n, "min": least, "median": 2.0 * (least or 1.0)}
    return facts | {"memory": memory, "outcome": outcome}


def row(*records, conic=None):
    facts = {"name": "row", "target": 2.0, "conic": conic, "floor": "pair"}
    return facts | {"records": list(records)}


def test_the_ratio_is_of_the_fastest_that_is_verified():
    table = module("table")
    measured = row(
        record("floor", 0.1),
        record("convexml", 1.0),
        record("convexml", 0.5),
        record("a", 0.2, outcome="verified gap 1.0e-03"),
        record("b", 4.0),
        record("c", None, outcome="not within the budget", n=0),
    )
    assert table.ratio(measured) == 8.0
    assert "| 5 |" in table.table([measured])  # ours / floor
    assert "Geometric mean 8 over 1 of 2 rows" in table.table([measured, row(record("b", 1.0))])
    assert "(n = 1)" in table.table([row(record("convexml", 1.0, n=1))])


def test_a_gap_is_that_of_the_point_alone():
    data, ours = module("data"), module("contestants.ours")
    rng = np.random.default_rng(0)
    X, y, lam = rng.normal(size=(20, 3)), rng.normal(size=20), 0.1
    w = np.linalg.solve(X.T @ X / 20 + lam * np.eye(3), X.T @ y / 20)
    exact = 0.5 * np.mean((y - X @ w) ** 2) + 0.5 * lam * w @ w
    far = 0.5 * np.mean((y - X @ (2.0 * w)) ** 2) + 2.0 * lam * w @ w
    samples = data.Data(X, y, lam)
    assert ours.verified_gap("ridge", samples, (w, 7.0), 1e-6, fit_intercept=False) < 1e-12
    gap = ours.verified_gap("ridge", samples, (2.0 * w, 0.0), 1e-6, fit_intercept=False)
    assert gap >= (far - exact) / far > 1e-3
    u = (X @ w - y) / 20
    assert ours.verified_gap("ridge", samples, (w, 0.0, u), 1e-6, fit_intercept=False) < 1e-12
    assert ours.verified_gap("ridge", samples, (w, 0.0, 2.0 * u), 1e-6, fit_intercept=False) > 1e-3


def test_a_point_that_is_not_certified_is_no_answer():
    ours = module("contestants.ours")
    rng = np.random.default_rng(1)
    problem = cml.Ridge(rng.normal(size=(20, 3)), rng.normal(size=20), 0.1)
    assert ours.point(problem.solve())[0].shape == (3,)
    stopped = problem.solve("gradient_descent", max_iter=1, polish=False)
    with pytest.raises(ArithmeticError, match="inaccurate by gradient_descent"):
        ours.point(stopped)


# -- CVXPY's own tests, a sample of them -----------------------------------------------------------

SLOW = ("test_complex.py", "test_constant_atoms.py", "test_pow_cone_nd.py", "test_suppfunc.py")
COUNTED = (
    "errors that are not convexml's: 0",
    "refuted beside Clarabel's optimum: 0",
    "certified beside another optimum: 0",
)


@pytest.mark.parametrize("name", quick(("test_domain.py", *SLOW), ("test_domain.py",)))
def test_no_raw_error_and_no_false_verdict(repository, name):
    told = python("benchmarks/cvxpy_tests.py", name, cwd=repository)
    assert "certify: certified, optimal" in told.stdout, told.stdout + told.stderr
    assert [line for line in COUNTED if line not in told.stdout] == [], told.stdout
    assert told.returncode == 0


def test_a_false_verdict_is_counted():
    watch = importlib.import_module("cvxpy_tests").Watch()
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(x), [x >= 1])
    x.value = 1.0
    for verdict, P in ((cml.Verdict.REFUTED, 1.0), (cml.Verdict.CERTIFIED, 1.1)):
        found = SimpleNamespace(verdict=verdict, primal_objective=P, reason="")
        watch.compared("certify", problem, found)
    assert len(watch.refuted) == len(watch.false) == 1


@pytest.mark.filterwarnings("ignore:.*has negative eigenvalues")
@pytest.mark.slow
def test_calls_that_nobody_means_are_answered_or_refused():
    importlib.import_module("nasty_calls").sample(20)


@pytest.mark.filterwarnings("ignore:.*has negative eigenvalues")
@pytest.mark.parametrize("model", models.__all__)
def test_every_model_is_drawn(model):
    importlib.import_module("nasty_calls").drawn(model)


def test_every_fault_finds_its_text_and_its_tests():
    module = importlib.import_module("mutants")
    rows = [row for table in module.tables([]).values() for row in table]
    assert len(rows) > 150
    assert {row.name: why for row in rows if (why := module.stale(row, ROOT))} == {}
    for row in rows:
        for test in row.tests:
            file, _, name = test.partition("::")
            assert (ROOT / file).exists(), (row.name, test)
            found = re.search(rf"def {name.partition('[')[0]}\b", (ROOT / file).read_text())
            assert found or not name, (row.name, test)
