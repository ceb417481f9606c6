"""Who else reaches a verified gap on the same file, and in which time: ours and the peers'.

Run with ``python benchmarks/scale/beside.py --n 1e5 1e6``; ``pip install convexml[peers]`` brings
dask-ml. Everybody runs in a process of their own, on one thread, on the same float32 file. Their
(w, b) are judged by our certificate, off the clock, after epochs of a geometric grid
(``partial_fit``) or at tolerances of 1e-2, 1e-3, ... in turn, of which the loosest one that
verifies counts. A peer has a budget of processor time, a multiple of ours, and is killed where one
call takes far more than that. Ours contains posing and certificate. Modules are loaded, and a few
rows fitted, off the clock. "Best gap" is the least that a peer reached, "at" its seconds to that,
and "ours" our seconds with that for our tolerance, at least 1e-6.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from data import written
from posing import LAM
from processes import said

GAPS = (1e-2, 1e-3, 1e-4, 1e-6)
PEERS = (
    ("SGD", "logistic ridge svm"),
    ("averaged SGD", "logistic ridge svm"),
    ("SGD, scaled", "logistic ridge svm"),
    ("averaged SGD, scaled", "logistic ridge svm"),
    ("lbfgs in memory", "logistic"),
    ("newton-cholesky in memory", "logistic"),
    ("saga in memory", "logistic"),
    ("cholesky in memory", "ridge"),
    ("lsqr in memory", "ridge"),
    ("liblinear in memory", "svm"),
    ("dask-ml newton", "logistic ridge"),
    ("dask-ml lbfgs", "logistic ridge"),
    ("dask-ml lbfgs, as it is", "logistic ridge"),
    ("dask-ml gradient_descent", "logistic ridge"),
    ("dask-ml proximal_grad", "logistic ridge"),
    ("dask-ml admm", "logistic ridge"),
)
"""And what they take."""

Rounds = list[tuple[int, float, float]]
"""Of each its number, the processor seconds so far and the verified relative gap."""


def reached(rounds: Rounds, gap: float) -> float | None:
    """The least seconds to a gap, None where it was not reached."""
    return min((seconds for _, seconds, found in rounds if found <= gap), default=None)


def line(name: str, rounds: Rounds, peak: float, rest: str = "") -> str:
    """Seconds to each gap."""
    times = [reached(rounds, gap) for gap in GAPS]
    cells = "".join(f"{'-' if t is None else f'{t:.2f}':>9}" for t in times)
    return f"{name:<28}{cells}{peak:>10.0f}{rest}"


class Ours:
    """Our solves of one problem, each to a tolerance of its own."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.task = task

    def solved(self, tol: float) -> dict[str, Any]:
        """What it took."""
        return said("one.py", self.task | {"tol": tol})

    def rounds(self) -> tuple[Rounds, float]:
        """To each of the gaps, and the largest memory of these."""
        found = [self.solved(gap) for gap in GAPS]
        rounds = [(k, each["cpu"], each["gap"]) for k, each in enumerate(found)]
        return rounds, max(each["peak"] for each in found)

    def beside(self, rounds: Rounds) -> str:
        """The best gap of a peer, its seconds to that, ours, and their ratio."""
        gap = min(gap for _, _, gap in rounds)
        seconds = reached(rounds, max(gap, GAPS[-1])) or 0.0
        ours = self.solved(min(max(gap, GAPS[-1]), 0.5))["cpu"]
        return f"{gap:>11.1e}{seconds:>9.2f}{ours:>9.2f}{seconds / ours:>8.2f}"


def compare(model: str, task: dict[str, Any], n: int, budget: float, peers: list[str]) -> None:
    """Print a table of one problem."""
    us = Ours(task)
    print(f"{model}, n = {n}, lam = {task['lam']:g}: processor seconds to a verified relative gap")
    heads = "".join(f"{gap:>9.0e}" for gap in GAPS)
    last = f"{'best gap':>11}{'at':>9}{'ours':>9}{'ratio':>8}"
    print(f"{'':<28}{heads}{'peak, MB':>10}{last}")
    rounds, peak = us.rounds()
    print(line("convexml", rounds, peak), flush=True)
    seconds = rounds[-1][1]
    more = task | {"n": n, "target": GAPS[-1], "budget": budget * seconds}
    for name, kinds in PEERS:
        if model not in kinds or not any(part in name for part in peers):
            continue
        found = said("rival.py", more | {"peer": name}, limit=20.0 * more["budget"] + 120.0)
        if "failed" in found:
            print(f"{name:<28}  {found['failed']}", flush=True)
        else:
            rest = us.beside(found["rounds"])
            print(line(name, found["rounds"], found["peak"], rest), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=float, nargs="+", default=[1e5, 1e6])
    parser.add_argument("--models", nargs="+", default=("logistic", "ridge", "svm"))
    parser.add_argument("--peers", nargs="+", default=[""], help="names that contain one of these")
    parser.add_argument("--rows", type=int, default=100_000, help="of a block")
    parser.add_argument("--lam", type=float, default=LAM)
    parser.add_argument("--budget", type=float, default=20.0, help="as a multiple of ours")
    arguments = parser.parse_args()
    for n in (int(each) for each in arguments.n):
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), n)
            for model in arguments.models:
                task = {"folder": folder, "model": model, "rows": arguments.rows}
                task["lam"] = arguments.lam
                compare(model, task, n, arguments.budget, arguments.peers)


if __name__ == "__main__":
    main()
