"""Every model has a picture, of any solver: nothing is cut, and no text lies on another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.hard.every_model import ALONE, ROWS
from support.model_cases import ModelCase
from support.report.looks import faults

import convexml as cml

pytest.importorskip("matplotlib")
CASES = (*ROWS, *ALONE)
SAMPLE = 3
rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3)) + 1.0
Y = X @ [1.0, 0.0, -2.0] + rng.normal(size=24)
LABELS = np.where(Y > np.median(Y), 1.0, -1.0)
SHARES = np.full(4, 0.25)
POSED: dict[str, Callable[[], Any]] = {
    "AdaBoost": lambda: cml.AdaBoost(X, LABELS, 20),
    "BernoulliLikelihood": lambda: cml.BernoulliLikelihood(LABELS > 0.0),
    "CategoricalLikelihood": lambda: cml.CategoricalLikelihood(["a", "b", "b", "c"]),
    "ConvexClustering": lambda: cml.ConvexClustering(X, 0.05),
    "ConvexRegression": lambda: cml.ConvexRegression(X[:9], Y[:9]),
    "EnclosingBall": lambda: cml.EnclosingBall(X),
    "KMeansBound": lambda: cml.KMeansBound(X[:12], 2),
    "LinearProgram": lambda: cml.LinearProgram([1.0, 2.0], A_ub=[[-1.0, -1.0]], b_ub=[-1.0]),
    "an infeasible one": lambda: cml.LinearProgram([1.0], A_ub=[[1.0]], b_ub=[-1.0]),
    "MonotoneRegression": lambda: cml.MonotoneRegression(Y),
    "NearestNeighbors": lambda: cml.NearestNeighbors(X, X[:4] + 0.1, 3),
    "OptimalTransport": lambda: cml.OptimalTransport(SHARES, SHARES, X[:4, [0, 1, 2, 0]] ** 2),
    "SpanningTree": lambda: cml.SpanningTree(np.abs(Y[:9, None] - Y[:9])),
    "TrendFilter": lambda: cml.TrendFilter(Y, 0.1),
    "one feature": lambda: cml.SoftMarginSVM(X[:, :1], LABELS),
}


def sampled(cases: Sequence[Any]) -> list[Any]:
    """A seeded sample by default, all of them in the slow suite."""
    few = set(np.random.default_rng(7).permutation(len(cases))[:SAMPLE].tolist())
    marks = [() if k in few else pytest.mark.slow for k in range(len(cases))]
    names = [getattr(case, "name", case) for case in cases]
    return [
        pytest.param(c, id=name, marks=m) for c, name, m in zip(cases, names, marks, strict=True)
    ]


@pytest.mark.parametrize("case", sampled(CASES))
def test_a_model_on_samples(case: ModelCase) -> None:
    assert faults(case.pose().solve().plot()) == []


@pytest.mark.parametrize("name", sampled(list(POSED)))
def test_a_model_of_arrays(name: str) -> None:
    assert faults(POSED[name]().solve().plot()) == []


@pytest.mark.parametrize("solver", ["clarabel", "newton"])
def test_any_solver(solver: str, tmp_path: Path) -> None:
    figure = cml.Ridge(X, Y, 0.1).solve(solver).plot(tmp_path / "ridge.svg")
    assert faults(figure) == []
    assert "</svg>" in (tmp_path / "ridge.svg").read_text()


def test_the_margin_is_that_of_the_answer() -> None:
    solution = cml.SoftMarginSVM(X, LABELS).solve()
    points = np.concatenate([c.get_offsets() for c in solution.plot().axes[0].collections])
    scores = X @ solution.primal["w"] + solution.primal["b"]
    np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(scores), atol=1e-12)
    filled = [c for c in solution.plot().axes[0].collections if c.get_facecolors().size]
    assert sum(len(c.get_offsets()) for c in filled) == len(solution.support)


def test_overlaps_and_cuts_are_seen() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    for words in ("one", "other"):
        figure.text(0.5, 0.5, words)
    figure.text(0.99, 0.2, "a long word at the edge")
    assert len(faults(figure)) == 2
