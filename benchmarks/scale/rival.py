"""One peer in a process of its own: after each round, its seconds so far and its verified gap.

The gap is that of (w, b) alone, by our certificate on the same file, off the clock.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from posing import LAM, posed
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.svm import LinearSVC

import convexml as cml

Point = tuple[np.ndarray, float]
LOSSES = {"logistic": "log_loss", "svm": "hinge"}
LOOSE = tuple(10.0**-k for k in range(2, 11))
"""Tolerances that peers without rounds of their own are started with, in turn."""


def mapped(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    X, y = (np.load(folder / name, mmap_mode="r") for name in ("X.npy", "y.npy"))
    return X, y


def sgd(folder: Path, model: str, rows: int, average: bool = False) -> Iterator[Point]:
    """Epochs of ``partial_fit`` over the blocks, which are visited in a random order."""
    X, y = mapped(folder)
    rng = np.random.default_rng(0)
    peer = SGDClassifier(loss=LOSSES[model], alpha=LAM, average=average, random_state=0)
    starts = np.arange(0, len(y), rows)
    while True:
        for first in rng.permutation(starts):
            some = slice(first, first + rows)
            peer.partial_fit(np.array(X[some]), np.array(y[some]), classes=[0, 1])
        yield peer.coef_[0].astype(float), float(peer.intercept_[0])


def in_memory(folder: Path, model: str, rows: int, solver: str) -> Iterator[Point]:
    """scikit-learn on the whole array, from scratch at each tolerance."""
    X, y = (np.array(each) for each in mapped(folder))
    for tol in LOOSE:
        if model == "svm":
            kind: dict[str, Any] = {"loss": "hinge", "C": 1.0 / (LAM * len(y))}
            peer = LinearSVC(**kind, intercept_scaling=1e3, tol=tol, max_iter=10_000)
        else:
            level = 1.0 / (LAM * len(y))
            peer = LogisticRegression(C=level, solver=solver, tol=tol, max_iter=10_000)
        peer.fit(X, y)
        yield peer.coef_[0].astype(float), float(peer.intercept_[0])


def dask(folder: Path, model: str, rows: int, solver: str) -> Iterator[Point]:
    """dask-ml on blocks of the file, one thread, from scratch at each tolerance."""
    import dask as engine
    import dask.array as da
    from dask_ml.linear_model import LogisticRegression as Theirs

    X, y = mapped(folder)
    blocks = da.from_array(X, chunks=(rows, X.shape[1])), da.from_array(y, chunks=rows)
    with engine.config.set(scheduler="synchronous"):
        for tol in LOOSE:
            peer = Theirs(C=1.0 / (LAM * len(y)), solver=solver, tol=tol, max_iter=1000)
            peer.fit(*blocks)
            yield np.ravel(peer.coef_).astype(float), float(np.ravel(peer.intercept_)[0])


RUNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "SGD": (sgd, {}),
    "averaged SGD": (sgd, {"average": True}),
    "liblinear in memory": (in_memory, {"solver": ""}),
}
"""Peers by name, and their options; of the others the first word tells who, the second how."""


def run_of(name: str) -> tuple[Any, dict[str, Any]]:
    """Who "dask-ml newton", or "lbfgs in memory", is."""
    if name in RUNS:
        return RUNS[name]
    if name.startswith("dask-ml "):
        return dask, {"solver": name.removeprefix("dask-ml ")}
    return in_memory, {"solver": name.removesuffix(" in memory")}


def main() -> None:
    """Run a peer until its gap is ``target``, or its ``budget`` of processor seconds is spent."""
    task = json.loads(sys.argv[1])
    folder, model, rows = Path(task["folder"]), task["model"], task["rows"]
    peer, options = run_of(task["peer"])
    judge = posed(
        model, cml.RowBlocks.from_npy(folder / "X.npy", folder / "y.npy", rows), task["n"]
    )
    rounds, spent, looked = [], 0.0, 0
    points = peer(folder, model, rows, **options)
    start = time.process_time()
    for k, (w, b) in enumerate(points, start=1):
        spent += time.process_time() - start
        over = spent > task["budget"]
        starts_anew = peer is not sgd
        if starts_anew or over or k >= 1.5 * looked:  # epochs are judged on a geometric grid
            looked = k
            seconds = spent
            gap = judge.certify(w, b, tol=task["target"]).relative_gap
            rounds.append((k, seconds, gap))
            if gap <= task["target"]:
                break
        if over:
            break
        spent = 0.0 if starts_anew else spent
        start = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    print(json.dumps({"rounds": rounds, "peak": peak}))


if __name__ == "__main__":
    main()
