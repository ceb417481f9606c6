"""Samples of a logistic model, written block by block to .npy files: never all in memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

BLOCK = 100_000
"""Rows that are drawn at a time; each block has a seed of its own."""


def written(folder: Path, n: int, columns: int = 50, seed: int = 0) -> Path:
    """A folder with X.npy, float32 of shape (n, columns), and y.npy, labels 0 and 1.

    Columns have sizes from 1/4 to 4 and share a factor; half of them have a mean. The first rows
    of a larger file are those of a smaller one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    truth = np.random.default_rng(seed)
    sizes = 2.0 ** truth.uniform(-2.0, 2.0, columns)
    means = np.where(np.arange(columns) % 2, truth.normal(size=columns), 0.0)
    w = truth.normal(size=columns) / np.sqrt(columns)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (n, columns))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int8, (n,))
    for k, first in enumerate(range(0, n, BLOCK)):
        rng = np.random.default_rng([seed, k])
        count = min(BLOCK, n - first)
        own = rng.standard_normal((BLOCK, columns))[:count]
        shared, noise = rng.standard_normal(BLOCK)[:count], rng.logistic(size=BLOCK)[:count]
        score = own @ w + 0.5 * shared + 0.3
        X[first : first + count] = sizes * (own + 0.5 * shared[:, None] + means)
        y[first : first + count] = score + noise > 0.0
    X.flush(), y.flush()
    (folder / "facts.json").write_text(json.dumps({"n": n, "columns": columns, "seed": seed}))
    return folder
