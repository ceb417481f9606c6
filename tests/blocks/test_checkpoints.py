"""The file of a checkpoint: of one problem, whole, and not written more often than it pays."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.errors import InputError
from convexml.models import checkpoint
from convexml.models.checkpoint import Checkpoint, SavedPoint

RNG = np.random.default_rng(5)
X = RNG.standard_normal((120, 4))
Y = X @ [1.0, -1.0, 0.5, 0.0] + RNG.standard_normal(120)
WEIGHTS = np.linspace(1.0, 2.0, 120)
CHANGED_X, CHANGED_Y = X.copy(), Y.copy()
CHANGED_X[77, 2] += 1e-3
CHANGED_Y[77] += 1e-3
OTHERS: dict[str, tuple[Callable[[], Any], str]] = {
    "lam": (lambda: cml.Ridge(X, Y, lam=0.2), "lam = 0.1 there, 0.2 here"),
    "model": (lambda: cml.Lasso(X, Y, lam=0.1), "Ridge there, Lasso here"),
    "rows": (lambda: cml.Ridge(X[:99], Y[:99], lam=0.1), "samples: 120 there, 99 here"),
    "columns": (lambda: cml.Ridge(X[:, :3], Y, lam=0.1), r"coefficients: \[4\] there, \[3\] here"),
    "X": (lambda: cml.Ridge(CHANGED_X, Y, lam=0.1), "other numbers in column 2 of X"),
    "y": (lambda: cml.Ridge(X, CHANGED_Y, lam=0.1), "other numbers in X, y or the weights"),
    "weights": (lambda: cml.Ridge(X, Y, 0.1, sample_weight=WEIGHTS), "other numbers"),
    "intercept": (lambda: cml.Ridge(X, Y, 0.1, fit_intercept=False), "intercept: True there"),
    "blocks": (lambda: cml.Ridge(cml.RowBlocks([(X[:60], Y[:60])]), lam=0.1), "samples: 120"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_checkpoint_of_another_problem_is_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "point.json"
    cml.Ridge(X, Y, lam=0.1).solve(checkpoint=file)
    before = file.read_bytes()
    pose, words = OTHERS[name]
    with pytest.raises(InputError, match=f"is of another problem: .*{words}.* delete this one"):
        pose().solve(checkpoint=file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("share", [0.1, pytest.param(1.0, marks=pytest.mark.slow)])
def test_a_damaged_file_is_refused(share: float, tmp_path: Path) -> None:
    file, problem = tmp_path / "point.json", cml.Ridge(X, Y, lam=0.1)
    problem.solve(checkpoint=file)
    good = file.read_bytes()
    at = np.flatnonzero(np.random.default_rng(8).uniform(size=len(good)) < share)
    bad = [good[:k] + bytes([good[k] ^ 1]) + good[k + 1 :] for k in at]
    for content in (
        b"",
        b"{}",
        b"[]",
        b'{"checkpoint": 1}',
        b'{"checkpoint": 1, "content": null, "sha256": ""}',
        good[:-1],
        good[: len(good) // 2],
        *bad,
    ):
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


def test_a_path_has_no_file_of_its_own(tmp_path: Path) -> None:
    words = r"Lasso.path: checkpoint is the file of one solve, got '.*p.json' .* value of lam. Call"
    lasso = cml.Lasso(X, Y, lam=0.1)
    for options in ({}, {"everywhere": 0.1}):
        with pytest.raises(InputError, match=words):
            lasso.path([0.2, 0.1], checkpoint=tmp_path / "p.json", **options)
    assert not list(tmp_path.iterdir())
    assert lasso.path([0.2], checkpoint=None)[0].status == "optimal"


KERNELS: dict[str, Callable[[], Any]] = {
    "KernelSVM": lambda: cml.KernelSVM(X, Y > 0.0, C=1.0, kernel=cml.kernels.Gaussian(1.0)),
    "KernelRidge": lambda: cml.KernelRidge(X, Y, lam=0.1, kernel=cml.kernels.Gaussian(1.0)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_functions_of_a_kernel_are_resumed_through_a_factor(name: str, tmp_path: Path) -> None:
    file, pose = tmp_path / "point.json", KERNELS[name]
    truth = pose().solve(tol=1e-8)
    pose().solve("interior_point", max_iter=2, checkpoint=file)
    again = pose().solve(tol=1e-8, checkpoint=file)
    assert "Resumed from interior_point" in again.choice
    assert again.status == truth.status == "optimal"
    assert again.objective == pytest.approx(truth.objective, rel=1e-7)
    with pytest.raises(InputError, match=f"{name}.solve: smo keeps no checkpoint, got '.*json'"):
        pose().solve("smo", checkpoint=file)
    assert pose().solve("smo", max_iter=2, checkpoint=None).solver == "smo"


def test_a_file_that_cannot_be_is_refused_before_anything_is_solved(tmp_path: Path) -> None:
    problem = cml.Ridge(X, Y, lam=0.1)
    with pytest.raises(InputError, match=r"Ridge.solve: checkpoint: .* has no folder"):
        problem.solve(checkpoint=tmp_path / "none" / "point.json")
    with pytest.raises(InputError, match=r"Ridge.solve: checkpoint: expected the path"):
        problem.solve(checkpoint=3)
