"""Vectors of n numbers never leave their blocks: what is brought together, and sent, is small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import cloudpickle
import numpy as np
import pytest
from support.models.in_blocks import MODELS, Data, Model

import convexml as cml
from convexml.blocks.executor import tree_sum

N, D, BLOCKS = 4000, 4, 4
LARGE = 8 * N // BLOCKS
"""Bytes that a block has of a vector of n numbers."""


@dataclass(frozen=True, eq=False)
class Elsewhere:
    value: Any


class Weighed:
    """Computes on blocks as if they were elsewhere, and weighs what would travel."""

    is_full = False

    def __init__(self) -> None:
        self.weights: list[int] = []

    def weigh(self, thing: Any) -> None:
        self.weights.append(len(cloudpickle.dumps(thing)))

    def map(
        self, function: Callable[..., tuple[Any, ...]], columns: Sequence[Sequence[Any]], count: int
    ) -> list[list[Any]]:
        self.weigh(function)
        results = []
        for row in zip(*columns, strict=True):
            for each in row:
                if not isinstance(each, Elsewhere):
                    self.weigh(each)
            found = function(*(a.value if isinstance(a, Elsewhere) else a for a in row))
            results.append([Elsewhere(value) for value in found])
        return [list(each) for each in zip(*results, strict=True)]

    def placed(self, values: Iterable[Any]) -> list[Any]:
        given = list(values)
        for each in given:
            self.weigh(each)
        return [Elsewhere(value) for value in given]

    def values(self, handles: Sequence[Any]) -> list[Any]:
        for handle in handles:
            self.weigh(handle.value)
        return [handle.value for handle in handles]

    def total(self, handles: Sequence[Any]) -> Any:
        found = tree_sum(handle.value for handle in handles)
        self.weigh(found)
        return found


GATHERED = (
    "convexml.blocks.searching.FEW",
    "convexml.objective.intercept.MANY",
    "convexml.certificates.support.uniqueness.SMALL",
    "convexml.certificates.learning.points.column_rows.EXACTLY",
    "convexml.certificates.learning.points.column_rows.FEW",
)
"""Up to so many numbers are brought together, however many there are."""


@pytest.fixture
def weighed(monkeypatch: pytest.MonkeyPatch) -> Weighed:
    executor = Weighed()
    monkeypatch.setattr("convexml.models.blocks.row_blocks.active_executor", lambda: executor)
    for name in GATHERED:
        monkeypatch.setattr(name, 150)
    return executor


DATA = Data.drawn(N, D)
CUTS = [N // BLOCKS * k for k in range(1, BLOCKS)]


def pieces(model: Model) -> list[Any]:
    return list(
        zip(*(np.split(a, CUTS) for a in (DATA.X, DATA.targets[model.target])), strict=True)
    )


NAMES = ["logistic l2", "least squares"] + [
    pytest.param(name, marks=pytest.mark.slow) for name in ("SVM", "lasso")
]


@pytest.mark.parametrize("name", NAMES)
def test_no_vector_of_n_numbers_leaves_its_blocks(name: str, weighed: Weighed) -> None:
    loaders = [lambda piece=piece: piece for piece in pieces(MODELS[name])]
    problem = MODELS[name].pose(cml.RowBlocks(loaders))
    weighed.weights.clear()  # what is passed is sent
    solution = problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    w, b = solution.primal["w"], solution.primal["b"]
    for u in (None, solution.dual["u"]):
        assert problem.certify(w, b, u=u, tol=1e-9).verdict is cml.Verdict.CERTIFIED
    assert max(weighed.weights) < LARGE


def test_what_leaves_is_noticed(weighed: Weighed) -> None:
    problem = cml.Ridge(cml.RowBlocks(pieces(MODELS["ridge"])), lam=0.1)
    dual = problem.solve().dual["u"]
    weighed.weights.clear()
    assert len(np.concatenate(list(dual))) == N
    assert max(weighed.weights) > LARGE
