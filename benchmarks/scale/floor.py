"""What a pass must cost: to read the file once, and one Gram matrix of it, in plain NumPy."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np


def floor(folder: Path, rows: int) -> tuple[float, float]:
    """Processor and wall seconds of reading X, in float64, and X'X, ``rows`` at a time."""
    start = time.process_time(), time.perf_counter()
    X = np.load(folder / "X.npy", mmap_mode="r")
    gram = np.zeros((X.shape[1],) * 2)
    for first in range(0, len(X), rows):
        mapped = np.load(folder / "X.npy", mmap_mode="r")  # anew: read pages are let go
        block = np.array(mapped[first : first + rows], dtype=float)
        gram += block.T @ block
    return time.process_time() - start[0], time.perf_counter() - start[1]
