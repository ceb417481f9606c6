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
from convexml.losses import Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2Ball
from convexml.progress import operation
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
    by_hand = own.solve("saga", max_iter=8, tol=1e-12)
    compiled = known.solve("saga", max_iter=8, tol=1e-12)
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
