"""One peer in a process of its own: after each round, its seconds so far and its verified gap.

The gap is that of (w, b) alone, by our certificate on the same file, off the clock; so are loading
modules and a first fit of a few rows. Of the SVM it is that of (w, b) with the dual point of our
own solution: the slopes of a loss with a kink prove little at a point that is not near.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from data import written
from memory import peak
from posing import posed

import convexml as cml

Point = tuple[np.ndarray, float]
LOSSES = {"logistic": "log_loss", "ridge": "squared_error", "svm": "hinge"}
LOOSE = tuple(10.0**-k for k in range(2, 11))
"""Tolerances that peers without rounds of their own are started with, in turn."""
UNIT = 10.0
"""Of the column for b: peers that penalise b then do so by a hundredth."""


@dataclass(frozen=True)
class Task:
    """The problem: which one, of which file, in blocks of so many rows, at which level."""

    folder: Path
    model: str
    rows: int
    lam: float

    def mapped(self) -> tuple[np.ndarray, np.ndarray]:
        X, y = (np.load(self.folder / name, mmap_mode="r") for name in ("X.npy", "y.npy"))
        return X, y


def sgd(task: Task, average: bool = False, scaled: bool = False) -> Iterator[Point]:
    """Epochs of ``partial_fit`` over the blocks, which are visited in a random order.

    ``scaled``: of columns of mean 0 and size 1, after one epoch of a scaler. Its penalty is then
    another one, by less than what it comes to.
    """
    from sklearn.linear_model import SGDClassifier, SGDRegressor
    from sklearn.preprocessing import StandardScaler

    X, y = task.mapped()
    rng = np.random.default_rng(0)
    kind = SGDRegressor if task.model == "ridge" else SGDClassifier
    options: dict[str, Any] = {} if task.model == "ridge" else {"classes": [0, 1]}
    peer = kind(loss=LOSSES[task.model], alpha=task.lam, average=average, random_state=0)
    scaler, starts = StandardScaler(), np.arange(0, len(y), task.rows)
    for first in starts if scaled else ():
        scaler.partial_fit(np.array(X[first : first + task.rows]))
    while True:
        for first in rng.permutation(starts):
            some = slice(first, first + task.rows)
            part = np.array(X[some])
            part = scaler.transform(part) if scaled else part
            peer.partial_fit(part, np.array(y[some]), **options)
        w, b = np.ravel(peer.coef_).astype(float), float(peer.intercept_[0])
        w = w / scaler.scale_ if scaled else w
        yield w, b - float(w @ scaler.mean_) if scaled else b


def in_memory(task: Task, solver: str) -> Iterator[Point]:
    """scikit-learn on the whole array, from scratch at each tolerance."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import LinearSVC

    X, y = (np.array(each) for each in task.mapped())
    level = task.lam * len(y)
    for tol in LOOSE:
        if task.model == "svm":
            loss: dict[str, Any] = {"loss": "hinge", "intercept_scaling": UNIT}
            peer = LinearSVC(C=1.0 / level, tol=tol, max_iter=10_000, **loss)
        elif task.model == "ridge":
            peer = Ridge(alpha=level, solver=solver, tol=tol, max_iter=10_000)
        else:
            peer = LogisticRegression(C=1.0 / level, solver=solver, tol=tol, max_iter=10_000)
        peer.fit(X, y)
        yield np.ravel(peer.coef_).astype(float), float(np.ravel(peer.intercept_)[0])


def dask(task: Task, solver: str, as_it_is: bool = False) -> Iterator[Point]:
    """dask-ml on blocks of the file, one thread, from scratch at each tolerance.

    Its newton and gradient_descent take no penalty. The others penalise b too, and w in units of
    the columns' deviations; ``as_it_is`` bids them leave X so, with a column of ``UNIT`` for b.
    """
    import dask as engine
    import dask.array as da
    from dask_ml import linear_model

    ridge = task.model == "ridge"
    kind = linear_model.LinearRegression if ridge else linear_model.LogisticRegression
    halves = 2.0 if ridge else 1.0  # its squares are not halved
    X, y = task.mapped()
    rows = da.from_array(X, chunks=(task.rows, X.shape[1]))
    if as_it_is:
        ones = da.full((len(y), 1), UNIT, dtype=X.dtype, chunks=(task.rows, 1))
        rows = da.concatenate([rows, ones], axis=1).rechunk((task.rows, X.shape[1] + 1))
    targets = da.from_array(y, chunks=task.rows)
    options: dict[str, Any] = {"solver": solver, "max_iter": 1000, "fit_intercept": not as_it_is}
    with engine.config.set(scheduler="synchronous"):
        for tol in LOOSE:
            own: dict[str, Any] = {"normalize": False} if as_it_is else {}
            own |= {"abstol": tol, "reltol": tol} if solver == "admm" else {}
            level = halves * task.lam * len(y)
            peer = kind(C=1.0 / level, tol=tol, solver_kwargs=own, **options)
            peer.fit(rows, targets)
            w = np.ravel(peer.coef_).astype(float)
            if as_it_is:
                yield w[:-1], UNIT * float(w[-1])
            else:
                yield w, float(np.ravel(peer.intercept_)[0])


RUNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "SGD": (sgd, {}),
    "averaged SGD": (sgd, {"average": True}),
    "SGD, scaled": (sgd, {"scaled": True}),
    "averaged SGD, scaled": (sgd, {"average": True, "scaled": True}),
    "liblinear in memory": (in_memory, {"solver": ""}),
}
"""Peers by name, and their options; of the others the first word tells who, the second how."""


def run_of(name: str) -> tuple[Any, dict[str, Any]]:
    """Who "dask-ml newton", or "lbfgs in memory", is."""
    if name in RUNS:
        return RUNS[name]
    if name.startswith("dask-ml "):
        solver, *more = name.removeprefix("dask-ml ").split(", ")
        return dask, {"solver": solver, "as_it_is": bool(more)}
    return in_memory, {"solver": name.removesuffix(" in memory")}


def gap_of(judge: Any, w: np.ndarray, b: float, tol: float, u: Any) -> float:
    """The relative gap that our certificate bounds; inf where (w, b) is no point."""
    if not (np.all(np.isfinite(w)) and np.isfinite(b)):
        return np.inf
    return float(judge.certify(w, b, u=u, tol=tol).relative_gap)


def main() -> None:
    """Run a peer until its gap is ``target``, or its ``budget`` of processor seconds is spent."""
    warnings.simplefilter("ignore")
    told = json.loads(sys.argv[1])
    task = Task(Path(told["folder"]), told["model"], told["rows"], told["lam"])
    peer, options = run_of(told["peer"])
    with tempfile.TemporaryDirectory() as folder:
        next(peer(Task(written(Path(folder), 1000), task.model, 500, task.lam), **options))
    X, y = (task.folder / name for name in ("X.npy", "y.npy"))
    judge = posed(task.model, cml.RowBlocks.from_npy(X, y, task.rows), told["n"], lam=task.lam)
    u = judge.solve(tol=1e-9).dual["u"] if task.model == "svm" else None
    rounds, spent, looked = [], 0.0, 0
    points = peer(task, **options)
    start = time.process_time()
    for k, (w, b) in enumerate(points, start=1):
        spent += time.process_time() - start
        over = spent > told["budget"]
        starts_anew = peer is not sgd
        if starts_anew or over or k >= 1.5 * looked:  # epochs are judged on a geometric grid
            looked = k
            gap = gap_of(judge, w, b, told["target"], u)
            rounds.append((k, spent, gap))
            if gap <= told["target"]:
                break
        if over:
            break
        spent = 0.0 if starts_anew else spent
        start = time.process_time()
    print(json.dumps({"rounds": rounds, "peak": peak()}))


if __name__ == "__main__":
    main()
