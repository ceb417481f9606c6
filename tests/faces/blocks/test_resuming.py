"""A solve that ends early leaves its best point in a file, of one problem; the next goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_cases import optimal
from support.sizes import quick

import convexml as cml
from convexml.errors import InputError
from convexml.models import checkpoint
from convexml.models.checkpoint import Checkpoint, SavedPoint

RNG = np.random.default_rng(5)
X = RNG.standard_normal((120, 4))
Y = X @ [1.0, -1.0, 0.5, 0.0] + RNG.standard_normal(120)
LABELS = (Y > 0.0).astype(int)
CUTS = (0, 50, 51, 120)
POSES: dict[str, tuple[Any, Callable[..., Any]]] = {
    "logistic": (LABELS, partial(cml.LogisticRegression, lam=1e-3)),
    "logistic_l1": (LABELS, partial(cml.LogisticRegression, lam=1e-2, penalty="l1")),
    "svm": (LABELS, partial(cml.SoftMarginSVM, C=1.0)),
    "lasso": (Y, partial(cml.Lasso, lam=0.05)),
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


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("name", quick(("logistic", "logistic_l1", "svm"), ("logistic",)))
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
import os, signal
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


@pytest.mark.slow
def test_a_solve_that_is_killed_is_resumed(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", LABELS)
    calls: list[int] = []

    def load() -> Any:
        calls.append(1)
        return X, LABELS

    cml.LogisticRegression(cml.RowBlocks([load]), lam=1e-3).solve(tol=1e-10)
    command = [sys.executable, "-c", KILLED.format(last=len(calls))]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    _, point = checkpoint.read(tmp_path / "point.json", "test")
    problem = cml.LogisticRegression(X, LABELS, lam=1e-3)
    truth = problem.solve(tol=1e-10)
    solution = optimal(problem, tol=1e-10, checkpoint=tmp_path / "point.json")
    assert solution.objective == pytest.approx(truth.objective, rel=1e-9)
    first = solution.trace[0]
    assert first.iteration == 0
    assert first.objective <= problem.objective(point.w, point.b) * (1.0 + 1e-12)
    assert first.gap >= first.objective - truth.objective


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("solver", ["auto", pytest.param("fista", marks=pytest.mark.slow)])
def test_an_interrupt_returns_the_best_point_of_blocks(solver: str, tmp_path: Path) -> None:
    y, pose = POSES["logistic"]
    whole = blocks(y)
    truth = pose(whole).solve(solver, tol=1e-10)
    given = blocks(y, len(whole.calls) // 2, KeyboardInterrupt)  # type: ignore[attr-defined]
    solution = pose(given).solve(solver, tol=1e-14, checkpoint=tmp_path / "point.json")
    assert solution.claimed_status == solution.message == "interrupted"
    above = solution.objective - truth.objective
    assert solution.gap >= above >= -truth.gap - 1e-12
    again = optimal(pose(blocks(y)), solver, tol=1e-10, checkpoint=tmp_path / "point.json")
    assert again.objective == pytest.approx(truth.objective, rel=1e-9)


@pytest.mark.usefixtures("at_once")
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


@pytest.mark.usefixtures("at_once")
def test_a_resumed_solve_is_never_worse_than_its_file(tmp_path: Path) -> None:
    file, problem = tmp_path / "point.json", cml.SoftMarginSVM(X, LABELS, C=1.0)
    truth = problem.solve(tol=1e-10, checkpoint=file)
    for solver in ("dual_coordinate_descent", "interior_point", "subgradient"):
        solution = problem.solve(solver, max_iter=0, polish=False, checkpoint=file)
        assert solution.objective == pytest.approx(truth.objective, rel=1e-9)
        assert checkpoint.read(file, "test")[1].objective == pytest.approx(truth.objective)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(("pose", "then"), [
    (lambda: cml.SoftmaxRegression(X, np.digitize(Y, [-1.0, 1.0]), lam=0.01), None),
    (lambda: cml.MultiTaskLasso(X, np.column_stack([Y, X[:, 0] - Y]), lam=0.1), None),
    (lambda: cml.LearningProblem(X, Y, cml.losses.Huber(1.0), cml.penalties.L1(0.1)), None),
    # Rows in other blocks are the same problem.
    (lambda: cml.Lasso(X, Y, lam=0.05), lambda: cml.Lasso(blocks(Y), lam=0.05)),
])  # fmt: skip
def test_other_problems_are_resumed(pose: Any, then: Any, tmp_path: Path) -> None:
    file = tmp_path / "point.json"
    truth = pose().solve(tol=1e-10, checkpoint=file)
    again = (then or pose)().solve(tol=1e-10, checkpoint=file)
    assert "Resumed from" in again.choice
    assert again.status == truth.status == "optimal"
    assert again.objective == pytest.approx(truth.objective, rel=1e-9)


KERNEL = cml.kernels.Gaussian(1.0)


@pytest.mark.parametrize("pose", [
    lambda: cml.KernelSVM(X[:60], LABELS[:60], C=1.0, kernel=KERNEL),
    lambda: cml.KernelRidge(X[:60], Y[:60], lam=0.1, kernel=KERNEL),
])  # fmt: skip
def test_functions_of_a_kernel_are_resumed_through_a_factor(pose: Any, tmp_path: Path) -> None:
    file, truth = tmp_path / "point.json", pose().solve(tol=1e-8)
    pose().solve("interior_point", max_iter=2, checkpoint=file)
    again = pose().solve(tol=1e-8, checkpoint=file)
    assert "Resumed from interior_point" in again.choice
    assert again.status == truth.status == "optimal"
    assert again.objective == pytest.approx(truth.objective, rel=1e-7)
    with pytest.raises(InputError, match=r"\.solve: smo keeps no checkpoint, got '.*json'"):
        pose().solve("smo", checkpoint=file)
    assert pose().solve("smo", max_iter=2, checkpoint=None).solver == "smo"


# -- the file --------------------------------------------------------------------------------------

OTHERS: dict[str, tuple[Callable[[], Any], str]] = {
    "lam": (lambda: cml.Ridge(X, Y, lam=0.2), "lam = 0.1 there, 0.2 here"),
    "model": (lambda: cml.Lasso(X, Y, lam=0.1), "Ridge there, Lasso here"),
    "rows": (lambda: cml.Ridge(X[:99], Y[:99], lam=0.1), "samples: 120 there, 99 here"),
    "columns": (lambda: cml.Ridge(X[:, :3], Y, lam=0.1), r"coefficients: \[4\] there, \[3\] here"),
    "X": (lambda: cml.Ridge(X + 1e-3 * (X == X[77, 2]), Y, lam=0.1), "other numbers in column 2"),
    "y": (lambda: cml.Ridge(X, Y + 1e-3 * (Y == Y[77]), lam=0.1), "other numbers in X, y or the"),
    "weights": (lambda: cml.Ridge(X, Y, 0.1, sample_weight=1.0 + LABELS), "other numbers"),
    "intercept": (lambda: cml.Ridge(X, Y, 0.1, fit_intercept=False), "intercept: True there"),
    "blocks": (lambda: cml.Ridge(cml.RowBlocks([(X[:60], Y[:60])]), lam=0.1), "samples: 120"),
}


def test_a_checkpoint_of_another_problem_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "point.json"
    cml.Ridge(X, Y, lam=0.1).solve(checkpoint=file)
    before = file.read_bytes()
    for pose, words in OTHERS.values():
        with pytest.raises(InputError, match=f"is of another problem: .*{words}.* delete this one"):
            pose().solve(checkpoint=file)
        assert file.read_bytes() == before


@pytest.mark.parametrize("share", [0.03, pytest.param(0.3, marks=pytest.mark.slow)])
def test_a_damaged_file_is_refused(share: float, tmp_path: Path) -> None:
    file, problem = tmp_path / "point.json", cml.Ridge(X, Y, lam=0.1)
    problem.solve(checkpoint=file)
    good = file.read_bytes()
    at = np.flatnonzero(np.random.default_rng(8).uniform(size=len(good)) < share)
    bad = [good[:k] + bytes([good[k] ^ 1]) + good[k + 1 :] for k in at]
    bad += [b"", b"{}", b"[]", b'{"checkpoint": 1}', good[:-1], good[: len(good) // 2]]
    for content in (*bad, b'{"checkpoint": 1, "content": null, "sha256": ""}'):
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"point.json is .*damaged"):
            checkpoint.read(file, "Ridge.solve: checkpoint")
    with pytest.raises(InputError, match=r"Ridge.solve: checkpoint: .*damaged. Name another file"):
        problem.solve(checkpoint=file)
    file.write_bytes(good)
    assert problem.solve(checkpoint=file).status == "optimal"


def point(value: float) -> SavedPoint:
    return SavedPoint(np.array([value]), 0.0, value, 1.0, 1, "newton")


def test_a_file_is_not_written_more_often_than_it_pays(tmp_path: Path) -> None:
    now = 0.0
    kept = Checkpoint(tmp_path / "p.json", {}, lambda: now)
    seen = []
    for k in range(100):
        now = 0.1 * k
        kept.keep(point(100.0 - k))
        seen.append(checkpoint.read(kept.path, "test")[1].objective)
    assert len(set(seen)) == 10
    kept.keep(point(1e6))  # worse
    kept.keep(point(np.nan))
    kept.flush()
    assert checkpoint.read(kept.path, "test")[1].objective == 1.0


def test_a_writing_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Checkpoint(tmp_path / "p.json", {})
    kept.keep(point(2.0))

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    kept.due = -np.inf
    with pytest.warns(RuntimeWarning, match="p.json cannot be written: no space left"):
        kept.keep(point(1.0))
    kept.due = -np.inf
    kept.keep(point(0.5))  # told once
    assert checkpoint.read(kept.path, "test")[1].objective == 2.0


def test_a_file_that_cannot_be_is_refused_before_anything_is_solved(tmp_path: Path) -> None:
    ridge, lasso = cml.Ridge(X, Y, lam=0.1), cml.Lasso(X, Y, lam=0.1)
    for name, words in (
        (tmp_path / "none" / "point.json", "has no folder"),
        (3, "expected the path"),
        ("", "expected the path of a file, got"),
        ("/dev/zero", "/dev/zero is no file"),
        ("/", "/ is a folder; name a file"),
    ):
        with pytest.raises(InputError, match=rf"Ridge\.solve: checkpoint: .*{words}"):
            ridge.solve(checkpoint=name)
    words = r"Lasso.path: checkpoint is the file of one solve, got '.*p.json' .* value of lam. Call"
    for options in ({}, {"everywhere": 0.1}):
        with pytest.raises(InputError, match=words):
            lasso.path([0.2, 0.1], checkpoint=tmp_path / "p.json", **options)
    assert not list(tmp_path.iterdir())
    assert lasso.path([0.2], checkpoint=None)[0].status == "optimal"
    with pytest.raises(InputError, match=r"this model keeps no checkpoint, got 'here'. Leave it"):
        cml.MonotoneRegression(Y).solve(checkpoint="here")
    assert cml.MonotoneRegression(Y).solve(checkpoint=None).status == "optimal"
    program = cml.LinearProgram(c=[1.0], A_ub=[[-1.0]], b_ub=[0.0])
    assert program.solve(checkpoint=None).status == "optimal"
