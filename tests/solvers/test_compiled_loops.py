"""Compiled loops: the same points without a compiler, and a mark for all of their code."""

from __future__ import annotations

import subprocess
import sys
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from support.model_cases import samples
from support.solvers.stochastic import STOCHASTIC, OwnSquared, posing

import convexml as cml
from convexml.compiled import ByHand, Loop
from convexml.losses import Squared
from convexml.penalties import L1, Box, L2Ball
from convexml.solvers.stochastic.saga import saga_steps
from convexml.solvers.stochastic.samples import OwnSamples
from convexml.solvers.stochastic.samples import samples as sample_rows

# -- the points that they reach --------------------------------------------------------------------


@pytest.mark.parametrize("penalty", [L1(0.05), L2Ball(0.7), Box(-0.2, 0.9)], ids=repr)
def test_a_loss_of_ones_own_runs_by_hand_and_ends_in_the_same_point(penalty: Any) -> None:
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
import numpy as np
from support.solvers.stochastic import STOCHASTIC, posing
for solver in STOCHASTIC:
    print(*posing(solver).solve(solver, tol=1e-15, max_iter=5).primal["w"])
"""


def test_without_numba_the_same_samples_give_the_same_points() -> None:
    command = [sys.executable, "-W", "error", "-c", PLAIN.format(path=sys.path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for solver, line in zip(STOCHASTIC, run.stdout.splitlines(), strict=True):
        compiled = posing(solver).solve(solver, tol=1e-15, max_iter=5).primal["w"]
        np.testing.assert_allclose(np.array(line.split(), dtype=float), compiled, rtol=1e-9)


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


def test_a_first_argument_by_hand_stays_in_python() -> None:
    class Mine(ByHand):
        pass

    loop = Loop(lambda x: "as written", by_hand=lambda x: "by hand")
    assert loop(Mine()) == "by hand"
    assert Loop(lambda x: type(x).__name__)(Mine()) == "Mine"


def test_a_loop_settled_on_its_types_gives_the_same_numbers() -> None:
    S = sample_rows(cml.Ridge([[1.0], [2.0], [4.0]], [1.0, 0.0, 2.0], 0.1).objective_parts)
    ends = []
    for is_settled in (False, True):
        x, table, mean = np.array([0.5, 0.1]), np.zeros(3), np.zeros(2)
        arguments = S, x, table, mean, np.array([0, 2, 1, 1]), 0.05
        loop = saga_steps.settled(*arguments) if is_settled else saga_steps
        loop(*arguments)
        ends.append(np.concatenate([x, table, mean]))
    np.testing.assert_array_equal(*ends)
    assert not np.array_equal(ends[0][:2], [0.5, 0.1])
    assert saga_steps.settled(ByHand()) is saga_steps
