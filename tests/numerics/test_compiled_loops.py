"""Compiled loops: the same points without a compiler, and a mark for all of their code."""

from __future__ import annotations

import subprocess
import sys
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from support.loops import forced
from support.model_cases import samples

import convexml as cml
from convexml.compiled import COMPILING, Loop
from convexml.kernels import Gaussian
from convexml.losses import Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2Ball
from convexml.progress import operation
from convexml.solvers.coordinate import dual_coordinate_descent as dual_steps
from convexml.solvers.coordinate import support as few_columns
from convexml.solvers.dual import smo as two_sums
from convexml.solvers.stochastic.samples import OwnSamples
from convexml.solvers.stochastic.samples import samples as sample_rows


class OwnSquared(Squared):
    """A loss whose slope is not compiled: what it inherits belongs to another derivative."""

    def derivative(self, y: Array, z: Array) -> Array:
        return np.asarray(z) - y


# -- the points that they reach --------------------------------------------------------------------
@pytest.mark.parametrize("penalty", [L1(0.05), L2Ball(0.7)], ids=repr)
def test_a_loss_of_ones_own_runs_by_hand_and_ends_in_the_same_point(
    penalty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced(monkeypatch, -1.0)
    X, y = samples("real")
    own = cml.LearningProblem(X, y, OwnSquared(), penalty)
    known = cml.LearningProblem(X, y, Squared(), penalty)
    assert isinstance(sample_rows(own.objective_parts), OwnSamples)
    for solver in ("saga", "online_gradient_descent"):
        by_hand = own.solve(solver, max_iter=8, tol=1e-12)
        compiled = known.solve(solver, max_iter=8, tol=1e-12)
        np.testing.assert_allclose(by_hand.primal["w"], compiled.primal["w"], rtol=1e-9)


PLAIN = """
import sys
sys.modules["numba"] = None
sys.path[:] = {path!r}
import convexml as cml
from support.model_cases import samples
for solver in ("sgd", "saga"):
    print(*cml.Ridge(*samples("real"), 0.3).solve(solver, tol=1e-15, max_iter=5).primal["w"])
"""


def test_without_numba_the_same_samples_give_the_same_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forced(monkeypatch, -1.0)
    command = [sys.executable, "-W", "error", "-c", PLAIN.format(path=sys.path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for solver, line in zip(("sgd", "saga"), run.stdout.splitlines(), strict=True):
        compiled = cml.Ridge(*samples("real"), 0.3).solve(solver, tol=1e-15, max_iter=5)
        found = np.array(line.split(), dtype=float)
        np.testing.assert_allclose(found, compiled.primal["w"], rtol=1e-9)


# -- compiled loops --------------------------------------------------------------------------------
def helper(x: float) -> float:
    return 2.0 * x


def outer(x: float) -> float:
    return helper(x) + OFFSET


OFFSET = 1.0


def loop_of(text: str, offset: float) -> Loop:
    """``outer`` with another ``helper`` and another constant, as a later version would have."""
    names: dict[str, Any] = {"OFFSET": offset, "__name__": __name__}
    exec(text, names)
    names["helper"] = Loop(names["helper"])
    return Loop(FunctionType(outer.__code__, names, "outer"))


def test_what_is_compiled_is_known_by_all_its_code() -> None:
    first = loop_of("def helper(x): return 2.0 * x", 1.0)
    again = loop_of("def helper(x): return 2.0 * x", 1.0)
    changed = loop_of("def helper(x): return 3.0 * x", 1.0)
    moved = loop_of("def helper(x): return 2.0 * x", 5.0)
    assert first.mark == again.mark
    assert len({first.mark, changed.mark, moved.mark}) == 3
    assert [first.plain(1.0), changed(1.0), moved(1.0)] == [3.0, 4.0, 7.0]


# -- when they are compiled ------------------------------------------------------------------------
SMALL = """
import sys
sys.path[:] = {path!r}
import numpy as np
import convexml as cml
from convexml import compiled, kernels
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
s = X @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=60)
y, k, counts = np.sign(s), kernels.Gaussian(0.5), rng.poisson(np.exp(0.3 * s))
classes, two = np.digitize(s, [-1.0, 1.0]), np.column_stack([s, s + rng.normal(size=60)])
for problem in (
    cml.SoftMarginSVM(X, y), cml.KernelSVM(X, y, 1.0, k), cml.SVR(X, s, 1.0, 0.1),
    cml.KernelSVR(X, s, 1.0, 0.1, k), cml.NuSVC(X, y, 0.3), cml.OneClassSVM(X, 0.2, k),
    cml.Lasso(X, s, 0.1), cml.Lasso(X, s, 1e-6), cml.ElasticNet(X, s, 0.1, 0.5),
    cml.GroupLasso(X, s, 0.1, [0, 0, 1]), cml.Slope(X, s, [0.3, 0.2, 0.1]),
    cml.SquareRootLasso(X, s, 0.1), cml.ConstrainedLasso(X, s, 1.0),
    cml.MultiTaskLasso(X, two, 0.1),
    cml.QuantileRegression(X, s, 0.5, 0.1), cml.HuberRegression(X, s, 0.5, 0.1),
    cml.LogisticRegression(X, y, 0.01, "l1"), cml.LogisticRegression(X, y, 0.01),
    cml.PoissonRegression(X, counts, 0.1), cml.SoftmaxRegression(X, classes, 0.1),
    cml.Ridge(X, s, 0.1), cml.ConstrainedRidge(X, s, 1.0),
    cml.KernelLogistic(X, y, 0.1, k), cml.KernelRidge(X, s, 0.1, k),
):
    assert problem.solve().status == "optimal", problem
    print(type(problem).__name__, compiled.compile_seconds(), "numba" in sys.modules)
"""


def test_no_model_compiles_anything_for_60_rows_of_3() -> None:
    command = [sys.executable, "-W", "error", "-c", SMALL.format(path=sys.path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == 24
    assert [line for line in lines if not line.endswith(" 0.0 False")] == []


def test_a_loop_compiles_once_it_did_enough_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("numba")
    loop, told = loop_of("def helper(x): return 7.0 * x", 1.0), []
    loop.work = lambda x: 10.0
    forced(monkeypatch, 25.0)
    with operation("outer", lambda event: told.append(str(event))):
        found = [loop(1.0) for _ in range(2)]
        assert (loop.is_fast, told) == (False, ["outer"])
        found += [loop(1.0) for _ in range(2)]
    assert found == 4 * [8.0]
    assert loop.is_fast
    assert told == ["outer", f"outer > {COMPILING}", "outer"]
    assert capsys.readouterr().out == ""
    forced(monkeypatch, 1e9)
    assert loop.pays(1.0)  # what is compiled stays so


KERNELS = {
    "smo": (lambda: cml.KernelSVM(*samples("binary"), 1.0, Gaussian(0.3)), dual_steps.ascend_pairs),
    "alone": (
        lambda: cml.SVR(*samples("real"), 1.0, 0.1, fit_intercept=False),
        dual_steps.ascend_singles,
    ),
    "classes": (lambda: cml.NuSVC(*samples("binary"), 0.3), two_sums.climb),
    "columns": (lambda: cml.Lasso(*samples("real"), 0.01), few_columns.settle),
}


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_and_plain_loops_end_in_the_same_verdict(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    pose, loop = KERNELS[name]
    solver = {"smo": "smo", "alone": "smo"}.get(name, "auto")
    ends = []
    for enough in (-1.0, np.inf):
        forced(monkeypatch, enough, loop)
        ends.append(pose().solve(solver, tol=1e-9))
        assert loop.is_fast == (enough < 0.0)
    assert ends[0].status == ends[1].status == "optimal"
    assert ends[0].objective == pytest.approx(ends[1].objective, rel=1e-8)
