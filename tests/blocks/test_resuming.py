"""A solve that ends early leaves its best point in a file; the next one goes on from it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.errors import InputError
from convexml.models import checkpoint
from convexml.models.checkpoint import SavedPoint

RNG = np.random.default_rng(5)
X = RNG.standard_normal((120, 4))
Y = X @ [1.0, -1.0, 0.5, 0.0] + RNG.standard_normal(120)
LABELS = (Y > 0.0).astype(int)
CUTS = (0, 50, 51, 120)
POSES: dict[str, tuple[Any, Callable[..., Any]]] = {
    "logistic": (LABELS, lambda *data: cml.LogisticRegression(*data, lam=1e-3)),
    "logistic_l1": (LABELS, lambda *data: cml.LogisticRegression(*data, lam=1e-2, penalty="l1")),
    "svm": (LABELS, lambda *data: cml.SoftMarginSVM(*data, C=1.0)),
    "lasso": (Y, lambda *data: cml.Lasso(*data, lam=0.05)),
}


class Ended(Exception):
    """What a loader raises that has been called too often."""


def blocks(y: Any, last: float = np.inf, error: type[BaseException] = Ended) -> cml.RowBlocks:
    """Three blocks whose loaders raise from a certain call on; once, where that ends a program."""
    calls: list[int] = []

    def loader(first: int, stop: int) -> Callable[[], Any]:
        def load() -> Any:
            calls.append(1)
            if len(calls) == last or (len(calls) > last and issubclass(error, Exception)):
                raise error
            return X[first:stop], y[first:stop]

        return load

    found = cml.RowBlocks([loader(*ends) for ends in pairwise(CUTS)], retries=0)
    found.calls = calls  # type: ignore[attr-defined]
    return found


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every iterate is written."""
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    monkeypatch.setattr(checkpoint, "SHARE", 0.0)


@pytest.mark.parametrize(
    "name",
    [
        "logistic",
        "lasso",
        *(pytest.param(k, marks=pytest.mark.slow) for k in ("logistic_l1", "svm")),
    ],
)
def test_a_solve_whose_loader_fails_for_ever_is_resumed(name: str, tmp_path: Path) -> None:
    y, pose = POSES[name]
    whole = blocks(y)
    truth = pose(whole).solve(tol=1e-10, checkpoint=tmp_path / "whole.json")
    calls, resumed = len(whole.calls), 0  # type: ignore[attr-defined]
    for last in (calls // 2, (7 * calls) // 8):
        file = tmp_path / "point.json"
        with pytest.raises(InputError, match=r"block [012]: its loader failed with Ended"):
            pose(blocks(y, last)).solve(tol=1e-10, checkpoint=file)
        if not file.exists():  # it failed before the first iterate
            continue
        _, point = checkpoint.read(file, "test")
        solution = pose(blocks(y)).solve(tol=1e-10, checkpoint=file)
        assert solution.status == truth.status == "optimal"
        assert solution.objective == pytest.approx(truth.objective, rel=1e-9)
        assert solution.objective <= pose(blocks(y)).objective(point.w, point.b) * (1.0 + 1e-12)
        assert f"Resumed from {point.solver}, iteration {point.iteration}." in solution.choice
        file.unlink()
        resumed += 1
    assert resumed


KILLED = """
import os, signal, sys
import numpy as np
import convexml as cml
from convexml.models import checkpoint
checkpoint.EVERY = checkpoint.SHARE = 0.0
X, y = np.load("X.npy"), np.load("y.npy")
calls = []
def load():
    calls.append(1)
    if len(calls) == {last}:
        os.kill(os.getpid(), signal.SIGKILL)
    return X, y
blocks = cml.RowBlocks([load])
cml.LogisticRegression(blocks, lam=1e-3).solve(tol=1e-10, checkpoint="point.json")
"""


def test_a_solve_that_is_killed_is_resumed(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", LABELS)
    calls: list[int] = []

    def load() -> Any:
        calls.append(1)
        return X, LABELS

    cml.LogisticRegression(cml.RowBlocks([load]), lam=1e-3).solve(tol=1e-10)
    script = KILLED.format(last=len(calls))
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    _, point = checkpoint.read(tmp_path / "point.json", "test")
    problem = cml.LogisticRegression(X, LABELS, lam=1e-3)
    truth = problem.solve(tol=1e-10)
    solution = problem.solve(tol=1e-10, checkpoint=tmp_path / "point.json")
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(truth.objective, rel=1e-9)
    first = solution.trace[0]
    assert first.iteration == 0
    assert first.objective <= problem.objective(point.w, point.b) * (1.0 + 1e-12)
    assert first.gap >= first.objective - truth.objective


@pytest.mark.parametrize("solver", ["auto", "fista", "newton"])
def test_an_interrupt_returns_the_best_point_of_blocks(solver: str, tmp_path: Path) -> None:
    y, pose = POSES["logistic"]
    whole = blocks(y)
    truth = pose(whole).solve(solver, tol=1e-10)
    calls = len(whole.calls)  # type: ignore[attr-defined]
    given = blocks(y, calls // 2, KeyboardInterrupt)
    solution = pose(given).solve(solver, tol=1e-14, checkpoint=tmp_path / "point.json")
    assert solution.claimed_status == solution.message == "interrupted"
    above = solution.objective - truth.objective
    assert solution.gap >= above >= -truth.gap - 1e-12
    again = pose(blocks(y)).solve(solver, tol=1e-10, checkpoint=tmp_path / "point.json")
    assert again.status == "optimal"
    assert again.objective == pytest.approx(truth.objective, rel=1e-9)


def test_a_signal_interrupts_over_blocks(tmp_path: Path) -> None:
    calls: list[int] = []

    def load() -> Any:
        calls.append(1)
        if len(calls) == 30:
            signal.raise_signal(signal.SIGINT)  # in this thread, and at once
        return X, LABELS

    problem = cml.LogisticRegression(cml.RowBlocks([load]), lam=1e-3)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job has none
    try:
        solution = problem.solve("gradient_descent", tol=1e-14)
    finally:
        signal.signal(signal.SIGINT, before)
    assert solution.message == "interrupted"
    assert solution.gap > 0.0


def test_rows_in_other_blocks_are_the_same_problem(tmp_path: Path) -> None:
    file = tmp_path / "point.json"
    truth = cml.Lasso(X, Y, lam=0.05).solve(tol=1e-10, checkpoint=file)
    solution = cml.Lasso(blocks(Y), lam=0.05).solve(tol=1e-10, checkpoint=file)
    assert "Resumed from" in solution.choice
    assert solution.objective == pytest.approx(truth.objective, rel=1e-9)


def test_nothing_that_a_file_says_of_itself_is_believed(tmp_path: Path) -> None:
    file, problem = tmp_path / "point.json", cml.LogisticRegression(X, LABELS, lam=1e-3)
    truth = problem.solve(tol=1e-10, checkpoint=file)
    identity, point = checkpoint.read(file, "test")
    lie = SavedPoint(np.full(4, 3.0), 1.0, -100.0, 0.0, 10**6, point.solver)
    checkpoint.write(file, identity, lie)
    solution = problem.solve("gradient_descent", max_iter=0, checkpoint=file)
    assert solution.status == "inaccurate"
    assert solution.gap >= solution.objective - truth.objective > 1e-3
    checkpoint.write(file, identity, lie)
    again = problem.solve(tol=1e-10, checkpoint=file)
    assert again.objective == pytest.approx(truth.objective, rel=1e-9)
    assert checkpoint.read(file, "test")[1].objective == pytest.approx(truth.objective, rel=1e-9)


def test_a_resumed_solve_is_never_worse_than_its_file(tmp_path: Path) -> None:
    file, problem = tmp_path / "point.json", cml.SoftMarginSVM(X, LABELS, C=1.0)
    truth = problem.solve(tol=1e-10, checkpoint=file)
    for solver in ("dual_coordinate_descent", "interior_point", "subgradient"):
        solution = problem.solve(solver, max_iter=0, polish=False, checkpoint=file)
        assert solution.objective == pytest.approx(truth.objective, rel=1e-9)
        assert checkpoint.read(file, "test")[1].objective == pytest.approx(truth.objective)


@pytest.mark.parametrize(
    "pose",
    [
        lambda: cml.SoftmaxRegression(X, np.digitize(Y, [-1.0, 1.0]), lam=0.01),
        lambda: cml.MultiTaskLasso(X, np.column_stack([Y, X[:, 0] - Y]), lam=0.1),
        lambda: cml.LearningProblem(X, Y, cml.losses.Huber(1.0), cml.penalties.L1(0.1)),
    ],
)
def test_other_problems_in_memory(pose: Callable[[], Any], tmp_path: Path) -> None:
    file = tmp_path / "point.json"
    truth = pose().solve(tol=1e-10, checkpoint=file)
    again = pose().solve(tol=1e-10, checkpoint=file)
    assert "Resumed from" in again.choice
    assert again.status == truth.status == "optimal"
    assert again.objective == pytest.approx(truth.objective, rel=1e-9)
