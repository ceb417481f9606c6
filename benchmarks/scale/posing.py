"""The problems, with or without blocks: penalised alike for every n."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import convexml as cml

LAM = 1e-4
"""Level of the mean loss: w'w LAM / 2 beside it."""


def posed(model: str, blocks: Any, n: int, *y: Any) -> Any:
    """Logistic regression, or a support vector machine of C = 1 / (LAM n)."""
    if model == "logistic":
        return cml.LogisticRegression(blocks, *y, LAM)
    return cml.SoftMarginSVM(blocks, *y, 1.0 / (LAM * n))


class Counted:
    """A loader that counts how often it is called."""

    def __init__(self, load: Any) -> None:
        self.load, self.calls = load, 0

    def __call__(self) -> Any:
        self.calls += 1
        return self.load()


def counted(folder: Path, rows: int) -> cml.RowBlocks:
    """The blocks of a folder, each of which counts how often it is read."""
    blocks = cml.RowBlocks.from_npy(folder / "X.npy", folder / "y.npy", rows=rows)
    blocks.sources = [Counted(load) for load in blocks.sources]
    return blocks


def passes(blocks: cml.RowBlocks) -> float:
    """Blocks that were read, as passes over all of them."""
    return sum(load.calls for load in blocks.sources) / len(blocks)
